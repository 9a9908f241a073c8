//! `AdmissionReview` of `admission.k8s.io/v1`: encoded requests, and the checks of the responses.

use http::StatusCode;
use k8s_openapi::{ByteString, apimachinery::pkg::apis::meta::v1::Status};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Phase, attributes::Attributes};
use crate::{
    api::{error::ApiError, webhook::failure},
    authorization::user::User,
    resource::registry::Resource,
};

const API_VERSION: &str = "admission.k8s.io/v1";
const KIND: &str = "AdmissionReview";
const JSON_PATCH: &str = "JSONPatch";

/// The response of a webhook.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Response {
    #[serde(default)]
    uid: String,
    #[serde(default)]
    pub(super) allowed: bool,
    pub(super) status: Option<Status>,
    patch: Option<ByteString>,
    patch_type: Option<String>,
    warnings: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    response: Option<Response>,
}

/// A request with the UID that its response must have.
pub(super) struct Request {
    pub(super) uid: String,
    pub(super) body: Vec<u8>,
}

impl Request {
    /// Encodes the review of objects of this kind.
    pub(super) fn new(attributes: &Attributes, kind: &Resource, object: &Value, old: &Value) -> Self {
        let uid = Uuid::new_v4().to_string();
        let of_kind = |kind: &Resource| json!({ "group": kind.group, "version": kind.version, "kind": kind.kind });
        let of_resource =
            |kind: &Resource| json!({ "group": kind.group, "version": kind.version, "resource": kind.plural });
        let requested = &attributes.kind;
        let mut request = json!({
            "uid": uid,
            "kind": of_kind(kind),
            "resource": of_resource(kind),
            "requestKind": of_kind(requested),
            "requestResource": of_resource(requested),
            "operation": attributes.operation,
            "userInfo": user_info(&attributes.user),
            "object": object,
            "oldObject": old,
            "dryRun": attributes.dry_run,
            "options": attributes.options,
        });
        let optional = [
            ("name", attributes.name.as_str()),
            ("namespace", attributes.namespace.as_str()),
            ("subResource", attributes.subresource),
            ("requestSubResource", attributes.subresource),
        ];
        for (field, value) in optional.into_iter().filter(|(_, value)| !value.is_empty()) {
            request[field] = json!(value);
        }
        let review = json!({ "apiVersion": API_VERSION, "kind": KIND, "request": request });
        Self { uid, body: review.to_string().into_bytes() }
    }
}

fn user_info(user: &User) -> Value {
    let mut info = json!({ "username": user.name, "groups": user.groups });
    if !user.uid.is_empty() {
        info["uid"] = json!(user.uid);
    }
    if !user.extra.is_empty() {
        info["extra"] = json!(user.extra);
    }
    info
}

impl Response {
    /// Decodes and checks a response, as the real server does. The error is the reason why it cannot be used.
    pub(super) fn parse(code: StatusCode, body: &[u8], phase: Phase, uid: &str) -> Result<Self, String> {
        if !code.is_success() {
            return Err(format!("failed to call webhook: {}", failure(code, body)));
        }
        let review: Review =
            serde_json::from_slice(body).map_err(|error| format!("failed to call webhook: {error}"))?;
        let response = review.response.ok_or("webhook response was absent")?;
        if response.uid != uid {
            return Err(format!("expected response.uid={uid:?}, got {:?}", response.uid));
        }
        if (review.api_version.as_str(), review.kind.as_str()) != (API_VERSION, KIND) {
            let (api_version, kind) = (review.api_version, review.kind);
            return Err(format!(
                "expected webhook response of {API_VERSION}, Kind={KIND}, got {api_version}, Kind={kind}"
            ));
        }
        response.check_patch(phase)?;
        Ok(response)
    }

    fn check_patch(&self, phase: Phase) -> Result<(), String> {
        let (has_patch, patch_type) = (self.patch().is_some(), self.patch_type.as_deref());
        match (phase, has_patch, patch_type) {
            (Phase::Validating, true, _) => Err("validating webhook may not return response.patch".to_owned()),
            (Phase::Validating, false, Some(_)) => {
                Err("validating webhook may not return response.patchType".to_owned())
            }
            (Phase::Mutating, true, None) => {
                Err("webhook returned response.patch but not response.patchType".to_owned())
            }
            (Phase::Mutating, false, Some(_)) => {
                Err("webhook returned response.patchType but not response.patch".to_owned())
            }
            (Phase::Mutating, true, Some(other)) if other != JSON_PATCH => {
                Err(format!("unsupported patch type {other:?}"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the patch, which is not empty.
    pub(super) fn patch(&self) -> Option<&[u8]> {
        self.patch.as_ref().map(|patch| patch.0.as_slice()).filter(|patch| !patch.is_empty())
    }

    pub(super) fn take_warnings(&mut self) -> Vec<String> {
        self.warnings.take().unwrap_or_default()
    }
}

/// Returns the error of a request that a webhook denies.
pub(super) fn denial(webhook: &str, status: Option<Status>) -> ApiError {
    let mut status = status.unwrap_or_default();
    let denied = format!("admission webhook {webhook:?} denied the request");
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    status.message = Some(match given(&status.message).or_else(|| given(&status.reason)) {
        Some(reason) => format!("{denied}: {reason}"),
        None => format!("{denied} without explanation"),
    });
    let least = i32::from(StatusCode::BAD_REQUEST.as_u16());
    status.code = status.code.filter(|code| *code >= least).or(Some(least));
    status.status = Some("Failure".to_owned());
    ApiError::Status(Box::new(status))
}
