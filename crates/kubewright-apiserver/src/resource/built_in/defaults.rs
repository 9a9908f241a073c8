//! Defaults that depend on other fields, which a schema cannot express.
//!
//! They run before the defaults of the schema, on the fields that the client sent.

mod autoscaler;
mod cluster;
mod devices;
mod pods;
mod qos;
mod services;
mod workloads;

use k8s_openapi::ByteString;
use serde_json::{Value, json};

use super::Fields;

pub(super) use autoscaler::autoscaler;
pub(super) use cluster::{limit_range, new_attributes_class, new_claim, new_node, new_volume, node, volume_changed};
pub(super) use devices::{resource_claim, resource_claim_template, resource_slice};
pub(super) use pods::{cron_job, new_pod, pod, pod_changed, pod_template, template_of_pods};
pub(super) use services::{new_service, service, service_changed};
pub(super) use workloads::{claim_templates, daemon_set_changed, new_daemon_set, new_job, replication_controller};

/// The default strategy of updates.
const ROLLING_UPDATE: &str = "RollingUpdate";

/// Moves `stringData` to `data`. The real server does not store `stringData`.
pub(super) fn secret(secret: &mut Fields) {
    let Some(Value::Object(texts)) = secret.remove("stringData") else {
        return;
    };
    let bytes = |text: &Value| ByteString(text.as_str().unwrap_or_default().as_bytes().to_vec());
    if let Some(data) = secret.entry("data").or_insert_with(|| json!({})).as_object_mut() {
        data.extend(texts.into_iter().map(|(name, text)| (name, json!(bytes(&text)))));
    }
}

/// Removes an empty API group of the role, so that it gets its default, and sets that of users and groups.
pub(super) fn role_binding(binding: &mut Fields) {
    if let Some(role) = binding.get_mut("roleRef").and_then(Value::as_object_mut)
        && role.get("apiGroup").is_some_and(|group| group == "")
    {
        role.remove("apiGroup");
    }
    for subject in binding.get_mut("subjects").and_then(Value::as_array_mut).into_iter().flatten() {
        if matches!(subject["kind"].as_str(), Some("User" | "Group")) {
            set(subject, "apiGroup", json!("rbac.authorization.k8s.io"));
        }
    }
}

/// Sets the policy types: `Ingress`, and `Egress` if there are egress rules.
pub(super) fn network_policy(policy: &mut Fields) {
    let Some(spec) = policy.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    let types = if spec.contains_key("egress") { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) };
    spec.entry("policyTypes").or_insert(types);
}

/// Sets the parameters of rolling updates of a Deployment, the default strategy.
pub(super) fn strategy(workload: &mut Fields) {
    set_rolling_update(workload, "strategy", |type_| matches!(type_, "" | ROLLING_UPDATE));
}

/// The same for a DaemonSet.
pub(super) fn daemon_set_strategy(workload: &mut Fields) {
    set_rolling_update(workload, "updateStrategy", |type_| matches!(type_, "" | ROLLING_UPDATE));
}

/// The same for a StatefulSet. Its parameters stay unset if the strategy is set (`SetDefaults_StatefulSet`).
pub(super) fn stateful_set_strategy(workload: &mut Fields) {
    set_rolling_update(workload, "updateStrategy", str::is_empty);
}

/// Sets the parameters of rolling updates if that is the default for the type of the strategy.
fn set_rolling_update(workload: &mut Fields, name: &str, is_default: impl Fn(&str) -> bool) {
    let Some(spec) = workload.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    let strategy = spec.entry(name).or_insert_with(|| json!({}));
    if is_default(strategy["type"].as_str().unwrap_or_default()) {
        set(strategy, "rollingUpdate", json!({}));
    }
}

/// Sets the defaults of a job. They do not apply to the job template of a cron job.
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

/// Sets a field that is missing.
fn set(fields: &mut Value, name: &str, value: Value) {
    if let Some(fields) = fields.as_object_mut() {
        fields.entry(name).or_insert(value);
    }
}
