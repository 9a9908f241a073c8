//! Autoscalers in `autoscaling/v1`, which are stored in `autoscaling/v2`.
//!
//! Version 1 has a single metric, the utilization of the CPU. Other metrics, the behavior and the conditions are in
//! annotations, as JSON in the representation of version 2.

use serde_json::{Map, Value, json};

use crate::{
    api::object::Object,
    resource::{
        built_in::{self, BuiltIn},
        stored_representation::Conversion,
    },
};

/// The conversion of version 1.
pub(crate) static CONVERSION: Conversion = Conversion { from_storage, to_storage };

const PLURAL: &str = "horizontalpodautoscalers";

/// The fields that version 1 has in annotations: the annotation, and the parent and the name of the field.
const ANNOTATIONS: [(&str, &str, &str); 4] = [
    ("autoscaling.alpha.kubernetes.io/behavior", "spec", "behavior"),
    ("autoscaling.alpha.kubernetes.io/conditions", "status", "conditions"),
    ("autoscaling.alpha.kubernetes.io/current-metrics", "status", "currentMetrics"),
    ("autoscaling.alpha.kubernetes.io/metrics", "spec", "metrics"),
];

/// The metrics of the CPU: the parent and the names of the lists of metrics and of the number in version 1, and the
/// field of a metric that has the utilization.
const CPU: [(&str, &str, &str, &str); 2] = [
    ("spec", "metrics", "targetCPUUtilizationPercentage", "target"),
    ("status", "currentMetrics", "currentCPUUtilizationPercentage", "current"),
];

fn from_storage(autoscaler: &mut Object) {
    for (parent, metrics, number, value) in CPU {
        let Some(Value::Object(fields)) = autoscaler.body.get_mut(parent) else { continue };
        let list = fields.get_mut(metrics).and_then(Value::as_array_mut);
        let cpu = list.and_then(|list| {
            let index = list.iter().position(|metric| utilization(metric, value).is_some())?;
            utilization(&list.remove(index), value)
        });
        if let Some(utilization) = cpu {
            fields.insert(number.to_owned(), utilization);
        }
    }
    for (annotation, parent, name) in ANNOTATIONS {
        let fields = autoscaler.body.get_mut(parent).and_then(Value::as_object_mut);
        let Some(field) = fields.and_then(|fields| fields.remove(name)).filter(|field| !is_empty(field)) else {
            continue;
        };
        autoscaler.metadata.annotations.get_or_insert_default().insert(annotation.to_owned(), field.to_string());
    }
}

fn to_storage(autoscaler: &mut Object) {
    let annotations = &mut autoscaler.metadata.annotations;
    for (annotation, parent, name) in ANNOTATIONS {
        let text = annotations.as_mut().and_then(|annotations| annotations.remove(annotation));
        let field = text.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        if let (Some(field), Some(Value::Object(fields))) = (field, autoscaler.body.get_mut(parent)) {
            fields.insert(name.to_owned(), field);
        }
    }
    if annotations.as_ref().is_some_and(|annotations| annotations.is_empty()) {
        *annotations = None;
    }
    for (parent, metrics, number, value) in CPU {
        let Some(Value::Object(fields)) = autoscaler.body.get_mut(parent) else { continue };
        let Some(utilization) = fields.remove(number).filter(Value::is_number) else { continue };
        if let Value::Array(list) = fields.entry(metrics).or_insert_with(|| json!([])) {
            list.push(cpu_metric(value, utilization));
        }
    }
    if let Some(Value::Object(status)) = autoscaler.body.get_mut("status") {
        // Version 2 omits zero (`omitempty`).
        status.retain(|name, value| name != "currentReplicas" || *value != 0);
    }
    apply_defaults(&mut autoscaler.body);
}

/// Sets the defaults of version 2, as after decoding a stored object.
fn apply_defaults(fields: &mut Map<String, Value>) {
    let is_stored = |facts: &&BuiltIn| facts.plural == PLURAL && facts.conversion.is_none();
    let Some(stored) = built_in::all().find(is_stored) else { return };
    stored.strategy.defaults.iter().for_each(|default| default(fields));
    if let Some(schema) = &stored.type_info().schema {
        built_in::default(fields, schema);
    }
}

/// Returns the utilization of a metric, if it is that of the CPU.
fn utilization(metric: &Value, value: &str) -> Option<Value> {
    let resource = Some(&metric["resource"]).filter(|resource| resource["name"] == "cpu")?;
    Some(resource[value]["averageUtilization"].clone()).filter(Value::is_number)
}

/// Returns the metric of the CPU. Only a target has a type.
fn cpu_metric(value: &str, utilization: Value) -> Value {
    let mut amount = json!({ "averageUtilization": utilization });
    if value == "target" {
        amount["type"] = json!("Utilization");
    }
    let mut resource = json!({ "name": "cpu" });
    resource[value] = amount;
    json!({ "type": "Resource", "resource": resource })
}

fn is_empty(field: &Value) -> bool {
    field.is_null() || field.as_array().is_some_and(Vec::is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(body: &Value) -> Object {
        Object::from_json(body.as_object().unwrap().clone()).unwrap()
    }

    #[test]
    fn both_versions_have_the_same_content() {
        let memory = json!({ "name": "memory", "target": { "type": "Value", "value": "1Gi" } });
        let memory = json!({ "type": "Resource", "resource": memory });
        let stored = object(&json!({
            "metadata": { "name": "a" },
            "spec": { "maxReplicas": 3, "metrics": [memory, cpu_metric("target", json!(70))] },
            "status": { "conditions": [{ "type": "AbleToScale", "status": "True" }] },
        }));
        let mut first = stored.clone();
        from_storage(&mut first);
        assert_eq!(first.body["spec"], json!({ "maxReplicas": 3, "targetCPUUtilizationPercentage": 70 }));
        assert_eq!(first.metadata.annotations.as_ref().map(|annotations| annotations.len()), Some(2));
        to_storage(&mut first);
        assert_eq!(first.field("spec.metrics"), stored.field("spec.metrics"));
        assert_eq!(first.field("status.conditions"), stored.field("status.conditions"));
        assert_eq!(first.metadata, stored.metadata);
    }

    #[test]
    fn an_autoscaler_without_a_target_gets_the_default_of_version_2() {
        let mut autoscaler = object(&json!({ "metadata": { "name": "a" }, "spec": { "maxReplicas": 3 } }));
        to_storage(&mut autoscaler);
        from_storage(&mut autoscaler);
        assert_eq!(autoscaler.field("spec.targetCPUUtilizationPercentage"), Some(&json!(80)));
    }
}
