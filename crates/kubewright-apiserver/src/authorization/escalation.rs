//! Privilege escalation: a user grants only the permissions that it has (`ConfirmNoEscalation`).

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::rbac::v1::PolicyRule;

use crate::authorization::{
    rbac::{RoleBindings, errors},
    rules::{ALL, list, matches_path},
    user::User,
};

/// Checks that the rules of a user in a namespace cover other rules. The error is the detail of the real server for a
/// request for this resource.
pub(crate) fn confirm(
    bindings: &RoleBindings,
    user: &User,
    (resource, namespace): (&str, &str),
    rules: &[PolicyRule],
) -> Result<(), String> {
    let (held, absent) = bindings.rules_for(user, namespace);
    let missing = uncovered(&held, rules);
    if missing.is_empty() {
        return Ok(());
    }
    let missing: BTreeSet<String> = compact(missing).iter().map(describe).collect();
    let missing = missing.into_iter().collect::<Vec<_>>().join("\n");
    let User { name, groups, .. } = user;
    let mut message = format!(
        "user {name:?} (groups={}) is attempting to grant RBAC permissions not currently held:\n{missing}",
        quoted(groups)
    );
    if let Some(errors) = errors(&absent, |role| role.registry_error(resource)) {
        message += &format!("; resolution errors: [{errors}]");
    }
    Err(message)
}

/// Returns the parts of rules that no held rule covers: each with one verb and one resource or path (`Covers`).
fn uncovered(held: &[&PolicyRule], rules: &[PolicyRule]) -> Vec<PolicyRule> {
    let parts = rules.iter().flat_map(break_down);
    parts.filter(|part| !held.iter().any(|rule| covers(rule, part))).collect()
}

/// Splits a rule into rules with one verb and one resource, name or path each.
fn break_down(rule: &PolicyRule) -> Vec<PolicyRule> {
    let single = |value: &String| Some(vec![value.clone()]);
    let names: Vec<Option<Vec<String>>> = match list(&rule.resource_names) {
        [] => vec![None],
        names => names.iter().map(single).collect(),
    };
    let mut parts = Vec::new();
    for group in list(&rule.api_groups) {
        for resource in list(&rule.resources) {
            for verb in &rule.verbs {
                parts.extend(names.iter().map(|names| PolicyRule {
                    api_groups: single(group),
                    resources: single(resource),
                    resource_names: names.clone(),
                    verbs: vec![verb.clone()],
                    non_resource_urls: None,
                }));
            }
        }
    }
    for url in list(&rule.non_resource_urls) {
        parts.extend(rule.verbs.iter().map(|verb| PolicyRule {
            non_resource_urls: single(url),
            verbs: vec![verb.clone()],
            ..PolicyRule::default()
        }));
    }
    parts
}

/// Returns whether a rule covers a part of another rule.
fn covers(rule: &PolicyRule, part: &PolicyRule) -> bool {
    let has_all = |values: &[String], parts: &[String]| parts.iter().all(|part| values.contains(part));
    let all_or =
        |values: &[String], parts: &[String]| values.iter().any(|value| value == ALL) || has_all(values, parts);
    let (names, part_names) = (list(&rule.resource_names), list(&part.resource_names));
    let paths = list(&rule.non_resource_urls);
    all_or(&rule.verbs, &part.verbs)
        && all_or(list(&rule.api_groups), list(&part.api_groups))
        && list(&part.resources).iter().all(|resource| covers_resource(list(&rule.resources), resource))
        && (names.is_empty() || !part_names.is_empty() && has_all(names, part_names))
        && list(&part.non_resource_urls).iter().all(|path| paths.iter().any(|pattern| matches_path(pattern, path)))
}

fn covers_resource(resources: &[String], resource: &str) -> bool {
    let any_parent = resource.split_once('/').map(|(_, subresource)| format!("*/{subresource}"));
    resources.iter().any(|held| held == ALL || held == resource || Some(held) == any_parent.as_ref())
}

/// Merges the verbs of parts with the same resource and name (`CompactRules`).
fn compact(parts: Vec<PolicyRule>) -> Vec<PolicyRule> {
    let mut merged: BTreeMap<[Vec<String>; 3], PolicyRule> = BTreeMap::new();
    let mut paths = Vec::new();
    for part in parts {
        if part.non_resource_urls.is_some() {
            paths.push(part);
            continue;
        }
        let key = [&part.api_groups, &part.resources, &part.resource_names].map(|field| list(field).to_vec());
        match merged.get_mut(&key) {
            Some(rule) => rule.verbs.extend(part.verbs),
            None => drop(merged.insert(key, part)),
        }
    }
    paths.extend(merged.into_values());
    paths
}

