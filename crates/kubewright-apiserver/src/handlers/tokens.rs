//! `/token` of a service account: issues a token (`TokenRequest`).

use http::Method;
use jiff::Timestamp;
use k8s_openapi::{
    api::authentication::v1::{BoundObjectReference, TokenRequestSpec},
    apimachinery::pkg::apis::meta::v1::Time,
};
use serde_json::{Map, Value, json};

use crate::{
    api::{
        error::{ApiError, FieldError, Result},
        object::{Object, Stored},
    },
    authentication::service_accounts::{BoundObjects, Reference, TokenSpec},
    handlers::{
        decode::{self, Expected},
        request::ResourceRequest,
    },
    storage::state::State,
};

const GROUP: &str = "authentication.k8s.io";
const KIND: &str = "TokenRequest";

const DEFAULT_SECONDS: i64 = 60 * 60;
const MIN_SECONDS: i64 = 10 * 60;
const MAX_SECONDS: i64 = 1 << 32;
/// The time that kubelets request for the tokens of pods. Such a token is valid longer, so that a client that does not
/// read it again continues to work.
const EXTENDED_SECONDS: i64 = 60 * 60 + 7;
const EXTENSION_SECONDS: i64 = 365 * 24 * 60 * 60;

/// Issues a token, which is not stored, and returns the completed request.
///
/// # Errors
/// The request is invalid, or the service account or the object that the token is bound to does not exist.
pub(crate) fn create(state: &State, method: &Method, request: &ResourceRequest) -> Result<Value> {
    if *method != Method::POST {
        return Err(ApiError::method_not_allowed());
    }
    request.write_options("CreateOptions")?;
    let (metadata, mut spec) = decode_request(request)?;
    check_metadata(request, &metadata)?;
    let account = request.existing(state)?;
    let uid = text(&metadata, "uid");
    if !uid.is_empty() && uid != account.uid() {
        let account_uid = account.uid();
        let detail = format!(
            "the UID in the token request ({uid}) does not match the UID of the service account ({account_uid})"
        );
        return Err(ApiError::conflict_of(KIND, GROUP, request.name(), &detail));
    }
    let audiences = spec.audiences.get_or_insert_default();
    if audiences.is_empty() {
        *audiences = state.authenticator.issuer.audiences();
    }
    let (now, seconds) = (Timestamp::now().as_second(), *spec.expiration_seconds.get_or_insert(DEFAULT_SECONDS));
    check_expiration(seconds)?;
    let bound = bound_objects(state, &account, spec.bound_object_ref.as_ref())?;
    let token = issue(state, bound, &spec, seconds, now)?;
    Ok(json!({
        "kind": KIND,
        "apiVersion": format!("{GROUP}/v1"),
        "metadata": {
            "name": account.name(), "namespace": account.namespace(), "uid": account.uid(),
            "creationTimestamp": time(now),
        },
        "spec": {
            "audiences": spec.audiences, "expirationSeconds": seconds, "boundObjectRef": spec.bound_object_ref,
        },
        "status": { "token": token, "expirationTimestamp": time(now.saturating_add(seconds)) },
    }))
}

/// Decodes the metadata and the spec of the body.
fn decode_request(request: &ResourceRequest) -> Result<(Value, TokenRequestSpec)> {
    let expected = Expected { group: GROUP, version: "v1", kind: KIND };
    let mut fields: Map<String, Value> = decode::unstored(request, expected)?;
    expected.check(&fields)?;
    let spec = match fields.remove("spec") {
        None | Some(Value::Null) => TokenRequestSpec::default(),
        Some(spec) => serde_json::from_value(spec)
            .map_err(|error| expected.unhandled(KIND, expected.version, &error.to_string()))?,
    };
    Ok((fields.remove("metadata").unwrap_or_default(), spec))
}

/// Checks that the body names no other object than the path.
fn check_metadata(request: &ResourceRequest, metadata: &Value) -> Result<()> {
    let namespace = text(metadata, "namespace");
    if !namespace.is_empty() && Some(namespace) != request.namespace.as_deref() {
        return Err(ApiError::namespace_mismatch());
    }
    let name = text(metadata, "name");
    if !name.is_empty() && name != request.name() {
        let detail = "must match the service account name if specified";
        let error = FieldError::invalid("metadata.name", format!("{name:?}"), detail);
        return Err(ApiError::invalid_of(KIND, GROUP, request.name(), &[error]));
    }
    Ok(())
}

