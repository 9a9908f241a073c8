//! The outcomes of a suite on both servers, compared.

use std::{collections::BTreeSet, fmt};

use crate::{
    differences::Differences,
    outcome::{Outcome, Outcomes},
};

/// A suite whose outcomes are compared.
pub(crate) struct Comparison<'a> {
    pub(crate) suite: &'a str,
    pub(crate) ours: &'a Outcomes,
    pub(crate) real: &'a Outcomes,
}

/// A spec that ended differently.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Difference<'a> {
    pub(crate) spec: &'a str,
    pub(crate) ours: Option<&'a Outcome>,
    pub(crate) real: Option<&'a Outcome>,
}

impl<'a> Comparison<'a> {
    /// Returns all specs that ended differently, or that only one of the servers has.
    pub(crate) fn differences(&self) -> Vec<Difference<'a>> {
        let names: BTreeSet<&str> = self.ours.iter().chain(self.real.iter()).map(|(name, _)| name).collect();
        let all =
            names.into_iter().map(|spec| Difference { spec, ours: self.ours.get(spec), real: self.real.get(spec) });
        all.filter(|difference| !difference.ours.zip(difference.real).is_some_and(|(ours, real)| ours.equals(real)))
            .collect()
    }

    /// Returns the differences that the list does not contain.
    pub(crate) fn unlisted(&self, differences: &Differences) -> Vec<Difference<'a>> {
        let mut found = self.differences();
        found.retain(|difference| !differences.contains(self.suite, difference.spec));
        found
    }

    /// Returns the listed specs of the suite that do not differ.
    pub(crate) fn obsolete(&self, differences: &'a Differences) -> Vec<&'a str> {
        let found = self.differences();
        differences
            .listed(self.suite)
            .filter(|listed| found.iter().all(|difference| difference.spec != *listed))
            .collect()
    }

    /// Counts the specs with this outcome on both servers.
    pub(crate) fn count_equal(&self, outcome: &Outcome) -> usize {
        let is_counted = |(name, ours): &(&str, &Outcome)| {
            ours.equals(outcome) && self.real.get(name).is_some_and(|real| real.equals(outcome))
        };
        self.ours.iter().filter(is_counted).count()
    }
}

impl fmt::Display for Difference<'_> {
    /// Formats the spec as a line of the list, and the messages of failures as comments.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Every JSON string is a YAML string.
        let spec = serde_json::to_string(self.spec).map_err(|_| fmt::Error)?;
        let shown = |outcome: Option<&Outcome>| outcome.map_or_else(|| "absent".to_owned(), Outcome::to_string);
        writeln!(f, "    # {} on ours, {} on the real server", shown(self.ours), shown(self.real))?;
        for outcome in [self.ours, self.real].into_iter().flatten() {
            if let Outcome::Failed(message) = outcome {
                for line in message.lines().filter(|line| !line.trim().is_empty()).take(MESSAGE_LINES) {
                    writeln!(f, "    #   {line}")?;
                }
            }
        }
        write!(f, "    {spec}: \"\"")
    }
}

/// The number of lines of a failure that are shown.
const MESSAGE_LINES: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(all: &[(&str, Outcome)]) -> Outcomes {
        let mut outcomes = Outcomes::default();
        all.iter().for_each(|(name, outcome)| outcomes.add(name, outcome.clone()));
        outcomes
    }

    fn listed(yaml: &str) -> Differences {
        Differences::parse(yaml, &["one"]).unwrap()
    }

    #[test]
    fn specs_differ_in_both_directions() {
        let failed = || Outcome::failed("line\n\nmore");
        let ours = outcomes(&[("a", failed()), ("b", Outcome::Passed), ("c", failed()), ("d", Outcome::Skipped)]);
        let real = outcomes(&[("a", Outcome::Passed), ("b", failed()), ("c", Outcome::failed("other"))]);
        let comparison = Comparison { suite: "one", ours: &ours, real: &real };
        let specs: Vec<&str> = comparison.differences().iter().map(|difference| difference.spec).collect();
        assert_eq!(specs, ["a", "b", "d"]);
        assert_eq!(comparison.count_equal(&failed()), 1);
        assert_eq!(comparison.count_equal(&Outcome::Passed), 0);
        let unlisted = comparison.unlisted(&listed("accepted: {one: {b: why}}\nopen: {one: {d: why}}"));
        let [difference] = unlisted.as_slice() else { panic!("{unlisted:?}") };
        assert_eq!(
            difference.to_string(),
            "    # failed on ours, passed on the real server\n    #   line\n    #   more\n    \"a\": \"\""
        );
    }

    #[test]
    fn a_listed_spec_that_does_not_differ_is_obsolete() {
        let outcomes = outcomes(&[("a", Outcome::Passed)]);
        let comparison = Comparison { suite: "one", ours: &outcomes, real: &outcomes };
        let differences = listed("accepted: {one: {a: why}}\nopen: {one: {gone: why}}");
        assert_eq!(comparison.obsolete(&differences), ["a", "gone"]);
        assert_eq!(comparison.count_equal(&Outcome::Passed), 1);
    }
}
