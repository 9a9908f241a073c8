//! Matching the labels of decoded and of compact objects.

use std::collections::BTreeMap;

#[cfg(feature = "compact")]
use kube::core::Expression;
use kube::core::{Selector, SelectorExt};

/// A selector, with the keys of the labels that it reads.
pub(crate) struct LabelMatcher<'a> {
    selector: &'a Selector,
    #[cfg(feature = "compact")]
    keys: Vec<String>,
}

impl<'a> LabelMatcher<'a> {
    pub(crate) fn new(selector: &'a Selector) -> Self {
        LabelMatcher {
            selector,
            #[cfg(feature = "compact")]
            keys: selector.clone().into_iter().map(key_of).collect(),
        }
    }

    /// Returns whether these labels match.
    pub(super) fn matches(&self, labels: Option<&BTreeMap<String, String>>) -> bool {
        let none = BTreeMap::new();
        self.selector.matches(labels.unwrap_or(&none))
    }

    /// Returns whether labels match that are looked up by their keys.
    #[cfg(feature = "compact")]
    pub(super) fn matches_with<'l>(&self, label: impl Fn(&str) -> Option<&'l str>) -> bool {
        let read = |key: &String| Some((key.clone(), label(key)?.to_owned()));
        self.selector.matches(&self.keys.iter().filter_map(read).collect())
    }
}

#[cfg(feature = "compact")]
fn key_of(expression: Expression) -> String {
    match expression {
        Expression::In(key, _)
        | Expression::NotIn(key, _)
        | Expression::Equal(key, _)
        | Expression::NotEqual(key, _)
        | Expression::Exists(key)
        | Expression::DoesNotExist(key) => key,
    }
}
