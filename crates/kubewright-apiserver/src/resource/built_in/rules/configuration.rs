//! Validation of config maps, secrets and leases.

use k8s_openapi::ByteString;
use serde_json::Value;

use super::{Change, Errors, FieldValue, formats};
use crate::api::error::FieldError;

/// The maximum size of all values of a config map or a secret, in bytes (`MaxSecretSize`).
const MAX_SIZE: usize = 1 << 20;

/// Validates the keys and the size of a config map.
pub(in crate::resource::built_in) fn config_map(change: &Change<'_>, errors: &mut Errors) {
    let (data, binary_data) = (FieldValue::new(change.object, "data"), FieldValue::new(change.object, "binaryData"));
    keys(&data, errors);
    keys(&binary_data, errors);
    for (key, value) in data.entries().filter(|(key, _)| binary_data.value.get(key).is_some()) {
        errors.push(FieldError::invalid(value.path, format!("{key:?}"), "duplicate of key present in binaryData"));
    }
    let text: usize = data.entries().map(|(_, value)| value.text().len()).sum();
    if text + decoded_size(&binary_data) > MAX_SIZE {
        // The error refers to the complete object.
        errors.push(FieldError::too_long("[]", MAX_SIZE));
    }
}

/// Returns the size of all values of a map, which are base64.
fn decoded_size(data: &FieldValue<'_>) -> usize {
    let digits = |text: &str| text.bytes().filter(|byte| !matches!(byte, b'=' | b'\r' | b'\n')).count();
    data.entries().map(|(_, value)| digits(value.text()) * 3 / 4).sum()
}

fn keys(data: &FieldValue<'_>, errors: &mut Errors) {
    for (key, value) in data.entries() {
        errors.extend(
            formats::config_key(key)
                .into_iter()
                .map(|detail| FieldError::invalid(&value.path, format!("{key:?}"), detail)),
        );
    }
}

/// Validates the keys and the size of a secret, and the data that its type requires.
pub(in crate::resource::built_in) fn secret(change: &Change<'_>, errors: &mut Errors) {
    let data = FieldValue::new(change.object, "data");
    keys(&data, errors);
    if decoded_size(&data) > MAX_SIZE {
        errors.push(FieldError::too_long("data", MAX_SIZE));
    }
    let missing = |name: &&&str| data.value.get(**name).is_none();
    let required_keys: &[&str] = match FieldValue::new(change.object, "type").text() {
        "kubernetes.io/tls" => &["tls.crt", "tls.key"],
        "kubernetes.io/ssh-auth" => &["ssh-privatekey"],
        "kubernetes.io/dockercfg" => &[".dockercfg"],
        "kubernetes.io/dockerconfigjson" => &[".dockerconfigjson"],
        "kubernetes.io/basic-auth" if ["username", "password"].iter().all(|name| data.value.get(name).is_none()) => {
            &["password", "username"]
        }
        "kubernetes.io/service-account-token" => return service_account_token(change, errors),
        _ => &[],
    };
    errors.extend(required_keys.iter().filter(missing).map(|name| FieldError::required(format!("data[{name}]"), "")));
    for name in required_keys.iter().filter(|name| name.starts_with('.')) {
        json(&data, name, errors);
    }
}

fn service_account_token(change: &Change<'_>, errors: &mut Errors) {
    const NAME: &str = "kubernetes.io/service-account.name";
    let annotations = change.object.metadata.annotations.as_ref();
    if annotations.and_then(|annotations| annotations.get(NAME)).is_none_or(String::is_empty) {
        errors.push(FieldError::required(format!("metadata.annotations[{NAME}]"), ""));
    }
}

/// Validates JSON in a secret. The error does not contain the data.
fn json(data: &FieldValue<'_>, name: &str, errors: &mut Errors) {
    let Some(bytes) = data.value.get(name) else { return };
    let ByteString(bytes) = serde_json::from_value(bytes.clone()).unwrap_or_default();
    if let Err(error) = serde_json::from_slice::<Value>(&bytes) {
        let detail = crate::wire::body::go_syntax_error(&error);
        errors.push(FieldError::invalid(format!("data[{name}]"), "\"<secret contents redacted>\"", detail));
    }
}

/// Validates a lease.
pub(in crate::resource::built_in) fn lease(change: &Change<'_>, errors: &mut Errors) {
    let spec = FieldValue::new(change.object, "spec");
    let duration = spec.at("leaseDurationSeconds");
    if duration.value.as_i64().is_some_and(|seconds| seconds <= 0) {
        errors.push(duration.invalid("must be greater than 0"));
    }
    errors.extend(spec.at("leaseTransitions").not_negative());
}
