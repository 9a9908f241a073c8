//! The defaults and the validation of admission policies and their bindings, by the rules of `kubewright-crd`.

use kubewright_crd::policy::{PolicyKind, default_binding, default_policy, validate_binding, validate_policy};
use serde_json::{Map, Value, json};

use crate::api::{error::FieldError, kind::Kind, object::Object};

/// Whether an object is a policy or a binding, and of which kind.
enum Configuration {
    Policy(PolicyKind),
    Binding(PolicyKind),
}

impl Configuration {
    fn from_kind(kind: &Kind) -> Option<Self> {
        let configuration = match kind.plural.as_str() {
            "validatingadmissionpolicies" => Self::Policy(PolicyKind::Validating),
            "validatingadmissionpolicybindings" => Self::Binding(PolicyKind::Validating),
            "mutatingadmissionpolicies" => Self::Policy(PolicyKind::Mutating),
            "mutatingadmissionpolicybindings" => Self::Binding(PolicyKind::Mutating),
            _ => return None,
        };
        (kind.group == "admissionregistration.k8s.io").then_some(configuration)
    }
}

/// Sets the defaults of a policy or a binding. Other kinds are not changed.
pub(crate) fn default(kind: &Kind, fields: &mut Map<String, Value>) {
    let Some(configuration) = Configuration::from_kind(kind) else { return };
    let mut object = Value::Object(std::mem::take(fields));
    match configuration {
        Configuration::Policy(_) => default_policy(&mut object),
        Configuration::Binding(_) => default_binding(&mut object),
    }
    if let Value::Object(defaulted) = object {
        *fields = defaulted;
    }
}

/// Validates a policy or a binding. Other kinds have no errors.
pub(crate) fn check(kind: &Kind, object: &Object) -> Vec<FieldError> {
    let Some(configuration) = Configuration::from_kind(kind) else { return Vec::new() };
    let object = json!({ "metadata": { "name": object.name() }, "spec": object.body.get("spec") });
    let errors = match configuration {
        Configuration::Policy(kind) => validate_policy(kind, &object),
        Configuration::Binding(kind) => validate_binding(kind, &object),
    };
    errors.into_iter().map(FieldError::from).collect()
}