fn check_expiration(seconds: i64) -> Result<()> {
    let detail = match seconds {
        ..MIN_SECONDS => "may not specify a duration less than 10 minutes",
        MIN_SECONDS..=MAX_SECONDS => return Ok(()),
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    let error = FieldError::invalid("spec.expirationSeconds", seconds, detail);
    Err(ApiError::invalid_of(KIND, GROUP, "", &[error]))
}

/// Returns the claims about the service account and the object that the token is bound to.
fn bound_objects(state: &State, account: &Object, bound: Option<&BoundObjectReference>) -> Result<BoundObjects> {
    let claims = BoundObjects {
        namespace: account.namespace().to_owned(),
        serviceaccount: Reference::to(account),
        ..BoundObjects::default()
    };
    let Some(bound) = bound else { return Ok(claims) };
    let field = |field: &Option<String>| field.clone().unwrap_or_default();
    let (api_version, kind, name) = (field(&bound.api_version), field(&bound.kind), field(&bound.name));
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version.as_str()));
    let get = |resource: &str, namespace: &str| existing(state, resource, namespace, &name);
    let (object, claims) = match (group, kind.as_str()) {
        ("", "Pod") => {
            let pod = get("pods", account.namespace())?;
            check_pod(&pod, account.name())?;
            let (reference, node) = (Some(Reference::to(&pod)), node_of(state, &pod));
            (pod, BoundObjects { pod: reference, node, ..claims })
        }
        ("", "Node") => {
            let node = get("nodes", "")?;
            let reference = Some(Reference::to(&node));
            (node, BoundObjects { node: reference, ..claims })
        }
        ("", "Secret") => {
            let secret = get("secrets", account.namespace())?;
            let reference = Some(Reference::to(&secret));
            (secret, BoundObjects { secret: reference, ..claims })
        }
        _ => {
            let message = format!("cannot bind token to object of type {group}/{version}, Kind={kind}");
            return Err(ApiError::bad_request(message));
        }
    };
    match field(&bound.uid) {
        uid if uid.is_empty() || uid == object.uid() => Ok(claims),
        uid => {
            let detail = format!(
                "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have \
                 been deleted and then recreated"
            );
            Err(ApiError::conflict_of(&kind, group, &name, &detail))
        }
    }
}

/// Returns an object that the token is bound to.
fn existing(state: &State, resource: &str, namespace: &str, name: &str) -> Result<Stored> {
    let missing = || match state.registry.of_resource(resource) {
        Some(kind) => ApiError::not_found(&kind, name),
        None => ApiError::unknown_resource(),
    };
    state.store.get(resource, namespace, name).ok_or_else(missing)
}

fn check_pod(pod: &Object, account: &str) -> Result<()> {
    if pod.field("spec.serviceAccountName").and_then(Value::as_str).unwrap_or_default() == account {
        return Ok(());
    }
    let message =
        format!("cannot bind token for serviceaccount {account:?} to pod running with different serviceaccount name.");
    Err(ApiError::bad_request(message))
}

/// Returns the node of a pod, without its UID if it does not exist.
fn node_of(state: &State, pod: &Object) -> Option<Reference> {
    let name = pod.field("spec.nodeName").and_then(Value::as_str).filter(|name| !name.is_empty())?;
    let node = state.store.get("nodes", "", name).map(|node| Reference::to(&node));
    Some(node.unwrap_or_else(|| Reference { name: name.to_owned(), uid: String::new() }))
}

fn issue(state: &State, mut bound: BoundObjects, spec: &TokenRequestSpec, seconds: i64, now: i64) -> Result<String> {
    let issuer = &state.authenticator.issuer;
    let (accepted, audiences) = (issuer.audiences(), spec.audiences.clone().unwrap_or_default());
    let is_own = audiences.iter().all(|audience| accepted.contains(audience));
    let is_extended = bound.pod.is_some() && seconds == EXTENDED_SECONDS && is_own;
    if is_extended {
        bound.warnafter = Some(now.saturating_add(seconds));
    }
    let expiration_seconds = if is_extended { EXTENSION_SECONDS } else { seconds };
    let issued = issuer.issue(TokenSpec { bound, audiences, expiration_seconds }, now);
    issued.map_err(|error| ApiError::internal_error(&format!("failed to generate token: {error}")))
}

fn time(second: i64) -> Option<Time> {
    Timestamp::from_second(second).ok().map(Time)
}

fn text<'a>(fields: &'a Value, name: &str) -> &'a str {
    fields[name].as_str().unwrap_or_default()
}
