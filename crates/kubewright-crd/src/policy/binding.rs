//! Validates the parameters and actions of bindings.

use kubewright_names::validation as names;
use serde_json::Value;

use super::fields::{check_choice, field, items, text};
use crate::field::{FieldError, Path};

/// Validates the `paramRef` of a binding, if it has one.
pub(super) fn check_param_ref(spec: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let reference = field(spec, "paramRef");
    if reference.is_null() {
        return;
    }
    const EXCLUSIVE: &str = "name and selector are mutually exclusive";
    let path = path.child("paramRef");
    let name = text(reference, "name");
    let has_selector = !field(reference, "selector").is_null();
    let invalid = names::path_segment(name).into_iter().filter(|_| !name.is_empty());
    errors.extend(invalid.map(|detail| FieldError::invalid(path.child("name"), name, detail)));
    if !name.is_empty() && has_selector {
        errors.push(FieldError::forbidden(path.child("name"), EXCLUSIVE));
        errors.push(FieldError::forbidden(path.child("selector"), EXCLUSIVE));
    }
    if name.is_empty() && !has_selector {
        errors.push(FieldError::required(path, "one of name or selector must be specified"));
    }
    check_choice(reference, "parameterNotFoundAction", &["Deny", "Allow"], &path, errors);
}

/// Validates the `validationActions` of a binding.
pub(super) fn check_actions(spec: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    const ACTIONS: [&str; 3] = ["Audit", "Deny", "Warn"];
    let path = path.child("validationActions");
    let actions: Vec<&str> = items(spec, "validationActions").iter().filter_map(Value::as_str).collect();
    for (index, action) in actions.iter().enumerate() {
        if !ACTIONS.contains(action) {
            errors.push(FieldError::not_supported(path.index(index), *action, ACTIONS));
        }
        if actions[..index].contains(action) {
            errors.push(FieldError::duplicate(path.index(index), *action));
        }
    }
    if actions.contains(&"Deny") && actions.contains(&"Warn") {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure information in the \
                      API response and headers serves no purpose)";
        errors.push(FieldError::invalid(path, Value::from(actions.clone()), detail));
    }
    if actions.is_empty() {
        errors.push(FieldError::required(path, "at least one validation action is required"));
    }
}
