//! Discovery: the groups, versions and resources that the server serves.

pub(crate) mod aggregated;

use std::{cmp::Reverse, collections::BTreeSet};

use serde_json::{Value, json};

use crate::{
    api::{
        endpoint::PodSubresource,
        error::{ApiError, Result},
        kind::group_version,
    },
    authentication::service_accounts::SERVICE_ACCOUNTS,
    meta::{
        health,
        review::{self, Review},
    },
    resource::registry::{Registry, Resource},
};

/// The groups of Kubernetes in the order of kube-apiserver, which is the order of `kubectl get all`.
const BUILT_IN_GROUPS: [&str; 19] = [
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
];

/// Returns `/version`.
pub(crate) fn version() -> Value {
    json!({
        "major": "1", "minor": "36", "emulationMajor": "1", "emulationMinor": "36",
        "minCompatibilityMajor": "1", "minCompatibilityMinor": "35",
        "gitVersion": "v1.36.0+in-memory", "gitCommit": "", "gitTreeState": "", "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "", "compiler": "rustc", "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
    })
}

/// Returns `/`: the paths that are served.
pub(crate) fn paths(kinds: &Registry) -> Value {
    let mut paths: BTreeSet<String> =
        ["/api", "/api/v1", "/apis", "/apis/", "/openapi/v2", "/openapi/v3", "/openapi/v3/", "/version"]
            .map(str::to_owned)
            .into();
    for group in group_names(kinds) {
        paths.insert(format!("/apis/{group}"));
        paths.extend(versions_of(kinds, group).into_iter().map(|version| format!("/apis/{group}/{version}")));
    }
    for endpoint in health::ENDPOINTS {
        paths.insert(format!("/{endpoint}"));
        paths.extend(health::names().map(|check| format!("/{endpoint}/{check}")));
    }
    json!({ "paths": paths })
}

/// Returns `/api`. The address is the host of the request; it is omitted without one.
pub(crate) fn core_versions(host: &str) -> Value {
    let addresses: Vec<Value> = Some(json!({ "clientCIDR": "0.0.0.0/0", "serverAddress": host }))
        .filter(|_| !host.is_empty())
        .into_iter()
        .collect();
    json!({ "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses })
}

/// Returns `/apis`.
pub(crate) fn groups(kinds: &Registry) -> Value {
    let group = |name: &str| group_body(name, &versions_of(kinds, name));
    let groups: Vec<Value> = group_names(kinds).into_iter().map(group).collect();
    json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })
}

/// Returns `/apis/<group>`.
pub(crate) fn group(kinds: &Registry, name: &str) -> Result<Value> {
    let versions = versions_of(kinds, name);
    if versions.is_empty() {
        return Err(ApiError::PageNotFound);
    }
    let mut body = group_body(name, &versions);
    body["kind"] = json!("APIGroup");
    body["apiVersion"] = json!("v1");
    Ok(body)
}

/// Returns `/api/v1` or `/apis/<group>/<version>`.
pub(crate) fn resources(kinds: &Registry, group: &str, version: &str) -> Result<Value> {
    Ok(json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version(group, version),
        "resources": resource_list(kinds, group, version)?,
    }))
}

/// Returns the resources of a group version, each before its subresources.
fn resource_list(kinds: &Registry, group: &str, version: &str) -> Result<Vec<Value>> {
    let of_version = kinds.iter().filter(|kind| kind.group == group && kind.version == version);
    let reviews = review::ALL.iter().filter(|review| review.group == group && Review::VERSION == version);
    let resources: Vec<Value> = of_version
        .flat_map(|kind| resource_bodies(kind, kinds.is_ending(kind)))
        .chain(reviews.map(review_body))
        .collect();
    if resources.is_empty() {
        let error = if kinds.has_built_in(group) { ApiError::unknown_resource() } else { ApiError::PageNotFound };
        return Err(error);
    }
    Ok(resources)
}

/// Returns all groups except the core group: those of Kubernetes in its order, then the others by name.
fn group_names(kinds: &Registry) -> Vec<&str> {
    let of_kinds = kinds.iter().map(|kind| kind.group.as_str()).filter(|group| !group.is_empty());
    let names: BTreeSet<&str> = of_kinds.chain(review::ALL.iter().map(|review| review.group)).collect();
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_by_key(|name| BUILT_IN_GROUPS.iter().position(|group| group == name).unwrap_or(BUILT_IN_GROUPS.len()));
    names
}

