//! Objects under the whole schema of a version: completed as the API server stores them, then judged by its structure and its
//! rules.

use serde_json::{Map, Value};

use crate::cel::{Program, RuleFinding, Violation, ViolationReason};
use crate::finding::{Finding, Reason};
use crate::value;

/// What is said in place of the rules where they could fail over a value of the wrong form.
const NOT_CHECKED: &str = "some validation rules were not checked because the object was invalid; correct the existing errors to complete \
                           validation";

/// A version's schema (its `openAPIV3Schema`, structural), with its rules ready to run.
#[derive(Debug)]
pub struct Judge {
    schema: Value,
    program: Program,
}

impl Judge {
    /// Of a schema that may have been refused by no server.
    ///
    /// # Errors
    /// Rules that the server would refuse.
    pub fn new(schema: Value) -> Result<Self, Vec<RuleFinding>> {
        let program = Program::compile(&schema)?;
        Ok(Judge { schema, program })
    }

    /// Of a schema that a server has taken: what does not compile is left out.
    #[must_use]
    pub fn of_accepted(schema: Value) -> Self {
        let program = Program::compile_unchecked(&schema);
        Judge { schema, program }
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Makes a whole object what the server stores of it: fields that the schema does not know are dropped, nulls where none
    /// are allowed too, and defaults are filled in.
    pub fn complete(&self, object: &mut Map<String, Value>) {
        let meta = take_meta(object);
        value::prune(object, &self.schema);
        value::drop_nulls(object, &self.schema);
        // Nothing is refused here.
        drop(value::coerce_embedded_resources(object, &self.schema, value::Unreadable::Dropped));
        value::default(object, &self.schema);
        object.extend(meta);
    }

    /// What is wrong with a whole object, of which everything but its own metadata is judged; `old` is what it replaces. The
    /// order and the texts are the server's (`k8s.io/apiextensions-apiserver/pkg/registry/customresource`).
    #[must_use]
    pub fn judge(&self, new: &Map<String, Value>, old: Option<&Map<String, Value>>) -> Vec<Finding> {
        let mut findings = self.by_structure(&without_meta(new), old.map(without_meta).as_ref());
        if self.has_rules() {
            let (new, old) = (Value::Object(new.clone()), old.cloned().map(Value::Object));
            findings.extend(self.by_rules(&findings, &new, old.as_ref()));
        }
        findings
    }

    /// Whether there are rules to run: who has no whole object at hand need not make one for none.
    #[must_use]
    pub fn has_rules(&self) -> bool {
        !self.program.is_empty()
    }

    /// What the schema says without its rules, of the fields of an object beside its metadata.
    #[must_use]
    pub fn by_structure(&self, new: &Map<String, Value>, old: Option<&Map<String, Value>>) -> Vec<Finding> {
        let mut findings = match old {
            None => value::validate(new, &self.schema),
            Some(old) => value::validate_update(new, old, &self.schema),
        };
        findings.extend(value::embedded_resources(new, &self.schema));
        // What was there twice before may stay so.
        if old.is_none_or(|old| value::duplicates(old, &self.schema).is_empty()) {
            findings.extend(value::duplicates(new, &self.schema));
        }
        findings
    }

    /// What the rules say of a whole object of which this was found before.
    #[must_use]
    pub fn by_rules(&self, found: &[Finding], new: &Value, old: Option<&Value>) -> Vec<Finding> {
        let blocks = |finding: &Finding| {
            let reasons =
                [Reason::NotSupported, Reason::Required, Reason::TooLong, Reason::TooMany, Reason::TypeInvalid];
            reasons.contains(&finding.reason)
        };
        match () {
            () if !self.has_rules() => Vec::new(),
            () if found.iter().any(blocks) => {
                vec![Finding::invalid("<nil>".to_owned(), Value::Null, NOT_CHECKED).showing("null".to_owned())]
            }
            () => self.program.validate(new, old).into_iter().map(|violation| finding(violation, "")).collect(),
        }
    }
}

/// What a rule says of a value at `base`.
pub(crate) fn finding(violation: Violation, base: &str) -> Finding {
    let reason = match violation.reason {
        ViolationReason::Invalid => Reason::Invalid,
        ViolationReason::Forbidden => Reason::Forbidden,
        ViolationReason::Required => Reason::Required,
        ViolationReason::Duplicate => Reason::Duplicate,
    };
    let path = match (base, violation.path) {
        ("", path) if path.is_empty() => "<nil>".to_owned(),
        ("", path) => path,
        (base, path) if path.is_empty() || path.starts_with('[') => format!("{base}{path}"),
        (base, path) => format!("{base}.{path}"),
    };
    Finding::new(path, reason, violation.value, violation.detail)
}

/// What no schema governs.
const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

fn take_meta(object: &mut Map<String, Value>) -> Vec<(String, Value)> {
    META.iter().filter_map(|name| object.remove_entry(*name)).collect()
}

fn without_meta(object: &Map<String, Value>) -> Map<String, Value> {
    let fields = object.iter().filter(|(name, _)| !META.contains(&name.as_str()));
    fields.map(|(name, value)| (name.clone(), value.clone())).collect()
}
