//! The rules of bundles: those of the Operator SDK, of OperatorHub and of OLM v1.
//!
//! An error makes a tool or OLM reject the bundle. A warning is about what a catalog, OLM v1 or an administrator
//! expects.

mod definitions;
mod layout;
mod objects;
mod service_version;
mod webhooks;

use std::{collections::BTreeSet, fmt};

use serde::Serialize;
use serde_json::Value;

use super::directory::{Bundle, Manifest};

/// A violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Whether it is an error.
    pub level: Level,
    /// The name of the rule, such as `csv-name`.
    pub code: &'static str,
    /// The file, relative to the directory of the bundle.
    pub file: String,
    /// The path of the field; empty if it is about the file.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// How to resolve it.
    pub help: String,
}

/// The level of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The bundle is rejected.
    Error,
    /// The bundle can be installed.
    Warning,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { level, code, file, field, message, help } = self;
        let level = match level {
            Level::Error => "error",
            Level::Warning => "warning",
        };
        let field = if field.is_empty() { String::new() } else { format!("{field}: ") };
        write!(f, "{level}[{code}] {file}: {field}{message}; {help}")
    }
}

/// Validates a bundle. Returns the errors, then the warnings.
#[must_use]
pub fn validate(bundle: &Bundle) -> Vec<Finding> {
    let mut findings = Findings::default();
    layout::validate(bundle, &mut findings);
    objects::validate(bundle, &mut findings);
    if let Some(csv) = bundle.service_version() {
        findings.file.clone_from(&csv.file);
        service_version::validate(bundle, &csv.object, &mut findings);
        definitions::validate(bundle, &csv.object, &mut findings);
        webhooks::validate(&csv.object, &mut findings);
    }
    findings.list.sort_by_key(|finding| finding.level);
    findings.list
}

/// The findings, and the file that they are about.
#[derive(Default)]
struct Findings {
    file: String,
    list: Vec<Finding>,
}

impl Findings {
    fn error(&mut self, code: &'static str, field: impl Into<String>, message: impl Into<String>, help: &str) {
        self.push(Level::Error, code, field.into(), message.into(), help);
    }

    fn warning(&mut self, code: &'static str, field: impl Into<String>, message: impl Into<String>, help: &str) {
        self.push(Level::Warning, code, field.into(), message.into(), help);
    }

    fn push(&mut self, level: Level, code: &'static str, field: String, message: String, help: &str) {
        let (file, help) = (self.file.clone(), help.to_owned());
        self.list.push(Finding { level, code, file, field, message, help });
    }
}

/// Returns a string, empty if it is absent.
fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// Returns the items of a list, none if it is absent.
fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value[name].as_array().into_iter().flatten()
}

fn strings<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    list(value, name).filter_map(Value::as_str)
}

/// Returns the items that occur more than once.
fn duplicates<T: Ord + Copy>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut seen = BTreeSet::new();
    items.into_iter().filter(|item| !seen.insert(*item)).collect()
}
