//! Validation of autoscalers and disruption budgets.

use super::{Change, Errors, FieldValue, selectors, workloads};

/// Validates a `HorizontalPodAutoscaler`.
pub(in crate::resource::built_in) fn autoscaler(change: &Change<'_>, errors: &mut Errors) {
    let spec = FieldValue::new(change.object, "spec");
    let (min, max) = (spec.at("minReplicas"), spec.at("maxReplicas"));
    errors.extend(min.at_least(1));
    if min.value == 0 && spec.at("metrics").items().all(|metric| !supports_scale_to_zero(&metric)) {
        let detail = "must specify at least one Object or External metric to support scaling to zero replicas";
        errors.push(spec.at("metrics").forbidden(detail));
    }
    if max.value.as_i64().is_none_or(|max| max < 1) {
        errors.push(max.required("must be set and greater than 0"));
    }
    if max.value.as_i64().zip(min.value.as_i64()).is_some_and(|(max, min)| max < min) {
        errors.push(max.invalid("must be greater than or equal to `minReplicas`"));
    }
    let target = spec.at("scaleTargetRef");
    errors.extend(
        ["kind", "name"]
            .iter()
            .map(|name| target.at(name))
            .filter(FieldValue::is_empty)
            .map(|field| field.required("")),
    );
    if target.at("apiVersion").is_empty() {
        errors.push(target.at("apiVersion").invalid_text("apiVersion must specify API group"));
    }
}

/// Returns whether a metric is available without pods.
fn supports_scale_to_zero(metric: &FieldValue<'_>) -> bool {
    matches!(metric.at("type").text(), "Object" | "External")
}

/// Validates a `PodDisruptionBudget`.
pub(in crate::resource::built_in) fn budget(change: &Change<'_>, errors: &mut Errors) {
    let spec = FieldValue::new(change.object, "spec");
    let (min, max) = (spec.at("minAvailable"), spec.at("maxUnavailable"));
    if min.is_set() && max.is_set() {
        let shown = format!(
            "{{\"MinAvailable\":{},\"Selector\":{},\"MaxUnavailable\":{},\"UnhealthyPodEvictionPolicy\":{}}}",
            min.value,
            spec.at("selector").value,
            max.value,
            spec.at("unhealthyPodEvictionPolicy").value,
        );
        errors.push(crate::api::error::FieldError::invalid(
            "spec",
            shown,
            "minAvailable and maxUnavailable cannot be both set",
        ));
    }
    workloads::int_or_percent(&min, true, errors);
    workloads::int_or_percent(&max, true, errors);
    selectors::selector(&spec.at("selector"), errors);
}
