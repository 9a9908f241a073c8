//! Validation of values against a schema, in the order and with the messages of the API server.
//!
//! After `k8s.io/kube-openapi/pkg/validation/validate` and `apiextensions-apiserver/pkg/apiserver/validation` of 1.36.

use serde_json::{Map, Number, Value};

use super::{
    child,
    correlation::OldValue,
    expected_type::ExpectedType,
    format,
    number::{self, Bounds, Violation},
    result::ValidationResult,
};
use crate::{
    field::{FieldError, append},
    go, pattern,
    schema::{Additional, Schema},
};

/// Validates an object without its `apiVersion`, `kind` and `metadata`.
pub(super) fn object(fields: &Map<String, Value>, schema: Schema<'_>, old: Option<OldValue<'_>>) -> Vec<FieldError> {
    let validator = SchemaValidator { base: "", is_default: false, is_root: true };
    validator.root(fields, schema, old).into_errors()
}

/// Validates a default at the path `base`. The server converts the schema of a default differently: it preserves
/// unknown formats, and an int-or-string has no type.
pub(crate) fn validate_default(value: &Value, schema: Schema<'_>, base: &str) -> Vec<FieldError> {
    let validator = SchemaValidator { base, is_default: true, is_root: false };
    validator.node(value, schema, "", None).into_errors()
}

struct SchemaValidator<'a> {
    /// The path of the root value.
    base: &'a str,
    is_default: bool,
    /// Whether the value is an object without its `apiVersion`, `kind` and `metadata`.
    is_root: bool,
}

/// An error with its message, by which errors are deduplicated.
type Error = (String, FieldError);

