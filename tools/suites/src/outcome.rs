//! The outcomes of the specs of a suite on one server.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fmt,
};

use serde::{Deserialize, Serialize};

/// The maximum length of the message of a failure, in bytes.
const MESSAGE_BYTES: usize = 2000;

/// How a spec ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Outcome {
    Passed,
    Skipped,
    /// With the message of the failure, possibly its start only.
    Failed(String),
}

impl Outcome {
    /// Returns a failure with the start of its message.
    pub(crate) fn failed(message: &str) -> Outcome {
        let message = message.trim();
        Outcome::Failed(message[..message.floor_char_boundary(MESSAGE_BYTES)].to_owned())
    }

    pub(crate) fn is_failure(&self) -> bool {
        matches!(self, Outcome::Failed(_))
    }

    /// Reports whether two specs ended in the same way, whatever the messages of their failures.
    pub(crate) fn equals(&self, other: &Outcome) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outcome::Passed => "passed",
            Outcome::Skipped => "skipped",
            Outcome::Failed(_) => "failed",
        })
    }
}

/// The outcomes by spec.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Outcomes {
    specs: BTreeMap<String, Outcome>,
}

impl Outcomes {
    /// Adds a spec. If another one has the same name, its name gets a number: `name (2)`.
    pub(crate) fn add(&mut self, name: &str, outcome: Outcome) {
        let (mut unique, mut number) = (name.to_owned(), 1);
        loop {
            match self.specs.entry(unique) {
                Entry::Vacant(vacant) => {
                    vacant.insert(outcome);
                    return;
                }
                Entry::Occupied(_) => number += 1,
            }
            unique = format!("{name} ({number})");
        }
    }

    /// Adds the specs of a part of the suite: `part: name`.
    pub(crate) fn add_part(&mut self, part: &str, outcomes: Outcomes) {
        for (name, outcome) in outcomes.specs {
            self.add(&format!("{part}: {name}"), outcome);
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Outcome> {
        self.specs.get(name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Outcome)> {
        self.specs.iter().map(|(name, outcome)| (name.as_str(), outcome))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }

    pub(crate) fn has_failure(&self) -> bool {
        self.specs.values().any(Outcome::is_failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_of_the_same_name_are_numbered() {
        let mut outcomes = Outcomes::default();
        for outcome in [Outcome::Passed, Outcome::failed("first"), Outcome::Skipped] {
            outcomes.add("spec", outcome);
        }
        let mut suite = Outcomes::default();
        suite.add_part("pkg", outcomes);
        let shown: Vec<String> = suite.iter().map(|(name, outcome)| format!("{name} {outcome}")).collect();
        assert_eq!(shown, ["pkg: spec passed", "pkg: spec (2) failed", "pkg: spec (3) skipped"]);
        assert!(suite.has_failure() && !suite.is_empty());
    }

    #[test]
    fn long_messages_are_truncated_between_characters() {
        let Outcome::Failed(message) = Outcome::failed(&format!("\n{}", "é".repeat(MESSAGE_BYTES))) else { panic!() };
        assert_eq!(message.len(), MESSAGE_BYTES);
        let Outcome::Failed(message) = Outcome::failed(&format!("a{}", "é".repeat(MESSAGE_BYTES))) else { panic!() };
        assert_eq!(message.len(), MESSAGE_BYTES - 1);
    }

    #[test]
    fn failures_are_equal_whatever_their_messages() {
        assert!(Outcome::failed("a").equals(&Outcome::failed("b")));
        assert!(!Outcome::failed("a").equals(&Outcome::Skipped));
    }

    #[test]
    fn outcomes_are_saved_by_spec() {
        let mut outcomes = Outcomes::default();
        outcomes.add("a", Outcome::Passed);
        outcomes.add("b", Outcome::failed("why"));
        let json = serde_json::to_string(&outcomes).unwrap();
        assert_eq!(json, r#"{"a":"passed","b":{"failed":"why"}}"#);
        assert_eq!(serde_json::from_str::<Outcomes>(&json).unwrap(), outcomes);
    }
}
