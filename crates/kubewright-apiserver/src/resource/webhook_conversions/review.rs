//! `ConversionReview` of `apiextensions.k8s.io`: requests, and the checks of the responses and of converted objects.
//!
//! The checks and their texts are those of the real server (`pkg/apiserver/conversion/webhook_converter.go` of
//! apiextensions-apiserver 1.36).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{ConversionWebhook, TIMEOUT};
use crate::{
    api::{
        error::FieldError,
        webhook::{self, CallFn},
    },
    resource::metadata,
};

const GROUP: &str = "apiextensions.k8s.io";
const KIND: &str = "ConversionReview";

/// A version of the reviews.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ReviewVersion {
    V1,
    /// The type and the UID of a response are not checked.
    V1Beta1,
}

impl ReviewVersion {
    /// Returns the version of this name, if the server knows it.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        match name {
            "v1" => Some(Self::V1),
            "v1beta1" => Some(Self::V1Beta1),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V1Beta1 => "v1beta1",
        }
    }
}

/// The reason why a conversion fails.
#[derive(Debug, Clone)]
pub(super) enum Failure {
    /// The webhook cannot be called.
    Call(String),
    /// The webhook, or a function in its place, reports an error, or its response is unusable.
    Response(String),
    /// The response has another number of objects than the request: the returned and the requested number.
    Count(usize, usize),
    /// A converted object is not an object.
    Undecodable(String),
    /// A converted object differs in what a conversion must not change. The text starts with the object of the
    /// sentence: `invalid object`, or `invalid metadata`.
    Invalid(String),
    /// The server knows none of the versions of the reviews.
    NoVersion,
}

impl Failure {
    /// Returns the error of the conversion of an object.
    pub(super) fn of_object(self, object: &Value) -> String {
        let what = format!("conversion webhook for {}", type_of(object));
        match self {
            Self::Call(message) | Self::Response(message) => format!("{what} failed: {message}"),
            Self::Count(returned, expected) => format!("{what} returned {returned} objects, expected {expected}"),
            Self::Undecodable(message) => message,
            Self::Invalid(message) => format!("{what} returned {message}"),
            Self::NoVersion => "no supported conversion review versions".to_owned(),
        }
    }
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    #[serde(default)]
    uid: String,
    #[serde(default)]
    result: Outcome,
    converted_objects: Option<Vec<Value>>,
}

#[derive(Default, Deserialize)]
struct Outcome {
    #[serde(default)]
    status: String,
    #[serde(default)]
    message: String,
}

/// Calls a webhook for objects. Returns as many converted objects, which are not checked yet.
pub(super) async fn call(
    call: &CallFn,
    webhook: &ConversionWebhook,
    objects: &[&Value],
    target: &str,
) -> Result<Vec<Value>, Failure> {
    let version = webhook.version.ok_or(Failure::NoVersion)?;
    let uid = Uuid::new_v4().to_string();
    let request = json!({ "uid": uid, "desiredAPIVersion": target, "objects": objects });
    let review = json!({ "apiVersion": format!("{GROUP}/{}", version.name()), "kind": KIND, "request": request });
    let sent = webhook.client.post(call, TIMEOUT, review.to_string().into_bytes()).await;
    let response = sent.map_err(Failure::Call)?;
    if !response.status().is_success() {
        return Err(Failure::Call(webhook::failure(response.status(), response.body())));
    }
    let converted = converted_objects(response.body(), version, &uid)?;
    if converted.len() != objects.len() {
        return Err(Failure::Count(converted.len(), objects.len()));
    }
    Ok(converted)
}

/// Decodes a response.
fn converted_objects(body: &[u8], version: ReviewVersion, uid: &str) -> Result<Vec<Value>, Failure> {
    let review: Review = serde_json::from_slice(body).map_err(|error| Failure::Call(error.to_string()))?;
    let (expected, is_v1) = (format!("{GROUP}/{}", version.name()), version == ReviewVersion::V1);
    if is_v1 && (review.api_version.as_str(), review.kind.as_str()) != (expected.as_str(), KIND) {
        let (api_version, kind) = (review.api_version, review.kind);
        let message = format!("expected webhook response of {expected}, Kind={KIND}, got {api_version}, Kind={kind}");
        return Err(Failure::Response(message));
    }
    let response = review.response.ok_or_else(|| Failure::Response("no response provided".to_owned()))?;
    if is_v1 && response.uid != uid {
        let message = format!("expected response.uid={uid:?}, got {:?}", response.uid);
        return Err(Failure::Response(message));
    }
    match response.result {
        Outcome { status, .. } if status == "Success" => Ok(response.converted_objects.unwrap_or_default()),
        Outcome { message, .. } if !message.is_empty() => Err(Failure::Response(message)),
        Outcome { status, .. } => {
            Err(Failure::Response(format!("response.result.status was '{status}', not 'Success'")))
        }
    }
}