/// Returns the versions of a group, the preferred version first.
fn versions_of<'a>(kinds: &'a Registry, group: &str) -> Vec<&'a str> {
    let of_kinds = kinds.iter().filter(|kind| kind.group == group).map(|kind| kind.version.as_str());
    let of_reviews = review::ALL.iter().filter(|review| review.group == group).map(|_| Review::VERSION);
    let versions: BTreeSet<&str> = of_kinds.chain(of_reviews).collect();
    let mut versions: Vec<&str> = versions.into_iter().collect();
    versions.sort_by_key(|version| Reverse(kube::core::Version::parse(version).priority()));
    versions
}

fn group_body(name: &str, versions: &[&str]) -> Value {
    let versions: Vec<Value> = versions
        .iter()
        .map(|version| json!({ "groupVersion": group_version(name, version), "version": version }))
        .collect();
    json!({ "name": name, "preferredVersion": versions.first(), "versions": versions })
}

fn resource_bodies(kind: &Resource, is_terminating: bool) -> Vec<Value> {
    let mut resource = json!({
        "name": kind.plural, "singularName": kind.singular, "namespaced": kind.namespaced, "kind": kind.kind,
        "verbs": verbs(kind, is_terminating),
    });
    for (field, names) in [("shortNames", &kind.short_names), ("categories", &kind.categories)] {
        if !names.is_empty() {
            resource[field] = json!(names);
        }
    }
    std::iter::once(resource).chain(kind_specific_subresources(kind)).chain(subresources(kind)).collect()
}

/// Returns the verbs of the main endpoint.
fn verbs(kind: &Resource, is_terminating: bool) -> Vec<&'static str> {
    let mut verbs = vec!["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
    if is_terminating {
        verbs.retain(|verb| !["create", "patch", "update"].contains(verb));
    } else if kind.is_custom {
        verbs = vec!["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
    } else if !kind.strategy.allows_delete_collection {
        verbs.retain(|verb| *verb != "deletecollection");
    }
    verbs
}

/// The verbs of subresources that are parts of objects.
const ALL_VERBS: [&str; 3] = ["get", "patch", "update"];

/// Returns the subresources of a resource that are more than created, by name, or for custom kinds the status first.
fn subresources(kind: &Resource) -> impl Iterator<Item = Value> {
    let body = |name: &str, verbs: &[&str]| {
        json!({
            "name": format!("{}/{name}", kind.plural), "singularName": "", "namespaced": kind.namespaced,
            "kind": kind.kind, "verbs": verbs,
        })
    };
    let mut scale = body("scale", &ALL_VERBS);
    (scale["group"], scale["version"], scale["kind"]) = (json!("autoscaling"), json!("v1"), json!("Scale"));
    let mut served = [
        (kind.strategy.has_approval, body("approval", &ALL_VERBS)),
        (kind.strategy.has_finalize, body("finalize", &["update"])),
        (kind.scale.is_some(), scale),
        (kind.has_status, body("status", &ALL_VERBS)),
    ];
    if kind.is_custom {
        served.reverse();
    }
    served.into_iter().filter(|(is_served, _)| *is_served).map(|(_, body)| body)
}

/// Returns the subresources that only pods and service accounts have.
fn kind_specific_subresources(kind: &Resource) -> Vec<Value> {
    let of_pod = |subresource: &PodSubresource| {
        let name = format!("pods/{}", subresource.name());
        if subresource.is_part() {
            return json!({
                "name": name, "singularName": "", "namespaced": true, "kind": "Pod", "verbs": ALL_VERBS,
            });
        }
        created_subresource(&name, subresource.group_version_kind())
    };
    if !kind.is_custom && kind.group_resource() == SERVICE_ACCOUNTS {
        return vec![created_subresource("serviceaccounts/token", ("authentication.k8s.io", "v1", "TokenRequest"))];
    }
    kind.strategy.pod_subresources.iter().map(of_pod).collect()
}

fn created_subresource(name: &str, (group, version, kind): (&str, &str, &str)) -> Value {
    let mut body = json!({
        "name": name, "singularName": "", "namespaced": true, "kind": kind, "verbs": ["create"],
    });
    if !group.is_empty() {
        body["group"] = json!(group);
        body["version"] = json!(version);
    }
    body
}

fn review_body(review: &Review) -> Value {
    json!({
        "name": review.plural(), "singularName": review.singular(), "namespaced": review.namespaced, "kind": review.kind,
        "verbs": ["create"],
    })
}
