//! Validation of workloads.

use kubewright_crd::names;
use serde_json::{Value, json};

use super::{Change, Errors, FieldValue, formats, pods, selectors};

/// Validates a `Deployment`.
pub(in crate::resource::built_in) fn deployment(change: &Change<'_>, errors: &mut Errors) {
    let spec = FieldValue::new(change.object, "spec");
    long_running(&spec, &spec.at("template"), ["deployment", "ReplicaSet"], errors);
    for name in ["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"] {
        errors.extend(spec.at(name).not_negative());
    }
    let strategy = spec.at("strategy");
    let rolling = strategy.at("rollingUpdate");
    match strategy.at("type").text() {
        "Recreate" if rolling.is_set() => {
            errors.push(rolling.forbidden("may not be specified when strategy `type` is 'Recreate'"));
        }
        "Recreate" => {}
        "RollingUpdate" => self::rolling(&rolling, errors),
        other => {
            let shown = format!("{{\"Type\":{other:?},\"RollingUpdate\":null}}");
            let known = ["Recreate", "RollingUpdate"].map(str::to_owned);
            errors.push(crate::api::error::FieldError::unsupported(&strategy.path, shown, &known));
        }
    }
}

fn rolling(rolling: &FieldValue<'_>, errors: &mut Errors) {
    let (max_surge, max_unavailable) = (rolling.at("maxSurge"), rolling.at("maxUnavailable"));
    int_or_percent(&max_surge, false, errors);
    int_or_percent(&max_unavailable, true, errors);
    let is_zero = |value: &FieldValue<'_>| *value.value == json!(0) || *value.value == json!("0%");
    if is_zero(&max_surge) && is_zero(&max_unavailable) {
        errors.push(max_unavailable.invalid("may not be 0 when `maxSurge` is 0"));
    }
}

/// Validates a non-negative number or a percentage, which can be limited to 100 %.
pub(super) fn int_or_percent(value: &FieldValue<'_>, is_limited: bool, errors: &mut Errors) {
    if value.value.is_string() {
        let messages = formats::percent(value.text()).into_iter();
        errors.extend(
            messages
                .filter(|message| is_limited || message != formats::ABOVE_100_PERCENT)
                .map(|message| value.invalid(message)),
        );
    } else {
        errors.extend(value.not_negative());
    }
}

pub(in crate::resource::built_in) fn replica_set(change: &Change<'_>, errors: &mut Errors) {
    let spec = FieldValue::new(change.object, "spec");
    long_running(&spec, &spec.at("template"), ["deployment", "ReplicaSet"], errors);
    errors.extend(spec.at("minReadySeconds").not_negative());
}

pub(in crate::resource::built_in) fn daemon_set(change: &Change<'_>, errors: &mut Errors) {
    let spec = FieldValue::new(change.object, "spec");
    long_running(&spec, &spec.at("template"), ["daemonset", "DaemonSet"], errors);
    errors.extend(["minReadySeconds", "revisionHistoryLimit"].iter().filter_map(|name| spec.at(name).not_negative()));
}

pub(in crate::resource::built_in) fn stateful_set(change: &Change<'_>, errors: &mut Errors) {
    let spec = FieldValue::new(change.object, "spec");
    let template = with_claim_volumes(&spec);
    let template = FieldValue { path: spec.at("template").path, value: &template };
    long_running(&spec, &template, ["statefulset", "StatefulSet"], errors);
    errors.extend(spec.at("serviceName").validate(names::dns_1123_label));
    errors.extend(["minReadySeconds", "revisionHistoryLimit"].iter().filter_map(|name| spec.at(name).not_negative()));
    let policy = spec.at("podManagementPolicy");
    if !matches!(policy.text(), "OrderedReady" | "Parallel") {
        errors.push(policy.invalid_text("must be 'OrderedReady' or 'Parallel'"));
    }
    let strategy = spec.at("updateStrategy");
    let type_ = strategy.at("type").text();
    if !matches!(type_, "RollingUpdate" | "OnDelete") {
        let shown = format!("{{\"Type\":{type_:?},\"RollingUpdate\":null}}");
        errors.push(crate::api::error::FieldError::invalid(
            &strategy.path,
            shown,
            "must be 'RollingUpdate' or 'OnDelete'",
        ));
    }
}

/// Returns the pod template with the volumes of the claim templates and without host names, which the controller sets.
fn with_claim_volumes(spec: &FieldValue<'_>) -> Value {
    let mut template = spec.at("template").value.clone();
    let claims = spec.at("volumeClaimTemplates");
    let claims: Vec<&str> = claims.items().map(|claim| claim.at("metadata").at("name").text()).collect();
    let Some(Value::Object(pods)) = template.get_mut("spec") else {
        return template;
    };
    pods.retain(|name, _| !matches!(name.as_str(), "hostname" | "subdomain"));
    let other_volumes = pods.get("volumes").and_then(Value::as_array).into_iter().flatten();
    let other_volumes = other_volumes.filter(|volume| !claims.iter().any(|claim| volume["name"] == *claim)).cloned();
    let from_claims =
        claims.iter().map(|claim| json!({ "name": claim, "persistentVolumeClaim": { "claimName": claim } }));
    let volumes: Vec<Value> = from_claims.chain(other_volumes).collect();
    pods.insert("volumes".to_owned(), Value::Array(volumes));
    template
}

