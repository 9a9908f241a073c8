//! `Nullable`: a field that is absent, null or a value, and where null and absent differ.

use std::{borrow::Cow, fmt, marker::PhantomData};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{
    de::{Deserialize, Deserializer, Error, Visitor},
    ser::{Serialize, Serializer},
};

use crate::deep_copy::DeepCopy;

/// A field in which absent and null have different meanings. Other optional fields are an `Option`: absent or a value.
///
/// Guarantees for a field with `#[serde(default)]`:
/// - An absent field is omitted from the encoding, at any depth of a kind; a null field is encoded as null.
/// - A missing field decodes to `Absent`, a null to `Null`.
/// - In the CRD the field has the schema of its value, is `nullable` and not required.
///
/// Without `#[serde(default)]` the field is required, and can be null. A type that is serialised by itself, not as part
/// of a kind, needs `#[serde(default, skip_serializing_if = "Nullable::is_absent")]`.
///
/// The API server does not support null as a default, which is omitted from the schema, or as a value of an `enum`.
///
/// ```
/// use kubewright_core::Nullable;
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct Spec {
///     #[serde(default)]
///     note: Nullable<String>,
/// }
///
/// let note = |json| serde_json::from_str::<Spec>(json).map(|spec| spec.note);
/// assert_eq!(note(r#"{}"#)?, Nullable::Absent);
/// assert_eq!(note(r#"{"note": null}"#)?, Nullable::Null);
/// assert_eq!(note(r#"{"note": "hi"}"#)?, Nullable::from("hi".to_owned()));
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Nullable<T> {
    /// The field is absent.
    #[default]
    Absent,
    /// The field is null.
    Null,
    /// The field has a value.
    Value(T),
}

impl<T> Nullable<T> {
    /// Whether the field is absent.
    pub const fn is_absent(&self) -> bool {
        matches!(self, Nullable::Absent)
    }

    /// Whether the field is null.
    pub const fn is_null(&self) -> bool {
        matches!(self, Nullable::Null)
    }

    /// Returns the value, if there is one.
    pub const fn value(&self) -> Option<&T> {
        match self {
            Nullable::Value(value) => Some(value),
            Nullable::Absent | Nullable::Null => None,
        }
    }

    /// Converts the field into its value, if there is one.
    pub fn into_value(self) -> Option<T> {
        match self {
            Nullable::Value(value) => Some(value),
            Nullable::Absent | Nullable::Null => None,
        }
    }
}

impl<T> From<T> for Nullable<T> {
    fn from(value: T) -> Self {
        Nullable::Value(value)
    }
}

impl<T: DeepCopy> DeepCopy for Nullable<T> {
    fn deep_copy(&self) -> Self {
        match self {
            Nullable::Absent => Nullable::Absent,
            Nullable::Null => Nullable::Null,
            Nullable::Value(value) => Nullable::Value(value.deep_copy()),
        }
    }

    fn deep_copy_into(&self, target: &mut Self) {
        match (self, target) {
            (Nullable::Value(from), Nullable::Value(to)) => from.deep_copy_into(to),
            (_, target) => *target = self.deep_copy(),
        }
    }
}

/// `Absent` serialises as `None`, which is omitted, and `Null` as a unit, which is not.
impl<T: Serialize> Serialize for Nullable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Nullable::Absent => serializer.serialize_none(),
            Nullable::Null => serializer.serialize_unit(),
            Nullable::Value(value) => value.serialize(serializer),
        }
    }
}

/// Deserialises as a newtype, because serde would deserialise a missing field of an option as null.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Nullable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct("Nullable", Present(PhantomData))
    }
}

/// The visitor of a field that is present.
struct Present<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Present<T> {
    type Value = Nullable<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null or a value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        Option::deserialize(deserializer).map(|value| value.map_or(Nullable::Null, Nullable::Value))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Nullable::Null)
    }
}

