//! The corpus of definitions, and what the real API server answered to each.
//!
//! A case is a document of a file in `corpus/definitions/{broken,valid,updates}`. It says what is special about a definition
//! that is else in order:
//!
//! | key | meaning |
//! |---|---|
//! | `case` | its name; unique |
//! | `property` | the schema of `spec.field` |
//! | `spec` | the schema of `spec` |
//! | `root` | the schema of the version |
//! | `version` | a merge patch of the one version |
//! | `versions` | merge patches of several versions; the first is the one that is stored |
//! | `definition` | a merge patch of the definition as a whole, applied last |
//! | `old` | the same keys for the definition that is there already: then the case is an update |
//! | `differs` | why the checker and the server may disagree |

use std::{collections::BTreeMap, fs, path::PathBuf};

use logger_crd::check::{self, Finding};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// One definition, or an update of one.
pub struct Case {
    /// `broken/lists: a set of nullable items`.
    pub name: String,
    /// The definition that is judged.
    pub new: Value,
    /// The definition it replaces.
    pub old: Option<Value>,
    /// Why checker and server may disagree.
    pub differs: Option<String>,
}

/// What is said to a definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The status code; 400 for what cannot be read, 422 for what breaks rules.
    pub code: u16,
    /// Field, reason and message of each cause, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<(String, String, String)>,
    /// The warnings, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The code of what is taken.
pub const FINE: u16 = 200;

impl Case {
    /// What the checker says.
    #[must_use]
    pub fn checked(&self) -> Answer {
        let findings = match &self.old {
            None => check::definition(&self.new),
            Some(old) => check::update(&self.new, old),
        };
        let (refusals, warnings): (Vec<Finding>, Vec<Finding>) = findings.into_iter().partition(Finding::is_refusal);
        if refusals.iter().any(|finding| finding.reason == check::Reason::Undecodable) {
            return Answer { code: 400, causes: Vec::new(), warnings: Vec::new() };
        }
        let cause = |finding: &Finding| (finding.path.clone(), finding.reason.name().to_owned(), finding.message());
        let code = if refusals.is_empty() { FINE } else { 422 };
        let warnings = warnings.iter().map(ToString::to_string).collect();
        Answer { code, causes: refusals.iter().map(cause).collect(), warnings }.sorted()
    }

    /// Whether the case is meant to be refused, or at least warned of.
    #[must_use]
    pub fn is_broken(&self) -> Option<bool> {
        match self.name.split('/').next() {
            Some("broken") => Some(true),
            Some("valid") => Some(false),
            _ => None,
        }
    }
}

impl Answer {
    /// In the order of answers that are compared.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.causes.sort();
        // The server tells some faults of metadata several times.
        self.causes.dedup();
        self.warnings.sort();
        self
    }
}

/// The directory of the corpus.
#[must_use]
pub fn directory() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/definitions"))
}

/// Every case.
///
/// # Panics
/// The corpus cannot be read.
#[must_use]
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for group in ["broken", "updates", "valid"] {
        let files = fs::read_dir(directory().join(group)).expect("the corpus is there");
        let mut files: Vec<PathBuf> = files.map(|file| file.expect("an entry").path()).collect();
        files.sort();
        for file in files {
            let text = fs::read_to_string(&file).expect("the file can be read");
            let documents: Vec<Value> =
                serde_saphyr::from_multiple(&text).unwrap_or_else(|error| panic!("{file:?}: {error}"));
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            cases.extend(documents.iter().map(|document| case(document, &format!("{group}/{stem}"))));
        }
    }
    cases
}

fn case(document: &Value, file: &str) -> Case {
    let known = ["case", "property", "spec", "root", "version", "versions", "definition", "old", "differs"];
    let fields = document.as_object().unwrap_or_else(|| panic!("{file}: a case is a map"));
    if let Some(unknown) = fields.keys().find(|name| !known.contains(&name.as_str())) {
        panic!("{file}: no case has a {unknown}");
    }
    let name = document["case"].as_str().unwrap_or_else(|| panic!("{file}: a case has no name"));
    Case {
        name: format!("{file}: {name}"),
        new: definition(document),
        old: document.get("old").map(|old| established(definition(old))),
        differs: document.get("differs").map(|why| why.as_str().expect("a reason").to_owned()),
    }
}

