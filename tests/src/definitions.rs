//! The corpus of definitions with the recorded answers of the real API server.
//!
//! A case is a document of a file in `corpus/definitions/{broken,valid,updates}`. It describes how a definition differs
//! from a valid one:
//!
//! | key | meaning |
//! |---|---|
//! | `case` | the unique name of the case |
//! | `property` | the schema of `spec.field` |
//! | `spec` | the schema of `spec` |
//! | `root` | the schema of the version |
//! | `version` | a merge patch of the only version |
//! | `versions` | merge patches of several versions; the first is the storage version |
//! | `definition` | a merge patch of the complete definition, applied last |
//! | `old` | the same keys for the existing definition: then the case is an update |
//! | `differs` | why the checker and the server may differ |

use std::{collections::BTreeMap, fs, path::PathBuf};

use kubewright_crd::{
    definition as crd,
    field::{ErrorType, FieldError},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// One definition, or an update of one.
pub struct Case {
    /// `broken/lists: a set of nullable items`.
    pub name: String,
    /// The definition that is validated.
    pub new: Value,
    /// The existing definition that an update replaces.
    pub old: Option<Value>,
    /// Why the checker and the server may differ.
    pub differs: Option<String>,
}

/// The answer to a definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The status code: 400 for definitions that cannot be decoded, 422 for invalid ones.
    pub code: u16,
    /// Field, reason and message of each cause, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<(String, String, String)>,
    /// The warnings, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The code of accepted definitions.
pub const ACCEPTED: u16 = 200;

impl Case {
    /// Returns the checker's answer.
    pub fn checked(&self) -> Answer {
        let findings = match &self.old {
            None => crd::validate(&self.new),
            Some(old) => crd::validate_update(&self.new, old),
        };
        let (errors, warnings): (Vec<FieldError>, Vec<FieldError>) =
            findings.into_iter().partition(FieldError::is_error);
        if errors.iter().any(|finding| finding.error_type == ErrorType::BadRequest) {
            return Answer { code: 400, causes: Vec::new(), warnings: Vec::new() };
        }
        let cause = |finding: &FieldError| {
            (finding.field.clone(), finding.error_type.cause_type().to_owned(), finding.message())
        };
        let code = if errors.is_empty() { ACCEPTED } else { 422 };
        let warnings = warnings.iter().map(ToString::to_string).collect();
        Answer { code, causes: errors.iter().map(cause).collect(), warnings }.sorted()
    }

    /// Reports whether the case is expected to be rejected or warned about. `None` leaves it open.
    pub fn is_broken(&self) -> Option<bool> {
        match self.name.split('/').next() {
            Some("broken") => Some(true),
            Some("valid") => Some(false),
            _ => None,
        }
    }
}

impl Answer {
    /// Sorts the causes and warnings, so that answers can be compared.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.causes.sort();
        // The server reports some errors of metadata several times.
        self.causes.dedup();
        self.warnings.sort();
        self
    }
}

/// Returns the directory of the corpus.
pub fn directory() -> PathBuf {
    crate::workspace_root().join("tests/corpus/definitions")
}

/// Reads every case.
///
/// # Panics
/// If the corpus cannot be read.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for group in ["broken", "updates", "valid"] {
        let files = fs::read_dir(directory().join(group)).expect("the corpus exists");
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
        panic!("{file}: unknown key {unknown}");
    }
    let name = document["case"].as_str().unwrap_or_else(|| panic!("{file}: a case has no name"));
    Case {
        name: format!("{file}: {name}"),
        new: definition(document),
        old: document.get("old").map(|old| established(definition(old))),
        differs: document.get("differs").map(|reason| reason.as_str().expect("a reason").to_owned()),
    }
}

/// Builds a definition that is valid except for the keys of a case.
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

/// Adds the status that a definition has once its kind is served.
fn established(mut definition: Value) -> Value {
    let versions = definition["spec"]["versions"].as_array();
    let stored = versions.into_iter().flatten().find(|version| version["storage"] == true);
    let stored: Vec<Value> = stored.map(|version| version["name"].clone()).into_iter().collect();
    let established = json!({ "type": "Established", "status": "True" });
    definition["status"] = json!({ "storedVersions": stored, "conditions": [established] });
    definition
}

/// Applies a merge patch of RFC 7396, except that nulls are preserved.
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

/// Reads the recorded answers of the real server, by name of the case.
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
    let text = format!("{{\n{}\n}}\n", lines.join(",\n"));
    fs::write(directory().join("answers.json"), text).expect("the answers can be written");
}

/// Returns how the answers of the checker and the server differ, if the case does not allow it, or that they agree
/// although the case expects a difference.
pub fn difference(case: &Case, server: &Answer) -> Option<String> {
    let checker = case.checked();
    let expected = case.is_broken();
    let is_accepted = server.code == ACCEPTED && server.warnings.is_empty();
    if expected == Some(is_accepted) {
        return Some(format!(
            "{}\n  the server answers {} to a definition that is declared {}",
            case.name,
            server.code,
            if is_accepted { "broken" } else { "valid" }
        ));
    }
    match (&checker == server, &case.differs) {
        (true, None) | (false, Some(_)) => None,
        (true, Some(_)) => Some(format!("{}\n  the checker and the server agree; remove `differs`", case.name)),
        (false, None) => Some(format!("{}\n{}", case.name, describe(&checker, server))),
    }
}

fn describe(checker: &Answer, server: &Answer) -> String {
    let lines = |answer: &Answer| {
        let causes = answer.causes.iter().map(|(field, reason, message)| format!("{field}: {reason}: {message}"));
        let warnings = answer.warnings.iter().map(|warning| format!("warning: {warning}"));
        causes.chain(warnings).collect::<Vec<_>>()
    };
    let (ours, theirs) = (lines(checker), lines(server));
    let only = |these: &[String], those: &[String], source: &str| {
        let only = these.iter().filter(|line| !those.contains(line));
        only.map(|line| format!("  only the {source}: {line}\n")).collect::<String>()
    };
    let codes = format!("  the checker answers {}, the server {}\n", checker.code, server.code);
    format!("{codes}{}{}", only(&ours, &theirs, "checker"), only(&theirs, &ours, "server"))
}
