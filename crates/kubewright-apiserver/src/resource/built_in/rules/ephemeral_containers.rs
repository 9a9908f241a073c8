//! Validation of `/ephemeralcontainers` of pods (`ValidatePodEphemeralContainersUpdate`).

use super::{Errors, FieldValue};
use crate::api::{error::FieldError, object::Object};

/// The annotation of pods that a kubelet created from a file.
const MIRROR: &str = "kubernetes.io/config.mirror";
/// The path of errors that refer to the complete object.
const OBJECT: &str = "[]";

/// Validates an update of the ephemeral containers: existing ones are immutable.
pub(super) fn check(new: &Object, old: &Object, errors: &mut Errors) {
    if is_mirror(old) {
        *errors = vec![FieldError::forbidden(OBJECT, "static pods do not support ephemeral containers")];
        return;
    }
    let list = FieldValue::new(new, "spec").at("ephemeralContainers");
    for old in FieldValue::new(old, "spec").at("ephemeralContainers").items() {
        let name = old.at("name");
        match list.items().find(|new| new.value["name"] == *name.value) {
            None => {
                let detail = format!("existing ephemeral containers {:?} may not be removed\n", name.text());
                errors.push(list.forbidden(detail));
            }
            Some(new) if new.value != old.value => {
                let detail = format!("existing ephemeral containers {:?} may not be changed\n", name.text());
                errors.push(list.forbidden(detail));
            }
            Some(_) => {}
        }
    }
}

fn is_mirror(pod: &Object) -> bool {
    pod.metadata.annotations.as_ref().is_some_and(|annotations| annotations.contains_key(MIRROR))
}
