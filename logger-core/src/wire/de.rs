//! Reads a root kind or list: another kind's JSON is refused, unknown fields are passed over.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

/// The fields of a root type, as its derive spells them out for [`deserialize`].
pub trait Root: k8s_openapi::Resource + Sized {
    /// JSON names, in the order of `Fields`.
    const NAMES: &'static [&'static str];
    /// Each field once it was read: a tuple of options.
    type Fields: Default;

    /// Reads the value of the field with this index in `NAMES`.
    ///
    /// # Errors
    /// The field is there twice or its value is refused.
    fn read<'de, A: MapAccess<'de>>(fields: &mut Self::Fields, index: usize, map: &mut A) -> Result<(), A::Error>;

    /// Puts the object together.
    ///
    /// # Errors
    /// A required field is missing.
    fn build<E: Error>(fields: Self::Fields) -> Result<Self, E>;
}

/// Reads a root type. `apiVersion` and `kind` may be absent, as in the items of a list, but may not be another's.
///
/// # Errors
/// Not an object, another kind, or a field that is missing, there twice or of another type.
pub fn deserialize<'de, T: Root, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_map(RootVisitor(PhantomData))
}

/// Reads the value of a field into its slot.
///
/// # Errors
/// The field is there twice or its value is refused.
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

/// The value of a field that was read, or what its type makes of an absent one: `None` for an option, else an error.
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
        let mut fields = T::Fields::default();
        let (mut api_version, mut kind) = (None, None);
        while let Some(key) = map.next_key_seed(KeySeed(T::NAMES))? {
            match key {
                Key::ApiVersion => once(&mut api_version, Exactly("apiVersion", T::API_VERSION), &mut map)?,
                Key::Kind => once(&mut kind, Exactly("kind", T::KIND), &mut map)?,
                Key::Field(index) => T::read(&mut fields, index, &mut map)?,
                Key::Unknown => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        T::build(fields)
    }
}

/// Reads a value that may be there once.
fn once<'de, A: MapAccess<'de>>(seen: &mut Option<()>, expected: Exactly, map: &mut A) -> Result<(), A::Error> {
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

/// Accepts one text only: the field's name and what it must be.
struct Exactly(&'static str, &'static str);

impl<'de> DeserializeSeed<'de> for Exactly {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Exactly {
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

/// Stands for a field that is not there.
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
