//! Policy rules: whether a rule allows a request.

use k8s_openapi::api::rbac::v1::PolicyRule;

use crate::authorization::attributes::Attributes;

/// Stands for all verbs, groups, resources or paths.
pub(crate) const ALL: &str = "*";

/// Returns whether a rule allows a request (`RuleAllows`).
pub(crate) fn allows(rule: &PolicyRule, attributes: &Attributes) -> bool {
    if !has_or_all(&rule.verbs, &attributes.verb) {
        return false;
    }
    match &attributes.path {
        Some(path) => list(&rule.non_resource_urls).iter().any(|pattern| matches_path(pattern, path)),
        None => {
            has_or_all(list(&rule.api_groups), &attributes.group)
                && matches_resource(list(&rule.resources), attributes)
                && matches_name(list(&rule.resource_names), &attributes.name)
        }
    }
}

/// Returns the elements of an optional list.
pub(crate) fn list(field: &Option<Vec<String>>) -> &[String] {
    field.as_deref().unwrap_or_default()
}

/// Returns whether a pattern is the path, or its prefix up to a trailing `*`.
pub(crate) fn matches_path(pattern: &str, path: &str) -> bool {
    pattern == path || pattern.ends_with('*') && path.starts_with(pattern.trim_end_matches('*'))
}

fn has_or_all(values: &[String], value: &str) -> bool {
    values.iter().any(|other| other == ALL || other == value)
}

fn matches_resource(resources: &[String], attributes: &Attributes) -> bool {
    let combined = attributes.combined_resource();
    let subresource = attributes.subresource.as_str();
    resources.iter().any(|resource| {
        resource == ALL
            || *resource == combined
            || !subresource.is_empty() && resource.strip_prefix("*/") == Some(subresource)
    })
}

/// Returns whether the names of a rule contain the name. A rule without names matches every name.
fn matches_name(names: &[String], name: &str) -> bool {
    names.is_empty() || names.iter().any(|other| other == name)
}

/// Parses rules from JSON, for tests.
#[cfg(test)]
pub(crate) fn parse(rules: serde_json::Value) -> Vec<PolicyRule> {
    serde_json::from_value(rules).unwrap()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::authorization::attributes::of_uri;

    /// Returns which of the requests a rule allows.
    fn allowed<'a>(rule: Value, requests: &[(&'a str, &'a str)]) -> Vec<&'a str> {
        let rules = parse(json!([rule]));
        let allowed = requests.iter().filter(|(method, uri)| allows(&rules[0], &of_uri(method, uri)));
        allowed.map(|(_, uri)| *uri).collect()
    }

    #[test]
    fn rules_match_verbs_groups_and_resources() {
        const PODS: &str = "/api/v1/namespaces/ns/pods";
        const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/ns/deployments";
        let requests = [("GET", PODS), ("GET", DEPLOYMENTS), ("POST", "/api/v1/namespaces/other/pods")];
        let rule = json!({ "apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"] });
        assert_eq!(allowed(rule, &requests), [PODS]);
        let rule = json!({ "apiGroups": ["*"], "resources": ["*"], "verbs": ["*"] });
        assert_eq!(allowed(rule, &requests).len(), 3);
        let rule = json!({ "apiGroups": ["apps"], "resources": ["*"], "verbs": ["*"] });
        assert_eq!(allowed(rule, &requests), [DEPLOYMENTS]);
    }

    #[test]
    fn subresources_are_named_or_match_a_star() {
        const LOG: &str = "/api/v1/namespaces/ns/pods/web/log";
        const STATUS: &str = "/api/v1/namespaces/ns/pods/web/status";
        let requests = [("GET", LOG), ("GET", STATUS), ("GET", "/api/v1/namespaces/ns/pods/web")];
        let rule = |resource: &str| json!({ "apiGroups": [""], "resources": [resource], "verbs": ["get"] });
        assert_eq!(allowed(rule("pods/log"), &requests), [LOG]);
        assert_eq!(allowed(rule("*/status"), &requests), [STATUS]);
        assert_eq!(allowed(rule("*"), &requests).len(), 3);
        assert_eq!(allowed(rule("pods"), &requests).len(), 1);
        assert!(allowed(rule("pods/*"), &requests).is_empty());
    }

    #[test]
    fn resource_names_never_match_requests_without_a_name() {
        const A: &str = "/api/v1/namespaces/ns/configmaps/a";
        const COLLECTION: &str = "/api/v1/namespaces/ns/configmaps";
        const SELECTED: &str = "/api/v1/namespaces/ns/configmaps?fieldSelector=metadata.name%3Da";
        let requests =
            [("GET", A), ("GET", "/api/v1/namespaces/ns/configmaps/b"), ("POST", COLLECTION), ("GET", SELECTED)];
        let rule = json!({ "apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["a"], "verbs": ["*"] });
        assert_eq!(allowed(rule, &requests), [A, SELECTED]);
    }

    #[test]
    fn paths_match_exactly_or_by_prefix() {
        let requests = [("GET", "/healthz"), ("GET", "/healthz/etcd"), ("GET", "/metrics"), ("HEAD", "/healthz")];
        let rule = |url: &str| json!({ "nonResourceURLs": [url], "verbs": ["get"] });
        assert_eq!(allowed(rule("/healthz"), &requests), ["/healthz"]);
        assert_eq!(allowed(rule("/healthz/*"), &requests), ["/healthz/etcd"]);
        assert_eq!(allowed(rule("*"), &requests).len(), 3);
        // A rule for resources does not allow paths, and the other way round.
        let all = json!({ "apiGroups": ["*"], "resources": ["*"], "verbs": ["*"] });
        assert!(allowed(all, &requests).is_empty());
        assert!(allowed(rule("*"), &[("GET", "/api/v1/pods")]).is_empty());
    }
}
