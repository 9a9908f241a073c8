//! Which requests a policy or a binding applies to: resource rules, selectors and equivalent versions.

use std::sync::Arc;

use serde_json::{Value, json};

use super::admission::Admission;
use crate::{
    api::object::Object,
    controllers::controlled_state::ControlledState,
    resource::{
        registry::Resource,
        selector::{selects, to_text},
    },
};

/// Returns the version of the kind in which the policy sees the object, if its constraints match the request.
///
/// # Errors
/// The namespace of the request does not exist.
pub(super) fn matches(
    state: &ControlledState,
    admission: &Admission<'_>,
    constraints: &Value,
) -> Result<Option<Arc<Resource>>, String> {
    let in_namespace = matches_namespace(state, admission, &constraints["namespaceSelector"]);
    if in_namespace == Ok(false) || !matches_object(admission, &constraints["objectSelector"]) {
        return Ok(None);
    }
    let is_exact = constraints["matchPolicy"] == "Exact";
    let find = |rules: &Value| find_version(state, admission, rules.as_array().map_or(&[], Vec::as_slice), is_exact);
    if find(&constraints["excludeResourceRules"]).is_some() {
        return Ok(None);
    }
    let has_rules = constraints["resourceRules"].as_array().is_some_and(|rules| !rules.is_empty());
    let found = if has_rules { find(&constraints["resourceRules"]) } else { Some(admission.kind().clone()) };
    match (found, in_namespace) {
        (Some(_), Err(error)) => Err(error),
        (found, _) => Ok(found),
    }
}

/// Returns whether the labels of the namespace match. Objects at the cluster scope always match, except for namespaces.
fn matches_namespace(state: &ControlledState, admission: &Admission<'_>, selector: &Value) -> Result<bool, String> {
    let name = admission.namespace();
    if name.is_empty() && !admission.is_namespace() || to_text(selector).is_empty() {
        return Ok(true);
    }
    let labels = |object: &Object| json!(object.metadata.labels.clone().unwrap_or_default());
    let labels = match admission.object.filter(|_| admission.is_namespace()) {
        Some(namespace) => labels(namespace),
        None => {
            let stored = state.lock().store.get("namespaces", "", name);
            labels(&*stored.ok_or_else(|| format!("namespaces {name:?} not found"))?)
        }
    };
    Ok(selects(selector, &labels))
}

/// Returns whether the labels of the object match, before or after the request.
fn matches_object(admission: &Admission<'_>, selector: &Value) -> bool {
    let matches = |object: &Object| selects(selector, &json!(object.metadata.labels.clone().unwrap_or_default()));
    to_text(selector).is_empty() || admission.object.is_some_and(matches) || admission.old.is_some_and(matches)
}

/// Returns the first version of the kind that a rule matches: that of the request, or an equivalent one.
fn find_version(
    state: &ControlledState,
    admission: &Admission<'_>,
    rules: &[Value],
    is_exact: bool,
) -> Option<Arc<Resource>> {
    let requested = admission.kind();
    let matches = |kind: &Resource| rules.iter().any(|rule| matches_rule(admission, kind, rule));
    if matches(requested) {
        return Some(requested.clone());
    }
    let (key, version) = (requested.storage_key(), requested.api_version());
    let is_equivalent = |kind: &&Arc<Resource>| kind.storage_key() == key && kind.api_version() != version;
    let state = state.lock();
    let mut equivalents = state.registry.iter().filter(|_| !is_exact).filter(is_equivalent);
    equivalents.find(|kind| matches(kind)).map(|kind| kind.bound_as(requested))
}

fn matches_rule(admission: &Admission<'_>, kind: &Resource, rule: &Value) -> bool {
    let texts = |field: &str| rule[field].as_array().into_iter().flatten().filter_map(Value::as_str);
    let contains = |field: &str, value: &str| texts(field).any(|text| text == "*" || text == value);
    let has_scope = match rule["scope"].as_str() {
        Some("Namespaced") => !admission.is_namespace() && !admission.namespace().is_empty(),
        Some("Cluster") => admission.is_namespace() || admission.namespace().is_empty(),
        _ => true,
    };
    let names = rule["resourceNames"].as_array().is_none_or(Vec::is_empty);
    let subresource = admission.subresource().unwrap_or_default();
    let has_resource = texts("resources").any(|text| {
        let (name, sub) = text.split_once('/').unwrap_or((text, ""));
        (name == "*" || name == kind.plural) && (sub == "*" || sub == subresource)
    });
    has_scope
        && contains("operations", admission.operation.name())
        && contains("apiGroups", &kind.group)
        && contains("apiVersions", &kind.version)
        && has_resource
        && (names || texts("resourceNames").any(|name| name == admission.name()))
}
