//! Whether a default obeys the schema it stands in: the API server refuses a CRD in which one does not.

use serde_json::{Number, Value, json};

use super::{Node, PRESERVE};

/// The first rule of the schema that this value breaks.
pub(super) fn broken(value: &Value, schema: &Node) -> Option<String> {
    check(value, schema, "").err()
}

type Checked = Result<(), String>;

fn check(value: &Value, schema: &Node, path: &str) -> Checked {
    if value.is_null() && schema.get("nullable") == Some(&json!(true)) {
        return Ok(());
    }
    type_fits(value, schema, path)?;
    if let Some(Value::Array(allowed)) = schema.get("enum")
        && !allowed.contains(value)
    {
        return Err(says(path, value, format_args!("is none of {}", Value::Array(allowed.clone()))));
    }
    match value {
        Value::Number(number) => in_bounds(number, schema, path),
        Value::String(text) => size_fits(text.chars().count(), "Length", value, schema, path),
        Value::Array(items) => {
            size_fits(items.len(), "Items", value, schema, path)?;
            let Some(Value::Object(schema)) = schema.get("items") else { return Ok(()) };
            items.iter().enumerate().try_for_each(|(i, item)| check(item, schema, &format!("{path}[{i}]")))
        }
        Value::Object(fields) => {
            size_fits(fields.len(), "Properties", value, schema, path)?;
            fields_fit(fields, schema, path)
        }
        Value::Null | Value::Bool(_) => Ok(()),
    }
}

fn type_fits(value: &Value, schema: &Node, path: &str) -> Checked {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let int_or_string = schema.get("x-kubernetes-int-or-string") == Some(&json!(true));
    let fits = match schema.get("type").and_then(Value::as_str) {
        _ if int_or_string => ["integer", "string"].contains(&found),
        None => true,
        Some(expected) => expected == found || (expected, found) == ("number", "integer"),
    };
    let int32 = schema.get("format") == Some(&json!("int32"));
    match fits {
        false => Err(says(path, value, format_args!("is of type {found}"))),
        true if int32 && value.as_i64().is_none_or(|value| i32::try_from(value).is_err()) => {
            Err(says(path, value, "is more than 32 bits"))
        }
        true => Ok(()),
    }
}

fn in_bounds(number: &Number, schema: &Node, path: &str) -> Checked {
    let exclusive = |key: &str| schema.get(key) == Some(&json!(true));
    let limit = |key: &str| schema.get(key).filter(|limit| limit.is_number());
    let (value, number) = (number.as_f64(), &Value::Number(number.clone()));
    match limit("minimum") {
        Some(least) if value < least.as_f64() => return Err(says(path, number, format_args!("is less than {least}"))),
        Some(least) if exclusive("exclusiveMinimum") && value == least.as_f64() => {
            return Err(says(path, number, format_args!("is not greater than {least}")));
        }
        Some(_) | None => {}
    }
    match limit("maximum") {
        Some(most) if value > most.as_f64() => Err(says(path, number, format_args!("is greater than {most}"))),
        Some(most) if exclusive("exclusiveMaximum") && value == most.as_f64() => {
            Err(says(path, number, format_args!("is not less than {most}")))
        }
        Some(_) | None => Ok(()),
    }
}

fn size_fits(size: usize, of: &str, value: &Value, schema: &Node, path: &str) -> Checked {
    let limit = |end: &str| schema.get(&format!("{end}{of}")).and_then(Value::as_u64);
    match (limit("min"), limit("max")) {
        (Some(least), _) if (size as u64) < least => Err(says(path, value, format_args!("is shorter than {least}"))),
        (_, Some(most)) if size as u64 > most => Err(says(path, value, format_args!("is longer than {most}"))),
        _ => Ok(()),
    }
}

/// Each field that is required is there, and each that is there is known.
fn fields_fit(fields: &Node, schema: &Node, path: &str) -> Checked {
    let mut required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    if let Some(name) = required.find(|name| !fields.contains_key(*name)) {
        return Err(format!("its default leaves out `{path}.{name}`, which is required"));
    }
    let property = |name: &str| schema.get("properties").and_then(|properties| properties.get(name));
    for (name, value) in fields {
        let path = format!("{path}.{name}");
        match property(name).or_else(|| schema.get("additionalProperties")) {
            Some(Value::Object(schema)) => check(value, schema, &path)?,
            _ if schema.contains_key(PRESERVE) => {}
            _ => return Err(format!("its default has a field `{path}` that its schema does not know")),
        }
    }
    Ok(())
}

fn says(path: &str, value: &Value, what: impl std::fmt::Display) -> String {
    match path {
        "" => format!("its default {value} {what}"),
        path => format!("its default has {value} at `{path}`, which {what}"),
    }
}

/// Takes out the nulls that the schema does not allow: in Rust they are fields that are absent.
pub(super) fn prune_nulls(value: &mut Value, schema: &Node) {
    let nothing = Node::new();
    let below = |key: &str| schema.get(key).and_then(Value::as_object);
    match value {
        Value::Object(fields) => {
            let of = |name: &str| {
                let property = below("properties").and_then(|properties| properties.get(name)?.as_object());
                property.or_else(|| below("additionalProperties")).unwrap_or(&nothing)
            };
            fields.retain(|name, value| !value.is_null() || of(name).get("nullable") == Some(&json!(true)));
            fields.iter_mut().for_each(|(name, value)| prune_nulls(value, of(name)));
        }
        Value::Array(items) => {
            let schema = below("items").unwrap_or(&nothing);
            items.iter_mut().for_each(|item| prune_nulls(item, schema));
        }
        _ => {}
    }
}
