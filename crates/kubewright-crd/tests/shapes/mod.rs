//! Shapes: Rust types with the schemas that schemars generates, and values to send to an API server.
//!
//! `shapes.txt` has the recorded results of the conversion and the responses of an API server to the values. The unit
//! test compares the results of the conversion. The test with a control plane also compares the responses, and records
//! with `SHAPES=record cargo test -p kubewright-crd --test server`.

mod facts;
mod kubernetes;
mod rust;

use std::fmt::Write as _;
use std::path::PathBuf;

use kubewright_crd::structural::{
    self, Options, Root, SchemaError, Structural, merge_contracts, with_field_constraints,
};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

/// One shape.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// The schema of an object with a field `it` of this shape.
    pub(crate) schema: Value,
    pub(crate) options: Options,
    /// Values of the field to send to an API server.
    pub(crate) values: Vec<Value>,
}

impl Row {
    pub(crate) fn convert(&self) -> Result<Structural, Vec<SchemaError>> {
        structural::convert(&self.schema, &self.options)
    }

    /// Returns the recorded lines of the conversion.
    pub(crate) fn summary(&self) -> String {
        match self.convert() {
            Ok(structural) => {
                let mut line = format!("schema {}\n", summarize(&structural.schema["properties"]["it"]));
                let mut extensions: Vec<_> = structural.extensions.into_iter().collect();
                extensions.sort_by_key(|(extension, _)| extension.name());
                for (extension, locations) in extensions {
                    let name = extension.name();
                    writeln!(line, "extension {name} {}", json!(locations)).expect("writing to a String succeeds");
                }
                line
            }
            Err(errors) => errors
                .iter()
                .map(|error| {
                    format!(
                        "error {error}
"
                    )
                })
                .collect(),
        }
    }
}

/// Returns a schema, or counts of keywords if it is very long.
fn summarize(schema: &Value) -> String {
    let text = schema.to_string();
    if text.len() < 4_000 {
        return text;
    }
    let keywords = [
        "\"x-kubernetes-list-type\":",
        "\"x-kubernetes-map-type\":\"atomic\"",
        "\"x-kubernetes-list-map-keys\":",
        "\"default\":",
    ];
    keywords.iter().map(|keyword| format!("{} {keyword} ", text.matches(keyword).count())).collect()
}

/// Returns the shape of a Rust type.
fn row<T: JsonSchema>(name: &'static str, values: Vec<Value>) -> Row {
    row_with(name, |generator| generator.subschema_for::<T>().to_value(), values)
}

/// Returns the shape of a Rust type with constraints of the field.
fn row_with(name: &'static str, it: impl Fn(&mut SchemaGenerator) -> Value, values: Vec<Value>) -> Row {
    let contract = |settings: SchemaSettings| {
        let mut generator = settings.into_generator();
        let mut it = it(&mut generator);
        if let Value::Object(it) = &mut it {
            it.insert("x-rust-field".to_owned(), json!("it"));
        }
        let definitions = generator.take_definitions(true);
        json!({"type": "object", "x-rust-type": "api::Widget", "properties": {"it": it}, "$defs": definitions})
    };
    let draft = SchemaSettings::draft2020_12;
    let mut inline = draft().for_deserialize();
    inline.inline_subschemas = true;
    let deserialized = with_field_constraints(contract(draft().for_deserialize()), &contract(inline));
    let schema = merge_contracts(deserialized, &contract(draft().for_serialize()));
    let options = Options { root: Some(Root::default()), ..Options::default() };
    Row { name, schema, options, values }
}

/// Returns every shape.
pub(crate) fn rows() -> Vec<Row> {
    [rust::rows(), facts::rows(), kubernetes::rows()].into_iter().flatten().collect()
}

/// Returns the path of the record.
pub(crate) fn file() -> PathBuf {
    envtest::workspace_root().expect("tests run in a checkout").join("crates/kubewright-crd/tests/shapes.txt")
}

/// Returns the recorded results.
pub(crate) fn recorded() -> String {
    std::fs::read_to_string(file()).unwrap_or_default()
}
