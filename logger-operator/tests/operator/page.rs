//! The page of the operator in the book lists its permissions.

use std::{fs, path::PathBuf};

use serde_json::Value;

/// The roles of the service account of the operator.
const ROLES: [&str; 5] = ["role", "leader_election_role", "webhook_cert_role", "ca_bundle_role", "metrics_auth_role"];

fn read(file: &str) -> String {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("..");
    fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Returns the values of a field of a rule as code.
fn code(rule: &Value, field: &str) -> String {
    let values = rule[field].as_array().into_iter().flatten().filter_map(Value::as_str);
    values.map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the row of a rule of a role.
fn row(rule: &Value) -> String {
    let group = match code(rule, "apiGroups").as_str() {
        "``" => "core".to_owned(),
        group => group.to_owned(),
    };
    let objects = match code(rule, "resourceNames") {
        names if names.is_empty() => "all".to_owned(),
        names => names,
    };
    format!("| {group} | {} | {} | {objects} |", code(rule, "resources"), code(rule, "verbs"))
}

#[test]
fn the_table_of_permissions_equals_the_rendered_roles() {
    let page = read("docs/example/logger-operator.md");
    let rows: Vec<&str> = page
        .lines()
        .skip_while(|line| *line != "## Permissions")
        .skip_while(|line| !line.starts_with("|---"))
        .skip(1)
        .take_while(|line| line.starts_with('|'))
        .collect();
    let rules = ROLES.iter().flat_map(|role| {
        let role: Value = serde_saphyr::from_str(&read(&format!("config/rbac/{role}.yaml"))).unwrap();
        role["rules"].as_array().unwrap().iter().map(row).collect::<Vec<_>>()
    });
    assert_eq!(rows, rules.collect::<Vec<_>>());
}
