//! The rules of what makes pods.

use logger_crd::names;
use serde_json::{Value, json};

use super::{Change, Errors, Place, pods, selectors, words};

/// A Deployment rolls out, or does so all at once.
pub(in crate::resource::built_in) fn deployment(change: &Change<'_>, errors: &mut Errors) {
    let spec = Place::of(change.object, "spec");
    serving(&spec, &spec.at("template"), ["deployment", "ReplicaSet"], errors);
    for name in ["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"] {
        errors.extend(spec.at(name).not_negative());
    }
    let strategy = spec.at("strategy");
    let rolling = strategy.at("rollingUpdate");
    match strategy.at("type").text() {
        "Recreate" if rolling.is_there() => {
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

fn rolling(rolling: &Place<'_>, errors: &mut Errors) {
    let (more, fewer) = (rolling.at("maxSurge"), rolling.at("maxUnavailable"));
    share(&more, false, errors);
    share(&fewer, true, errors);
    let is_none = |place: &Place<'_>| *place.value == json!(0) || *place.value == json!("0%");
    if is_none(&more) && is_none(&fewer) {
        errors.push(fewer.invalid("may not be 0 when `maxSurge` is 0"));
    }
}

/// A number that is not below zero, or a share of all, which may be bound to all of them.
pub(super) fn share(share: &Place<'_>, is_bound: bool, errors: &mut Errors) {
    if share.value.is_string() {
        let mistakes = words::percent(share.text()).into_iter();
        errors.extend(mistakes.filter(|why| is_bound || why != words::ABOVE_ALL).map(|why| share.invalid(why)));
    } else {
        errors.extend(share.not_negative());
    }
}

pub(in crate::resource::built_in) fn replica_set(change: &Change<'_>, errors: &mut Errors) {
    let spec = Place::of(change.object, "spec");
    serving(&spec, &spec.at("template"), ["deployment", "ReplicaSet"], errors);
    errors.extend(spec.at("minReadySeconds").not_negative());
}

pub(in crate::resource::built_in) fn daemon_set(change: &Change<'_>, errors: &mut Errors) {
    let spec = Place::of(change.object, "spec");
    serving(&spec, &spec.at("template"), ["daemonset", "DaemonSet"], errors);
    errors.extend(["minReadySeconds", "revisionHistoryLimit"].iter().filter_map(|name| spec.at(name).not_negative()));
}

pub(in crate::resource::built_in) fn stateful_set(change: &Change<'_>, errors: &mut Errors) {
    let spec = Place::of(change.object, "spec");
    let template = with_claims(&spec);
    let template = Place { path: spec.at("template").path, value: &template };
    serving(&spec, &template, ["statefulset", "StatefulSet"], errors);
    errors.extend(spec.at("serviceName").mistakes(names::dns_1123_label));
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

/// The template with the volumes that are made from claims; its pods get their names from the set.
fn with_claims(spec: &Place<'_>) -> Value {
    let mut template = spec.at("template").value.clone();
    let claims = spec.at("volumeClaimTemplates");
    let claims: Vec<&str> = claims.items().map(|claim| claim.at("metadata").at("name").text()).collect();
    let Some(Value::Object(pods)) = template.get_mut("spec") else {
        return template;
    };
    pods.retain(|name, _| !matches!(name.as_str(), "hostname" | "subdomain"));
    let own = pods.get("volumes").and_then(Value::as_array).into_iter().flatten();
    let own = own.filter(|volume| !claims.iter().any(|claim| volume["name"] == *claim)).cloned();
    let made = claims.iter().map(|claim| json!({ "name": claim, "persistentVolumeClaim": { "claimName": claim } }));
    let volumes: Vec<Value> = made.chain(own).collect();
    pods.insert("volumes".to_owned(), Value::Array(volumes));
    template
}

/// What keeps pods running, which are its own and never end.
fn serving(spec: &Place<'_>, template: &Place<'_>, [who, owner]: [&str; 2], errors: &mut Errors) {
    let selector = spec.at("selector");
    if selector.is_there() && selector.at("matchLabels").is_empty() && selector.at("matchExpressions").is_empty() {
        errors.push(selector.invalid(format!("empty selector is invalid for {who}")));
    }
    selectors::selector(&selector, errors);
    pods::template(template, errors);
    let policy = template.at("spec").at("restartPolicy");
    if matches!(policy.text(), "Never" | "OnFailure") {
        errors.push(policy.unsupported(&["Always"]));
    }
    let deadline = template.at("spec").at("activeDeadlineSeconds");
    if deadline.is_there() {
        errors.push(deadline.forbidden(format!("activeDeadlineSeconds in {owner} is not Supported")));
    }
}

/// Jobs: pods must terminate, and the selector is generated unless `manualSelector` is set.
pub(in crate::resource::built_in) fn job(change: &Change<'_>, errors: &mut Errors) {
    let spec = Place::of(change.object, "spec");
    job_spec(&spec, errors);
    if let Some(old) = change.old {
        let (completions, mode) = (spec.at("completions"), spec.at("completionMode").text());
        if mode != "Indexed" && old.field("spec.completions").unwrap_or(&Value::Null) != completions.value {
            errors.push(completions.invalid("field is immutable"));
        }
        return;
    }
    let (selector, labels) = (spec.at("selector"), spec.at("template").at("metadata").at("labels"));
    let own = json!({ "matchLabels": { CONTROLLER: change.object.uid() } });
    if !selector.is_there() {
        // One that was put in as it is.
    } else if spec.at("manualSelector").value != true && *selector.value != own {
        errors.push(selector.invalid("`selector` not auto-generated"));
    } else if !crate::resource::selector::selects(selector.value, labels.value) {
        errors.push(labels.invalid("`selector` does not match template `labels`"));
    }
}

/// The label of the pods of a job.
pub(in crate::resource::built_in) const CONTROLLER: &str = "batch.kubernetes.io/controller-uid";

pub(super) fn job_spec(spec: &Place<'_>, errors: &mut Errors) {
    const COUNTS: [&str; 5] =
        ["parallelism", "completions", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"];
    errors.extend(COUNTS.iter().filter_map(|name| spec.at(name).not_negative()));
    let mode = spec.at("completionMode");
    if mode.is_there() && !matches!(mode.text(), "NonIndexed" | "Indexed") {
        errors.push(mode.unsupported(&["NonIndexed", "Indexed"]));
    }
    if mode.text() == "Indexed" && !spec.at("completions").is_there() {
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
