//! The rules of configuration, secrets, leases and events.

use k8s_openapi::ByteString;
use serde_json::Value;

use super::{Change, Errors, Place, words};
use crate::api::error::FieldError;

/// A key is well-formed, and is in one place.
pub(in crate::resource::built_in) fn config_map(change: &Change<'_>, errors: &mut Errors) {
    let (texts, bytes) = (Place::of(change.object, "data"), Place::of(change.object, "binaryData"));
    keys(&texts, errors);
    keys(&bytes, errors);
    for (key, value) in texts.entries().filter(|(key, _)| bytes.value.get(key).is_some()) {
        errors.push(FieldError::invalid(value.path, format!("{key:?}"), "duplicate of key present in binaryData"));
    }
}

fn keys(data: &Place<'_>, errors: &mut Errors) {
    for (key, value) in data.entries() {
        errors.extend(
            words::config_key(key).into_iter().map(|why| FieldError::invalid(&value.path, format!("{key:?}"), why)),
        );
    }
}

/// Some types of secrets have what they are for.
pub(in crate::resource::built_in) fn secret(change: &Change<'_>, errors: &mut Errors) {
    let data = Place::of(change.object, "data");
    keys(&data, errors);
    let missing = |name: &&&str| data.value.get(**name).is_none();
    let needed: &[&str] = match Place::of(change.object, "type").text() {
        "kubernetes.io/tls" => &["tls.crt", "tls.key"],
        "kubernetes.io/ssh-auth" => &["ssh-privatekey"],
        "kubernetes.io/dockercfg" => &[".dockercfg"],
        "kubernetes.io/dockerconfigjson" => &[".dockerconfigjson"],
        "kubernetes.io/basic-auth" if ["username", "password"].iter().all(|name| data.value.get(name).is_none()) => {
            &["password", "username"]
        }
        "kubernetes.io/service-account-token" => return account(change, errors),
        _ => &[],
    };
    errors.extend(needed.iter().filter(missing).map(|name| FieldError::required(format!("data[{name}]"), "")));
    for name in needed.iter().filter(|name| name.starts_with('.')) {
        json(&data, name, errors);
    }
}

fn account(change: &Change<'_>, errors: &mut Errors) {
    const NAME: &str = "kubernetes.io/service-account.name";
    let annotations = change.object.metadata.annotations.as_ref();
    if annotations.and_then(|annotations| annotations.get(NAME)).is_none_or(String::is_empty) {
        errors.push(FieldError::required(format!("metadata.annotations[{NAME}]"), ""));
    }
}

/// What a secret holds is not shown.
fn json(data: &Place<'_>, name: &str, errors: &mut Errors) {
    let Some(bytes) = data.value.get(name) else { return };
    let ByteString(bytes) = serde_json::from_value(bytes.clone()).unwrap_or_default();
    if let Err(error) = serde_json::from_slice::<Value>(&bytes) {
        let why = crate::wire::body::go_syntax_error(&error);
        errors.push(FieldError::invalid(format!("data[{name}]"), "\"<secret contents redacted>\"", why));
    }
}

/// A lease lasts.
pub(in crate::resource::built_in) fn lease(change: &Change<'_>, errors: &mut Errors) {
    let spec = Place::of(change.object, "spec");
    let duration = spec.at("leaseDurationSeconds");
    if duration.value.as_i64().is_some_and(|seconds| seconds <= 0) {
        errors.push(duration.invalid("must be greater than 0"));
    }
    errors.extend(spec.at("leaseTransitions").not_negative());
}
