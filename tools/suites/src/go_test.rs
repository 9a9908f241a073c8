//! The events of `go test -json`: the outcomes of Go's tests, by package.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::BufRead,
};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::outcome::{Outcome, Outcomes};

/// The maximum size of the output that is collected for each test, in bytes.
const OUTPUT_BYTES: usize = 2000;
/// What Ginkgo prints in the test that runs its specs.
const GINKGO_BANNER: &str = "Running Suite: ";

/// An event of a test, or of a package.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    /// Events of builds have none.
    package: Option<String>,
    test: Option<String>,
    output: Option<String>,
}

/// The tests of a package.
#[derive(Debug, Default)]
pub(crate) struct Package {
    tests: BTreeMap<String, Outcome>,
    /// The tests that run the specs of Ginkgo.
    runners: BTreeSet<String>,
    output: BTreeMap<String, String>,
    /// The failure of the package, such as that of its build.
    failure: Option<Outcome>,
}

/// Returns the tests by package.
pub(crate) fn parse(events: impl BufRead) -> Result<BTreeMap<String, Package>> {
    let mut packages: BTreeMap<String, Package> = BTreeMap::new();
    for line in events.lines() {
        let line = line.context("cannot read the events of go test")?;
        let event: Event =
            serde_json::from_str(&line).with_context(|| format!("not an event of `go test -json`: {line}"))?;
        if let Some(package) = event.package.clone() {
            packages.entry(package).or_default().add(event);
        }
    }
    Ok(packages)
}

impl Package {
    fn add(&mut self, event: Event) {
        // The output of the package has no test.
        let test = event.test.unwrap_or_default();
        match event.action.as_str() {
            "output" => self.add_output(test, &event.output.unwrap_or_default()),
            "pass" | "skip" | "fail" => {
                let output = self.output.remove(&test).unwrap_or_default();
                let outcome = match event.action.as_str() {
                    "pass" => Outcome::Passed,
                    "skip" => Outcome::Skipped,
                    _ => Outcome::failed(&output),
                };
                if !test.is_empty() {
                    self.tests.insert(test, outcome);
                } else if outcome.is_failure() {
                    self.failure = Some(outcome);
                }
            }
            _ => {}
        }
    }

    fn add_output(&mut self, test: String, text: &str) {
        if text.starts_with(GINKGO_BANNER) {
            self.runners.insert(test.clone());
        }
        let output = self.output.entry(test).or_default();
        if output.len() < OUTPUT_BYTES {
            output.push_str(text);
        }
    }

    /// Returns the outcomes of the tests without subtests, and of the specs of Ginkgo in place of the tests that run
    /// them.
    ///
    /// A test with subtests or specs is included if it fails and none of them does. The same applies to the package,
    /// with the name `(package)`: then its build has failed, or the process has ended.
    pub(crate) fn outcomes(self, specs: Option<Outcomes>) -> Outcomes {
        let mut outcomes = Outcomes::default();
        for (name, outcome) in &self.tests {
            let specs = specs.as_ref().filter(|_| self.runners.contains(name));
            let is_group = specs.is_some() || self.subtests(name).next().is_some();
            let is_explained = specs.is_some_and(Outcomes::has_failure) || self.subtests(name).any(Outcome::is_failure);
            if !is_group || outcome.is_failure() && !is_explained {
                outcomes.add(name, outcome.clone());
            }
        }
        for (name, outcome) in specs.iter().flat_map(Outcomes::iter) {
            outcomes.add(name, outcome.clone());
        }
        if let Some(failure) = self.failure.filter(|_| !outcomes.has_failure()) {
            outcomes.add("(package)", failure);
        }
        outcomes
    }

    fn subtests(&self, name: &str) -> impl Iterator<Item = &Outcome> {
        let prefix = format!("{name}/");
        let from = self.tests.range(prefix.clone()..);
        from.take_while(move |(other, _)| other.starts_with(&prefix)).map(|(_, outcome)| outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(events: &[&str]) -> Package {
        let lines: String = events.iter().map(|event| format!("{{\"Package\":\"p\",{event}}}\n")).collect();
        parse(lines.as_bytes()).unwrap().remove("p").unwrap()
    }

    fn shown(outcomes: &Outcomes) -> Vec<String> {
        outcomes.iter().map(|(name, outcome)| format!("{name} {outcome}")).collect()
    }

    #[test]
    fn a_test_with_subtests_counts_only_if_it_fails_by_itself() {
        let package = package(&[
            r#""Action":"start""#,
            r#""Action":"run","Test":"TestA""#,
            r#""Action":"pass","Test":"TestA/one""#,
            r#""Action":"fail","Test":"TestA/two""#,
            r#""Action":"fail","Test":"TestA""#,
            r#""Action":"pass","Test":"TestB/one""#,
            r#""Action":"output","Test":"TestB","Output":"b_test.go:7: leak\n""#,
            r#""Action":"fail","Test":"TestB""#,
            r#""Action":"pass","Test":"TestAB""#,
            r#""Action":"skip","Test":"TestC""#,
            r#""Action":"fail""#,
        ]);
        let outcomes = package.outcomes(None);
        let expected = [
            "TestA/one passed",
            "TestA/two failed",
            "TestAB passed",
            "TestB failed",
            "TestB/one passed",
            "TestC skipped",
        ];
        assert_eq!(shown(&outcomes), expected);
        assert_eq!(outcomes.get("TestB"), Some(&Outcome::Failed("b_test.go:7: leak".to_owned())));
    }

    #[test]
    fn specs_replace_the_test_that_runs_them() {
        let events = [
            r#""Action":"output","Test":"TestSuite","Output":"Running Suite: S - /p\n""#,
            r#""Action":"fail","Test":"TestSuite""#,
            r#""Action":"pass","Test":"TestOther""#,
            r#""Action":"fail""#,
        ];
        let mut specs = Outcomes::default();
        specs.add("S works", Outcome::Passed);
        let expected = ["S works passed", "TestOther passed", "TestSuite failed"];
        assert_eq!(shown(&package(&events).outcomes(Some(specs.clone()))), expected);
        specs.add("S fails", Outcome::failed("why"));
        let expected = ["S fails failed", "S works passed", "TestOther passed"];
        assert_eq!(shown(&package(&events).outcomes(Some(specs))), expected);
        // Without a report.
        assert_eq!(shown(&package(&events).outcomes(None)), ["TestOther passed", "TestSuite failed"]);
    }

    #[test]
    fn a_package_without_a_failed_test_fails_itself() {
        let events =
            [r#""Action":"output","Output":"FAIL p [build failed]\n""#, r#""Action":"fail","FailedBuild":"p""#];
        let outcomes = package(&events).outcomes(None);
        assert_eq!(outcomes.get("(package)"), Some(&Outcome::Failed("FAIL p [build failed]".to_owned())));
    }

    #[test]
    fn events_of_builds_belong_to_no_package() {
        let packages = parse(&b"{\"ImportPath\":\"p\",\"Action\":\"build-fail\"}\n"[..]).unwrap();
        assert!(packages.is_empty());
        assert!(parse(&b"panic\n"[..]).unwrap_err().to_string().ends_with("panic"));
    }
}
