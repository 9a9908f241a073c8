//! Values as Go prints them: in the texts of refusals

use serde_json::Value;

/// `%v`
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => format!("[{}]", items.iter().map(text).collect::<Vec<_>>().join(" ")),
        Value::Object(fields) => {
            let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}:{}", text(value))).collect();
            format!("map[{}]", fields.join(" "))
        }
    }
}

/// `%#v`
pub(crate) fn syntax(value: &Value) -> String {
    let inside = match value {
        Value::Array(items) => items.iter().map(syntax).collect::<Vec<_>>(),
        Value::Object(fields) => fields.iter().map(|(name, value)| format!("{name:?}:{}", syntax(value))).collect(),
        Value::Null => return "interface {}(nil)".to_owned(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => return value.to_string(),
    };
    format!("{}{{{}}}", type_name(value), inside.join(", "))
}

/// `%T`
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