impl<T: JsonSchema> JsonSchema for Nullable<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Option::<T>::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        format!("kubewright_core::Nullable<{}>", T::schema_id()).into()
    }

    /// Adds `nullable` of OpenAPI, which the API server uses; in JSON Schema null is a separate type.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Option::<T>::json_schema(generator);
        schema.insert("nullable".to_owned(), true.into());
        schema
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, from_value, json, to_value};

    use super::*;
    use crate::wire::OmitNone;

    #[derive(Debug, Default, PartialEq, serde::Deserialize, serde::Serialize)]
    struct Spec {
        #[serde(default)]
        note: Nullable<String>,
        #[serde(default)]
        inner: BTreeMap<String, Vec<Spec>>,
    }

    fn spec(note: Nullable<String>) -> Spec {
        Spec { note, ..Spec::default() }
    }

    fn notes() -> [(Nullable<String>, Value); 3] {
        let json = |note: Value| json!({"note": note, "inner": {}});
        let hi = "hi".to_owned();
        [(Nullable::Absent, json!({"inner": {}})), (Nullable::Null, json(Value::Null)), (hi.into(), json(json!("hi")))]
    }

    #[test]
    fn absent_is_omitted_and_null_is_encoded() {
        for (note, expected) in notes() {
            assert_eq!(to_value(OmitNone(&spec(note.clone()))).unwrap(), expected);
            let outer = Spec { inner: BTreeMap::from([("a".to_owned(), vec![spec(note)])]), ..Spec::default() };
            assert_eq!(to_value(OmitNone(&outer)).unwrap(), json!({"inner": {"a": [expected]}}));
        }
    }

    #[test]
    fn decoding_distinguishes_absent_from_null() {
        for (note, json) in notes() {
            assert_eq!(from_value::<Spec>(json.clone()).unwrap().note, note);
            assert_eq!(serde_json::from_str::<Spec>(&json.to_string()).unwrap().note, note);
        }
    }

    #[test]
    fn missing_field_without_default_is_an_error() {
        #[derive(Debug, serde::Deserialize)]
        struct Strict {
            note: Nullable<String>,
        }
        assert_eq!(from_value::<Strict>(json!({})).unwrap_err().to_string(), "missing field `note`");
        assert!(from_value::<Strict>(json!({"note": null})).unwrap().note.is_null());
        let missing = crate::wire::required::<Nullable<String>, serde_json::Error>(None, "note");
        assert_eq!(missing.unwrap_err().to_string(), "missing field `note`");
    }

    #[test]
    fn flattened_and_untagged_types_distinguish_them() {
        #[derive(serde::Deserialize)]
        struct Outer {
            #[serde(flatten)]
            spec: Spec,
        }
        #[derive(serde::Deserialize)]
        #[serde(untagged)]
        enum Either {
            Spec(Spec),
        }
        for (note, json) in notes() {
            assert_eq!(from_value::<Outer>(json.clone()).unwrap().spec.note, note);
            let Either::Spec(spec) = from_value(json).unwrap();
            assert_eq!(spec.note, note);
        }
    }

    #[test]
    fn value_of_another_type_is_rejected() {
        let error = from_value::<Spec>(json!({"note": 1})).unwrap_err().to_string();
        assert_eq!(error, "invalid type: integer `1`, expected a string");
    }

    #[test]
    fn deep_copies_are_equal() {
        for (note, _) in notes() {
            assert_eq!(note.deep_copy(), note);
            for (mut target, _) in notes() {
                note.deep_copy_into(&mut target);
                assert_eq!(target, note);
            }
        }
    }

    #[test]
    fn schema_is_nullable() {
        let schema = Nullable::<i32>::json_schema(&mut SchemaGenerator::default()).to_value();
        assert_eq!(schema, json!({"type": ["integer", "null"], "format": "int32", "nullable": true}));
        assert!(Nullable::<Value>::json_schema(&mut SchemaGenerator::default()).get("nullable").is_some());
    }

    #[test]
    fn accessors_return_the_value() {
        let hi = Nullable::from("hi");
        assert_eq!(
            (hi.value(), hi.into_value(), hi.is_absent(), hi.is_null()),
            (Some(&"hi"), Some("hi"), false, false)
        );
        let none = Nullable::<&str>::default();
        assert_eq!((none.value(), none.into_value(), none.is_absent(), none.is_null()), (None, None, true, false));
        let null = Nullable::<&str>::Null;
        assert_eq!((null.value(), null.into_value(), null.is_absent(), null.is_null()), (None, None, false, true));
    }
}
