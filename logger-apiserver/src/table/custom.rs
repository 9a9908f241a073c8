//! The columns of custom kinds, as their definitions say them

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceColumnDefinition;
use serde_json::{Value, json};

use super::{
    columns,
    json_path::Path,
    row::{Row, UNKNOWN},
};
use crate::{decode::whole_numbers, kinds::Kind};

/// `additionalPrinterColumns` of a version.
#[derive(Debug, Clone)]
pub(crate) struct Columns {
    headers: Vec<Value>,
    /// Their types and paths.
    paths: Vec<(String, Path)>,
}

impl Columns {
    /// Reads them. None is one for the age; from the first whose path is none on they are ignored.
    pub(crate) fn of(written: &[CustomResourceColumnDefinition]) -> Self {
        let mut columns = Self { headers: vec![columns::name()], paths: Vec::new() };
        if written.is_empty() {
            columns.headers.push(columns::age());
            columns.paths.extend(Path::parse(".metadata.creationTimestamp").map(|path| ("date".to_owned(), path)));
        }
        for column in written {
            let Some(path) = Path::parse(&column.json_path) else { break };
            columns.headers.push(header(column));
            columns.paths.push((column.type_.clone(), path));
        }
        columns
    }

    pub(super) fn headers(&self) -> Vec<Value> {
        self.headers.clone()
    }

    pub(super) fn cells(&self, kind: &Kind, row: &Row<'_>) -> Vec<Value> {
        let object = row.object.to_json(&kind.api_version(), &kind.kind);
        let cells = self
            .paths
            .iter()
            .map(|(type_, path)| path.first(&object).map_or(Value::Null, |found| cell(type_, found, row)));
        std::iter::once(row.name()).chain(cells).collect()
    }
}

fn header(column: &CustomResourceColumnDefinition) -> Value {
    let path = &column.json_path;
    let description = column.description.clone().filter(|text| !text.is_empty());
    let description =
        description.unwrap_or_else(|| format!("Custom resource definition column (in JSONPath format): {path}"));
    let format = column.format.as_deref().unwrap_or_default();
    columns::column(&column.name, &column.type_, format, column.priority.unwrap_or(0), &description)
}

/// A value as its column shows it; what is of another type is not shown.
fn cell(type_: &str, value: &Value, row: &Row<'_>) -> Value {
    match type_ {
        "string" => json!(text(value)),
        "integer" => value.as_i64().map_or_else(|| value.as_f64().map_or(Value::Null, cut), Value::from),
        "number" if value.is_number() => {
            let mut number = value.clone();
            whole_numbers(&mut number);
            number
        }
        "boolean" if value.is_boolean() => value.clone(),
        "date" => value.as_str().map_or(Value::Null, |text| json!(date(text, row))),
        _ => Value::Null,
    }
}

fn cut(number: f64) -> Value {
    let mut cut = json!(number.trunc());
    whole_numbers(&mut cut);
    cut
}

fn date(text: &str, row: &Row<'_>) -> String {
    match text {
        "" | "null" => UNKNOWN.to_owned(),
        _ => text.parse().map_or_else(|_| "<invalid>".to_owned(), |at| row.ago(at)),
    }
}

/// A value as Go prints it: what is not plain is JSON, fit for HTML.
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
