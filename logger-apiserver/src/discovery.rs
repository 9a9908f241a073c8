//! Discovery: what the server says it serves

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    kinds::{Kind, Kinds, group_version},
    status::{Refusal, Result},
};

/// `/version`.
pub(crate) fn version() -> Value {
    json!({
        "major": "1", "minor": "36", "emulationMajor": "1", "emulationMinor": "36",
        "minCompatibilityMajor": "1", "minCompatibilityMinor": "35",
        "gitVersion": "v1.36.0+in-memory", "gitCommit": "", "gitTreeState": "", "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "", "compiler": "rustc", "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
    })
}

/// `/api`.
pub(crate) fn core_versions() -> Value {
    json!({ "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [] })
}

/// `/apis`.
pub(crate) fn groups(kinds: &Kinds) -> Value {
    let groups: Vec<Value> =
        versions_by_group(kinds).iter().map(|(name, versions)| group_body(name, versions)).collect();
    json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })
}

/// `/apis/<group>`.
pub(crate) fn group(kinds: &Kinds, name: &str) -> Result<Value> {
    let groups = versions_by_group(kinds);
    let versions = groups.get(name).ok_or(Refusal::PageNotFound)?;
    let mut body = group_body(name, versions);
    body["kind"] = json!("APIGroup");
    body["apiVersion"] = json!("v1");
    Ok(body)
}

/// `/api/v1` and `/apis/<group>/<version>`.
pub(crate) fn resources(kinds: &Kinds, group: &str, version: &str) -> Result<Value> {
    let of_version = kinds.iter().filter(|kind| kind.group == group && kind.version == version);
    let resources: Vec<Value> = of_version.flat_map(|kind| resource_bodies(kind)).collect();
    if resources.is_empty() {
        let unknown = if kinds.has_built_in(group) { Refusal::unknown_resource() } else { Refusal::PageNotFound };
        return Err(unknown);
    }
    Ok(json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version(group, version),
        "resources": resources,
    }))
}

/// The versions of every group but the core one, the preferred first.
fn versions_by_group(kinds: &Kinds) -> BTreeMap<&str, Vec<&str>> {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for kind in kinds.iter().filter(|kind| !kind.group.is_empty()) {
        let versions = groups.entry(&kind.group).or_default();
        if !versions.contains(&kind.version.as_str()) {
            versions.push(&kind.version);
        }
    }
    for versions in groups.values_mut() {
        versions.sort_by_key(|version| std::cmp::Reverse(kube::core::Version::parse(version).priority()));
    }
    groups
}

fn group_body(name: &str, versions: &[&str]) -> Value {
    let versions: Vec<Value> = versions
        .iter()
        .map(|version| json!({ "groupVersion": group_version(name, version), "version": version }))
        .collect();
    json!({ "name": name, "preferredVersion": versions.first(), "versions": versions })
}

fn resource_bodies(kind: &Kind) -> Vec<Value> {
    let mut verbs = vec!["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
    if kind.is_custom() {
        verbs = vec!["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
    } else if kind.is_namespace() {
        verbs.retain(|verb| *verb != "deletecollection");
    }
    let mut resource = json!({
        "name": kind.plural, "singularName": kind.singular, "namespaced": kind.namespaced, "kind": kind.kind, "verbs": verbs,
    });
    for (field, names) in [("shortNames", &kind.short_names), ("categories", &kind.categories)] {
        if !names.is_empty() {
            resource[field] = json!(names);
        }
    }
    let status = json!({
        "name": format!("{}/status", kind.plural), "singularName": "", "namespaced": kind.namespaced, "kind": kind.kind,
        "verbs": ["get", "patch", "update"],
    });
    let scale = json!({
        "name": format!("{}/scale", kind.plural), "singularName": "", "namespaced": kind.namespaced,
        "group": "autoscaling", "version": "v1", "kind": "Scale", "verbs": ["get", "patch", "update"],
    });
    let subresources = [(kind.has_status, status), (kind.scale.is_some(), scale)];
    let served = subresources.into_iter().filter(|(served, _)| *served).map(|(_, body)| body);
    std::iter::once(resource).chain(served).collect()
}
