//! Recorded authorizations: which permissions users need.

use std::collections::BTreeSet;

use k8s_openapi::api::rbac::v1::PolicyRule;

use crate::authorization::{attributes::Attributes, rules, user::User};

/// The number of authorizations from which on names and namespaces are not recorded.
const MAX_NAMED: usize = 16_384;

/// What a user did or tried to do, as [`ApiServer::authorizations`](crate::ApiServer::authorizations) lists it. A field
/// is empty if it does not apply.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Authorization {
    /// The name of the user.
    pub user: String,
    /// The verb, as in rules: `list`, `patch`, `bind`.
    pub verb: String,
    /// The API group.
    pub group: String,
    /// The plural resource name. Empty for paths such as `/version`.
    pub resource: String,
    /// The subresource: `status`, `scale`.
    pub subresource: String,
    /// The namespace; empty at the cluster scope.
    pub namespace: String,
    /// The name of the object; empty for collections and for creations.
    pub name: String,
    /// The path of a request that is not for a resource.
    pub path: String,
    /// Whether it was allowed.
    pub allowed: bool,
}

impl Authorization {
    /// Returns whether a rule grants this permission, regardless of the namespace of its role. A harness reports
    /// authorizations that no declared rule grants, and declared rules that grant none of them.
    #[must_use]
    pub fn is_granted_by(&self, rule: &PolicyRule) -> bool {
        let attributes = Attributes {
            verb: self.verb.clone(),
            group: self.group.clone(),
            resource: self.resource.clone(),
            subresource: self.subresource.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            path: Some(self.path.clone()).filter(|path| !path.is_empty()),
        };
        rules::allows(rule, &attributes)
    }
}

/// The authorizations of all users except administrators, without duplicates and bounded.
#[derive(Debug, Default)]
pub(crate) struct Recorder(BTreeSet<Authorization>);

impl Recorder {
    /// Records a decision.
    pub(crate) fn record(&mut self, user: &User, attributes: &Attributes, allowed: bool) {
        if user.is_privileged() || self.0.len() >= 2 * MAX_NAMED {
            return;
        }
        let is_named = self.0.len() < MAX_NAMED;
        let name = |name: &str| if is_named { name.to_owned() } else { String::new() };
        self.0.insert(Authorization {
            user: user.name.clone(),
            verb: attributes.verb.clone(),
            group: attributes.group.clone(),
            resource: attributes.resource.clone(),
            subresource: attributes.subresource.clone(),
            namespace: name(&attributes.namespace),
            name: name(&attributes.name),
            path: attributes.path.clone().unwrap_or_default(),
            allowed,
        });
    }

    /// Returns the authorizations, sorted by user.
    pub(crate) fn list(&self) -> Vec<Authorization> {
        self.0.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::authorization::attributes::of_uri;

    #[test]
    fn authorizations_are_recorded_once_and_compared_with_rules() {
        let (mut recorder, user) = (Recorder::default(), User::new("jane", Vec::new()));
        recorder.record(&User::administrator(), &of_uri("GET", "/api/v1/nodes"), true);
        for _ in 0..2 {
            recorder.record(&user, &of_uri("PATCH", "/api/v1/namespaces/ns/pods/web/status"), true);
            recorder.record(&user, &of_uri("GET", "/metrics"), false);
        }
        let recorded = recorder.list();
        let [metrics, status] = recorded.as_slice() else { panic!("{recorded:?}") };
        assert_eq!((metrics.path.as_str(), metrics.allowed), ("/metrics", false));
        assert_eq!(
            (status.resource.as_str(), status.subresource.as_str(), status.name.as_str()),
            ("pods", "status", "web")
        );
        let rules = rules::parse(json!([
            { "apiGroups": [""], "resources": ["pods/status"], "verbs": ["patch"] },
            { "apiGroups": [""], "resources": ["pods"], "verbs": ["patch"] },
            { "nonResourceURLs": ["/metrics"], "verbs": ["get"] },
        ]));
        let granted = |authorization: &Authorization| -> Vec<bool> {
            rules.iter().map(|rule| authorization.is_granted_by(rule)).collect()
        };
        assert_eq!(granted(status), [true, false, false]);
        assert_eq!(granted(metrics), [false, false, true]);
    }

    #[test]
    fn recorded_authorizations_are_bounded() {
        let (mut recorder, user) = (Recorder::default(), User::new("jane", Vec::new()));
        for index in 0..=MAX_NAMED {
            recorder.record(&user, &of_uri("GET", &format!("/api/v1/namespaces/ns/pods/web-{index}")), true);
        }
        let recorded = recorder.list();
        assert_eq!(recorded.len(), MAX_NAMED + 1);
        assert_eq!(recorded.iter().filter(|authorization| authorization.name.is_empty()).count(), 1);
    }
}
