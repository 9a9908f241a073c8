//! An admission policy of a kind.

use syn::{Attribute, LitStr};

use crate::{
    attr::{
        self,
        policy::{DefaultValue, PolicyKeys},
    },
    errors::Errors,
    grammar::policy::POLICY,
};

/// One `#[policy(..)]`.
pub(crate) struct Policy {
    pub(crate) attribute: Attribute,
    pub(crate) keys: PolicyKeys,
    /// Whether a key was rejected, so that a missing key is not reported.
    pub(crate) incomplete: bool,
}

impl Policy {
    /// Parses each attribute of a kind.
    pub(super) fn parse_all(attrs: &[Attribute], errors: &mut Errors) -> Vec<Self> {
        let parse = |attribute: &Attribute| {
            let mut rejected = Errors::default();
            let keys = attr::parse(&POLICY, std::slice::from_ref(attribute), &mut rejected);
            let incomplete = !rejected.is_empty();
            errors.append(rejected);
            Policy { attribute: attribute.clone(), keys, incomplete }
        };
        attr::named("policy", attrs).map(parse).collect()
    }

    /// Returns the expression of a default.
    pub(crate) fn default_value(&self) -> Option<&LitStr> {
        self.keys.default_value.as_ref().map(|DefaultValue(text)| text)
    }

    pub(crate) fn has_action(&self, action: &str) -> bool {
        self.keys.actions.iter().any(|declared| declared.value() == action)
    }

    /// Whether requests are denied, which is the default action.
    fn denies(&self) -> bool {
        self.keys.actions.is_empty() || self.has_action("Deny")
    }

    /// Returns the first part of the name of the policy.
    pub(crate) fn name(&self) -> String {
        match &self.keys.name {
            Some(name) => name.value(),
            None if self.keys.default_value.is_some() => "defaults".to_owned(),
            None if self.denies() => "validation".to_owned(),
            None if self.has_action("Warn") => "warning".to_owned(),
            None => "audit".to_owned(),
        }
    }

    pub(crate) fn operations(&self) -> Vec<String> {
        match self.keys.operations.as_slice() {
            [] => ["CREATE", "UPDATE"].map(str::to_owned).to_vec(),
            operations => operations.iter().map(LitStr::value).collect(),
        }
    }

    pub(crate) fn actions(&self) -> Vec<String> {
        match self.keys.actions.as_slice() {
            [] => vec!["Deny".to_owned()],
            actions => actions.iter().map(LitStr::value).collect(),
        }
    }
}
