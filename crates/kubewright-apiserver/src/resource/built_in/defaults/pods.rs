//! Defaults of pods and pod templates.

use serde_json::{Value, json};

use super::{Fields, qos, set};
use crate::api::{
    error::Result,
    object::{Object, now},
};

pub(in super::super) fn pod(pod: &mut Fields) {
    if let Some(spec) = pod.get_mut("spec") {
        pod_spec(spec);
        set(spec, "enableServiceLinks", json!(true));
        ["containers", "initContainers"].iter().for_each(|list| default_containers(spec, list));
    }
    if let Some(status) = pod.get_mut("status") {
        default_addresses(status);
    }
}

pub(in super::super) fn pod_template(workload: &mut Fields) {
    if let Some(spec) = workload.get_mut("spec").and_then(|spec| spec.pointer_mut("/template/spec")) {
        pod_spec(spec);
    }
}

/// Sets the defaults of a `PodTemplate`.
pub(in super::super) fn template_of_pods(template: &mut Fields) {
    if let Some(spec) = template.get_mut("template").and_then(|template| template.get_mut("spec")) {
        pod_spec(spec);
    }
}

pub(in super::super) fn cron_job(cron_job: &mut Fields) {
    if let Some(spec) = cron_job.get_mut("spec").and_then(|spec| spec.pointer_mut("/jobTemplate/spec/template/spec")) {
        pod_spec(spec);
    }
}

/// Sets both names of the service account, `emptyDir` for volumes without a source, and the image pull policies:
/// `Always` for the tag `latest`.
fn pod_spec(spec: &mut Value) {
    const ACCOUNT: [(&str, &str); 2] =
        [("serviceAccountName", "serviceAccount"), ("serviceAccount", "serviceAccountName")];
    for (from, to) in ACCOUNT {
        if let Some(account) = spec.get(from).cloned() {
            set(spec, to, account);
        }
    }
    for volume in spec.get_mut("volumes").and_then(Value::as_array_mut).into_iter().flatten() {
        if volume.as_object().is_some_and(|volume| volume.keys().all(|name| name == "name")) {
            volume["emptyDir"] = json!({});
        }
    }
    for containers in ["containers", "initContainers", "ephemeralContainers"] {
        for container in spec.get_mut(containers).and_then(Value::as_array_mut).into_iter().flatten() {
            let is_latest = is_latest(container["image"].as_str().unwrap_or_default());
            set(container, "imagePullPolicy", json!(if is_latest { "Always" } else { "IfNotPresent" }));
        }
    }
}

/// Sets requests from limits, and host ports from container ports if the pod uses the host network.
fn default_containers(spec: &mut Value, list: &str) {
    let is_on_host = spec["hostNetwork"] == true;
    for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(Value::Object(limits)) = container.pointer("/resources/limits").cloned() {
            set(&mut container["resources"], "requests", json!({}));
            limits.into_iter().for_each(|(name, limit)| set(&mut container["resources"]["requests"], &name, limit));
        }
        let ports = container.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten();
        for port in ports.filter(|_| is_on_host) {
            let number = port["containerPort"].clone();
            set(port, "hostPort", number);
        }
    }
}

/// Sets the lists of addresses from the single addresses.
fn default_addresses(status: &mut Value) {
    for (single, all) in [("podIP", "podIPs"), ("hostIP", "hostIPs")] {
        match status.get(single).cloned() {
            Some(address) if status[all][0]["ip"] != address => status[all] = json!([{ "ip": address }]),
            _ => {}
        }
    }
}

fn is_latest(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or(image);
    !name.contains('@') && name.split_once(':').is_none_or(|(_, tag)| tag == "latest")
}

/// Sets the tolerations and the status of a new pod: pending, and gated if it has scheduling gates.
pub(in super::super) fn new_pod(pod: &mut Object) -> Result<()> {
    add_tolerations(pod);
    let mut status =
        json!({ "phase": "Pending", "qosClass": qos::class(pod.body.get("spec").unwrap_or(&Value::Null)) });
    if pod.field("spec.schedulingGates").is_some_and(|gates| gates.as_array().is_some_and(|gates| !gates.is_empty())) {
        status["conditions"] = json!([{
            "type": "PodScheduled",
            "status": "False",
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
            "lastTransitionTime": now(),
        }]);
    }
    pod.body.insert("status".to_owned(), status);
    Ok(())
}

/// Preserves the priority of a pod if an update omits it.
pub(in super::super) fn pod_changed(pod: &mut Object, old: &Object) {
    add_tolerations(pod);
    if let (Some(spec), Some(old)) = (pod.body.get_mut("spec"), old.body.get("spec")) {
        for name in ["priority", "preemptionPolicy"] {
            if let Some(value) = old.get(name).cloned() {
                set(spec, name, value);
            }
        }
    }
}

/// The default `tolerationSeconds` (admission plugin `DefaultTolerationSeconds`).
const TOLERATION_SECONDS: i64 = 300;

fn add_tolerations(pod: &mut Object) {
    let Some(Value::Object(spec)) = pod.body.get_mut("spec") else {
        return;
    };
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let Some(tolerations) = spec.entry("tolerations").or_insert_with(|| json!([])).as_array_mut() else {
            return;
        };
        let matches = |toleration: &Value, field: &str, expected: &str| {
            toleration[field].as_str().is_none_or(|found| found.is_empty() || found == expected)
        };
        if !tolerations
            .iter()
            .any(|toleration| matches(toleration, "key", key) && matches(toleration, "effect", "NoExecute"))
        {
            tolerations.push(json!({
                "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": TOLERATION_SECONDS,
            }));
        }
    }
}
