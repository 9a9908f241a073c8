//! `AdmissionReview` of `admission.k8s.io/v1`: decoded requests and encoded responses.

use std::collections::BTreeMap;

use bytes::Bytes;
use json_patch::Patch;
use k8s_openapi::{ByteString, api::authentication::v1::UserInfo, apimachinery::pkg::apis::meta::v1::Status};
use kubewright_core::{GroupVersionKind, description::Operation};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::request::{AdmissionRequest, Notes};
use crate::webhooks::wire::{self, ReviewError, ReviewType};

/// The only version of reviews: `v1beta1` is not served by any supported API server.
pub(super) const REVIEW: ReviewType = ReviewType { api_version: "admission.k8s.io/v1", kind: "AdmissionReview" };

/// A decoded review: its request, and its objects as they were sent.
#[derive(Debug)]
pub(super) struct Review {
    /// The kind of the objects.
    pub(super) kind: GroupVersionKind,
    pub(super) request: AdmissionRequest,
    pub(super) objects: Objects,
}

/// The objects of a review. A creation has no old object, and a deletion no new one.
#[derive(Debug, Default)]
pub(in crate::webhooks) struct Objects {
    pub(super) new: Option<Box<RawValue>>,
    pub(super) old: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    uid: String,
    kind: Kind,
    sub_resource: Option<String>,
    request_kind: Option<Kind>,
    #[serde(default)]
    name: String,
    namespace: Option<String>,
    operation: Operation,
    #[serde(default)]
    user_info: UserInfo,
    object: Option<Box<RawValue>>,
    old_object: Option<Box<RawValue>>,
    dry_run: Option<bool>,
    options: Option<Value>,
}

#[derive(Deserialize)]
struct Kind {
    group: String,
    version: String,
    kind: String,
}

impl From<Kind> for GroupVersionKind {
    fn from(Kind { group, version, kind }: Kind) -> Self {
        GroupVersionKind { group: group.into(), version: version.into(), kind: kind.into() }
    }
}

impl Review {
    /// Decodes the review of a body.
    ///
    /// # Errors
    /// Fails if the body is not a review of the version, or has no request.
    pub(super) fn parse(body: &[u8]) -> Result<Self, ReviewError> {
        let request: Request = wire::parse(REVIEW, body)?;
        if request.uid.is_empty() {
            return Err(ReviewError::MissingUid);
        }
        let not_empty = |text: Option<String>| text.filter(|text| !text.is_empty());
        let mut review = Review {
            kind: request.kind.into(),
            request: AdmissionRequest::new(request.operation),
            objects: Objects { new: request.object, old: request.old_object },
        };
        review.request.uid = request.uid;
        review.request.name = request.name;
        review.request.namespace = not_empty(request.namespace);
        review.request.subresource = not_empty(request.sub_resource);
        review.request.request_kind = request.request_kind.map(Into::into);
        review.request.user_info = request.user_info;
        review.request.dry_run = request.dry_run.unwrap_or_default();
        review.request.options = request.options;
        Ok(review)
    }
}

/// The decision about a request.
#[derive(Debug)]
pub(in crate::webhooks) enum Decision {
    Allowed,
    /// Allowed with changes of the object.
    Patched(Patch),
    Denied(Box<Status>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Response<'a> {
    uid: &'a str,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Box<Status>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<ByteString>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch_type: Option<&'static str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    audit_annotations: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// Encodes the response to a review. An empty patch is none.
///
/// # Errors
/// Fails if the patch or the response cannot be encoded.
pub(super) fn encode(uid: &str, decision: Decision, notes: Notes) -> serde_json::Result<Bytes> {
    let (allowed, status, patch) = match decision {
        Decision::Allowed => (true, None, None),
        Decision::Patched(patch) => (true, None, Some(patch).filter(|patch| !patch.0.is_empty())),
        Decision::Denied(status) => (false, Some(status), None),
    };
    let patch = patch.map(|patch| serde_json::to_vec(&patch)).transpose()?.map(ByteString);
    let patch_type = patch.is_some().then_some("JSONPatch");
    let Notes { warnings, audit_annotations, .. } = notes;
    wire::encode(REVIEW, &Response { uid, allowed, status, patch, patch_type, audit_annotations, warnings }, 128)
}
