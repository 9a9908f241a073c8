//! Validation of nodes, volumes, claims, priority classes and runtime classes.

use kubewright_crd::{names, quantity::Quantity};

use super::{Change, Errors, FieldValue};

/// The highest priority of user-defined classes.
const HIGHEST_USER_PRIORITY: i64 = 1_000_000_000;
/// The system priority classes: name, value and description.
pub(crate) const SYSTEM_PRIORITIES: [(&str, i64, &str); 2] = [
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
];

pub(in crate::resource::built_in) fn node(change: &Change<'_>, errors: &mut Errors) {
    let ranges = FieldValue::new(change.object, "spec").at("podCIDRs");
    let is_changed = change.old.is_some_and(|old| old.field("spec.podCIDRs").is_some_and(|old| old != ranges.value));
    if is_changed {
        errors.push(ranges.forbidden("node updates may not change podCIDR except from \"\" to valid"));
    }
}

/// Validates the handler of a runtime class.
pub(in crate::resource::built_in) fn runtime_class(change: &Change<'_>, errors: &mut Errors) {
    let handler = FieldValue::new(change.object, "handler");
    errors.extend(names::dns_1123_label(handler.text()).into_iter().map(|detail| handler.invalid_text(detail)));
}

/// Validates a priority class. System names and values are reserved, and the value is immutable.
pub(in crate::resource::built_in) fn priority_class(change: &Change<'_>, errors: &mut Errors) {
    let value = FieldValue::new(change.object, "value");
    match change.old {
        None => new_priority_class(change, &value, errors),
        Some(old) if old.field("value") != Some(value.value) => {
            errors.push(value.forbidden("may not be changed in an update."));
        }
        Some(_) => {}
    }
}

fn new_priority_class(change: &Change<'_>, value: &FieldValue<'_>, errors: &mut Errors) {
    let name = change.object.name();
    let known = SYSTEM_PRIORITIES.iter().find(|(known, ..)| *known == name);
    if name.starts_with("system-") && known.is_none_or(|(_, known_value, _)| value.value != *known_value) {
        let detail = "priority class names with 'system-' prefix are reserved for system use only. error";
        let detail = format!("{detail}: {name} is not a known system priority class");
        errors.push(crate::api::error::FieldError::forbidden("metadata.name", detail));
    } else if known.is_none() && value.value.as_i64().is_some_and(|value| value > HIGHEST_USER_PRIORITY) {
        errors.push(
            value.forbidden(format!("maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}")),
        );
    }
}

const ACCESS_MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/// Validates a persistent volume.
pub(in crate::resource::built_in) fn volume(change: &Change<'_>, errors: &mut Errors) {
    let spec = FieldValue::new(change.object, "spec");
    access_modes(&spec, "", errors);
    let capacity = spec.at("capacity");
    if capacity.is_empty() {
        errors.push(capacity.required(""));
        errors.push(crate::api::error::FieldError::unsupported(&capacity.path, "null", &["storage".to_owned()]));
    }
    storage(&capacity, errors);
    let mut sources = SOURCES.iter().map(|name| spec.at(name)).filter(FieldValue::is_set);
    let Some(source) = sources.next() else {
        return errors.push(spec.required("must specify a volume type"));
    };
    if source.path.ends_with("hostPath") && source.at("path").is_empty() {
        errors.push(source.at("path").required(""));
    }
    errors.extend(sources.map(|source| source.forbidden("may not specify more than 1 volume type")));
    if let Some(old) = change.old {
        volume_update(&spec, &FieldValue::new(old, "spec"), errors);
    }
}

/// The volume sources, in the order of validation.
const SOURCES: [&str; 22] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flocker",
    "azureFile",
    "vsphereVolume",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "local",
    "storageos",
    "csi",
    "flexVolume",
];

fn volume_update(new: &FieldValue<'_>, old: &FieldValue<'_>, errors: &mut Errors) {
    if SOURCES.iter().any(|source| new.at(source).value != old.at(source).value) {
        errors.push(new.forbidden("spec.persistentvolumesource is immutable after creation"));
    }
}

/// Validates a persistent volume claim.
pub(in crate::resource::built_in) fn claim(change: &Change<'_>, errors: &mut Errors) {
    let spec = FieldValue::new(change.object, "spec");
    access_modes(&spec, "at least 1 access mode is required", errors);
    let requests = spec.at("resources").at("requests");
    let storage_requests = FieldValue { path: "spec.resources".to_owned(), value: requests.value };
    if storage_requests.value.get("storage").is_none() {
        errors.push(crate::api::error::FieldError::required("spec.resources[storage]", ""));
    }
    storage(&storage_requests, errors);
    if let Some(old) = change.old {
        claim_update(&spec, &FieldValue::new(old, "spec"), errors);
    }
}

/// Validates an update of a claim. Requests and the attributes class are mutable once the claim is bound.
fn claim_update(new: &FieldValue<'_>, old: &FieldValue<'_>, errors: &mut Errors) {
    let rest = |spec: &FieldValue<'_>| {
        let mut spec = spec.value.as_object().cloned().unwrap_or_default();
        let is_bound = !old.at("volumeName").is_empty();
        spec.retain(|name, _| {
            name != "volumeName" && !(is_bound && matches!(name.as_str(), "resources" | "volumeAttributesClassName"))
        });
        spec
    };
    if rest(new) != rest(old)
        || !old.at("volumeName").is_empty() && new.at("volumeName").value != old.at("volumeName").value
    {
        let detail =
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        errors.push(new.forbidden(detail));
    }
}

fn access_modes(spec: &FieldValue<'_>, detail: &str, errors: &mut Errors) {
    let modes = spec.at("accessModes");
    if modes.is_empty() {
        errors.push(modes.required(detail));
    }
    for mode in modes.items().filter(|mode| !ACCESS_MODES.contains(&mode.text())) {
        errors.push(FieldValue { path: modes.path.clone(), ..mode }.unsupported(&ACCESS_MODES));
    }
}

fn storage(amounts: &FieldValue<'_>, errors: &mut Errors) {
    let not_positive = amounts.entries().filter(|(resource, amount)| {
        *resource == "storage" && Quantity::from_json(amount.value).is_some_and(|amount| amount.nanos() <= 0)
    });
    errors.extend(not_positive.map(|(_, amount)| amount.invalid("must be greater than zero")));
}
