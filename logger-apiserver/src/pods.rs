//! What is asked of pods through their subresources: to go, and to be on a node

mod binding;
mod eviction;

use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    body::{self, Mistake},
    call::{Call, State},
    decode::Expected,
    object::{Object, now},
    status::{Refusal, Result},
};

/// What can be asked of a pod.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Request {
    Binding,
    Eviction,
}

impl Request {
    /// The request that a subresource of pods is for.
    pub(crate) fn find(subresource: &str) -> Option<Self> {
        match subresource {
            "binding" => Some(Self::Binding),
            "eviction" => Some(Self::Eviction),
            _ => None,
        }
    }

    /// All of them, as discovery lists them.
    pub(crate) const ALL: [Self; 2] = [Self::Binding, Self::Eviction];

    /// What discovery says of it.
    pub(crate) fn discovered(self) -> Value {
        let (group, version, kind) = self.kind();
        let mut body = json!({
            "name": format!("pods/{}", kind.to_lowercase()), "singularName": "", "namespaced": true, "kind": kind,
            "verbs": ["create"],
        });
        if !group.is_empty() {
            body["group"] = json!(group);
            body["version"] = json!(version);
        }
        body
    }

    fn kind(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Binding => ("", "v1", "Binding"),
            Self::Eviction => ("policy", "v1", "Eviction"),
        }
    }
}

/// Does what is asked of a pod. Such requests are made, and never seen again.
pub(crate) fn answer(state: &mut State, method: &Method, call: &Call, request: Request) -> Result<Answer> {
    if *method != Method::POST {
        return Err(Refusal::method_not_allowed());
    }
    let options = call.write_options("CreateOptions")?;
    let body = read(call, request)?;
    let (_, _, kind) = request.kind();
    if body.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default() != call.name() {
        return Err(Refusal::bad_request(format!("name in URL does not match name in {kind} object")));
    }
    match request {
        Request::Binding => binding::bind(state, call, &body, options.dry_run)?,
        Request::Eviction => eviction::evict(state, call, &body, options.dry_run)?,
    }
    Ok(Answer::success(StatusCode::CREATED))
}

/// The body, which may leave out what it is.
fn read(call: &Call, request: Request) -> Result<Value> {
    body::check_media_type(&call.content_type, false)?;
    let (group, version, kind) = request.kind();
    let expected = Expected { group, version, kind };
    let fields = body::fields(&call.content_type, &call.body, &expected.api_version(), kind);
    let body = fields.map(|read| read.fields).map_err(|mistake| match mistake {
        Mistake::Unrecognized(why) => body::unrecognized(kind, &why, &call.body),
        Mistake::Unreadable(why) => expected.unhandled(kind, version, &why),
    })?;
    // Evictions may be of the version before, too.
    let is_older = group == "policy" && body.get("apiVersion").is_some_and(|said| said == "policy/v1beta1");
    Expected { version: if is_older { "v1beta1" } else { version }, ..expected }.check(&body)?;
    Ok(Value::Object(body))
}

/// Sets a condition of a pod, new or changed.
fn set_condition(pod: &mut Object, mut condition: Value) {
    condition["lastTransitionTime"] = json!(now());
    let status = pod.body.entry("status").or_insert_with(|| json!({}));
    if !status["conditions"].is_array() {
        status["conditions"] = json!([]);
    }
    let Some(conditions) = status["conditions"].as_array_mut() else { return };
    match conditions.iter_mut().find(|other| other["type"] == condition["type"]) {
        Some(other) => *other = condition,
        None => conditions.push(condition),
    }
}
