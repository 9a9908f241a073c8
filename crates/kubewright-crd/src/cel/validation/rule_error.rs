//! An error in a rule, with the message of the server and a report for the author of the rule.

use std::fmt::Write;

/// A step from a schema to one below it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// The schema of a property.
    Property(String),
    /// The schema of the items of a list.
    Items,
    /// The schema of the values of a map.
    AdditionalProperties,
}

/// A field of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleField {
    /// `rule`.
    Rule,
    /// `message`.
    Message,
    /// `messageExpression`.
    MessageExpression,
    /// `reason`.
    Reason,
    /// `fieldPath`.
    FieldPath,
    /// `optionalOldSelf`.
    OptionalOldSelf,
}

impl RuleField {
    fn name(self) -> &'static str {
        match self {
            RuleField::Rule => "rule",
            RuleField::Message => "message",
            RuleField::MessageExpression => "messageExpression",
            RuleField::Reason => "reason",
            RuleField::FieldPath => "fieldPath",
            RuleField::OptionalOldSelf => "optionalOldSelf",
        }
    }
}

/// The `reason` of a cause in the `Status` of a rejected CRD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleErrorReason {
    /// `FieldValueInvalid`: the expression does not compile, or the field has no effect.
    Invalid,
    /// `FieldValueForbidden`: the estimated cost exceeds a limit.
    Forbidden,
    /// `FieldValueRequired`: the field is missing.
    Required,
    /// `FieldValueNotSupported`: the value is none of the allowed ones.
    NotSupported,
    /// `InternalError`: the schema declares no type that a rule can access.
    Internal,
}

/// An error in a rule, because of which the server rejects the CRD.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleError {
    /// The schema that has the rule, as a path from the root.
    pub path: Vec<Segment>,
    /// The index of the rule; `None` for an error of all rules of the schema.
    pub index: Option<usize>,
    /// The field of the rule; `None` for an error of all rules of the schema.
    pub rule_field: Option<RuleField>,
    /// Why the rule is rejected.
    pub reason: RuleErrorReason,
    /// The value in the server's message, formatted.
    pub value: Option<String>,
    /// The detail of the server's message.
    pub detail: String,
    /// The schema whose elements cannot be correlated with their old values, if that is the error.
    pub uncorrelatable_path: Option<Vec<Segment>>,
    /// The details for the author of the rule, if the error is in an expression.
    pub(super) report: Option<String>,
}

impl RuleError {
    /// The field path in the server's message. `root` is the path of the schema, such as
    /// `spec.versions[0].schema.openAPIV3Schema`.
    pub fn field(&self, root: &str) -> String {
        let mut field = field_path(root, &self.path);
        if let Some(index) = self.index {
            // Writing to a string does not fail.
            let _ = write!(field, ".x-kubernetes-validations[{index}]");
        } else if self.reason == RuleErrorReason::Internal {
            field.push_str(".x-kubernetes-validations");
        }
        if let Some(rule_field) = self.rule_field {
            let _ = write!(field, ".{}", rule_field.name());
        }
        field
    }

    /// The path from the root of the schema in keywords, names and indexes:
    /// `["properties", "spec", "x-kubernetes-validations", "0", "rule"]`.
    pub fn schema_path(&self) -> Vec<String> {
        let mut path = Vec::new();
        for segment in &self.path {
            match segment {
                Segment::Property(name) => path.extend(["properties".to_owned(), name.clone()]),
                Segment::Items => path.push("items".to_owned()),
                Segment::AdditionalProperties => path.push("additionalProperties".to_owned()),
            }
        }
        path.push("x-kubernetes-validations".to_owned());
        path.extend(self.index.map(|index| index.to_string()));
        path.extend(self.rule_field.map(|rule_field| rule_field.name().to_owned()));
        path
    }

    /// The detail of the server's message for a schema at `root`.
    pub fn detail_at(&self, root: &str) -> String {
        match &self.uncorrelatable_path {
            Some(path) => format!("{} within {}", self.detail, field_path(root, path)),
            None => self.detail.clone(),
        }
    }

    /// The `message` of the cause in the `Status`.
    pub fn message(&self, root: &str) -> String {
        let detail = self.detail_at(root);
        let value = self.value.as_ref().map(|value| format!("{value}: ")).unwrap_or_default();
        match self.reason {
            RuleErrorReason::Invalid => format!("Invalid value: {value}{detail}"),
            RuleErrorReason::Forbidden => format!("Forbidden: {detail}"),
            RuleErrorReason::Required => format!("Required value: {detail}"),
            RuleErrorReason::NotSupported => format!("Unsupported value: {value}{detail}"),
            RuleErrorReason::Internal => format!("Internal error: {detail}"),
        }
    }

    /// The message for the author of the rule, if the error is in an expression. Unlike [`message`](Self::message), it
    /// does not repeat the rule as JSON: each error is followed by the source line, a caret, and a suggestion if there
    /// is one.
    pub fn report(&self) -> Option<String> {
        self.report.as_ref().map(|report| format!("Invalid value: {report}"))
    }
}

fn field_path(root: &str, path: &[Segment]) -> String {
    let mut field = root.to_owned();
    for segment in path {
        match segment {
            Segment::Property(name) => {
                let _ = write!(field, ".properties[{name}]");
            }
            Segment::Items => field.push_str(".items"),
            Segment::AdditionalProperties => field.push_str(".additionalProperties"),
        }
    }
    field
}
