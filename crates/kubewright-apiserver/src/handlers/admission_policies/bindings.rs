//! The bindings of a policy, and the parameters that they select.

use std::sync::Arc;

use serde_json::{Value, json};

use super::admission::{Admission, GROUP};
use crate::{
    api::{
        error::ApiError,
        object::{Object, Stored},
    },
    controllers::controlled_state::ControlledState,
    handlers::request::ResourceRequest,
    resource::{
        registry::Resource,
        selector::{selects, to_text},
    },
};

/// The API version of policies and bindings in their JSON.
const API_VERSION: &str = "admissionregistration.k8s.io/v1";

/// Returns the stored objects of a resource of admission configuration, by name.
pub(super) fn configurations(state: &ControlledState, plural: &str, kind: &str) -> Vec<Value> {
    let stored = state.lock().store.list(&format!("{plural}.{GROUP}"), None);
    stored.iter().map(|object| object.to_json(API_VERSION, kind)).collect()
}

/// Returns the name of an object.
pub(super) fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

/// Returns the bindings of a policy.
pub(super) fn of_policy<'a>(bindings: &'a [Value], policy: &'a Value) -> impl Iterator<Item = &'a Value> {
    bindings.iter().filter(move |binding| binding["spec"]["policyName"].as_str() == Some(name(policy)))
}

/// Returns the resource of the parameters of a policy; `None` if it has none.
///
/// # Errors
/// The kind of the parameters is not served.
pub(super) fn param_kind(
    state: &ControlledState,
    request: &ResourceRequest,
    policy: &Value,
) -> Result<Option<Arc<Resource>>, String> {
    let kind = &policy["spec"]["paramKind"];
    if kind.is_null() {
        return Ok(None);
    }
    let text = |field: &str| kind[field].as_str().unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let found = state.lock().registry.named(api_version, kind);
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let missing = || format!("failed to find resource referenced by paramKind: '{group}/{version}, Kind={kind}'");
    found.map(|kind| Some(request.bind(kind))).ok_or_else(missing)
}

/// Returns the parameters of a binding, one for each evaluation of its policy. Null is an evaluation without
/// parameters.
///
/// # Errors
/// The reference does not fit the request, or there are no parameters although the binding requires them.
pub(super) fn params(
    state: &ControlledState,
    admission: &Admission<'_>,
    kind: Option<&Resource>,
    binding: &Value,
) -> Result<Vec<Value>, String> {
    let reference = &binding["spec"]["paramRef"];
    let (Some(kind), false) = (kind, reference.is_null()) else { return Ok(vec![Value::Null]) };
    let text = |field: &str| reference[field].as_str().unwrap_or_default();
    let namespace = match (kind.namespaced, text("namespace"), admission.namespace()) {
        (false, "", _) => "",
        (false, ..) => {
            return Err("paramRef.namespace must not be provided for a cluster-scoped `paramKind`".to_owned());
        }
        (true, "", "") => {
            let detail = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources";
            return Err(detail.to_owned());
        }
        (true, "", namespace) | (true, namespace, _) => namespace,
    };
    let key = kind.storage_key();
    let found: Vec<Stored> = match text("name") {
        "" => {
            let all = state.lock().store.list(&key, kind.namespaced.then_some(namespace));
            all.into_iter().filter(|object| is_selected(object, &reference["selector"])).collect()
        }
        name => state.lock().store.get(&key, namespace, name).into_iter().collect(),
    };
    if found.is_empty() && text("parameterNotFoundAction") == "Deny" {
        return Err("no params found for policy binding with `Deny` parameterNotFoundAction".to_owned());
    }
    let json = |object: &Stored| kind.read(object).map(|object| object.to_json(&kind.api_version(), &kind.kind));
    found.iter().map(json).collect::<Result<_, ApiError>>().map_err(ApiError::message)
}

fn is_selected(object: &Object, selector: &Value) -> bool {
    to_text(selector).is_empty() || selects(selector, &json!(object.metadata.labels.clone().unwrap_or_default()))
}
