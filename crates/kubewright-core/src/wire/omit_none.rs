//! A serializer adapter that omits struct fields whose value is `None`, at any depth.
//!
//! In Kubernetes an absent field is unset, while a null is an error or removes the field, and Go's `omitempty` never
//! writes nulls. The adapter omits the `None` of an `Option` in all nested types. A type that serialises a unit (such
//! as [`Nullable`](crate::Nullable) or `serde_json::Value::Null`) writes an explicit null.

use serde::ser::{
    Error, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// Serialises like its value, without the struct fields that are `None`.
pub struct OmitNone<'a, T: ?Sized>(pub &'a T);

impl<T: Serialize + ?Sized> Serialize for OmitNone<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(Adapter(serializer))
    }
}

/// Whether a value serialises as `None`. Works with any type, because it observes the serialisation.
pub(super) fn is_none<T: Serialize + ?Sized>(value: &T) -> bool {
    matches!(value.serialize(Probe), Err(Probed::None))
}

struct Adapter<S>(S);

macro_rules! forward {
    ($($method:ident $ty:ty),*) => {$(
        fn $method(self, value: $ty) -> Result<S::Ok, S::Error> {
            self.0.$method(value)
        }
    )*};
}

impl<S: Serializer> Serializer for Adapter<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Adapter<S::SerializeSeq>;
    type SerializeTuple = Adapter<S::SerializeTuple>;
    type SerializeTupleStruct = Adapter<S::SerializeTupleStruct>;
    type SerializeTupleVariant = Adapter<S::SerializeTupleVariant>;
    type SerializeMap = MapAdapter<S::SerializeMap>;
    type SerializeStruct = Adapter<S::SerializeStruct>;
    type SerializeStructVariant = Adapter<S::SerializeStructVariant>;

    forward! {
        serialize_bool bool, serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64,
        serialize_i128 i128, serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64,
        serialize_u128 u128, serialize_f32 f32, serialize_f64 f64, serialize_char char, serialize_str &str,
        serialize_bytes &[u8], serialize_unit_struct &'static str
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_none()
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_some(&OmitNone(value))
    }

    fn serialize_unit_variant(self, name: &'static str, i: u32, variant: &'static str) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit_variant(name, i, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_struct(name, &OmitNone(value))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        i: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_variant(name, i, variant, &OmitNone(value))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        self.0.serialize_seq(len).map(Adapter)
    }

    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple, S::Error> {
        self.0.serialize_tuple(len).map(Adapter)
    }

    fn serialize_tuple_struct(self, name: &'static str, len: usize) -> Result<Self::SerializeTupleStruct, S::Error> {
        self.0.serialize_tuple_struct(name, len).map(Adapter)
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        i: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        self.0.serialize_tuple_variant(name, i, variant, len).map(Adapter)
    }

    /// A struct with a flattened field is serialised as a map of unknown length. A real map has a known length, and its
    /// `None` values are those of the user.
    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        let omit = len.is_none();
        self.0.serialize_map(len).map(|map| MapAdapter { map, omit })
    }

    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Self::SerializeStruct, S::Error> {
        self.0.serialize_struct(name, len).map(Adapter)
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        i: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        self.0.serialize_struct_variant(name, i, variant, len).map(Adapter)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

macro_rules! elements {
    ($($serializer:ident $method:ident),*) => {$(
        impl<S: $serializer> $serializer for Adapter<S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
                self.0.$method(&OmitNone(value))
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.0.end()
            }
        }
    )*};
}

elements! {
    SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
}

macro_rules! fields {
    ($($serializer:ident),*) => {$(
        impl<S: $serializer> $serializer for Adapter<S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), S::Error> {
                match is_none(value) {
                    true => self.0.skip_field(key),
                    false => self.0.serialize_field(key, &OmitNone(value)),
                }
            }

            fn skip_field(&mut self, key: &'static str) -> Result<(), S::Error> {
                self.0.skip_field(key)
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.0.end()
            }
        }
    )*};
}

fields! { SerializeStruct, SerializeStructVariant }

struct MapAdapter<S> {
    map: S,
    omit: bool,
}

impl<S: SerializeMap> SerializeMap for MapAdapter<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), S::Error> {
        self.map.serialize_key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
        self.map.serialize_value(&OmitNone(value))
    }

    fn serialize_entry<K: Serialize + ?Sized, V: Serialize + ?Sized>(
        &mut self,
        key: &K,
        value: &V,
    ) -> Result<(), S::Error> {
        match self.omit && is_none(value) {
            true => Ok(()),
            false => self.map.serialize_entry(key, &OmitNone(value)),
        }
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.map.end()
    }
}

