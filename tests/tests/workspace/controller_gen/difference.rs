//! Semantic differences between two definitions, and the list of known differences.

use std::{collections::BTreeSet, fmt};

use serde::Deserialize;
use serde_json::{Map, Value};

const KNOWN: &str = include_str!("../../../corpus/controller-gen/differences.yaml");

/// A value that differs between two definitions.
#[derive(Debug)]
pub struct Difference {
    /// `fleet spec.scope` in the definition, `fleet v1 .spec.texts.word maxLength` in a schema, with `[]` for the items
    /// of a list and `{}` for the values of a map.
    path: String,
    /// `None` if the value is absent.
    ours: Option<Value>,
    theirs: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Option<Value>| value.as_ref().map_or_else(|| "absent".to_owned(), Value::to_string);
        write!(f, "{}\n  ours:   {}\n  theirs: {}", self.path, text(&self.ours), text(&self.theirs))
    }
}

/// A known difference with its reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// A pattern in which `*` matches any text.
    pub path: String,
    /// The expected values; absent where a definition has none.
    ours: Option<Value>,
    theirs: Option<Value>,
    /// Whether any pair of values matches: there are many, or they change with versions.
    #[serde(default)]
    any: bool,
    reason: String,
}

/// Reads the list of known differences.
pub fn known_differences() -> Vec<Known> {
    let known: Vec<Known> = serde_saphyr::from_str(KNOWN).unwrap();
    assert!(known.iter().all(|known| !known.reason.is_empty()));
    known
}

impl Known {
    pub fn matches(&self, found: &Difference) -> bool {
        matches(&self.path, &found.path) && (self.any || (self.ours == found.ours && self.theirs == found.theirs))
    }
}

/// Reports whether a text matches a pattern in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, rest)) => text
            .strip_prefix(head)
            .is_some_and(|text| (0..=text.len()).any(|end| text.is_char_boundary(end) && matches(rest, &text[end..]))),
    }
}

/// Returns the differences between two definitions of a kind. Versions are matched by name, and line breaks in
/// descriptions are ignored.
pub fn differences(name: &str, ours: &Value, theirs: &Value) -> Vec<Difference> {
    let mut found = Found(Vec::new());
    let (mut ours, mut theirs) = (ours.clone(), theirs.clone());
    let (our_versions, their_versions) = (take_versions(&mut ours), take_versions(&mut theirs));
    found.values(name, " ", Some(&ours), Some(&theirs));
    for version in our_versions.keys().chain(their_versions.keys()).collect::<BTreeSet<_>>() {
        let path = format!("{name} {version}");
        let (mut ours, mut theirs) = (our_versions.get(version).cloned(), their_versions.get(version).cloned());
        let schema = |version: &mut Option<Value>| {
            version.as_mut().and_then(|version| version.get_mut("schema").map(Value::take))
        };
        let (our_schema, their_schema) = (schema(&mut ours), schema(&mut theirs));
        found.values(&path, " ", ours.as_ref(), theirs.as_ref());
        let (our_schema, their_schema) = (our_schema.unwrap_or_default(), their_schema.unwrap_or_default());
        found.schemas(&format!("{path} "), &our_schema["openAPIV3Schema"], &their_schema["openAPIV3Schema"]);
    }
    found.0
}

fn take_versions(definition: &mut Value) -> Map<String, Value> {
    let versions = definition["spec"]["versions"].take();
    let versions = versions.as_array().cloned().unwrap_or_default();
    versions.into_iter().map(|version| (version["name"].as_str().unwrap_or_default().to_owned(), version)).collect()
}

struct Found(Vec<Difference>);

impl Found {
    fn add(&mut self, path: String, ours: Option<&Value>, theirs: Option<&Value>) {
        self.0.push(Difference { path, ours: ours.cloned(), theirs: theirs.cloned() });
    }

    fn values(&mut self, path: &str, step: &str, ours: Option<&Value>, theirs: Option<&Value>) {
        match (ours, theirs) {
            (Some(Value::Object(ours)), Some(Value::Object(theirs))) => {
                for key in keys(ours, theirs) {
                    self.values(&format!("{path}{step}{key}"), ".", ours.get(key), theirs.get(key));
                }
            }
            _ if ours != theirs => self.add(path.to_owned(), ours, theirs),
            _ => {}
        }
    }

    fn schemas(&mut self, path: &str, ours: &Value, theirs: &Value) {
        let (Value::Object(ours), Value::Object(theirs)) = (ours, theirs) else {
            if ours != theirs {
                self.add(path.to_owned(), Some(ours), Some(theirs));
            }
            return;
        };
        for key in keys(ours, theirs) {
            match (key.as_str(), ours.get(key), theirs.get(key)) {
                ("properties", Some(Value::Object(ours)), Some(Value::Object(theirs))) => {
                    self.properties(path, ours, theirs);
                }
                ("items", Some(ours), Some(theirs)) => self.schemas(&format!("{path}[]"), ours, theirs),
                ("additionalProperties", Some(ours), Some(theirs)) => {
                    self.schemas(&format!("{path}{{}}"), ours, theirs);
                }
                ("description", Some(ours), Some(theirs)) if words(ours) == words(theirs) => {}
                (_, ours, theirs) if ours != theirs => self.add(format!("{path} {key}"), ours, theirs),
                _ => {}
            }
        }
    }

    fn properties(&mut self, path: &str, ours: &Map<String, Value>, theirs: &Map<String, Value>) {
        for name in keys(ours, theirs) {
            let path = format!("{path}.{name}");
            match (ours.get(name), theirs.get(name)) {
                (Some(ours), Some(theirs)) => self.schemas(&path, ours, theirs),
                (ours, theirs) => self.add(path, ours, theirs),
            }
        }
    }
}

fn keys<'a>(ours: &'a Map<String, Value>, theirs: &'a Map<String, Value>) -> BTreeSet<&'a String> {
    ours.keys().chain(theirs.keys()).collect()
}

fn words(text: &Value) -> Option<Vec<&str>> {
    Some(text.as_str()?.split_whitespace().collect())
}
