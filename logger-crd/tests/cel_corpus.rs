//! Rules of the corpus, judged here and, as recorded, by a real kube-apiserver 1.36.

mod cel_corpus {
    pub mod cases;
}

use std::fmt::Write;

use cel_corpus::cases::{self, Cause};
use logger_crd::cel::{FindingReason, RuleFinding, check_schema};
use serde_json::Value;

/// Where the server names the schema of a definition's only version.
const ROOT: &str = "$";

fn cause(finding: &RuleFinding) -> Cause {
    let reason = match finding.reason {
        FindingReason::Invalid => "FieldValueInvalid",
        FindingReason::Forbidden => "FieldValueForbidden",
        FindingReason::Required => "FieldValueRequired",
        FindingReason::NotSupported => "FieldValueNotSupported",
        FindingReason::Internal => "InternalError",
    };
    Cause { field: finding.field(ROOT), reason: reason.to_owned(), message: finding.message(ROOT) }
}

fn first_lines(causes: &[Cause]) -> Vec<(&str, &str, &str)> {
    let mut lines: Vec<_> = causes
        .iter()
        .map(|cause| (cause.field.as_str(), cause.reason.as_str(), cause.message.lines().next().unwrap_or_default()))
        .collect();
    lines.sort_unstable();
    lines
}

/// Compares a file of cases; returns how many there are and tells where the answers differ.
fn compare(file: &str, differences: &mut String) -> usize {
    let cases = cases::read(file);
    for case in &cases {
        let ours: Vec<Cause> = check_schema(&case.schema).iter().map(cause).collect();
        let theirs = &case.answer;
        if first_lines(&ours) == first_lines(theirs) {
            continue;
        }
        if cases::KNOWN.iter().any(|(rule, _)| case.written == Value::from(*rule)) {
            continue;
        }
        let _ = writeln!(differences, "{file}: {}", case.written);
        for (who, causes) in [("server", theirs), ("ours", &ours)] {
            for (field, reason, message) in first_lines(causes) {
                let _ = writeln!(differences, "  {who}: {field} {reason} {message}");
            }
            if causes.is_empty() {
                let _ = writeln!(differences, "  {who}: accepted");
            }
        }
    }
    cases.len()
}

#[test]
fn rules_are_judged_as_on_the_server() {
    let mut differences = String::new();
    let count: usize = cases::FILES.iter().map(|file| compare(file, &mut differences)).sum();
    assert!(count >= 120, "{count} cases are too few");
    assert!(differences.is_empty(), "of {count} cases:\n{differences}");
}
