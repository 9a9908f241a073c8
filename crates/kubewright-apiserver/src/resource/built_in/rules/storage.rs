//! Validation of storage: drivers, capacities, attachments and attributes classes.

use kubewright_crd::names;

use super::{Change, Errors, FieldValue};
use crate::api::error::FieldError;

/// Validates an update of a driver. Its error has another name for the field `attachRequired`.
pub(in crate::resource::built_in) fn csi_driver(change: &Change<'_>, errors: &mut Errors) {
    let Some(old) = change.old else { return };
    let [new, old] = [change.object, old].map(|driver| FieldValue::new(driver, "spec").at("attachRequired"));
    if new.value != old.value {
        errors.push(FieldError::invalid("spec.attachedRequired", new.value, "field is immutable"));
    }
}

/// Validates the class of a storage capacity.
pub(in crate::resource::built_in) fn csi_storage_capacity(change: &Change<'_>, errors: &mut Errors) {
    subdomain(&FieldValue::new(change.object, "storageClassName"), errors);
}

/// Validates an attachment, whose source is either a persistent volume or an inline specification.
pub(in crate::resource::built_in) fn volume_attachment(change: &Change<'_>, errors: &mut Errors) {
    const ONE_SOURCE: &str = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    let spec = FieldValue::new(change.object, "spec");
    let (attacher, source) = (spec.at("attacher"), spec.at("source"));
    if attacher.is_empty() {
        errors.push(attacher.required(""));
    }
    subdomain(&spec.at("nodeName"), errors);
    let volume = source.at("persistentVolumeName");
    match (source.at("inlineVolumeSpec").is_set(), volume.is_set()) {
        (false, false) => errors.push(source.required(ONE_SOURCE)),
        (true, true) => errors.push(source.forbidden(ONE_SOURCE)),
        (false, true) if volume.is_empty() => {
            errors.push(volume.required("must specify non empty persistentVolumeName"));
        }
        _ => {}
    }
}

/// Rejects changes of an attributes class.
pub(in crate::resource::built_in) fn volume_attributes_class(change: &Change<'_>, errors: &mut Errors) {
    let Some(old) = change.old else { return };
    for name in ["driverName", "parameters"] {
        let field = FieldValue::new(change.object, name);
        if field.value != FieldValue::new(old, name).value {
            errors.push(field.forbidden(format!("updates to {name} are forbidden.")));
        }
    }
}

/// Validates a subdomain. An empty one is invalid, not missing.
fn subdomain(name: &FieldValue<'_>, errors: &mut Errors) {
    errors.extend(names::dns_1123_subdomain(name.text()).into_iter().map(|detail| name.invalid_text(detail)));
}
