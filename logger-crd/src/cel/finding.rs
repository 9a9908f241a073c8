//! What is wrong with a rule, and how the server tells it.

use std::fmt::Write;

/// A step from a schema to one below it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// The schema of a property.
    Property(String),
    /// The schema of a list's items.
    Items,
    /// The schema of a map's values.
    AdditionalProperties,
}

/// The field of a rule that is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
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

impl Part {
    fn name(self) -> &'static str {
        match self {
            Part::Rule => "rule",
            Part::Message => "message",
            Part::MessageExpression => "messageExpression",
            Part::Reason => "reason",
            Part::FieldPath => "fieldPath",
            Part::OptionalOldSelf => "optionalOldSelf",
        }
    }
}

/// Why the server refuses, as the `reason` of a cause in its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FindingReason {
    /// `FieldValueInvalid`: it does not compile, or is no use where it stands.
    Invalid,
    /// `FieldValueForbidden`: it may cost too much.
    Forbidden,
    /// `FieldValueRequired`: something has to be said.
    Required,
    /// `FieldValueNotSupported`: no such value.
    NotSupported,
    /// `InternalError`: the schema shows nothing a rule could read.
    Internal,
}

/// A rule the server would refuse.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleFinding {
    /// The node the rule stands on, from the root of the schema.
    pub path: Vec<Segment>,
    /// The rule among those of the node, from 0; `None` where the finding is about all of them.
    pub index: Option<usize>,
    /// The field of the rule; `None` where the finding is about all of them.
    pub part: Option<Part>,
    /// Why it is refused.
    pub reason: FindingReason,
    /// The value, as the server repeats it.
    pub value: Option<String>,
    /// What is wrong, as the server says it.
    pub detail: String,
    /// The node whose elements cannot be told apart, where that is what is wrong.
    pub within: Option<Vec<Segment>>,
}

impl RuleFinding {
    /// The field as the server names it. `root` is the path of the schema, such as
    /// `spec.versions[0].schema.openAPIV3Schema`.
    #[must_use]
    pub fn field(&self, root: &str) -> String {
        let mut field = place(root, &self.path);
        if let Some(index) = self.index {
            // Writing to a string does not fail.
            let _ = write!(field, ".x-kubernetes-validations[{index}]");
        } else if self.reason == FindingReason::Internal {
            field.push_str(".x-kubernetes-validations");
        }
        if let Some(part) = self.part {
            let _ = write!(field, ".{}", part.name());
        }
        field
    }

    /// The way to it in keywords and names (`["properties", "spec", "x-kubernetes-validations", "0", "rule"]`).
    #[must_use]
    pub fn keywords(&self) -> Vec<String> {
        let mut keywords = Vec::new();
        for segment in &self.path {
            match segment {
                Segment::Property(name) => keywords.extend(["properties".to_owned(), name.clone()]),
                Segment::Items => keywords.push("items".to_owned()),
                Segment::AdditionalProperties => keywords.push("additionalProperties".to_owned()),
            }
        }
        keywords.push("x-kubernetes-validations".to_owned());
        keywords.extend(self.index.map(|index| index.to_string()));
        keywords.extend(self.part.map(|part| part.name().to_owned()));
        keywords
    }

    /// What is wrong, as the server says it of a schema at `root`.
    #[must_use]
    pub fn detail_at(&self, root: &str) -> String {
        match &self.within {
            Some(within) => format!("{} within {}", self.detail, place(root, within)),
            None => self.detail.clone(),
        }
    }

    /// The message of the cause in the server's answer.
    #[must_use]
    pub fn message(&self, root: &str) -> String {
        let detail = self.detail_at(root);
        let value = self.value.as_ref().map(|value| format!("{value}: ")).unwrap_or_default();
        match self.reason {
            FindingReason::Invalid => format!("Invalid value: {value}{detail}"),
            FindingReason::Forbidden => format!("Forbidden: {detail}"),
            FindingReason::Required => format!("Required value: {detail}"),
            FindingReason::NotSupported => format!("Unsupported value: {value}{detail}"),
            FindingReason::Internal => format!("Internal error: {detail}"),
        }
    }
}

fn place(root: &str, path: &[Segment]) -> String {
    let mut place = root.to_owned();
    for segment in path {
        match segment {
            Segment::Property(name) => {
                let _ = write!(place, ".properties[{name}]");
            }
            Segment::Items => place.push_str(".items"),
            Segment::AdditionalProperties => place.push_str(".additionalProperties"),
        }
    }
    place
}
