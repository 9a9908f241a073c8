//! Defaults of claims and slices of devices.

use serde_json::{Value, json};

use super::{Fields, set};
use crate::api::object::now;

/// Sets the allocation modes and the counts of the requests of a claim.
pub(in super::super) fn resource_claim(claim: &mut Fields) {
    if let Some(spec) = claim.get_mut("spec") {
        default_requests(spec);
    }
}

/// The same for the claim in a template.
pub(in super::super) fn resource_claim_template(template: &mut Fields) {
    if let Some(spec) = template.get_mut("spec").and_then(|spec| spec.get_mut("spec")) {
        default_requests(spec);
    }
}

fn default_requests(claim: &mut Value) {
    for request in items(claim.pointer_mut("/devices/requests")) {
        if let Some(exactly) = request.get_mut("exactly") {
            default_count(exactly);
        }
        items(request.get_mut("firstAvailable")).for_each(default_count);
    }
}

fn default_count(request: &mut Value) {
    set(request, "allocationMode", json!("ExactCount"));
    if request["allocationMode"] == "ExactCount" {
        set(request, "count", json!(1));
    }
}

/// Sets the times at which the taints of devices were added.
pub(in super::super) fn resource_slice(slice: &mut Fields) {
    for device in items(slice.get_mut("spec").and_then(|spec| spec.get_mut("devices"))) {
        items(device.get_mut("taints")).for_each(|taint| set(taint, "timeAdded", json!(now())));
    }
}

/// Returns the items of a list, or none for other values.
fn items(list: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    list.and_then(Value::as_array_mut).into_iter().flatten()
}