/// A serializer that detects whether a value is `None`, and fails at the first call with the answer.
struct Probe;

#[derive(Debug)]
enum Probed {
    None,
    Other,
}

impl std::fmt::Display for Probed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Probed {}

impl Error for Probed {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        Probed::Other
    }
}

type ProbeResult<T = Impossible<(), Probed>> = Result<T, Probed>;

macro_rules! other_values {
    ($($method:ident ( $($ty:ty),* ) $(-> $ok:ty)?;)*) => {$(
        fn $method(self, $(_: $ty),*) -> other_values!(@ok $($ok)?) {
            Err(Probed::Other)
        }
    )*};
    (@ok) => { ProbeResult<()> };
    (@ok $ok:ty) => { ProbeResult<$ok> };
}

impl Serializer for Probe {
    type Ok = ();
    type Error = Probed;
    type SerializeSeq = Impossible<(), Probed>;
    type SerializeTuple = Impossible<(), Probed>;
    type SerializeTupleStruct = Impossible<(), Probed>;
    type SerializeTupleVariant = Impossible<(), Probed>;
    type SerializeMap = Impossible<(), Probed>;
    type SerializeStruct = Impossible<(), Probed>;
    type SerializeStructVariant = Impossible<(), Probed>;

    other_values! {
        serialize_bool(bool); serialize_i8(i8); serialize_i16(i16); serialize_i32(i32); serialize_i64(i64);
        serialize_u8(u8); serialize_u16(u16); serialize_u32(u32); serialize_u64(u64); serialize_f32(f32);
        serialize_f64(f64); serialize_char(char); serialize_str(&str); serialize_bytes(&[u8]); serialize_unit();
        serialize_unit_struct(&'static str); serialize_unit_variant(&'static str, u32, &'static str);
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct(&'static str, usize) -> Self::SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }

    fn serialize_none(self) -> ProbeResult<()> {
        Err(Probed::None)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> ProbeResult<()> {
        Err(Probed::Other)
    }

    /// A newtype serialises like its value.
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> ProbeResult<()> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> ProbeResult<()> {
        Err(Probed::Other)
    }

    fn collect_str<T: std::fmt::Display + ?Sized>(self, _: &T) -> ProbeResult<()> {
        Err(Probed::Other)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;
    use serde_json::{Value, json, to_value};

    use super::*;

    #[derive(Serialize)]
    struct Inner {
        set: Option<i32>,
        unset: Option<i32>,
    }

    fn inner() -> Inner {
        Inner { set: Some(1), unset: None }
    }

    #[track_caller]
    fn check(value: impl Serialize, expected: Value) {
        assert_eq!(to_value(OmitNone(&value)).unwrap(), expected);
    }

    #[test]
    fn none_fields_are_omitted_at_any_depth() {
        #[derive(Serialize)]
        struct Outer {
            list: Vec<Inner>,
            map: BTreeMap<&'static str, Inner>,
            option: Option<Box<Inner>>,
            variant: Variant,
        }
        #[derive(Serialize)]
        enum Variant {
            Struct { unset: Option<i32>, inner: Inner },
        }
        let outer = Outer {
            list: vec![inner()],
            map: BTreeMap::from([("a", inner())]),
            option: Some(Box::new(inner())),
            variant: Variant::Struct { unset: None, inner: inner() },
        };
        let expected = json!({
            "list": [{"set": 1}],
            "map": {"a": {"set": 1}},
            "option": {"set": 1},
            "variant": {"Struct": {"inner": {"set": 1}}},
        });
        check(outer, expected);
    }

    #[test]
    fn none_fields_of_flattened_structs_are_omitted() {
        #[derive(Serialize)]
        struct Outer {
            outer: Option<i32>,
            #[serde(flatten)]
            inner: Inner,
        }
        check(Outer { outer: None, inner: inner() }, json!({"set": 1}));
    }

    #[test]
    fn newtypes_of_none_are_omitted() {
        #[derive(Serialize)]
        struct Wrapped(Option<i32>);
        #[derive(Serialize)]
        struct Outer {
            wrapped: Wrapped,
        }
        check(Outer { wrapped: Wrapped(None) }, json!({}));
    }

    #[test]
    fn explicit_nulls_are_preserved() {
        #[derive(Serialize)]
        struct Outer {
            value: Value,
            list: Vec<Option<i32>>,
            map: BTreeMap<&'static str, Option<i32>>,
        }
        let outer = Outer { value: Value::Null, list: vec![None], map: BTreeMap::from([("a", None)]) };
        check(outer, json!({"value": null, "list": [null], "map": {"a": null}}));
    }
}