/// Returns the text of a rule, with the fields that it has (`CompactString`).
fn describe(rule: &PolicyRule) -> String {
    let fields = [
        ("APIGroups", list(&rule.api_groups)),
        ("Resources", list(&rule.resources)),
        ("NonResourceURLs", list(&rule.non_resource_urls)),
        ("ResourceNames", list(&rule.resource_names)),
        ("Verbs", rule.verbs.as_slice()),
    ];
    let set = fields.into_iter().filter(|(_, values)| !values.is_empty());
    let fields: Vec<String> = set.map(|(name, values)| format!("{name}:{}", quoted(values))).collect();
    format!("{{{}}}", fields.join(", "))
}

/// Formats strings as Go's `%q`: `["a" "b"]`.
fn quoted(values: &[String]) -> String {
    let values: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
    format!("[{}]", values.join(" "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::authorization::{
        attributes::Attributes,
        rules::{allows, parse},
    };

    fn missing(held: Value, requested: Value) -> Vec<String> {
        let (held, requested) = (parse(held), parse(requested));
        let held: Vec<&PolicyRule> = held.iter().collect();
        compact(uncovered(&held, &requested)).iter().map(describe).collect()
    }

    #[test]
    fn missing_permissions_are_merged_by_resource() {
        let held = json!([
            { "apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"] },
            { "apiGroups": ["apps"], "resources": ["*/status"], "verbs": ["*"] },
            { "apiGroups": [""], "resources": ["secrets"], "resourceNames": ["a"], "verbs": ["get"] },
            { "nonResourceURLs": ["/healthz/*"], "verbs": ["get"] },
        ]);
        let requested = json!([
            { "apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch", "create"] },
            { "apiGroups": ["apps"], "resources": ["deployments/status"], "verbs": ["patch"] },
            { "apiGroups": [""], "resources": ["secrets"], "resourceNames": ["a", "b"], "verbs": ["get"] },
            { "apiGroups": [""], "resources": ["secrets"], "verbs": ["get"] },
            { "nonResourceURLs": ["/healthz/etcd", "/metrics"], "verbs": ["get"] },
        ]);
        assert_eq!(
            missing(held, requested),
            [
                r#"{NonResourceURLs:["/metrics"], Verbs:["get"]}"#,
                r#"{APIGroups:[""], Resources:["pods"], Verbs:["watch" "create"]}"#,
                r#"{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}"#,
                r#"{APIGroups:[""], Resources:["secrets"], ResourceNames:["b"], Verbs:["get"]}"#,
            ]
        );
    }

    #[test]
    fn the_error_names_the_user_its_groups_and_what_is_missing() {
        let rules = parse(json!([{ "apiGroups": [""], "resources": ["pods"], "verbs": ["get"] }]));
        let user = User::new("jane", vec!["dev".to_owned()]);
        assert_eq!(
            confirm(&RoleBindings::default(), &user, ("roles", ""), &rules).unwrap_err(),
            "user \"jane\" (groups=[\"dev\" \"system:authenticated\"]) is attempting to grant RBAC permissions not \
             currently held:\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\"]}"
        );
        assert_eq!(confirm(&RoleBindings::default(), &user, ("roles", ""), &[]), Ok(()));
    }

    /// Rules of few verbs, resources and names, so that they overlap.
    fn rules() -> impl Strategy<Value = Vec<PolicyRule>> {
        let some = |values: &'static [&'static str], min: usize| {
            let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
            prop::sample::subsequence(values, min..=2)
        };
        let rule = (some(&["get", "list", "*"], 1), some(&["pods", "pods/log", "*/log", "*"], 1), some(&["a", "b"], 0));
        let rule = rule.prop_map(|(verbs, resources, names)| PolicyRule {
            api_groups: Some(vec![String::new()]),
            resources: Some(resources),
            resource_names: Some(names),
            verbs,
            non_resource_urls: None,
        });
        prop::collection::vec(rule, 1..3)
    }

    proptest! {
        /// Covered rules allow nothing that the covering rules do not allow.
        #[test]
        fn covered_rules_allow_no_more(held in rules(), requested in rules()) {
            let references: Vec<&PolicyRule> = held.iter().collect();
            if !uncovered(&references, &requested).is_empty() {
                return Ok(());
            }
            for verb in ["get", "list", "patch"] {
                for (resource, subresource) in [("pods", ""), ("pods", "log"), ("nodes", "log"), ("nodes", "")] {
                    for name in ["", "a", "b", "c"] {
                        let attributes = Attributes {
                            verb: verb.to_owned(),
                            resource: resource.to_owned(),
                            subresource: subresource.to_owned(),
                            name: name.to_owned(),
                            ..Attributes::default()
                        };
                        let allowed = |rules: &[PolicyRule]| rules.iter().any(|rule| allows(rule, &attributes));
                        prop_assert!(allowed(&held) || !allowed(&requested), "{attributes:?}");
                    }
                }
            }
        }

        /// Every rule covers itself.
        #[test]
        fn rules_cover_themselves(rules in rules()) {
            let references: Vec<&PolicyRule> = rules.iter().collect();
            prop_assert!(uncovered(&references, &rules).is_empty());
        }
    }
}