/// A definition that is in order but for what a case says.
fn definition(case: &Value) -> Value {
    let root = root_schema(case);
    let version = |index: usize, patch: &Value| {
        let mut version = json!({
            "name": format!("v{}", index + 1),
            "served": true,
            "storage": index == 0,
            "schema": { "openAPIV3Schema": root.clone() },
        });
        merge(&mut version, patch);
        version
    };
    let versions: Vec<Value> = match case.get("versions").and_then(Value::as_array) {
        Some(patches) => patches.iter().enumerate().map(|(index, patch)| version(index, patch)).collect(),
        None => vec![version(0, case.get("version").unwrap_or(&json!({})))],
    };
    let mut definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "things.example.com" },
        "spec": {
            "group": "example.com",
            "names": { "plural": "things", "kind": "Thing" },
            "scope": "Namespaced",
            "versions": versions,
        },
    });
    if let Some(patch) = case.get("definition") {
        merge(&mut definition, patch);
    }
    definition
}

fn root_schema(case: &Value) -> Value {
    if let Some(root) = case.get("root") {
        return root.clone();
    }
    let spec = match (case.get("spec"), case.get("property")) {
        (Some(spec), _) => spec.clone(),
        (None, Some(property)) => json!({ "type": "object", "properties": { "field": property } }),
        (None, None) => json!({ "type": "object" }),
    };
    json!({ "type": "object", "properties": { "spec": spec } })
}

/// A definition with the status it has once its kind is served.
fn established(mut definition: Value) -> Value {
    let versions = definition["spec"]["versions"].as_array();
    let stored = versions.into_iter().flatten().find(|version| version["storage"] == true);
    let stored: Vec<Value> = stored.map(|version| version["name"].clone()).into_iter().collect();
    let established = json!({ "type": "Established", "status": "True" });
    definition["status"] = json!({ "storedVersions": stored, "conditions": [established] });
    definition
}

/// A merge patch of RFC 7396, but that a null stays.
fn merge(target: &mut Value, patch: &Value) {
    match (target, patch) {
        (Value::Object(target), Value::Object(patch)) => {
            for (name, value) in patch {
                merge(target.entry(name.clone()).or_insert(Value::Object(Map::new())), value);
            }
        }
        (target, patch) => *target = patch.clone(),
    }
}

/// What the real server answered when it was asked last, by name of the case.
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
    let text = format!("{{\n{}\n}}\n", lines.join(",\n"));
    fs::write(directory().join("answers.json"), text).expect("the answers can be written");
}

/// How what the checker says differs from what the server says, if it does and may not.
#[must_use]
pub fn disagreement(case: &Case, server: &Answer) -> Option<String> {
    let checker = case.checked();
    let meant = case.is_broken();
    let is_taken = server.code == FINE && server.warnings.is_empty();
    if meant == Some(is_taken) {
        return Some(format!(
            "{}\n  the server answers {} to what is said to be {}",
            case.name,
            server.code,
            if is_taken { "broken" } else { "valid" }
        ));
    }
    match (&checker == server, &case.differs) {
        (true, None) | (false, Some(_)) => None,
        (true, Some(_)) => Some(format!("{}\n  checker and server agree by now", case.name)),
        (false, None) => Some(format!("{}\n{}", case.name, difference(&checker, server))),
    }
}

fn difference(checker: &Answer, server: &Answer) -> String {
    let lines = |answer: &Answer| {
        let causes = answer.causes.iter().map(|(field, reason, message)| format!("{field}: {reason}: {message}"));
        let warnings = answer.warnings.iter().map(|warning| format!("warning: {warning}"));
        causes.chain(warnings).collect::<Vec<_>>()
    };
    let (ours, theirs) = (lines(checker), lines(server));
    let only = |these: &[String], those: &[String], who: &str| {
        let only = these.iter().filter(|line| !those.contains(line));
        only.map(|line| format!("  only the {who}: {line}\n")).collect::<String>()
    };
    let codes = format!("  the checker has {}, the server {}\n", checker.code, server.code);
    format!("{codes}{}{}", only(&ours, &theirs, "checker"), only(&theirs, &ours, "server"))
}