impl SchemaValidator<'_> {
    /// Returns the path of the field error for a path inside the value.
    fn field(&self, path: &str) -> String {
        let inside = if path == "." { "" } else { path.strip_prefix('.').unwrap_or(path) };
        match (self.base, inside) {
            ("", "") => "<nil>".to_owned(),
            ("", inside) => inside.to_owned(),
            (base, "") => base.to_owned(),
            (base, inside) => format!("{base}.{inside}"),
        }
    }

    /// Returns an error at the root value.
    fn invalid_root(&self, message: String) -> Error {
        let error = FieldError::invalid(self.field(""), "", message.clone());
        (message, error)
    }

    fn invalid(&self, path: &str, value: impl Into<Value>, message: String) -> Error {
        let error = FieldError::invalid(self.field(path), value, message.clone());
        (message, error)
    }

    fn wrong_type(&self, path: &str, expected: &str, actual: &str) -> Error {
        let message = format!("{path} in body must be of type {expected}: {}", go::quoted(actual));
        let error = FieldError::type_invalid(self.field(path), actual, message.clone());
        (message, error)
    }

    /// Validates the fields of the root value, like [`node`](Self::node). They are copied only if the schema has
    /// keywords for the value as a whole.
    fn root(&self, fields: &Map<String, Value>, schema: Schema<'_>, old: Option<OldValue<'_>>) -> ValidationResult {
        const WHOLE: [&str; 5] = ["allOf", "anyOf", "enum", "not", "oneOf"];
        if WHOLE.iter().any(|keyword| schema.get(keyword).is_some()) {
            return self.node(&Value::Object(fields.clone()), schema, "", old);
        }
        let result = self.validate(&Value::Object(Map::new()), Some(fields), schema, "", old);
        let is_unchanged = || old.is_some_and(|old| old.equals_fields(fields, schema));
        if !result.is_valid() && is_unchanged() { result.ratcheted() } else { result }
    }

    /// Validates a value. The errors of an unchanged value are ignored.
    fn node(&self, value: &Value, schema: Schema<'_>, path: &str, old: Option<OldValue<'_>>) -> ValidationResult {
        let result = self.validate(value, value.as_object(), schema, path, old);
        let is_unchanged = || old.is_some_and(|old| old.equals(value, schema));
        if !result.is_valid() && is_unchanged() { result.ratcheted() } else { result }
    }

    /// Validates a value, without ratcheting. `fields` are those of an object.
    fn validate(
        &self,
        value: &Value,
        fields: Option<&Map<String, Value>>,
        schema: Schema<'_>,
        path: &str,
        old: Option<OldValue<'_>>,
    ) -> ValidationResult {
        let expected = ExpectedType::new(schema, self.is_default);
        let mut result = ValidationResult::default();
        if value.is_null() {
            result.merge(self.type_(value, schema, &expected, path));
            result.merge(self.enumeration(value, schema, path));
            return result;
        }
        let mut merge = |other: ValidationResult| {
            result.merge(other);
            result.increment();
        };
        if !expected.types.is_empty() || !expected.format.is_empty() {
            merge(self.type_(value, schema, &expected, path));
        }
        merge(self.junctors(value, schema, path));
        match value {
            Value::String(text) => {
                merge(self.string(text, schema, path));
                if format::is_supported(expected.format) {
                    merge(self.format(text, expected.format, path));
                }
            }
            Value::Number(number) => merge(self.number(number, &Bounds { schema, expected: &expected, path })),
            Value::Array(items) => merge(self.items(items, schema, path, old)),
            _ => {}
        }
        merge(self.enumeration(value, schema, path));
        if let Some(fields) = fields {
            merge(self.fields(fields, schema, path, old));
        }
        result.increment();
        result
    }

    fn type_(&self, value: &Value, schema: Schema<'_>, expected: &ExpectedType<'_>, path: &str) -> ValidationResult {
        let passed = ValidationResult::passed;
        let actual = type_name(value);
        let expected_types = || expected.types.join(",");
        let wrong_type = |expected, actual| ValidationResult::failed(self.wrong_type(path, expected, actual));
        if value.is_null() {
            let is_allowed = expected.types.is_empty() || schema.is_nullable();
            return if is_allowed { passed() } else { wrong_type(&expected_types(), actual) };
        }
        let is_integral = matches!(value, Value::Number(number) if go::float(number).is_some_and(number::is_integral));
        let has_type = expected.has(actual)
            || actual == "number" && is_integral && expected.has("integer")
            || actual == "integer" && expected.has("number");
        let is_string_or_list = value.is_string() || value.is_array();
        let actual_format = match actual {
            "integer" => "int64",
            "number" => "float64",
            _ => "",
        };
        if !is_string_or_list && !expected.format.is_empty() && !has_type && actual_format != expected.format {
            return wrong_type(expected.format, actual_format);
        }
        // A supported format is sufficient, regardless of the type.
        if has_type || is_string_or_list && !expected.format.is_empty() && !expected.has_number() {
            return passed();
        }
        wrong_type(&expected_types(), actual)
    }

    fn number(&self, number: &Number, bounds: &Bounds<'_>) -> ValidationResult {
        let mut result = ValidationResult::default();
        for Violation { is_at_field, message, value } in bounds.violations(number) {
            let error =
                if is_at_field { self.invalid(bounds.path, value, message) } else { self.invalid_root(message) };
            result.add_error(error);
        }
        result.increment();
        result
    }

    fn string(&self, text: &str, schema: Schema<'_>, path: &str) -> ValidationResult {
        let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        if let Some(max) = schema.integer("maxLength").filter(|max| length > *max) {
            let message = format!("{path} in body should be at most {max} chars long");
            return ValidationResult::failed((message, FieldError::too_long(self.field(path), max)));
        }
        let message = if let Some(min) = schema.integer("minLength").filter(|min| length < *min) {
            format!("{path} in body should be at least {min} chars long")
        } else {
            let pattern = schema.string("pattern");
            if pattern.is_empty() {
                return ValidationResult::default();
            }
            match pattern::compiled(pattern) {
                Ok(compiled) if compiled.is_match(text) => return ValidationResult::default(),
                Ok(_) => format!("{path} in body should match '{pattern}'"),
                Err(error) => format!("{path} in body should match '{pattern}, but pattern is invalid: {error}'"),
            }
        };
        ValidationResult::failed(self.invalid(path, text, message))
    }

    fn format(&self, text: &str, format: &str, path: &str) -> ValidationResult {
        if format::matches(format, text) {
            return ValidationResult::default();
        }
        ValidationResult::failed(self.wrong_type(path, format, text))
    }

    fn enumeration(&self, value: &Value, schema: Schema<'_>, path: &str) -> ValidationResult {
        let allowed = schema.values("enum");
        if allowed.is_empty() || allowed.iter().any(|allowed| equals_enum_value(value, allowed)) {
            return ValidationResult::default();
        }
        let allowed: Vec<String> =
            allowed.iter().map(|value| value.as_str().map_or_else(|| go::json(value), str::to_owned)).collect();
        let message = format!("{path} in body should be one of {allowed:?}");
        let error = FieldError::not_supported(self.field(path), value.clone(), allowed.iter().map(String::as_str));
        ValidationResult::failed((message, error))
    }

    fn items(&self, items: &[Value], schema: Schema<'_>, path: &str, old: Option<OldValue<'_>>) -> ValidationResult {
        let mut result = ValidationResult::default();
        if let Some(item_schema) = schema.items() {
            for (index, item) in items.iter().enumerate() {
                let old = old.and_then(|old| old.item(item, schema));
                result.merge(self.node(item, item_schema, &super::item(path, index), old));
                if result.is_full() {
                    break;
                }
            }
        }
        self.size(items.len(), schema, ["minItems", "maxItems", "items"], path, &mut result);
        let is_repeated = |(index, item): (usize, &Value)| items[..index].contains(item);
        if schema.flag("uniqueItems") && items.iter().enumerate().any(is_repeated) {
            result.add_error(self.invalid(path, "", format!("{path} in body shouldn't contain duplicates")));
        }
        result.increment();
        result
    }

    fn size(
        &self,
        size: usize,
        schema: Schema<'_>,
        [min_keyword, max_keyword, unit]: [&str; 3],
        path: &str,
        result: &mut ValidationResult,
    ) {
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        if let Some(min) = schema.integer(min_keyword).filter(|min| size < *min) {
            result.add_error(self.invalid(path, size, format!("{path} in body should have at least {min} {unit}")));
        }
        if let Some(max) = schema.integer(max_keyword).filter(|max| size > *max) {
            let message = format!("{path} in body should have at most {max} {unit}");
            result.add_error((message, FieldError::too_many(self.field(path), size, max)));
        }
    }

    fn fields(
        &self,
        fields: &Map<String, Value>,
        schema: Schema<'_>,
        path: &str,
        old: Option<OldValue<'_>>,
    ) -> ValidationResult {
        let mut result = ValidationResult::default();
        self.size(fields.len(), schema, ["minProperties", "maxProperties", "properties"], path, &mut result);
        // The object is validated without these fields, and the server has validated them before.
        let is_meta =
            |name: &str| self.is_root && path.is_empty() && ["apiVersion", "kind", "metadata"].contains(&name);
        for name in schema.strings("required").filter(|name| !is_meta(name) && !fields.contains_key(*name)) {
            let path = append(path, format_args!(".{name}"));
            let message = format!("{path} in body is required");
            result.add_error((message, FieldError::required(self.field(&path), "")));
        }
        let others = || fields.iter().filter(|(name, _)| schema.property(name).is_none());
        let old_value = |name: &str| old.and_then(|old| old.field(name));
        match schema.additional() {
            Some(Additional::Allowed(false)) => {
                for (name, _) in others() {
                    let message = format!("{path}.{name} in body is a forbidden property");
                    result.add_error(self.invalid(path, name.as_str(), message));
                    if result.is_full() {
                        break;
                    }
                }
            }
            Some(Additional::Schema(value_schema)) => {
                for (name, value) in others() {
                    let path = append(path, format_args!(".{name}"));
                    result.merge(self.node(value, value_schema, &path, old_value(name)));
                    if result.is_full() {
                        break;
                    }
                }
            }
            Some(Additional::Allowed(true)) | None => {}
        }
        for (name, property) in schema.schema_map("properties") {
            if let Some(value) = fields.get(name) {
                result.merge(self.node(value, property, &child(path, name), old_value(name)));
            }
        }
        result
    }

    fn junctors(&self, value: &Value, schema: Schema<'_>, path: &str) -> ValidationResult {
        let mut result = ValidationResult::default();
        let results = |keyword| schema.schemas(keyword).map(|schema| self.node(value, schema, path, None));
        let quoted = || go::quoted(path);
        if schema.schemas("anyOf").len() > 0 {
            self.any_of(results("anyOf"), &quoted(), &mut result);
        }
        if schema.schemas("oneOf").len() > 0 {
            self.one_of(results("oneOf"), &quoted(), &mut result);
        }
        if schema.schemas("allOf").len() > 0 {
            self.all_of(results("allOf"), &quoted(), &mut result);
        }
        if schema.child("not").is_some_and(|schema| self.node(value, schema, path, None).is_valid()) {
            result.add_error(self.invalid_root(format!("{} must not validate the schema (not)", quoted())));
        }
        result.increment();
        result
    }

    fn any_of(&self, results: impl Iterator<Item = ValidationResult>, quoted: &str, merged: &mut ValidationResult) {
        let mut best: Option<ValidationResult> = None;
        for result in results {
            if result.is_valid() {
                return merged.merge(result);
            }
            if best.as_ref().is_none_or(|best| result.match_count > best.match_count) {
                best = Some(result);
            }
        }
        merged.add_error(self.invalid_root(format!("{quoted} must validate at least one schema (anyOf)")));
        merged.merge(best.unwrap_or_default());
    }

    fn one_of(&self, results: impl Iterator<Item = ValidationResult>, quoted: &str, merged: &mut ValidationResult) {
        let (mut valid, mut first_valid, mut best) = (0, None, None::<ValidationResult>);
        for result in results {
            if result.is_valid() {
                valid += 1;
                first_valid.get_or_insert(result);
            } else if best.as_ref().is_none_or(|best| result.match_count > best.match_count) {
                best = Some(result);
            }
        }
        if valid == 1 {
            return merged.merge(first_valid.unwrap_or_default());
        }
        let found =
            if valid == 0 { "Found none valid".to_owned() } else { format!("Found {valid} valid alternatives") };
        merged.add_error(self.invalid_root(format!("{quoted} must validate one and only one schema (oneOf). {found}")));
        // The server reports the best failure only if no alternative is valid.
        if valid == 0 {
            merged.merge(best.unwrap_or_default());
        }
    }

    fn all_of(&self, results: impl Iterator<Item = ValidationResult>, quoted: &str, merged: &mut ValidationResult) {
        let (mut all, mut valid) = (0, 0);
        for result in results {
            all += 1;
            valid += usize::from(result.is_valid());
            merged.merge(result);
        }
        if valid < all {
            let none = if valid == 0 { ". None validated" } else { "" };
            merged.add_error(self.invalid_root(format!("{quoted} must validate all the schemas (allOf){none}")));
        }
    }
}

/// Whether a value equals an enum value. Go converts the value to the type of the enum value, which truncates
/// fractions. A null equals no enum value, not even null.
fn equals_enum_value(value: &Value, allowed: &Value) -> bool {
    match (value, allowed) {
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::Number(value), Value::Number(allowed)) => match (go::float(value), allowed.as_i64()) {
            (Some(value), Some(allowed)) => number::truncated(value) == allowed,
            _ => value.as_f64() == allowed.as_f64(),
        },
        (Value::Number(code), Value::String(allowed)) if code.is_i64() => {
            let c = code.as_i64().and_then(|code| u32::try_from(code).ok()).and_then(char::from_u32);
            *allowed == c.unwrap_or(char::REPLACEMENT_CHARACTER).to_string()
        }
        _ => value == allowed,
    }
}

/// Returns the OpenAPI type of a value.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if go::float(number).is_some() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
