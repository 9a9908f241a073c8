//! The rows of storage drivers, attachments and devices.

use serde_json::{Value, json};

use super::row::{NONE, Row, UNSET, join, or_none, text};

pub(super) fn csi_driver(row: &Row<'_>) -> Vec<Value> {
    let flag = |path: &str, default: bool| json!(row.get(path).as_bool().unwrap_or(default));
    let audiences = row.list("spec.tokenRequests").iter().map(|request| text(&request["audience"]).to_owned());
    let audiences = if row.get("spec.tokenRequests").is_array() { join(audiences) } else { UNSET.to_owned() };
    let modes = row.list("spec.volumeLifecycleModes").iter().map(|mode| text(mode).to_owned());
    row.with_name_and_age(vec![
        flag("spec.attachRequired", true),
        flag("spec.podInfoOnMount", false),
        flag("spec.storageCapacity", false),
        json!(audiences),
        flag("spec.requiresRepublish", false),
        json!(or_none(join(modes))),
    ])
}

pub(super) fn volume_attachment(row: &Row<'_>) -> Vec<Value> {
    let texts =
        ["spec.attacher", "spec.source.persistentVolumeName", "spec.nodeName"].map(|path| json!(row.text(path)));
    let attached = json!(row.get("status.attached") == true);
    row.with_name_and_age(texts.into_iter().chain([attached]).collect())
}

/// Returns the state of a claim of devices: pending, or allocated and reserved.
pub(super) fn resource_claim(row: &Row<'_>) -> Vec<Value> {
    let states = [
        (row.is_terminating(), "deleted"),
        (row.get("status.allocation").is_null() && !row.is_terminating(), "pending"),
        (!row.get("status.allocation").is_null(), "allocated"),
        (!row.get("status.allocation").is_null() && row.count("status.reservedFor") > 0, "reserved"),
    ];
    let states = states.iter().filter(|(is, _)| *is).map(|(_, state)| (*state).to_owned());
    row.with_name_and_age(vec![json!(join(states))])
}

pub(super) fn resource_slice(row: &Row<'_>) -> Vec<Value> {
    let texts = ["spec.nodeName", "spec.driver", "spec.pool.name"].map(|path| json!(row.text(path)));
    row.with_name_and_age(texts.into())
}

pub(super) fn ip_address(row: &Row<'_>) -> Vec<Value> {
    let parent = row.get("spec.parentRef");
    let group = Some(text(&parent["group"])).filter(|group| !group.is_empty());
    let resource =
        group.map_or(text(&parent["resource"]).to_owned(), |group| format!("{}.{group}", text(&parent["resource"])));
    let namespace = Some(text(&parent["namespace"])).filter(|namespace| !namespace.is_empty());
    let namespace = namespace.map(|namespace| format!("/{namespace}")).unwrap_or_default();
    let shown = match parent.is_object() {
        true => format!("{}{namespace}/{}", resource.to_lowercase(), text(&parent["name"])),
        false => NONE.to_owned(),
    };
    row.with_name_and_age(vec![json!(shown)])
}
