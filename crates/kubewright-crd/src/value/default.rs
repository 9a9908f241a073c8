//! Defaulting, and pruning of nulls.
//!
//! After `apiextensions-apiserver/pkg/apiserver/schema/defaulting` of 1.36.

use std::fmt;

use serde_json::{Map, Value};

use crate::{
    go,
    schema::{Additional, Schema},
};

/// Removes nulls at any depth that are not nullable and have no default.
pub fn prune_nulls(fields: &mut Map<String, Value>, schema: &Value) {
    prune_nulls_in_fields(fields, Schema(schema));
}

fn prune_nulls_in_fields(fields: &mut Map<String, Value>, schema: Schema<'_>) {
    fields.retain(|name, value| {
        let Some(property) = field_schema(schema, name) else { return true };
        prune_nulls_in_value(value, property);
        !is_invalid_null(value, property) || property.get("default").is_some()
    });
}

fn prune_nulls_in_value(value: &mut Value, schema: Schema<'_>) {
    match value {
        Value::Object(fields) => prune_nulls_in_fields(fields, schema),
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return };
            items.iter_mut().for_each(|item| prune_nulls_in_value(item, schema));
        }
        _ => {}
    }
}

/// Sets defaults at any depth of the existing objects, for absent fields and for nulls that are not nullable.
///
/// The size of the result is not limited: [`default_within_limit`] is for definitions that are not trusted.
pub fn default(fields: &mut Map<String, Value>, schema: &Value) {
    Defaulter { remaining: usize::MAX }.fields(fields, Schema(schema));
}

/// Sets defaults as [`default`](fn@default) does, but adds at most 3 MiB of JSON: a list of many small objects
/// multiplies the defaults of its items.
///
/// # Errors
/// The defaults are larger. Only some of them are set.
pub fn default_within_limit(fields: &mut Map<String, Value>, schema: &Value) -> Result<(), DefaultsTooLarge> {
    let mut defaulter = Defaulter { remaining: MAX_ADDED_SIZE };
    defaulter.fields(fields, Schema(schema));
    if defaulter.remaining == 0 { Err(DefaultsTooLarge) } else { Ok(()) }
}

/// The maximum size of the JSON of all defaults of an object, in bytes: that of a request body.
const MAX_ADDED_SIZE: usize = 3 << 20;

/// The error for an object whose defaults are too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefaultsTooLarge;

impl fmt::Display for DefaultsTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the defaults of the object are larger than {MAX_ADDED_SIZE} bytes")
    }
}

impl std::error::Error for DefaultsTooLarge {}

struct Defaulter {
    /// The remaining size of defaults. No default is set once it is 0.
    remaining: usize,
}

impl Defaulter {
    /// Returns a copy of a default, unless it exceeds the remaining size.
    fn copy(&mut self, default: &Value) -> Option<Value> {
        // Without a limit, the size is not of interest.
        if self.remaining < usize::MAX {
            self.remaining = self.remaining.saturating_sub(go::json_size(default));
        }
        (self.remaining > 0).then(|| default.clone())
    }

    fn fields(&mut self, fields: &mut Map<String, Value>, schema: Schema<'_>) {
        for (name, property) in schema.schema_map("properties") {
            if let Some(default) = property.get("default")
                && fields.get(name).is_none_or(|value| is_invalid_null(value, property))
                && let Some(default) = self.copy(default)
            {
                fields.insert(name.to_owned(), default);
            }
        }
        for (name, value) in fields {
            match (schema.property(name), schema.additional()) {
                (Some(property), _) => self.value(value, property),
                (None, Some(Additional::Schema(property))) => self.element(value, property),
                _ => {}
            }
        }
    }

    /// List items and map values are defaulted only if they are null.
    fn element(&mut self, value: &mut Value, schema: Schema<'_>) {
        if let Some(default) = schema.get("default").filter(|_| is_invalid_null(value, schema))
            && let Some(default) = self.copy(default)
        {
            *value = default;
        }
        self.value(value, schema);
    }

    fn value(&mut self, value: &mut Value, schema: Schema<'_>) {
        match value {
            Value::Object(fields) => self.fields(fields, schema),
            Value::Array(items) => {
                let Some(schema) = schema.items() else { return };
                items.iter_mut().for_each(|item| self.element(item, schema));
            }
            _ => {}
        }
    }
}

fn field_schema<'a>(schema: Schema<'a>, name: &str) -> Option<Schema<'a>> {
    schema.property(name).or_else(|| match schema.additional() {
        Some(Additional::Schema(property)) => Some(property),
        _ => None,
    })
}

fn is_invalid_null(value: &Value, schema: Schema<'_>) -> bool {
    value.is_null() && !schema.is_nullable()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_defaults_of_many_items_are_limited() {
        let schema = json!({ "properties": { "items": { "type": "array", "items": {
            "type": "object", "properties": { "text": { "type": "string", "default": "x".repeat(32 << 10) } },
        } } } });
        let defaulted = |items: usize| {
            let mut fields = Map::from_iter([("items".to_owned(), Value::from(vec![json!({}); items]))]);
            let result = default_within_limit(&mut fields, &schema);
            (result, go::json_size(&Value::Object(fields)))
        };
        let (result, size) = defaulted(64);
        assert!(result.is_ok() && size > 64 * (32 << 10), "{result:?} {size}");
        let (result, size) = defaulted(10_000);
        assert!(result == Err(DefaultsTooLarge) && size < 2 * MAX_ADDED_SIZE, "{result:?} {size}");
    }
}
