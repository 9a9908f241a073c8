//! The known differences between the in-memory API server and the real one, with their reasons.

use std::{collections::BTreeMap, fs};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::paths;

/// The list, relative to the directory of this crate.
const FILE: &str = "differences.yaml";

/// Reasons, by suite and spec.
type Reasons = BTreeMap<String, BTreeMap<String, String>>;

/// The known differences.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Differences {
    /// Differences that stay.
    accepted: Reasons,
    /// Differences to be fixed.
    open: Reasons,
}

impl Differences {
    /// Reads the list. Its suites must be among these.
    pub(crate) fn read(suites: &[&str]) -> Result<Differences> {
        let path = paths::crate_dir()?.join(FILE);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Differences::parse(&text, suites).with_context(|| format!("invalid {}", path.display()))
    }

    pub(crate) fn parse(yaml: &str, suites: &[&str]) -> Result<Differences> {
        let differences: Differences = serde_saphyr::from_str(yaml)?;
        for (suite, specs) in differences.accepted.iter().chain(&differences.open) {
            ensure!(suites.contains(&suite.as_str()), "unknown suite `{suite}`; use one of {}", suites.join(", "));
            for (spec, reason) in specs {
                ensure!(!reason.trim().is_empty(), "{suite}: `{spec}` has no reason");
            }
        }
        for (suite, specs) in &differences.accepted {
            let twice =
                specs.keys().find(|spec| differences.open.get(suite).is_some_and(|open| open.contains_key(*spec)));
            ensure!(twice.is_none(), "{suite}: `{}` is both accepted and open", twice.map_or("", String::as_str));
        }
        Ok(differences)
    }

    /// Returns the listed specs of a suite: first the accepted ones.
    pub(crate) fn listed(&self, suite: &str) -> impl Iterator<Item = &str> {
        let lists = [&self.accepted, &self.open].map(|reasons| reasons.get(suite));
        lists.into_iter().flatten().flat_map(|specs| specs.keys().map(String::as_str))
    }

    pub(crate) fn contains(&self, suite: &str, spec: &str) -> bool {
        self.listed(suite).any(|listed| listed == spec)
    }

    /// Returns the numbers of accepted and of open differences of a suite.
    pub(crate) fn counts(&self, suite: &str) -> (usize, usize) {
        let count = |reasons: &Reasons| reasons.get(suite).map_or(0, BTreeMap::len);
        (count(&self.accepted), count(&self.open))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::Suite;

    #[test]
    fn the_list_is_valid() {
        Differences::read(&Suite::NAMES).unwrap();
    }

    #[test]
    fn differences_are_listed_by_suite() {
        let differences = Differences::parse("accepted: {a: {x: why}}\nopen: {a: {y: why}, b: {z: why}}", &["a", "b"]);
        let differences = differences.unwrap();
        assert_eq!(differences.listed("a").collect::<Vec<_>>(), ["x", "y"]);
        assert!(differences.contains("b", "z") && !differences.contains("b", "x"));
        assert_eq!(differences.counts("a"), (1, 1));
        assert_eq!(differences.counts("c"), (0, 0));
    }

    #[test]
    fn an_invalid_list_is_an_error() {
        for (yaml, message) in [
            ("accepted: {c: {x: why}}\nopen: {}", "unknown suite `c`; use one of a, b"),
            ("accepted: {a: {x: ' '}}\nopen: {}", "a: `x` has no reason"),
            ("accepted: {a: {x: why}}\nopen: {a: {x: why}}", "a: `x` is both accepted and open"),
        ] {
            assert_eq!(Differences::parse(yaml, &["a", "b"]).unwrap_err().to_string(), message);
        }
    }
}
