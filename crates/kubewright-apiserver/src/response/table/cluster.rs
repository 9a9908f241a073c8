//! The rows of nodes, volumes, claims, quotas and classes.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::row::{NONE, Row, UNKNOWN, UNSET, condition, join, or_none, text};

pub(super) fn node(row: &Row<'_>) -> Vec<Value> {
    const VERSION: &str = "status.nodeInfo.kubeletVersion";
    let ready = match condition(row.list("status.conditions"), "Ready") {
        "" => "Unknown",
        "True" => "Ready",
        _ => "NotReady",
    };
    let unschedulable = if row.get("spec.unschedulable") == true { ",SchedulingDisabled" } else { "" };
    let roles = or_none(join(roles(row).into_iter()));
    let mut cells =
        vec![row.name(), json!(format!("{ready}{unschedulable}")), json!(roles), row.age(), json!(row.text(VERSION))];
    let address = |type_: &str| {
        let found = row.list("status.addresses").iter().find(|address| address["type"] == type_);
        found.map_or(NONE, |address| text(&address["address"]))
    };
    let mut kernel = row.text_or("status.nodeInfo.kernelVersion", UNKNOWN).to_owned();
    match row.text("status.nodeInfo.architecture") {
        "" => {}
        architecture => kernel = format!("{kernel} ({architecture})"),
    }
    cells.extend([json!(address("InternalIP")), json!(address("ExternalIP"))]);
    cells.push(json!(row.text_or("status.nodeInfo.osImage", UNKNOWN)));
    cells.push(json!(kernel));
    cells.push(json!(row.text_or("status.nodeInfo.containerRuntimeVersion", UNKNOWN)));
    cells
}

fn roles(row: &Row<'_>) -> BTreeSet<String> {
    let role = |(label, value): (&String, &String)| match label.strip_prefix("node-role.kubernetes.io/") {
        Some(role) => Some(role.to_owned()),
        None => (label == "kubernetes.io/role").then(|| value.clone()),
    };
    let labels = row.object.metadata.labels.iter().flatten();
    labels.filter_map(role).filter(|role| !role.is_empty()).collect()
}

pub(super) fn claim(row: &Row<'_>) -> Vec<Value> {
    let is_bound = !row.text("spec.volumeName").is_empty();
    let if_bound = |text: String| if is_bound { text } else { String::new() };
    let capacity = text(&row.get("status.capacity")["storage"]);
    vec![
        row.name(),
        json!(phase(row)),
        json!(row.text("spec.volumeName")),
        json!(if_bound(if capacity.is_empty() { "0" } else { capacity }.to_owned())),
        json!(if_bound(access_modes(row, "status.accessModes"))),
        json!(storage_class_of(row)),
        json!(row.get("spec.volumeAttributesClassName").as_str().unwrap_or(UNSET)),
        row.age(),
        json!(row.get("spec.volumeMode").as_str().unwrap_or(UNSET)),
    ]
}

pub(super) fn volume(row: &Row<'_>) -> Vec<Value> {
    let claim = row.get("spec.claimRef");
    let claim = if claim.is_object() {
        format!("{}/{}", text(&claim["namespace"]), text(&claim["name"]))
    } else {
        String::new()
    };
    let capacity = text(&row.get("spec.capacity")["storage"]);
    vec![
        row.name(),
        json!(if capacity.is_empty() { "0" } else { capacity }),
        json!(access_modes(row, "spec.accessModes")),
        json!(row.text("spec.persistentVolumeReclaimPolicy")),
        json!(phase(row)),
        json!(claim),
        json!(storage_class_of(row)),
        json!(row.get("spec.volumeAttributesClassName").as_str().unwrap_or(UNSET)),
        json!(row.text("status.reason")),
        row.age(),
        json!(row.get("spec.volumeMode").as_str().unwrap_or(UNSET)),
    ]
}

fn phase<'a>(row: &Row<'a>) -> &'a str {
    if row.is_terminating() { "Terminating" } else { row.text("status.phase") }
}

/// Returns the storage class of a volume or a claim. The beta annotation takes precedence over the field.
fn storage_class_of(row: &Row<'_>) -> String {
    let annotations = row.object.metadata.annotations.as_ref();
    let annotated = annotations.and_then(|annotations| annotations.get("volume.beta.kubernetes.io/storage-class"));
    annotated.cloned().unwrap_or_else(|| row.text("spec.storageClassName").to_owned())
}

fn access_modes(row: &Row<'_>, path: &str) -> String {
    const SHORT: [(&str, &str); 4] =
        [("ReadWriteOnce", "RWO"), ("ReadOnlyMany", "ROX"), ("ReadWriteMany", "RWX"), ("ReadWriteOncePod", "RWOP")];
    let modes = row.list(path);
    join(SHORT.iter().filter(|(mode, _)| modes.iter().any(|found| found == mode)).map(|(_, short)| (*short).to_owned()))
}

pub(super) fn quota(row: &Row<'_>) -> Vec<Value> {
    let used = row.get("status.used");
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    let mut hard: Vec<_> = row.get("status.hard").as_object().into_iter().flatten().collect();
    hard.sort_by_key(|(resource, _)| *resource);
    for (resource, hard) in hard {
        let used = used[resource].as_str().unwrap_or("0");
        let list = if resource.starts_with("limits.") { &mut limits } else { &mut requests };
        list.push(format!("{resource}: {used}/{}", text(hard)));
    }
    row.with_name_and_age(vec![json!(requests.join(", ")), json!(limits.join(", "))])
}

pub(super) fn priority_class(row: &Row<'_>) -> Vec<Value> {
    let is_default = row.get("globalDefault") == true;
    let mut cells = row.with_name_and_age(vec![json!(row.number("value")), json!(is_default)]);
    cells.push(json!(row.text("preemptionPolicy")));
    cells
}

pub(super) fn storage_class(row: &Row<'_>) -> Vec<Value> {
    vec![
        row.class_name("storageclass.kubernetes.io/is-default-class"),
        json!(row.text("provisioner")),
        json!(row.text_or("reclaimPolicy", "Delete")),
        json!(row.text_or("volumeBindingMode", "Immediate")),
        json!(row.get("allowVolumeExpansion") == true),
        row.age(),
    ]
}