/// Returns a converted object with the metadata of the original, except labels and annotations.
///
/// # Errors
/// The converted object has another version than requested, or another kind, name, namespace or UID than the original.
pub(super) fn accept(original: &Value, converted: Value, target: &str) -> Result<Value, Failure> {
    check_identity(original, &converted, target)?;
    check_metadata(original, &converted).map_err(|error| Failure::Invalid(format!("invalid metadata: {error}")))?;
    Ok(with_metadata_of(original, converted))
}

fn check_identity(original: &Value, converted: &Value, target: &str) -> Result<(), Failure> {
    if !converted.is_object() || text(converted, "/kind").is_empty() {
        let body = converted.to_string();
        return Err(Failure::Undecodable(format!("Object 'Kind' is missing in '{body}'")));
    }
    let invalid = |detail: String| Err(Failure::Invalid(format!("invalid object{detail}")));
    let received = text(converted, "/apiVersion");
    if received != target {
        return invalid(format!(" at index 0: invalid groupVersion (expected {target}, received {received})"));
    }
    let pair = |pointer: &str| (text(original, pointer), text(converted, pointer));
    let (expected, received) = pair("/kind");
    if expected != received {
        return invalid(format!(" at index 0: invalid kind (expected {expected}, received {received})"));
    }
    for (pointer, name) in [("/metadata/name", "name"), ("/metadata/namespace", "namespace"), ("/metadata/uid", "UID")]
    {
        let (expected, received) = pair(pointer);
        if expected != received {
            return invalid(format!(": must have the same {name}: {expected} != {received}"));
        }
    }
    Ok(())
}

/// Checks the metadata of a converted object: labels and annotations must be valid if they are changed.
fn check_metadata(original: &Value, converted: &Value) -> Result<(), String> {
    let metadata = converted.get("metadata").ok_or("missing metadata in converted object")?;
    if !metadata.is_object() {
        return Err(format!("invalid metadata of type {} in converted object", go_type(metadata)));
    }
    for field in ["labels", "annotations"] {
        match metadata.get(field) {
            None | Some(Value::Null) => {}
            Some(Value::Object(texts)) => check_texts(field, texts, original.get("metadata"))?,
            Some(other) => {
                return Err(format!("invalid metadata.{field} of type {} in converted object", go_type(other)));
            }
        }
    }
    Ok(())
}

fn check_texts(field: &str, texts: &Map<String, Value>, original: Option<&Value>) -> Result<(), String> {
    let mut strings = BTreeMap::new();
    for (key, value) in texts {
        let Value::String(value) = value else {
            let type_ = go_type(value);
            return Err(format!("metadata.{field}[{key}] must be a string, but is {type_} in converted object"));
        };
        strings.insert(key.clone(), value.clone());
    }
    let before = original.and_then(|metadata| metadata.get(field)).and_then(Value::as_object);
    if before.map_or(texts.is_empty(), |before| before == texts) {
        return Ok(());
    }
    let errors = if field == "labels" {
        metadata::label_errors(&strings)
    } else {
        // The path of the real server's error.
        metadata::annotation_errors(&strings, "metadata.annotation")
    };
    match errors.iter().map(FieldError::to_string).collect::<Vec<_>>().as_slice() {
        [] => Ok(()),
        [only] => Err(only.clone()),
        all => Err(format!("[{}]", all.join(", "))),
    }
}

/// Returns a converted object with the metadata of the original, except its own labels and annotations.
pub(super) fn with_metadata_of(original: &Value, mut converted: Value) -> Value {
    let mut metadata = original.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    for field in ["labels", "annotations"] {
        metadata.remove(field);
        let texts = converted.get_mut("metadata").and_then(|metadata| metadata.get_mut(field)).map(Value::take);
        if let Some(texts) = texts.filter(|texts| !texts.is_null()) {
            metadata.insert(field.to_owned(), texts);
        }
    }
    converted["metadata"] = Value::Object(metadata);
    converted
}

/// Formats the type of an object as Go does.
fn type_of(object: &Value) -> String {
    format!("{}, Kind={}", text(object, "/apiVersion"), text(object, "/kind"))
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the Go type of a JSON value.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
