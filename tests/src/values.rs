//! The corpus of values under schemas with the recorded answers of the real API server.
//!
//! A document in `corpus/values` has a `field` of a kind's spec, the `schema` of that field, and `values` to create it
//! with, or `updates` of values that were stored before the schema was in force (`old`) to values that are written now
//! (`new`).

use std::{collections::BTreeMap, fs, path::PathBuf};

use kubewright_crd::{field::FieldError, value};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A field with the values that it is tested with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    field: String,
    schema: Value,
    #[serde(default)]
    values: Vec<Value>,
    #[serde(default)]
    updates: Vec<Update>,
    #[serde(default)]
    differs: BTreeMap<usize, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Update {
    old: Value,
    new: Value,
}

/// A value that is written to a field.
pub struct Case {
    /// The name, such as `field[3]`; updates are counted after values.
    pub name: String,
    /// The field of the spec.
    pub field: String,
    /// The stored value that an update replaces.
    pub old: Option<Value>,
    /// The value that is written.
    pub new: Value,
    /// Why our answer and the server's may differ.
    pub differs: Option<String>,
}

/// The answer to a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// The value is accepted, and this value is stored.
    #[serde(rename = "Taken")]
    Accepted(Value),
    /// The value is accepted, and no value is stored.
    Dropped,
    /// The value is rejected: field, reason and message of each cause, sorted.
    #[serde(rename = "Refused")]
    Rejected(Vec<(String, String, String)>),
}

fn directory() -> PathBuf {
    crate::workspace_root().join("tests/corpus/values")
}

fn documents() -> Vec<Document> {
    let files = fs::read_dir(directory()).expect("the corpus exists").map(|file| file.expect("an entry").path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|ext| ext == "yaml")).collect();
    files.sort();
    let read = |file: PathBuf| -> Vec<Document> {
        let text = fs::read_to_string(&file).expect("the file can be read");
        serde_saphyr::from_multiple(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    files.into_iter().flat_map(read).collect()
}

/// Reads every case.
///
/// # Panics
/// If the corpus cannot be read.
pub fn cases() -> Vec<Case> {
    let of_document = |document: Document| {
        let Document { field, values, updates, mut differs, .. } = document;
        let updates = updates.into_iter().map(|update| (Some(update.old), update.new));
        let pairs = values.into_iter().map(|value| (None, value)).chain(updates).enumerate();
        let case = |(index, (old, new))| Case {
            name: format!("{field}[{index}]"),
            field: field.clone(),
            old,
            new,
            differs: differs.remove(&index),
        };
        pairs.map(case).collect::<Vec<_>>()
    };
    documents().into_iter().flat_map(of_document).collect()
}

/// Returns the schema of the kind that has all fields. If `loose`, the spec accepts any value.
pub fn schema(loose: bool) -> Value {
    let properties: Map<String, Value> =
        documents().into_iter().map(|document| (document.field, document.schema)).collect();
    let spec = match loose {
        true => json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true }),
        false => json!({ "type": "object", "properties": properties }),
    };
    json!({ "type": "object", "properties": { "spec": spec } })
}

impl Case {
    /// Returns the answer of `kubewright_crd::value`, which applies its steps in the order of the server.
    pub fn ours(&self, schema: &Value) -> Answer {
        let new = self.defaulted(&self.new, schema);
        let mut findings = value::validate_embedded_resources(&new, schema);
        match &self.old {
            None => findings.extend(value::validate(&new, schema)),
            Some(old) => findings.extend(value::validate_update(&new, &self.defaulted(old, schema), schema)),
        }
        findings.extend(value::validate_list_sets_and_maps(&new, schema));
        if findings.is_empty() {
            return Answer::accepted(new["spec"].get(&self.field));
        }
        let cause = |finding: &FieldError| {
            (finding.field.clone(), finding.error_type.cause_type().to_owned(), finding.message())
        };
        Answer::rejected(findings.iter().map(cause).collect())
    }

    fn defaulted(&self, value: &Value, schema: &Value) -> Map<String, Value> {
        let mut fields = Map::new();
        fields.insert("spec".to_owned(), json!({ &self.field: value }));
        value::prune(&mut fields, schema);
        value::prune_nulls(&mut fields, schema);
        value::default(&mut fields, schema);
        fields
    }

    /// Returns how our answer and the server's differ, if the case does not allow it, or that they agree although the
    /// case expects a difference.
    pub fn difference(&self, schema: &Value, server: &Answer) -> Option<String> {
        let ours = self.ours(schema);
        let same = ours == *server;
        let text = || format!("{} {}\n  ours:   {ours:?}\n  server: {server:?}", self.name, self.new);
        (same == self.differs.is_some()).then(text)
    }
}

impl Answer {
    /// Returns the answer for a stored value. Go encodes floats without a fraction as integers.
    pub fn accepted(value: Option<&Value>) -> Self {
        value.map_or(Self::Dropped, |value| {
            Self::Accepted(if is_integral(value) { json!(value.as_f64().map(|v| v as i64)) } else { value.clone() })
        })
    }

    /// Returns a rejection with its causes sorted.
    pub fn rejected(mut causes: Vec<(String, String, String)>) -> Self {
        causes.sort();
        Self::Rejected(causes)
    }
}

fn is_integral(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number.fract() == 0.0 && number.abs() < 1e15)
}

/// Reads the recorded answers of the real server.
///
/// # Panics
/// If the answers cannot be read.
pub fn recorded() -> BTreeMap<String, Answer> {
    let text = fs::read_to_string(directory().join("answers.json")).expect("answers are recorded");
    serde_json::from_str(&text).expect("they are answers")
}

/// Records the answers of the real server.
///
/// # Panics
/// If the answers cannot be written.
pub fn record(answers: &BTreeMap<String, Answer>) {
    let lines: Vec<String> =
        answers.iter().map(|(name, answer)| format!("{}: {}", json!(name), json!(answer))).collect();
    fs::write(directory().join("answers.json"), format!("{{\n{}\n}}\n", lines.join(",\n")))
        .expect("the answers can be written");
}
