//! The table of shapes: Rust types as schemars describes them, and values that a server is asked about.
//!
//! `shapes.txt` holds what becomes of each and what a real API server says to the values. The fast test compares schemas
//! and refusals, the one on a control plane all of it. `SHAPES=record cargo test -p logger-crd` writes it anew.

mod facts;
mod kubernetes;
mod rust;

use std::fmt::Write as _;
use std::path::PathBuf;

use logger_crd::structural::{Options, Refusal, Root, Structural, both_contracts, structural, with_field_facts};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

/// One shape.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// The schema of an object with a field `it` of this shape.
    pub(crate) schema: Value,
    pub(crate) options: Options,
    /// Values for the field that a server is asked about.
    pub(crate) values: Vec<Value>,
}

impl Row {
    /// What becomes of the schema.
    pub(crate) fn outcome(&self) -> Result<Structural, Vec<Refusal>> {
        structural(&self.schema, &self.options)
    }

    /// The line that says what becomes of the schema.
    pub(crate) fn told(&self) -> String {
        match self.outcome() {
            Ok(structural) => {
                let mut line = format!("schema {}\n", shown(&structural.schema["properties"]["it"]));
                for (mark, places) in structural.marks {
                    writeln!(line, "mark {mark} {}", json!(places)).expect("a text takes all");
                }
                line
            }
            Err(refusals) => {
                refusals.iter().fold(String::new(), |line, refusal| line + &format!("refused {refusal}\n"))
            }
        }
    }
}

/// A schema; of one that is very long, what it has how often.
fn shown(schema: &Value) -> String {
    let whole = schema.to_string();
    if whole.len() < 4_000 {
        return whole;
    }
    let words = [
        "\"x-kubernetes-list-type\":",
        "\"x-kubernetes-map-type\":\"atomic\"",
        "\"x-kubernetes-list-map-keys\":",
        "\"default\":",
    ];
    words.iter().map(|word| format!("{} {word} ", whole.matches(word).count())).collect()
}

/// A Rust type.
fn row<T: JsonSchema>(name: &'static str, values: Vec<Value>) -> Row {
    row_with(name, |generator| generator.subschema_for::<T>().to_value(), values)
}

/// A Rust type and facts about the field.
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
    let read = with_field_facts(contract(draft().for_deserialize()), &contract(inline));
    let schema = both_contracts(read, &contract(draft().for_serialize()));
    let options = Options { root: Some(Root::default()), ..Options::default() };
    Row { name, schema, options, values }
}

/// Every shape.
pub(crate) fn rows() -> Vec<Row> {
    [rust::rows(), facts::rows(), kubernetes::rows()].into_iter().flatten().collect()
}

/// Where the record is.
pub(crate) fn file() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shapes.txt"))
}

/// What is recorded.
pub(crate) fn recorded() -> String {
    std::fs::read_to_string(file()).unwrap_or_default()
}
