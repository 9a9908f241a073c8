//! Deserialises a root kind or list: rejects the JSON of another kind, and ignores unknown fields.

use std::{fmt, marker::PhantomData};

use serde::{
    de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Unexpected, Visitor},
    forward_to_deserialize_any,
};

/// The fields of a root type, which its derive lists for [`deserialize`].
pub trait Root: k8s_openapi::Resource + Sized {
    /// JSON names, in the order of `Fields`.
    const NAMES: &'static [&'static str];
    /// The values of the fields: a tuple of options. A tuple implements `Default` only up to a length of 12.
    type Fields;

    /// Returns the values of an object without fields.
    fn empty() -> Self::Fields;

    /// Deserialises the value of the field with this index in `NAMES`.
    ///
    /// # Errors
    /// The field is a duplicate, or its value is invalid.
    fn read<'de, A: MapAccess<'de>>(fields: &mut Self::Fields, index: usize, map: &mut A) -> Result<(), A::Error>;

    /// Builds the object from its fields.
    ///
    /// # Errors
    /// A required field is missing.
    fn build<E: Error>(fields: Self::Fields) -> Result<Self, E>;
}

/// Deserialises a root type. `apiVersion` and `kind` can be absent, as in the items of a list, but not those of another
/// kind.
///
/// # Errors
/// The value is not an object or has another kind, or a field is missing, a duplicate or invalid.
pub fn deserialize<'de, T: Root, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_map(RootVisitor(PhantomData))
}

/// Deserialises the value of a field into its slot.
///
/// # Errors
/// The field is a duplicate, or its value is invalid.
pub fn read<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    slot: &mut Option<T>,
    name: &'static str,
    map: &mut A,
) -> Result<(), A::Error> {
    match slot {
        Some(_) => Err(A::Error::duplicate_field(name)),
        None => map.next_value().map(|value| *slot = Some(value)),
    }
}

/// Returns the value of a field, or for a missing field that of its type: `None` for an option, otherwise an error.
///
/// # Errors
/// The field is missing.
pub fn required<'de, T: Deserialize<'de>, E: Error>(value: Option<T>, name: &'static str) -> Result<T, E> {
    match value {
        Some(value) => Ok(value),
        None => T::deserialize(Missing(name, PhantomData)),
    }
}

struct RootVisitor<T>(PhantomData<T>);

impl<'de, T: Root> Visitor<'de> for RootVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {} object", T::KIND)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut fields = T::empty();
        let (mut api_version, mut kind) = (None, None);
        while let Some(key) = map.next_key_seed(KeySeed(T::NAMES))? {
            match key {
                Key::ApiVersion => read_type_meta(&mut api_version, Expected("apiVersion", T::API_VERSION), &mut map)?,
                Key::Kind => read_type_meta(&mut kind, Expected("kind", T::KIND), &mut map)?,
                Key::Field(index) => T::read(&mut fields, index, &mut map)?,
                Key::Unknown => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        T::build(fields)
    }
}

/// Deserialises `apiVersion` or `kind`, and rejects duplicates.
fn read_type_meta<'de, A: MapAccess<'de>>(
    seen: &mut Option<()>,
    expected: Expected,
    map: &mut A,
) -> Result<(), A::Error> {
    let name = expected.0;
    match seen.replace(map.next_value_seed(expected)?) {
        Some(()) => Err(A::Error::duplicate_field(name)),
        None => Ok(()),
    }
}

enum Key {
    ApiVersion,
    Kind,
    Field(usize),
    Unknown,
}

struct KeySeed(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for KeySeed {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Key, E> {
        Ok(match name {
            "apiVersion" => Key::ApiVersion,
            "kind" => Key::Kind,
            _ => self.0.iter().position(|known| *known == name).map_or(Key::Unknown, Key::Field),
        })
    }
}

/// Accepts one string only: the name of the field and its expected value.
struct Expected(&'static str, &'static str);

impl<'de> DeserializeSeed<'de> for Expected {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Expected {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.0, self.1)
    }

    fn visit_str<E: Error>(self, found: &str) -> Result<(), E> {
        match found == self.1 {
            true => Ok(()),
            false => Err(E::invalid_value(Unexpected::Str(found), &self)),
        }
    }
}

/// The deserializer of a missing field.
struct Missing<E>(&'static str, PhantomData<E>);

impl<'de, E: Error> Deserializer<'de> for Missing<E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, E> {
        Err(E::missing_field(self.0))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_none()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
