//! The rules of pods and of what they are made from.

use std::collections::BTreeSet;

use logger_crd::names;

use super::{Change, Errors, Place, containers, pod_updates, selectors};

pub(in crate::resource::built_in) fn pod(change: &Change<'_>, errors: &mut Errors) {
    let spec = Place::of(change.object, "spec");
    pod_spec(&spec, errors);
    if change.old.is_none() && !spec.at("schedulingGates").is_empty() && !spec.at("nodeName").is_empty() {
        errors.push(spec.at("nodeName").forbidden("cannot be set until all schedulingGates have been cleared"));
    }
    if let Some(old) = change.old {
        pod_updates::check(change.object, old, errors);
    }
}

/// The template of a workload.
pub(super) fn template(template: &Place<'_>, errors: &mut Errors) {
    let labels = Place { path: format!("{}.labels", template.path), value: &template.value["metadata"]["labels"] };
    selectors::labels(&labels, errors);
    pod_spec(&template.at("spec"), errors);
}

fn pod_spec(spec: &Place<'_>, errors: &mut Errors) {
    volumes(spec, errors);
    containers::all(spec, errors);
    for name in ["nodeName", "serviceAccountName"] {
        errors.extend(spec.at(name).mistakes(names::dns_1123_subdomain));
    }
    for name in ["hostname", "subdomain"] {
        errors.extend(spec.at(name).mistakes(names::dns_1123_label));
    }
    let deadline = spec.at("activeDeadlineSeconds");
    if deadline.value.as_i64().is_some_and(|seconds| !(1..=i64::from(i32::MAX)).contains(&seconds)) {
        errors.push(deadline.invalid(format!("must be between 1 and {}, inclusive", i32::MAX)));
    }
    selectors::labels(&spec.at("nodeSelector"), errors);
    spec.at("tolerations").items().for_each(|toleration| tolerates(&toleration, errors));
}

fn tolerates(toleration: &Place<'_>, errors: &mut Errors) {
    let (key, operator, value) = (toleration.at("key"), toleration.at("operator"), toleration.at("value"));
    errors.extend(key.mistakes(names::label_key));
    if key.is_empty() && operator.text() != "Exists" {
        let why = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        errors.push(operator.invalid_text(why));
    }
    match operator.text() {
        "" | "Equal" => {
            let mistakes = names::label_value(value.text());
            if !mistakes.is_empty() {
                errors.push(Place { value: value.value, ..operator }.invalid(mistakes.join(";")));
            }
        }
        "Exists" if !value.is_empty() => {
            let shown = Place { value: value.value, ..operator };
            errors.push(shown.invalid("value must be empty when `operator` is 'Exists'"));
        }
        "Exists" => {}
        _ => errors.push(operator.unsupported(&["Equal", "Exists"])),
    }
    let effect = toleration.at("effect");
    if toleration.at("tolerationSeconds").is_there() && effect.text() != "NoExecute" {
        errors.push(effect.invalid_text("effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
}

/// In the order they are asked for.
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

fn volumes(spec: &Place<'_>, errors: &mut Errors) {
    let mut names = BTreeSet::new();
    for volume in spec.at("volumes").items() {
        let name = volume.at("name");
        containers::named(&name, errors);
        if !names.insert(name.text()) {
            errors.push(name.duplicate(name.value));
        }
        let mut sources = SOURCES.iter().map(|source| volume.at(source)).filter(Place::is_there);
        if let Some(first) = sources.next() {
            source(&first, errors);
        }
        errors.extend(sources.map(|source| source.forbidden("may not specify more than 1 volume type")));
    }
}

/// What a volume is from is named.
fn source(source: &Place<'_>, errors: &mut Errors) {
    const NAMED: [(&str, &str); 4] =
        [("secret", "secretName"), ("hostPath", "path"), ("persistentVolumeClaim", "claimName"), ("configMap", "name")];
    let name = source.path.rsplit('.').next().unwrap_or_default();
    let named = NAMED.iter().find(|(kind, _)| *kind == name).map(|(_, field)| source.at(field));
    errors.extend(named.filter(Place::is_empty).map(|field| field.required("")));
}
