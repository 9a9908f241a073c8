//! The rules of what bounds others: autoscalers and budgets.

use super::{Change, Errors, Place, selectors, workloads};

/// An autoscaler goes from a least number that is at least one to a most that is no less.
pub(in crate::resource::built_in) fn autoscaler(change: &Change<'_>, errors: &mut Errors) {
    let spec = Place::of(change.object, "spec");
    let (least, most) = (spec.at("minReplicas"), spec.at("maxReplicas"));
    errors.extend(least.at_least(1));
    if least.value == 0 && spec.at("metrics").items().all(|metric| !counts_at_zero(&metric)) {
        let why = "must specify at least one Object or External metric to support scaling to zero replicas";
        errors.push(spec.at("metrics").forbidden(why));
    }
    if most.value.as_i64().is_none_or(|most| most < 1) {
        errors.push(most.required("must be set and greater than 0"));
    }
    if most.value.as_i64().zip(least.value.as_i64()).is_some_and(|(most, least)| most < least) {
        errors.push(most.invalid("must be greater than or equal to `minReplicas`"));
    }
    let target = spec.at("scaleTargetRef");
    errors.extend(
        ["kind", "name"].iter().map(|name| target.at(name)).filter(Place::is_empty).map(|field| field.required("")),
    );
    if target.at("apiVersion").is_empty() {
        errors.push(target.at("apiVersion").invalid_text("apiVersion must specify API group"));
    }
}

/// Whether a metric is there when no pod is.
fn counts_at_zero(metric: &Place<'_>) -> bool {
    matches!(metric.at("type").text(), "Object" | "External")
}

/// A budget says how many pods are to be there, or how many may be missing.
pub(in crate::resource::built_in) fn budget(change: &Change<'_>, errors: &mut Errors) {
    let spec = Place::of(change.object, "spec");
    let (least, most) = (spec.at("minAvailable"), spec.at("maxUnavailable"));
    if least.is_there() && most.is_there() {
        let shown = format!(
            "{{\"MinAvailable\":{},\"Selector\":{},\"MaxUnavailable\":{},\"UnhealthyPodEvictionPolicy\":{}}}",
            least.value,
            spec.at("selector").value,
            most.value,
            spec.at("unhealthyPodEvictionPolicy").value,
        );
        errors.push(crate::api::error::FieldError::invalid(
            "spec",
            shown,
            "minAvailable and maxUnavailable cannot be both set",
        ));
    }
    workloads::share(&least, true, errors);
    workloads::share(&most, true, errors);
    selectors::selector(&spec.at("selector"), errors);
}
