//! Correlation of new and old values for ratcheting: `CorrelatedObject` of `k8s.io/apiserver/pkg/cel/common`.

use serde_json::{Map, Value};

use super::list_type::key_of;
use crate::schema::{Additional, Schema};

/// The old value that a new value replaces.
#[derive(Clone, Copy)]
pub(super) enum OldValue<'a> {
    Value(&'a Value),
    /// An object.
    Fields(&'a Map<String, Value>),
}

impl<'a> OldValue<'a> {
    /// Returns the old value of a field.
    pub(super) fn field(self, name: &str) -> Option<Self> {
        self.fields()?.get(name).map(OldValue::Value)
    }

    /// Returns the old value of a list item. Only the items of lists of type map are correlated.
    pub(super) fn item(self, item: &Value, list: Schema<'_>) -> Option<Self> {
        if list.list_type() != Some("map") {
            return None;
        }
        let key = key_of(item, list);
        self.items()?.iter().find(|old| key_of(old, list) == key).map(OldValue::Value)
    }

    fn fields(self) -> Option<&'a Map<String, Value>> {
        match self {
            Self::Value(value) => value.as_object(),
            Self::Fields(fields) => Some(fields),
        }
    }

    fn items(self) -> Option<&'a [Value]> {
        match self {
            Self::Value(value) => value.as_array().map(Vec::as_slice),
            Self::Fields(_) => None,
        }
    }

    /// Whether the value is unchanged. A value without a schema never counts as unchanged.
    pub(super) fn equals(self, value: &Value, schema: Schema<'_>) -> bool {
        match (value, self) {
            (Value::Array(new), Self::Value(Value::Array(old))) => {
                new.len() == old.len() && self.equal_items(new, old, schema)
            }
            (Value::Object(new), _) => self.equals_fields(new, schema),
            (new, Self::Value(old)) => new == old,
            (_, Self::Fields(_)) => false,
        }
    }

    /// Whether the fields of an object are unchanged.
    pub(super) fn equals_fields(self, new: &Map<String, Value>, schema: Schema<'_>) -> bool {
        self.fields().is_some_and(|old| {
            new.len() == old.len() && new.iter().all(|(name, value)| self.equal_field(name, value, schema))
        })
    }

    fn equal_items(self, new: &[Value], old: &[Value], schema: Schema<'_>) -> bool {
        let Some(items) = schema.items().filter(|_| schema.list_type() == Some("map")) else {
            return new == old;
        };
        new.iter().all(|item| self.item(item, schema).is_some_and(|old| old.equals(item, items)))
    }

    fn equal_field(self, name: &str, value: &Value, schema: Schema<'_>) -> bool {
        let field_schema = schema.property(name).or_else(|| match schema.additional() {
            Some(Additional::Schema(schema)) => Some(schema),
            _ => None,
        });
        let (Some(old), Some(schema)) = (self.field(name), field_schema) else {
            return false;
        };
        old.equals(value, schema)
    }
}
