//! The markers and the roles of the test of controller-gen 0.21 (`pkg/rbac/testdata`, Apache-2.0): rules are normalized
//! as it does.

use std::collections::BTreeMap;

use k8s_openapi::api::rbac::v1::PolicyRule;
use kubewright_project::rbac::normalize;
use serde_json::Value;

const MARKERS: &str = include_str!("rbac/markers.txt");
const ROLES: &str = include_str!("rbac/role.yaml");

/// The namespace and the name of a role.
type Key = (String, String);

/// Parses a marker such as `groups=apps,resources=deployments,verbs=get;list`.
fn parse(marker: &str) -> (Key, PolicyRule) {
    let fields: BTreeMap<_, _> = marker.split(',').filter_map(|field| field.split_once('=')).collect();
    let list = |name: &str| -> Option<Vec<String>> {
        let values = fields.get(name)?;
        Some(values.split(';').map(|value| value.trim_matches('"').to_owned()).collect())
    };
    let single = |name: &str, default: &str| (*fields.get(name).unwrap_or(&default)).to_owned();
    let rule = PolicyRule {
        api_groups: list("groups"),
        resources: list("resources"),
        resource_names: list("resourceNames"),
        non_resource_urls: list("urls"),
        verbs: list("verbs").unwrap(),
    };
    ((single("namespace", ""), single("roleName", "manager-role")), rule)
}

#[test]
fn rules_are_normalized_as_by_controller_gen() {
    let mut rules = BTreeMap::<Key, Vec<PolicyRule>>::new();
    for (key, rule) in MARKERS.lines().map(parse) {
        rules.entry(key).or_default().push(rule);
    }
    let ours: Vec<_> = rules
        .into_iter()
        .map(|((namespace, name), rules)| (namespace, name, serde_json::to_value(normalize(rules)).unwrap()))
        .collect();
    let expected: Vec<Value> = ROLES
        .split("---\n")
        .filter(|document| !document.trim().is_empty())
        .map(|document| serde_saphyr::from_str(document).unwrap())
        .collect();
    let expected: Vec<_> = expected
        .into_iter()
        .map(|role| {
            let text = |field: &str| role["metadata"][field].as_str().unwrap_or_default().to_owned();
            (text("namespace"), text("name"), role["rules"].clone())
        })
        .collect();
    assert_eq!(ours, expected);
}
