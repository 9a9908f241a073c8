//! Aggregated discovery: all groups, versions and resources in one response.

use serde_json::{Value, json};

use super::{group_names, resource_list, versions_of};
use crate::{api::error::Result, resource::registry::Registry, response::document::Document};

/// The media type, in requests and responses.
pub(crate) const MEDIA_TYPE: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Returns whether aggregated discovery is the first supported media type of an `Accept` header.
pub(crate) fn is_requested(accept: &str) -> bool {
    let mut clauses = accept.split(',').map(|clause| clause.split(';').map(str::trim).collect::<Vec<_>>());
    let requested = clauses.find_map(|clause| {
        let is_json = matches!(clause.first(), Some(&("application/json" | "application/*" | "*/*")));
        let parameter = |name| clause.iter().find_map(|part| part.strip_prefix(name));
        match (is_json, parameter("as=")) {
            (true, None) => Some(false),
            (true, Some("APIGroupDiscoveryList")) => {
                (parameter("g=") == Some("apidiscovery.k8s.io") && parameter("v=") == Some("v2")).then_some(true)
            }
            _ => None,
        }
    });
    requested.unwrap_or(false)
}

/// Returns `/api`: the core group, which has no name.
pub(crate) fn core(kinds: &Registry) -> Result<Value> {
    let mut group = group(kinds, "")?;
    group["metadata"] = json!({});
    Ok(list(vec![group]))
}

/// Returns `/apis`: all other groups.
pub(crate) fn groups(kinds: &Registry) -> Result<Value> {
    let groups: Result<Vec<Value>> = group_names(kinds).into_iter().map(|name| group(kinds, name)).collect();
    Ok(list(groups?))
}

/// Returns aggregated discovery as a document.
pub(crate) fn document(value: &Value) -> Document {
    Document::new(MEDIA_TYPE, value.to_string().into())
}

fn list(items: Vec<Value>) -> Value {
    json!({ "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items })
}

fn group(kinds: &Registry, name: &str) -> Result<Value> {
    let versions: Result<Vec<Value>> =
        versions_of(kinds, name).into_iter().map(|version| version_of(kinds, name, version)).collect();
    Ok(json!({ "metadata": { "name": name }, "versions": versions? }))
}

fn version_of(kinds: &Registry, group: &str, version: &str) -> Result<Value> {
    // Only resources of custom kinds contain their group and version.
    let is_custom = |plural: &str| kinds.get(group, version, plural).is_some_and(|kind| kind.is_custom);
    let mut resources: Vec<Value> = Vec::new();
    for listed in resource_list(kinds, group, version)? {
        let name = listed["name"].as_str().unwrap_or_default();
        let (plural, subresource) = name.split_once('/').map_or((name, None), |(plural, sub)| (plural, Some(sub)));
        let group_version = if is_custom(plural) { (group, version) } else { ("", "") };
        match (subresource, resources.last_mut()) {
            (Some(subresource), Some(resource)) => {
                let body = json!({
                    "subresource": subresource,
                    "responseKind": response_kind(&listed, group_version),
                    "verbs": listed["verbs"],
                });
                match resource["subresources"].as_array_mut() {
                    Some(subresources) => subresources.push(body),
                    None => resource["subresources"] = json!([body]),
                }
            }
            _ => resources.push(resource(&listed, group_version)),
        }
    }
    Ok(json!({ "version": version, "resources": resources, "freshness": "Current" }))
}

fn resource(listed: &Value, group_version: (&str, &str)) -> Value {
    let mut resource = json!({
        "resource": listed["name"],
        "responseKind": response_kind(listed, group_version),
        "scope": if listed["namespaced"] == true { "Namespaced" } else { "Cluster" },
        "singularResource": listed["singularName"],
        "verbs": listed["verbs"],
    });
    for field in ["shortNames", "categories"] {
        if let Some(names) = listed.get(field) {
            resource[field] = names.clone();
        }
    }
    resource
}

fn response_kind(listed: &Value, (group, version): (&str, &str)) -> Value {
    let field_or = |field: &str, default: &str| listed.get(field).cloned().unwrap_or_else(|| json!(default));
    json!({ "group": field_or("group", group), "version": field_or("version", version), "kind": listed["kind"] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_supported_media_type_is_selected() {
        assert!(is_requested(MEDIA_TYPE));
        let beta = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
        assert!(is_requested(&format!("{beta},{MEDIA_TYPE},application/json")));
        for plain in ["", "*/*", "application/json", beta] {
            assert!(!is_requested(plain), "{plain}");
        }
        assert!(!is_requested(&format!("application/json,{MEDIA_TYPE}")));
    }

    #[test]
    fn resources_contain_their_subresources() {
        let groups = groups(&Registry::new()).unwrap();
        let apps =
            groups["items"].as_array().unwrap().iter().find(|group| group["metadata"]["name"] == "apps").unwrap();
        let resources = apps["versions"][0]["resources"].as_array().unwrap();
        let deployments = resources.iter().find(|resource| resource["resource"] == "deployments").unwrap();
        assert_eq!(deployments["responseKind"], json!({ "group": "", "version": "", "kind": "Deployment" }));
        let scale = &deployments["subresources"][0];
        assert_eq!(scale["responseKind"], json!({ "group": "autoscaling", "version": "v1", "kind": "Scale" }));
    }
}
