//! Correlation of new and old values for ratcheting: `CorrelatedObject` of `k8s.io/apiserver/pkg/cel/common`.

use serde_json::Value;

use super::list_type::key_of;
use crate::schema::{Additional, Schema};

/// The old value that a new value replaces.
#[derive(Clone, Copy)]
pub(super) struct OldValue<'a>(pub(super) &'a Value);

impl<'a> OldValue<'a> {
    /// Returns the old value of a field.
    pub(super) fn field(self, name: &str) -> Option<Self> {
        self.0.as_object()?.get(name).map(OldValue)
    }

    /// Returns the old value of a list item. Only the items of lists of type map are correlated.
    pub(super) fn item(self, item: &Value, list: Schema<'_>) -> Option<Self> {
        if list.list_type() != Some("map") {
            return None;
        }
        let key = key_of(item, list);
        self.0.as_array()?.iter().find(|old| key_of(old, list) == key).map(OldValue)
    }

    /// Whether the value is unchanged. A value without a schema never counts as unchanged.
    pub(super) fn equals(self, value: &Value, schema: Schema<'_>) -> bool {
        match (value, self.0) {
            (Value::Array(new), Value::Array(old)) => new.len() == old.len() && self.equal_items(new, old, schema),
            (Value::Object(new), Value::Object(old)) => {
                new.len() == old.len() && new.iter().all(|(name, value)| self.equal_field(name, value, schema))
            }
            (new, old) => new == old,
        }
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
