//! The JSON report of Ginkgo: the outcomes of its specs.

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::outcome::{Outcome, Outcomes};

/// The report of a suite of Ginkgo, as `--ginkgo.json-report` writes it.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Report {
    /// Go encodes an empty list as null.
    spec_reports: Option<Vec<Spec>>,
    special_suite_failure_reasons: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Spec {
    container_hierarchy_texts: Option<Vec<String>>,
    leaf_node_type: String,
    leaf_node_text: String,
    state: String,
    failure: Option<Failure>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Failure {
    message: String,
    #[serde(default)]
    forwarded_panic: String,
}

/// Returns the outcomes of the specs in a report, by their full text. A node of the suite that fails, such as
/// `[BeforeSuite]`, is a spec as well.
pub(crate) fn parse(json: &[u8]) -> Result<Outcomes> {
    let reports: Vec<Report> = serde_json::from_slice(json).context("not a JSON report of Ginkgo")?;
    let mut outcomes = Outcomes::default();
    for Report { spec_reports, special_suite_failure_reasons } in reports {
        for spec in spec_reports.unwrap_or_default() {
            let (name, outcome) = (spec.name(), spec.outcome());
            if spec.leaf_node_type == "It" || outcome.is_failure() {
                outcomes.add(&name, outcome);
            }
        }
        for reason in special_suite_failure_reasons.unwrap_or_default() {
            outcomes.add("[suite]", Outcome::failed(&reason));
        }
    }
    Ok(outcomes)
}

impl Spec {
    fn name(&self) -> String {
        let mut texts = self.container_hierarchy_texts.clone().unwrap_or_default();
        if self.leaf_node_type != "It" {
            texts.push(format!("[{}]", self.leaf_node_type));
        }
        texts.push(self.leaf_node_text.clone());
        texts.retain(|text| !text.is_empty());
        // Names are keys of a YAML file.
        texts.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn outcome(&self) -> Outcome {
        match self.state.as_str() {
            "passed" => Outcome::Passed,
            "skipped" | "pending" => Outcome::Skipped,
            state => Outcome::failed(&self.failure.as_ref().map_or_else(|| state.to_owned(), Failure::text)),
        }
    }
}

impl Failure {
    fn text(&self) -> String {
        [self.message.as_str(), self.forwarded_panic.as_str()].join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Ginkgo 2.27 writes it, without fields that are not read.
    const REPORT: &str = r#"[{
        "SuiteDescription": "Cache Suite", "SuiteSucceeded": false, "SpecialSuiteFailureReasons": null,
        "SpecReports": [
            {"ContainerHierarchyTexts": null, "LeafNodeType": "BeforeSuite", "LeafNodeText": "", "State": "passed"},
            {"ContainerHierarchyTexts": ["Cache", "with\n two lines"], "LeafNodeType": "It",
             "LeafNodeText": "should list", "State": "passed"},
            {"ContainerHierarchyTexts": ["Cache"], "LeafNodeType": "It", "LeafNodeText": "should watch",
             "State": "failed", "Failure": {"Message": "Timed out after 5s.", "Location": {"LineNumber": 7}}},
            {"ContainerHierarchyTexts": ["Cache"], "LeafNodeType": "It", "LeafNodeText": "should panic",
             "State": "panicked", "Failure": {"Message": "Test Panicked", "ForwardedPanic": "nil pointer"}},
            {"ContainerHierarchyTexts": ["Cache"], "LeafNodeType": "It", "LeafNodeText": "is pending",
             "State": "pending"},
            {"ContainerHierarchyTexts": [], "LeafNodeType": "AfterSuite", "LeafNodeText": "", "State": "timedout"}
        ]
    }]"#;

    #[test]
    fn specs_are_named_by_their_full_text() {
        let outcomes = parse(REPORT.as_bytes()).unwrap();
        let found: Vec<(&str, &Outcome)> = outcomes.iter().collect();
        let expected = [
            ("Cache is pending", &Outcome::Skipped),
            ("Cache should panic", &Outcome::Failed("Test Panicked\nnil pointer".to_owned())),
            ("Cache should watch", &Outcome::Failed("Timed out after 5s.".to_owned())),
            ("Cache with two lines should list", &Outcome::Passed),
            ("[AfterSuite]", &Outcome::Failed("timedout".to_owned())),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_failure_of_the_suite_is_a_spec() {
        let json = r#"[{"SpecReports": null, "SpecialSuiteFailureReasons": ["Interrupted by User"]}]"#;
        let outcomes = parse(json.as_bytes()).unwrap();
        assert_eq!(outcomes.get("[suite]"), Some(&Outcome::Failed("Interrupted by User".to_owned())));
    }

    #[test]
    fn another_file_is_an_error() {
        assert!(parse(b"{}").unwrap_err().to_string().contains("Ginkgo"));
    }
}