/// Validates the selector and the template of a workload whose pods always restart.
fn long_running(spec: &FieldValue<'_>, template: &FieldValue<'_>, [kind, owner]: [&str; 2], errors: &mut Errors) {
    let selector = spec.at("selector");
    if selector.is_set() && selector.at("matchLabels").is_empty() && selector.at("matchExpressions").is_empty() {
        errors.push(selector.invalid(format!("empty selector is invalid for {kind}")));
    }
    selectors::selector(&selector, errors);
    pods::template(template, errors);
    always_restarts(template, owner, errors);
}

/// Validates that the pods of a template always restart.
fn always_restarts(template: &FieldValue<'_>, owner: &str, errors: &mut Errors) {
    let policy = template.at("spec").at("restartPolicy");
    if matches!(policy.text(), "Never" | "OnFailure") {
        errors.push(policy.unsupported(&["Always"]));
    }
    let deadline = template.at("spec").at("activeDeadlineSeconds");
    if deadline.is_set() {
        errors.push(deadline.forbidden(format!("activeDeadlineSeconds in {owner} is not Supported")));
    }
}

/// Validates a `ReplicationController`, whose selector is a map of labels.
pub(in crate::resource::built_in) fn replication_controller(change: &Change<'_>, errors: &mut Errors) {
    let spec = FieldValue::new(change.object, "spec");
    errors.extend(spec.at("minReadySeconds").not_negative());
    let (selector, template) = (spec.at("selector"), spec.at("template"));
    if selector.is_empty() {
        errors.push(selector.required(""));
    }
    if !template.is_set() {
        return errors.push(template.required(""));
    }
    let labels = template.at("metadata").at("labels");
    let match_labels = json!({ "matchLabels": selector.value });
    if !selector.is_empty() && !crate::resource::selector::selects(&match_labels, labels.value) {
        errors.push(labels.invalid("`selector` does not match template `labels`"));
    }
    pods::template(&template, errors);
    always_restarts(&template, "ReplicationController", errors);
}

/// Validates a `PodTemplate`.
pub(in crate::resource::built_in) fn pod_template(change: &Change<'_>, errors: &mut Errors) {
    pods::template(&FieldValue::new(change.object, "template"), errors);
}

/// Validates a `Job`: pods must terminate, and the selector is generated unless `manualSelector` is set.
pub(in crate::resource::built_in) fn job(change: &Change<'_>, errors: &mut Errors) {
    let spec = FieldValue::new(change.object, "spec");
    job_spec(&spec, errors);
    if let Some(old) = change.old {
        let (completions, mode) = (spec.at("completions"), spec.at("completionMode").text());
        if mode != "Indexed" && old.field("spec.completions").unwrap_or(&Value::Null) != completions.value {
            errors.push(completions.invalid("field is immutable"));
        }
        return;
    }
    let (selector, labels) = (spec.at("selector"), spec.at("template").at("metadata").at("labels"));
    let generated = json!({ "matchLabels": { CONTROLLER: change.object.uid() } });
    if !selector.is_set() {
        // Loaded objects are stored unchanged and can lack a selector.
    } else if spec.at("manualSelector").value != true && *selector.value != generated {
        errors.push(selector.invalid("`selector` not auto-generated"));
    } else if !crate::resource::selector::selects(selector.value, labels.value) {
        errors.push(labels.invalid("`selector` does not match template `labels`"));
    }
}

/// The label with the uid of the job.
pub(in crate::resource::built_in) const CONTROLLER: &str = "batch.kubernetes.io/controller-uid";

pub(super) fn job_spec(spec: &FieldValue<'_>, errors: &mut Errors) {
    const COUNTS: [&str; 5] =
        ["parallelism", "completions", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"];
    errors.extend(COUNTS.iter().filter_map(|name| spec.at(name).not_negative()));
    let mode = spec.at("completionMode");
    if mode.is_set() && !matches!(mode.text(), "NonIndexed" | "Indexed") {
        errors.push(mode.unsupported(&["NonIndexed", "Indexed"]));
    }
    if mode.text() == "Indexed" && !spec.at("completions").is_set() {
        errors.push(spec.at("completions").required("when completion mode is Indexed"));
    }
    selectors::selector(&spec.at("selector"), errors);
    let template = spec.at("template");
    pods::template(&template, errors);
    let policy = template.at("spec").at("restartPolicy");
    if policy.text() == "Always" {
        errors.push(policy.required("valid values: \"OnFailure\", \"Never\""));
    }
}
