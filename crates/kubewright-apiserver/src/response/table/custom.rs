//! The cells of custom kinds, in the printer columns of their definitions.

use std::cell::LazyCell;

use serde_json::{Value, json};

use super::row::{Row, UNKNOWN};
use crate::{
    api::{
        go::{self, normalize_numbers},
        kind::Kind,
    },
    resource::printer_columns::Columns,
};

/// The size of the cells of a row from which on they must not exceed the size of the object, in bytes.
const MIN_CHECKED_SIZE: usize = 16 << 10;

/// Returns the cells of an object: its name, and the value of each column. Many columns can show the same field, so
/// that cells are null once they are larger than the object.
pub(super) fn cells(columns: &Columns, kind: &Kind, row: &Row<'_>) -> Vec<Value> {
    let object = row.object.to_json(&kind.api_version(), &kind.kind);
    let object_size = LazyCell::new(|| go::json_size(&object));
    let mut size = 0;
    let cells = columns.paths.iter().map(|(type_, path)| {
        if size > MIN_CHECKED_SIZE && size > *object_size {
            return Value::Null;
        }
        let cell = path.first(&object).map_or(Value::Null, |found| cell(type_, found, row));
        size += cell.as_str().map_or(0, str::len);
        cell
    });
    std::iter::once(row.name()).chain(cells).collect()
}

/// Returns the cell of a value. Values of another type than the column are not shown.
fn cell(type_: &str, value: &Value, row: &Row<'_>) -> Value {
    match type_ {
        "string" => json!(text(value)),
        "integer" => value.as_i64().map_or_else(|| value.as_f64().map_or(Value::Null, truncate), Value::from),
        "number" if value.is_number() => {
            let mut number = value.clone();
            normalize_numbers(&mut number);
            number
        }
        "boolean" if value.is_boolean() => value.clone(),
        "date" => value.as_str().map_or(Value::Null, |text| json!(date(text, row))),
        _ => Value::Null,
    }
}

fn truncate(number: f64) -> Value {
    let mut truncated = json!(number.trunc());
    normalize_numbers(&mut truncated);
    truncated
}

fn date(text: &str, row: &Row<'_>) -> String {
    match text {
        "" | "null" => UNKNOWN.to_owned(),
        _ => text.parse().map_or_else(|_| "<invalid>".to_owned(), |at| row.ago(at)),
    }
}

/// Formats a value as Go does: lists and objects are JSON with HTML characters escaped.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => {
            let text = value.to_string();
            [("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")]
                .iter()
                .fold(text, |text, (from, to)| text.replace(from, to))
        }
        Value::Null => "<no value>".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
