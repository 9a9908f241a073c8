//! What the checks of one value came to.

use crate::finding::Finding;

/// The rules a value breaks, and how many checks it was put to: of alternatives that all fail, the server reports the one
/// that came furthest.
#[derive(Default)]
pub(super) struct Outcome {
    /// Each with its text without the value: what reads the same is reported once.
    findings: Vec<(String, Finding)>,
    pub(super) passed: usize,
}

impl Outcome {
    /// One check, which was passed.
    pub(super) fn passed() -> Self {
        Self { findings: Vec::new(), passed: 1 }
    }

    pub(super) fn of(text: String, finding: Finding) -> Self {
        let mut outcome = Self::default();
        outcome.add(text, finding);
        outcome
    }

    pub(super) fn add(&mut self, text: String, finding: Finding) {
        if self.findings.iter().all(|(known, _)| *known != text) {
            self.findings.push((text, finding));
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.passed += other.passed;
        for (text, finding) in other.findings {
            self.add(text, finding);
        }
    }

    pub(super) fn count(&mut self) {
        self.passed += 1;
    }

    pub(super) fn is_valid(&self) -> bool {
        self.findings.is_empty()
    }

    /// As if nothing were wrong.
    pub(super) fn forgiven(self) -> Self {
        Self { findings: Vec::new(), passed: self.passed }
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.findings.into_iter().map(|(_, finding)| finding).collect()
    }
}
