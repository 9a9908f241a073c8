//! Rules of random markers: normalized as by controller-gen, except where that loses a permission.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::Path,
    process::Command,
};

use fastrand::Rng;
use k8s_openapi::api::rbac::v1::PolicyRule;
use kubewright_project::rbac::normalize;
use serde_json::{Value, json};

use super::twins::{build_or_skip, run};

const MODULE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/controller-gen-roles");
const SEED: u64 = 16;
const ROLES: usize = 500;

// Few names, so that rules are merged.
const GROUPS: [&str; 3] = ["", "core", "apps"];
const RESOURCES: [&str; 3] = ["pods", "jobs", "jobs/status"];
const NAMES: [&str; 2] = ["a", "b"];
const URLS: [&str; 2] = ["/metrics", "/healthz"];
const VERBS: [&str; 3] = ["get", "list", "*"];

/// Group, resource or URL, names and verb.
type Permission = (String, String, Vec<String>, String);

#[test]
fn rules_are_those_of_controller_gen_except_where_it_loses_permissions() {
    let module = Path::new(MODULE);
    let Some(tool) = build_or_skip(module) else { return };
    let mut rng = Rng::with_seed(SEED);
    let roles: Vec<Vec<PolicyRule>> =
        (0..ROLES).map(|_| (0..rng.usize(1..6)).map(|_| rule(&mut rng)).collect()).collect();
    let theirs = generate(&tool, module, &roles);
    let mut equal = 0;
    for (index, rules) in roles.into_iter().enumerate() {
        let (ours, theirs) = (normalize(rules.clone()), &theirs[&format!("role-{index}")]);
        assert_eq!(permissions(&ours), permissions(&rules), "no permission is lost: {rules:?}");
        if json!(ours) == *theirs {
            equal += 1;
            continue;
        }
        let theirs: Vec<PolicyRule> = serde_json::from_value(theirs.clone()).unwrap();
        let (ours, theirs) = (permissions(&ours), permissions(&theirs));
        assert!(theirs.is_subset(&ours) && theirs != ours, "{rules:?}: {theirs:?}");
    }
    assert!(equal > ROLES * 9 / 10, "only {equal} of {ROLES} roles are equal");
}

fn rule(rng: &mut Rng) -> PolicyRule {
    let verbs = pick(rng, &VERBS);
    if rng.u8(..) < 40 {
        return PolicyRule { non_resource_urls: Some(pick(rng, &URLS)), verbs, ..PolicyRule::default() };
    }
    PolicyRule {
        api_groups: Some(pick(rng, &GROUPS)),
        resources: Some(pick(rng, &RESOURCES)),
        resource_names: (rng.u8(..) < 80).then(|| pick(rng, &NAMES)),
        verbs,
        non_resource_urls: None,
    }
}

/// Returns one or two of the values, perhaps the same one twice.
fn pick(rng: &mut Rng, values: &[&str]) -> Vec<String> {
    (0..rng.usize(1..3)).map(|_| values[rng.usize(..values.len())].to_owned()).collect()
}

/// Generates the roles of a package with the markers of all rules: the rules of each role, by its name.
fn generate(tool: &Path, module: &Path, roles: &[Vec<PolicyRule>]) -> BTreeMap<String, Value> {
    let mut source = String::new();
    for (index, rule) in roles.iter().enumerate().flat_map(|(index, rules)| rules.iter().map(move |rule| (index, rule)))
    {
        writeln!(source, "// +kubebuilder:rbac:roleName=role-{index}{}", marker(rule)).unwrap();
    }
    source.push_str("package roles\n");
    fs::create_dir_all(module.join("roles")).unwrap();
    fs::write(module.join("roles/doc.go"), source).unwrap();
    let args = ["rbac:roleName=unused", "paths=./roles", "output:rbac:dir=generated"];
    run(Command::new(tool).args(args).current_dir(module));
    let generated = fs::read_to_string(module.join("generated/role.yaml")).unwrap();
    let documents = generated.split("---\n").filter(|document| !document.trim().is_empty());
    let roles = documents.map(|document| serde_saphyr::from_str::<Value>(document).unwrap());
    roles.map(|role| (role["metadata"]["name"].as_str().unwrap().to_owned(), role["rules"].clone())).collect()
}

fn marker(rule: &PolicyRule) -> String {
    let verbs = Some(rule.verbs.clone());
    let lists = [
        ("groups", &rule.api_groups),
        ("resources", &rule.resources),
        ("resourceNames", &rule.resource_names),
        ("urls", &rule.non_resource_urls),
        ("verbs", &verbs),
    ];
    let quoted = |value: &String| if value.is_empty() { "\"\"".to_owned() } else { value.clone() };
    let argument = |(name, list): (&str, &Option<Vec<String>>)| {
        let values: Vec<_> = list.as_ref()?.iter().map(quoted).collect();
        Some(format!(",{name}={}", values.join(";")))
    };
    lists.into_iter().filter_map(argument).collect()
}

/// Returns each permission. The verb `*` contains all others.
fn permissions(rules: &[PolicyRule]) -> BTreeSet<Permission> {
    let mut all = BTreeSet::new();
    for rule in rules {
        let list = |list: &Option<Vec<String>>| list.clone().unwrap_or_default();
        let names: Vec<_> = list(&rule.resource_names).into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        for verb in &rule.verbs {
            all.extend(list(&rule.non_resource_urls).into_iter().map(|url| (String::new(), url, vec![], verb.clone())));
            for group in list(&rule.api_groups) {
                let group = if group == "core" { String::new() } else { group };
                let resources = list(&rule.resources).into_iter();
                all.extend(resources.map(|resource| (group.clone(), resource, names.clone(), verb.clone())));
            }
        }
    }
    let any: BTreeSet<_> = all
        .iter()
        .filter(|permission| permission.3 == "*")
        .map(|permission| (&permission.0, &permission.1, &permission.2))
        .collect();
    let is_own =
        |permission: &&Permission| permission.3 == "*" || !any.contains(&(&permission.0, &permission.1, &permission.2));
    all.iter().filter(is_own).cloned().collect()
}
