//! The six checks of the scorecard of the Operator SDK, without a cluster.
//!
//! Two of them differ, because they pass whatever the bundle contains:
//! - `olm-status-descriptors` requires descriptors of the fields in the status of the definition. The Operator SDK
//!   requires them only for an example with a status, and examples have none;
//! - `basic-check-spec` requires an example. Without one, the Operator SDK checks nothing.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::{
    directory::Bundle,
    validate::{Level, validate},
};

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScorecardResult {
    /// The name of the check, such as `olm-bundle-validation`.
    pub name: &'static str,
    /// Whether it passed.
    pub state: State,
    /// Why it failed.
    pub errors: Vec<String>,
    /// What can be improved.
    pub suggestions: Vec<String>,
}

/// The state of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// There are no errors.
    Pass,
    /// There is an error.
    Fail,
}

impl fmt::Display for ScorecardResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Pass => "pass",
            State::Fail => "fail",
        };
        write!(f, "{state}  {}", self.name)?;
        self.errors.iter().try_for_each(|error| write!(f, "\n      error: {error}"))?;
        self.suggestions.iter().try_for_each(|suggestion| write!(f, "\n      suggestion: {suggestion}"))
    }
}

/// Errors and suggestions.
type Check = fn(&Bundle, &mut Vec<String>, &mut Vec<String>);

/// The checks, by name.
pub(super) const TESTS: [(&str, Check); 6] = [
    ("basic-check-spec", examples_have_a_spec),
    ("olm-bundle-validation", bundle_is_valid),
    ("olm-crds-have-validation", fields_of_examples_have_a_schema),
    ("olm-crds-have-resources", definitions_have_resources),
    ("olm-spec-descriptors", |bundle, errors, _| descriptors(bundle, "spec", "specDescriptors", errors)),
    ("olm-status-descriptors", |bundle, errors, _| descriptors(bundle, "status", "statusDescriptors", errors)),
];

/// Runs the checks.
#[must_use]
pub fn scorecard(bundle: &Bundle) -> Vec<ScorecardResult> {
    let run = |(name, check): (&'static str, Check)| {
        let (mut errors, mut suggestions) = (Vec::new(), Vec::new());
        check(bundle, &mut errors, &mut suggestions);
        let state = if errors.is_empty() { State::Pass } else { State::Fail };
        ScorecardResult { name, state, errors, suggestions }
    };
    TESTS.into_iter().map(run).collect()
}

/// Returns the examples, or reports why there are none.
fn examples(bundle: &Bundle, errors: &mut Vec<String>) -> Vec<Value> {
    bundle.examples().unwrap_or_else(|error| {
        errors.push(format!("the examples are not a JSON array: {error}"));
        Vec::new()
    })
}

fn name_of(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    format!("{} {:?}", text(&object["kind"]), text(&object["metadata"]["name"]))
}

fn examples_have_a_spec(bundle: &Bundle, errors: &mut Vec<String>, _: &mut Vec<String>) {
    let examples = examples(bundle, errors);
    if examples.is_empty() && errors.is_empty() {
        errors.push("there is no example; add a file to `samples` of the settings".to_owned());
    }
    let without = examples.iter().filter(|example| example["spec"].is_null());
    errors.extend(without.map(|example| format!("the example {} has no spec", name_of(example))));
}

fn bundle_is_valid(bundle: &Bundle, errors: &mut Vec<String>, suggestions: &mut Vec<String>) {
    for finding in validate(bundle) {
        match finding.level {
            Level::Error => errors.push(finding.to_string()),
            Level::Warning => suggestions.push(finding.to_string()),
        }
    }
}

/// Returns the schema of a version of a kind.
fn schema<'a>(bundle: &'a Bundle, group: &str, version: &str, kind: &str) -> Option<&'a Value> {
    let specs = bundle.definitions().map(|definition| &definition.object["spec"]);
    let mut of_kind = specs.filter(|spec| spec["group"] == *group && spec["names"]["kind"] == *kind);
    let versions = of_kind.next()?["versions"].as_array()?;
    versions.iter().find(|candidate| candidate["name"] == *version)?.pointer("/schema/openAPIV3Schema")
}

fn fields_of_examples_have_a_schema(bundle: &Bundle, errors: &mut Vec<String>, _: &mut Vec<String>) {
    for example in examples(bundle, errors) {
        let (group, version) = example["apiVersion"].as_str().and_then(|text| text.split_once('/')).unwrap_or_default();
        let kind = example["kind"].as_str().unwrap_or_default();
        let Some(schema) = schema(bundle, group, version, kind) else {
            errors.push(format!("the definition of the example {} has no schema", name_of(&example)));
            continue;
        };
        for part in ["spec", "status"] {
            let fields = example[part].as_object().into_iter().flatten();
            let known = &schema["properties"][part];
            for (field, _) in fields.filter(|(field, _)| known["properties"].get(field.as_str()).is_none()) {
                // Maps and open objects have a schema without this field.
                if known["additionalProperties"].is_null() && known["x-kubernetes-preserve-unknown-fields"].is_null() {
                    errors.push(format!("{part}.{field} of the example {} has no schema", name_of(&example)));
                }
            }
        }
    }
}

/// Returns the owned definitions of the ClusterServiceVersion.
fn owned(bundle: &Bundle) -> impl Iterator<Item = &Value> {
    let csv = bundle.service_version().map(|csv| &csv.object["spec"]["customresourcedefinitions"]["owned"]);
    csv.and_then(Value::as_array).into_iter().flatten()
}

fn definitions_have_resources(bundle: &Bundle, errors: &mut Vec<String>, _: &mut Vec<String>) {
    for owned in owned(bundle).filter(|owned| owned["resources"].as_array().is_none_or(Vec::is_empty)) {
        let name = owned["name"].as_str().unwrap_or_default();
        errors.push(format!("{name} lists no resources; declare what its controller owns"));
    }
}

/// Each field of the spec or the status in the definition has a descriptor.
fn descriptors(bundle: &Bundle, part: &str, list: &str, errors: &mut Vec<String>) {
    for owned in owned(bundle) {
        let text = |field: &str| owned[field].as_str().unwrap_or_default();
        let (name, version) = (text("name"), text("version"));
        let group = name.split_once('.').map_or("", |(_, group)| group);
        let schema = schema(bundle, group, version, text("kind"));
        let fields = schema.and_then(|schema| schema["properties"][part]["properties"].as_object());
        let described = |field: &str| {
            let descriptors = owned[list].as_array();
            descriptors.into_iter().flatten().any(|descriptor| descriptor["path"] == *field)
        };
        for (field, _) in fields.into_iter().flatten().filter(|(field, _)| !described(field)) {
            errors.push(format!("{part}.{field} of {name} {version} has no descriptor; run `cargo xtask bundle`"));
        }
    }
}
