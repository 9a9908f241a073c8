//! The corpus of values under schemas, and what the real API server made of each.
//!
//! A document in `corpus/values` has a `field` of a kind's spec, the `schema` of that field, and `values` to create it with, or
//! `updates` of what was there before the schema was (`old`) to what is written now (`new`).

use std::{collections::BTreeMap, fs, path::PathBuf};

use logger_crd::{finding::Finding, value};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A field and what it is tried with.
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
    /// `field[3]`; updates are counted after values.
    pub name: String,
    /// The field of the spec.
    pub field: String,
    /// What was there before.
    pub old: Option<Value>,
    /// What is written.
    pub new: Value,
    /// Why ours and the server's answer may differ.
    pub differs: Option<String>,
}

/// What comes of a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// It is taken, and this is what is there then.
    Taken(Value),
    /// It is taken, and nothing is there then.
    Dropped,
    /// It is refused: field, reason and message of each cause, sorted.
    Refused(Vec<(String, String, String)>),
}

fn directory() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/values"))
}

fn documents() -> Vec<Document> {
    let files = fs::read_dir(directory()).expect("the corpus is there").map(|file| file.expect("an entry").path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|ext| ext == "yaml")).collect();
    files.sort();
    let read = |file: PathBuf| -> Vec<Document> {
        let text = fs::read_to_string(&file).expect("the file can be read");
        serde_saphyr::from_multiple(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    files.into_iter().flat_map(read).collect()
}

/// Every value.
///
/// # Panics
/// The corpus cannot be read.
#[must_use]
pub fn cases() -> Vec<Case> {
    let of_document = |document: Document| {
        let Document { field, values, updates, mut differs, .. } = document;
        let updates = updates.into_iter().map(|update| (Some(update.old), update.new));
        let tried = values.into_iter().map(|value| (None, value)).chain(updates).enumerate();
        let case = |(index, (old, new))| Case {
            name: format!("{field}[{index}]"),
            field: field.clone(),
            old,
            new,
            differs: differs.remove(&index),
        };
        tried.map(case).collect::<Vec<_>>()
    };
    documents().into_iter().flat_map(of_document).collect()
}

/// The schema of the kind that has all fields; a spec may hold anything, if `loose`.
#[must_use]
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
    /// What `logger_crd::value` makes of it, in the order of the server.
    #[must_use]
    pub fn ours(&self, schema: &Value) -> Answer {
        let new = self.prepared(&self.new, schema);
        let mut findings = value::embedded_resources(&new, schema);
        match &self.old {
            None => findings.extend(value::validate(&new, schema)),
            Some(old) => findings.extend(value::validate_update(&new, &self.prepared(old, schema), schema)),
        }
        findings.extend(value::duplicates(&new, schema));
        if findings.is_empty() {
            return Answer::taken(new["spec"].get(&self.field));
        }
        let cause = |finding: &Finding| (finding.path.clone(), finding.reason.name().to_owned(), finding.message());
        Answer::refused(findings.iter().map(cause).collect())
    }

    fn prepared(&self, value: &Value, schema: &Value) -> Map<String, Value> {
        let mut fields = Map::new();
        fields.insert("spec".to_owned(), json!({ &self.field: value }));
        value::prune(&mut fields, schema);
        value::drop_nulls(&mut fields, schema);
        value::default(&mut fields, schema);
        fields
    }

    /// How ours differs from what the server says, if it does and may not.
    #[must_use]
    pub fn disagreement(&self, schema: &Value, server: &Answer) -> Option<String> {
        let ours = self.ours(schema);
        let same = ours == *server;
        let text = || format!("{} {}\n  ours:   {ours:?}\n  server: {server:?}", self.name, self.new);
        (same == self.differs.is_some()).then(text)
    }
}

impl Answer {
    /// What is there then. Go writes whole floats as integers.
    #[must_use]
    pub fn taken(value: Option<&Value>) -> Self {
        value.map_or(Self::Dropped, |value| {
            Self::Taken(if is_whole(value) { json!(value.as_f64().map(|v| v as i64)) } else { value.clone() })
        })
    }

    /// A refusal with its causes in order.
    #[must_use]
    pub fn refused(mut causes: Vec<(String, String, String)>) -> Self {
        causes.sort();
        Self::Refused(causes)
    }
}

fn is_whole(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number.fract() == 0.0 && number.abs() < 1e15)
}

/// What the real server answered when it was asked last.
///
/// # Panics
/// The answers cannot be read.
#[must_use]
pub fn recorded() -> BTreeMap<String, Answer> {
    let text = fs::read_to_string(directory().join("answers.json")).expect("answers are recorded");
    serde_json::from_str(&text).expect("they are answers")
}

/// Keeps what the real server answers.
///
/// # Panics
/// The answers cannot be written.
pub fn record(answers: &BTreeMap<String, Answer>) {
    let lines: Vec<String> =
        answers.iter().map(|(name, answer)| format!("{}: {}", json!(name), json!(answer))).collect();
    fs::write(directory().join("answers.json"), format!("{{\n{}\n}}\n", lines.join(",\n")))
        .expect("they can be written");
}
