//! Label selectors.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::core::{Selector, SelectorExt};

/// Returns whether a selector matches labels. An empty selector matches everything; an invalid one, which the API
/// server rejects, matches nothing.
pub(crate) fn matches(selector: &LabelSelector, labels: &BTreeMap<String, String>) -> bool {
    Selector::try_from(selector.clone()).is_ok_and(|selector| selector.matches(labels))
}

/// Returns whether an optional selector matches labels. No selector matches nothing.
pub(crate) fn matches_optional(selector: Option<&LabelSelector>, labels: &BTreeMap<String, String>) -> bool {
    selector.is_some_and(|selector| matches(selector, labels))
}

/// Returns whether labels contain all of these.
pub(crate) fn contains(labels: &BTreeMap<String, String>, expected: &BTreeMap<String, String>) -> bool {
    expected.iter().all(|(key, value)| labels.get(key) == Some(value))
}
