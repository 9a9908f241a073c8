//! Aggregated discovery: every group, version and resource in one answer.

use serde_json::{Value, json};

use super::{group_names, resource_list, versions_of};
use crate::{api::error::Result, resource::registry::Registry, response::document::Document};

/// How it is asked for, and what it is sent as.
pub(crate) const MEDIA_TYPE: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Whether the first form a client accepts, of those there are, is this one.
pub(crate) fn is_wanted(accept: &str) -> bool {
    let mut forms = accept.split(',').map(|clause| clause.split(';').map(str::trim).collect::<Vec<_>>());
    let wanted = forms.find_map(|form| {
        let is_json = matches!(form.first(), Some(&("application/json" | "application/*" | "*/*")));
        let parameter = |name| form.iter().find_map(|part| part.strip_prefix(name));
        match (is_json, parameter("as=")) {
            (true, None) => Some(false),
            (true, Some("APIGroupDiscoveryList")) => {
                (parameter("g=") == Some("apidiscovery.k8s.io") && parameter("v=") == Some("v2")).then_some(true)
            }
            _ => None,
        }
    });
    wanted.unwrap_or(false)
}

/// `/api`: the core group, which has no name.
pub(crate) fn core(kinds: &Registry) -> Result<Value> {
    let mut group = group(kinds, "")?;
    group["metadata"] = json!({});
    Ok(list(vec![group]))
}

/// `/apis`: every other group.
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
    // Only custom kinds say of which group they are.
    let is_custom = |plural: &str| kinds.get(group, version, plural).is_some_and(|kind| kind.is_custom);
    let mut resources: Vec<Value> = Vec::new();
    for listed in resource_list(kinds, group, version)? {
        let name = listed["name"].as_str().unwrap_or_default();
        let (plural, subresource) = name.split_once('/').map_or((name, None), |(plural, sub)| (plural, Some(sub)));
        let own = if is_custom(plural) { (group, version) } else { ("", "") };
        match (subresource, resources.last_mut()) {
            (Some(subresource), Some(resource)) => {
                let below = json!({
                    "subresource": subresource, "responseKind": response_kind(&listed, own), "verbs": listed["verbs"],
                });
                match resource["subresources"].as_array_mut() {
                    Some(subresources) => subresources.push(below),
                    None => resource["subresources"] = json!([below]),
                }
            }
            _ => resources.push(resource(&listed, own)),
        }
    }
    Ok(json!({ "version": version, "resources": resources, "freshness": "Current" }))
}

fn resource(listed: &Value, own: (&str, &str)) -> Value {
    let mut resource = json!({
        "resource": listed["name"],
        "responseKind": response_kind(listed, own),
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
    let said = |field: &str, own: &str| listed.get(field).cloned().unwrap_or_else(|| json!(own));
    json!({ "group": said("group", group), "version": said("version", version), "kind": listed["kind"] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_form_there_is_counts() {
        assert!(is_wanted(MEDIA_TYPE));
        let beta = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
        assert!(is_wanted(&format!("{beta},{MEDIA_TYPE},application/json")));
        for plain in ["", "*/*", "application/json", beta] {
            assert!(!is_wanted(plain), "{plain}");
        }
        assert!(!is_wanted(&format!("application/json,{MEDIA_TYPE}")));
    }

    #[test]
    fn resources_have_their_subresources_below_them() {
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
