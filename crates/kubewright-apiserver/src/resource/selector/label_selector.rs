//! Label selectors in the specs of objects.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use serde_json::Value;

use super::parse_labels;

/// Returns whether a label selector is not empty and matches the labels.
pub(crate) fn selects(selector: &Value, labels: &Value) -> bool {
    let labels: BTreeMap<String, String> = serde_json::from_value(labels.clone()).unwrap_or_default();
    let requirements = parse_labels(&to_text(selector)).unwrap_or_default();
    !requirements.is_empty() && requirements.iter().all(|requirement| requirement.matches(&labels))
}

/// Returns whether a label selector matches the labels. An empty one matches everything.
pub(crate) fn matches(selector: &LabelSelector, labels: &BTreeMap<String, String>) -> bool {
    let requirements = parse_labels(&text_of(selector.clone())).unwrap_or_default();
    requirements.iter().all(|requirement| requirement.matches(labels))
}

/// Formats a label selector, with the requirements sorted by key.
pub(crate) fn to_text(selector: &Value) -> String {
    text_of(serde_json::from_value(selector.clone()).unwrap_or_default())
}

fn text_of(selector: LabelSelector) -> String {
    let equal = selector.match_labels.unwrap_or_default().into_iter();
    let equal = equal.map(|(key, value)| (key.clone(), format!("{key}={value}")));
    let others = selector.match_expressions.unwrap_or_default().into_iter().map(|requirement| {
        let LabelSelectorRequirement { key, operator, values } = requirement;
        let mut values = values.unwrap_or_default();
        values.sort();
        let text = match operator.as_str() {
            "In" => format!("{key} in ({})", values.join(",")),
            "NotIn" => format!("{key} notin ({})", values.join(",")),
            "DoesNotExist" => format!("!{key}"),
            _ => key.clone(),
        };
        (key, text)
    });
    let mut requirements: Vec<(String, String)> = equal.chain(others).collect();
    requirements.sort_by(|left, right| left.0.cmp(&right.0));
    requirements.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(",")
}
