//! Converts the results of expressions to JSON.

use serde_json::{Map as Fields, Number, Value as Json};

use super::value::{EvalError, EvalResult, MAX_STRING_LENGTH, Message, Value};
use crate::cel::formats::{base64, time};

/// Converts a value to JSON. Messages become objects.
///
/// # Errors
/// The value has no JSON representation, or its JSON would be larger than what an evaluation may read.
pub(crate) fn to_json(value: &Value<'_>) -> EvalResult<Json> {
    convert(value, &mut Limit { remaining: MAX_STRING_LENGTH })
}

/// Limits the size of the result: a list can contain another one many times.
struct Limit {
    remaining: usize,
}

impl Limit {
    fn charge(&mut self, size: usize) -> EvalResult<()> {
        self.remaining = self.remaining.checked_sub(size).ok_or_else(EvalError::cost_limit_exceeded)?;
        Ok(())
    }
}

fn convert(value: &Value<'_>, limit: &mut Limit) -> EvalResult<Json> {
    limit.charge(1)?;
    Ok(match value {
        Value::Null | Value::Optional(None) => Json::Null,
        Value::Bool(flag) => Json::Bool(*flag),
        Value::Int(number) => Json::from(*number),
        Value::Uint(number) => Json::from(*number),
        Value::Double(number) => double(*number)?,
        Value::String(text) => {
            limit.charge(text.len())?;
            Json::from(&**text)
        }
        Value::Bytes(bytes) => {
            limit.charge(bytes.len())?;
            Json::from(base64::encode(bytes))
        }
        Value::Timestamp(time) => Json::from(time::format_timestamp(*time)),
        Value::Duration(nanos) => Json::from(time::format_duration(*nanos)),
        Value::Optional(Some(inner)) => convert(inner, limit)?,
        Value::List(list) => Json::Array(list.iter().map(|item| convert(&item?, limit)).collect::<EvalResult<_>>()?),
        Value::Map(map) => {
            let entries = map.entries()?;
            let entries = entries.iter().map(|(key, value)| Ok((self::key(key)?, convert(value, limit)?)));
            Json::Object(entries.collect::<EvalResult<_>>()?)
        }
        Value::Message(message) => Json::Object(fields(message, limit)?),
        Value::UnknownPreserved(json) => Json::clone(json),
        other => return Err(no_json(other)),
    })
}

fn fields(message: &Message<'_>, limit: &mut Limit) -> EvalResult<Fields<String, Json>> {
    message.fields.iter().map(|(name, value)| Ok((name.clone(), convert(value, limit)?))).collect()
}

/// The JSON of a number. A whole number has no fraction, as in the JSON of Go.
fn double(number: f64) -> EvalResult<Json> {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return Ok(Json::from(number as i64));
    }
    Number::from_f64(number).map(Json::Number).ok_or_else(|| no_json(&Value::Double(number)))
}

fn key(key: &Value<'_>) -> EvalResult<String> {
    match key {
        Value::String(text) => Ok(text.to_string()),
        other => {
            let name = other.type_name();
            Err(EvalError::new(format!("map key {other} is of type {name}, not string")))
        }
    }
}

fn no_json(value: &Value<'_>) -> EvalError {
    EvalError::new(format!("type conversion error from '{}' to 'google.protobuf.Value'", value.type_name()))
}

/// Checks that the messages within a message are named after the fields that contain them: `Object.spec` in the field
/// `spec` of `Object`. Lists and maps do not count.
///
/// # Errors
/// Returns the names that differ, with the message of the API server.
pub(crate) fn check_message_names(message: &Message<'_>) -> Result<(), String> {
    let mut errors = Vec::new();
    check_fields(message, &mut errors);
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

fn check_fields(message: &Message<'_>, errors: &mut Vec<String>) {
    for (name, value) in &message.fields {
        check_names(value, &format!("{}.{name}", message.type_name), errors);
    }
}

fn check_names(value: &Value<'_>, expected: &str, errors: &mut Vec<String>) {
    match value {
        Value::Message(message) => {
            let found = &message.type_name;
            if found != expected {
                errors.push(format!(
                    "unexpected type name {found:?}, expected {expected:?}, which matches field name path from root \
                     Object type"
                ));
            }
            check_fields(message, errors);
        }
        Value::List(list) => list.iter().flatten().for_each(|item| check_names(&item, expected, errors)),
        Value::Map(map) => {
            let entries = map.entries().unwrap_or_default();
            entries.iter().for_each(|(_, value)| check_names(value, expected, errors));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message<'a>(type_name: &str, fields: Vec<(&str, Value<'a>)>) -> Message<'a> {
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Message { type_name: type_name.to_owned(), fields }
    }

    #[test]
    fn messages_lists_and_whole_numbers_become_json() {
        let spec = message("Object.spec", vec![("replicas", Value::Double(3.0)), ("ratio", Value::Double(0.5))]);
        let object = message(
            "Object",
            vec![
                ("spec", Value::Message(spec.into())),
                ("names", Value::list(vec![Value::string("a"), Value::Optional(None)])),
                ("labels", Value::map(vec![(Value::string("app"), Value::string("x"))])),
            ],
        );
        let expected = json!({"spec": {"replicas": 3, "ratio": 0.5}, "names": ["a", null], "labels": {"app": "x"}});
        assert_eq!(to_json(&Value::Message(object.into())), Ok(expected));
    }

    #[test]
    fn values_without_json_are_errors() {
        for value in [Value::Type("int"), Value::Double(f64::NAN), Value::map(vec![(Value::Int(1), Value::Null)])] {
            assert!(to_json(&value).is_err(), "{value}");
        }
    }

    #[test]
    fn results_that_contain_a_list_many_times_are_limited() {
        let mut value = Value::list(vec![Value::string("x".repeat(1000))]);
        for _ in 0..40 {
            value = Value::list(vec![value.clone(), value]);
        }
        assert_eq!(to_json(&value), Err(EvalError::cost_limit_exceeded()));
    }

    #[test]
    fn messages_are_named_after_their_fields() {
        let wrong = message("Object.spec.wrong", Vec::new());
        let spec = message("Object.spec", vec![("selector", Value::list(vec![Value::Message(wrong.into())]))]);
        let error = check_message_names(&message("Object", vec![("spec", Value::Message(spec.into()))]));
        assert_eq!(
            error,
            Err("unexpected type name \"Object.spec.wrong\", expected \"Object.spec.selector\", which matches field \
                 name path from root Object type"
                .to_owned())
        );
    }
}
