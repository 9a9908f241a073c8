//! What is filled in by what else an object says: no default of a schema can.
//!
//! These run before the defaults do, on what was written.

mod autoscaler;
mod cluster;
mod pods;
mod quality;
mod services;
mod workloads;

use k8s_openapi::ByteString;
use serde_json::{Value, json};

use super::Fields;

pub(super) use autoscaler::autoscaler;
pub(super) use cluster::{limit_range, new_node, new_volume, node, volume_changed};
pub(super) use pods::{cron_job, new_pod, pod, pod_changed, pod_template};
pub(super) use services::{new_service, service, service_changed};
pub(super) use workloads::{claim_templates, daemon_set_changed, new_daemon_set, new_job};

/// Text becomes data, which the real server does not keep as text.
pub(super) fn secret(secret: &mut Fields) {
    let Some(Value::Object(texts)) = secret.remove("stringData") else {
        return;
    };
    let bytes = |text: &Value| ByteString(text.as_str().unwrap_or_default().as_bytes().to_vec());
    if let Some(data) = secret.entry("data").or_insert_with(|| json!({})).as_object_mut() {
        data.extend(texts.into_iter().map(|(name, text)| (name, json!(bytes(&text)))));
    }
}

/// Users and groups are of the group of roles.
pub(super) fn subjects(binding: &mut Fields) {
    for subject in binding.get_mut("subjects").and_then(Value::as_array_mut).into_iter().flatten() {
        if matches!(subject["kind"].as_str(), Some("User" | "Group")) {
            set(subject, "apiGroup", json!("rbac.authorization.k8s.io"));
        }
    }
}

/// A policy is about what comes in, and about what goes out if it has rules for that.
pub(super) fn network_policy(policy: &mut Fields) {
    let Some(spec) = policy.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    let types = if spec.contains_key("egress") { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) };
    spec.entry("policyTypes").or_insert(types);
}

pub(super) fn strategy(workload: &mut Fields) {
    rolling(workload, "strategy");
}

pub(super) fn update_strategy(workload: &mut Fields) {
    rolling(workload, "updateStrategy");
}

/// The way to update is to roll out, unless another is chosen.
fn rolling(workload: &mut Fields, name: &str) {
    let Some(spec) = workload.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    let strategy = spec.entry(name).or_insert_with(|| json!({}));
    if strategy["type"].as_str().is_none_or(|type_| type_ == "RollingUpdate") {
        set(strategy, "rollingUpdate", json!({}));
    }
}

/// The number of pods of a job that says nothing of it is one; a job of a cron job is not asked yet.
pub(super) fn job(job: &mut Fields) {
    let Some(spec) = job.get_mut("spec") else {
        return;
    };
    if spec.get("parallelism").is_none() {
        set(spec, "completions", json!(1));
    }
    if spec.get("podFailurePolicy").is_none() {
        set(spec, "podReplacementPolicy", json!("TerminatingOrFailed"));
    }
    let others = [
        ("parallelism", json!(1)),
        ("backoffLimit", json!(6)),
        ("manualSelector", json!(false)),
        ("completionMode", json!("NonIndexed")),
        ("suspend", json!(false)),
    ];
    others.into_iter().for_each(|(name, value)| set(spec, name, value));
}

/// Sets a field that is not there.
fn set(fields: &mut Value, name: &str, value: Value) {
    if let Some(fields) = fields.as_object_mut() {
        fields.entry(name).or_insert(value);
    }
}
