//! The report of a run: a table of the suites, and what has to be changed.

use std::fmt::{self, Write};

use anyhow::Error;

use crate::{comparison::Comparison, differences::Differences, outcome::Outcome};

/// The report of a run.
pub(crate) struct Report<'a> {
    differences: &'a Differences,
    rows: String,
    /// What makes the run fail.
    problems: Vec<String>,
}

impl<'a> Report<'a> {
    /// Creates an empty report.
    pub(crate) fn new(differences: &'a Differences) -> Self {
        let mut report = Report { differences, rows: String::new(), problems: Vec::new() };
        report.row(["suite", "passed", "failed", "skipped", "accepted", "open", "unlisted"].map(str::to_owned));
        report
    }

    /// Adds a suite: the numbers of specs with the same outcome on both servers, of listed differences and of others.
    pub(crate) fn add(&mut self, comparison: &Comparison<'_>) {
        let suite = comparison.suite;
        let unlisted = comparison.unlisted(self.differences);
        let equal =
            [Outcome::Passed, Outcome::failed(""), Outcome::Skipped].map(|outcome| comparison.count_equal(&outcome));
        let (accepted, open) = self.differences.counts(suite);
        let numbers = [equal[0], equal[1], equal[2], accepted, open, unlisted.len()].map(|number| number.to_string());
        let [passed, failed, skipped, accepted, open, count] = numbers;
        self.row([suite.to_owned(), passed, failed, skipped, accepted, open, count]);
        if !unlisted.is_empty() {
            let lines: Vec<String> = unlisted.iter().map(ToString::to_string).collect();
            let title =
                "differences that are not in tools/suites/differences.yaml; fix them, or add them with a reason";
            self.problems.push(format!("{title}:\n  {suite}:\n{}", lines.join("\n")));
        }
        let obsolete = comparison.obsolete(self.differences);
        if !obsolete.is_empty() {
            let title = "specs in tools/suites/differences.yaml that do not differ; remove them";
            self.problems.push(format!("{title}:\n  {suite}:\n    {}", obsolete.join("\n    ")));
        }
    }

    /// Adds a suite that could not be run.
    pub(crate) fn add_error(&mut self, error: &Error) {
        self.problems.push(format!("error: {error:#}"));
    }

    /// Reports whether all suites have run, and all differences are listed.
    pub(crate) fn is_successful(&self) -> bool {
        self.problems.is_empty()
    }

    fn row(&mut self, [suite, numbers @ ..]: [String; 7]) {
        let numbers: String = numbers.iter().map(|number| format!("{number:>10}")).collect();
        // Writing to a string does not fail.
        let _ = writeln!(self.rows, "{suite:<20}{numbers}");
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nspecs with the same outcome on both servers, and differences:\n{}", self.rows)?;
        self.problems.iter().try_for_each(|problem| writeln!(f, "{problem}\n"))
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;
    use crate::outcome::Outcomes;

    fn outcomes(all: &[(&str, Outcome)]) -> Outcomes {
        let mut outcomes = Outcomes::default();
        all.iter().for_each(|(name, outcome)| outcomes.add(name, outcome.clone()));
        outcomes
    }

    #[test]
    fn listed_differences_are_successful() {
        let differences = Differences::parse("accepted: {one: {b: why}}\nopen: {}", &["one"]).unwrap();
        let (ours, real) =
            (outcomes(&[("a", Outcome::Passed), ("b", Outcome::failed("m"))]), outcomes(&[("a", Outcome::Passed)]));
        let mut report = Report::new(&differences);
        report.add(&Comparison { suite: "one", ours: &ours, real: &real });
        assert!(report.is_successful());
        let row = "one                          1         0         0         1         0         0\n";
        assert!(report.to_string().contains(row), "{report}");
    }

    #[test]
    fn unlisted_and_obsolete_differences_and_errors_are_problems() {
        let differences = Differences::parse("accepted: {}\nopen: {one: {a: why}}", &["one"]).unwrap();
        let (ours, real) = (
            outcomes(&[("a", Outcome::Passed), ("b", Outcome::failed("m"))]),
            outcomes(&[("a", Outcome::Passed), ("b", Outcome::Passed)]),
        );
        let mut report = Report::new(&differences);
        report.add(&Comparison { suite: "one", ours: &ours, real: &real });
        report.add_error(&anyhow!("cause").context("two"));
        assert!(!report.is_successful());
        let text = report.to_string();
        assert!(
            text.contains("  one:\n    # failed on ours, passed on the real server\n    #   m\n    \"b\": \"\"\n"),
            "{text}"
        );
        assert!(text.contains("remove them:\n  one:\n    a\n") && text.contains("error: two: cause\n"), "{text}");
    }
}
