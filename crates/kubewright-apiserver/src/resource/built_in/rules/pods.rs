//! Validation of pods and pod templates.

use std::collections::BTreeSet;

use kubewright_crd::names;

use super::{Change, Errors, FieldValue, containers, ephemeral_containers, pod_updates, selectors};
use crate::api::endpoint::{Endpoint, PodSubresource};

pub(in crate::resource::built_in) fn pod(change: &Change<'_>, errors: &mut Errors) {
    let spec = FieldValue::new(change.object, "spec");
    pod_spec(&spec, errors);
    if change.old.is_none() && !spec.at("schedulingGates").is_empty() && !spec.at("nodeName").is_empty() {
        errors.push(spec.at("nodeName").forbidden("cannot be set until all schedulingGates have been cleared"));
    }
    let list = spec.at("ephemeralContainers");
    match (change.old, change.endpoint) {
        (None, _) if !list.is_empty() => {
            errors.push(list.forbidden("cannot be set on create"));
        }
        (None, _) => {}
        (Some(old), Endpoint::Pod(PodSubresource::EphemeralContainers)) => {
            ephemeral_containers::check(change.object, old, errors);
        }
        (Some(old), _) => pod_updates::check(change.object, old, errors),
    }
}

/// Validates the pod template of a workload.
pub(super) fn template(template: &FieldValue<'_>, errors: &mut Errors) {
    let labels = FieldValue { path: format!("{}.labels", template.path), value: &template.value["metadata"]["labels"] };
    selectors::labels(&labels, errors);
    pod_spec(&template.at("spec"), errors);
}

fn pod_spec(spec: &FieldValue<'_>, errors: &mut Errors) {
    volumes(spec, errors);
    containers::all(spec, errors);
    for name in ["nodeName", "serviceAccountName"] {
        errors.extend(spec.at(name).validate(names::dns_1123_subdomain));
    }
    for name in ["hostname", "subdomain"] {
        errors.extend(spec.at(name).validate(names::dns_1123_label));
    }
    let deadline = spec.at("activeDeadlineSeconds");
    if deadline.value.as_i64().is_some_and(|seconds| !(1..=i64::from(i32::MAX)).contains(&seconds)) {
        errors.push(deadline.invalid(format!("must be between 1 and {}, inclusive", i32::MAX)));
    }
    selectors::labels(&spec.at("nodeSelector"), errors);
    spec.at("tolerations").items().for_each(|item| toleration(&item, errors));
}

fn toleration(toleration: &FieldValue<'_>, errors: &mut Errors) {
    let (key, operator, value) = (toleration.at("key"), toleration.at("operator"), toleration.at("value"));
    errors.extend(key.validate(names::label_key));
    if key.is_empty() && operator.text() != "Exists" {
        let detail = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        errors.push(operator.invalid_text(detail));
    }
    match operator.text() {
        "" | "Equal" => {
            let messages = names::label_value(value.text());
            if !messages.is_empty() {
                errors.push(FieldValue { value: value.value, ..operator }.invalid(messages.join(";")));
            }
        }
        "Exists" if !value.is_empty() => {
            let shown = FieldValue { value: value.value, ..operator };
            errors.push(shown.invalid("value must be empty when `operator` is 'Exists'"));
        }
        "Exists" => {}
        _ => errors.push(operator.unsupported(&["Equal", "Exists"])),
    }
    let effect = toleration.at("effect");
    if toleration.at("tolerationSeconds").is_set() && effect.text() != "NoExecute" {
        errors.push(effect.invalid_text("effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
}

/// The volume sources, in the order of validation.
const SOURCES: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "azureFile",
    "configMap",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
    "podCertificate",
];

fn volumes(spec: &FieldValue<'_>, errors: &mut Errors) {
    let mut names = BTreeSet::new();
    for volume in spec.at("volumes").items() {
        let name = volume.at("name");
        containers::required_name(&name, errors);
        if !names.insert(name.text()) {
            errors.push(name.duplicate(name.value));
        }
        let mut sources = SOURCES.iter().map(|source| volume.at(source)).filter(FieldValue::is_set);
        if let Some(first) = sources.next() {
            source(&first, errors);
        }
        errors.extend(sources.map(|source| source.forbidden("may not specify more than 1 volume type")));
    }
}

/// Validates the required field of a volume source.
fn source(source: &FieldValue<'_>, errors: &mut Errors) {
    const REQUIRED_FIELDS: [(&str, &str); 4] =
        [("secret", "secretName"), ("hostPath", "path"), ("persistentVolumeClaim", "claimName"), ("configMap", "name")];
    let name = source.path.rsplit('.').next().unwrap_or_default();
    let required = REQUIRED_FIELDS.iter().find(|(kind, _)| *kind == name).map(|(_, field)| source.at(field));
    errors.extend(required.filter(FieldValue::is_empty).map(|field| field.required("")));
}
