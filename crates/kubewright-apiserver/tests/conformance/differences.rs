//! Known differences between the server in memory and the real one, with their reasons.

use std::{collections::BTreeMap, error::Error, fmt, fs};

use serde::Deserialize;

use crate::topic::Topic;

/// The reasons, by check.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Differences {
    /// Differences that stay.
    accepted: BTreeMap<String, String>,
    /// Differences to be fixed.
    open: BTreeMap<String, String>,
    #[serde(skip)]
    checks: usize,
}

impl Differences {
    /// Reads the differences, and rejects one of a check that does not exist.
    pub(crate) fn read(topics: &[Topic]) -> Result<Self, Box<dyn Error>> {
        let path = envtest::workspace_root()?.join("crates/kubewright-apiserver/tests/conformance/differences.yaml");
        let mut differences: Self = serde_saphyr::from_str(&fs::read_to_string(path)?)?;
        let checks: Vec<&String> = topics.iter().flat_map(|topic| &topic.checks).map(|check| &check.name).collect();
        differences.checks = checks.len();
        match differences.accepted.keys().chain(differences.open.keys()).find(|name| !checks.contains(name)) {
            Some(name) => Err(format!("differences.yaml: no check is called {name}").into()),
            None => Ok(differences),
        }
    }

    /// Returns the reason of a check's known difference.
    pub(crate) fn reason(&self, check: &str) -> Option<&String> {
        self.accepted.get(check).or_else(|| self.open.get(check))
    }
}

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (accepted, open) = (self.accepted.len(), self.open.len());
        write!(f, "{} checks, {accepted} with accepted differences and {open} with open ones", self.checks)
    }
}
