//! The printer columns of kinds, which Tables consist of.

pub(crate) mod built_in;
pub(crate) mod json_path;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceColumnDefinition;
use serde_json::Value;

use self::json_path::Path;

/// The `additionalPrinterColumns` of one version of a custom kind.
#[derive(Debug, Clone)]
pub(crate) struct Columns {
    /// The column definitions of the Table.
    pub(crate) headers: Vec<Value>,
    /// The types and paths of the columns after the first, which is the name.
    pub(crate) paths: Vec<(String, Path)>,
}

impl Columns {
    /// Creates the columns of a definition. The default is the age. Columns from the first invalid path on are ignored.
    pub(crate) fn new(definitions: &[CustomResourceColumnDefinition]) -> Self {
        let mut columns = Self { headers: vec![built_in::name()], paths: Vec::new() };
        if definitions.is_empty() {
            columns.headers.push(built_in::age());
            columns.paths.extend(Path::parse(".metadata.creationTimestamp").map(|path| ("date".to_owned(), path)));
        }
        for definition in definitions {
            let Some(path) = Path::parse(&definition.json_path) else { break };
            columns.headers.push(header(definition));
            columns.paths.push((definition.type_.clone(), path));
        }
        columns
    }
}

fn header(column: &CustomResourceColumnDefinition) -> Value {
    let path = &column.json_path;
    let description = column.description.clone().filter(|text| !text.is_empty());
    let description =
        description.unwrap_or_else(|| format!("Custom resource definition column (in JSONPath format): {path}"));
    let format = column.format.as_deref().unwrap_or_default();
    built_in::column(&column.name, &column.type_, format, column.priority.unwrap_or(0), &description)
}
