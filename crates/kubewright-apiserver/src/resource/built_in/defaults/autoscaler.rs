//! Defaults of autoscalers: a CPU utilization of 80 %, and the scaling behavior.

use serde_json::{Value, json};

use super::{Fields, set};

pub(in super::super) fn autoscaler(autoscaler: &mut Fields) {
    let Some(spec) = autoscaler.get_mut("spec") else {
        return;
    };
    let cpu = json!({
        "type": "Resource",
        "resource": { "name": "cpu", "target": { "type": "Utilization", "averageUtilization": 80 } },
    });
    set(spec, "metrics", json!([cpu]));
    if let Some(behavior) = spec.get_mut("behavior").filter(|behavior| behavior.is_object()) {
        let percent = json!({ "type": "Percent", "value": 100, "periodSeconds": 15 });
        let pods = json!({ "type": "Pods", "value": 4, "periodSeconds": 15 });
        default_scaling_rules(behavior, "scaleDown", &json!([percent]));
        default_scaling_rules(behavior, "scaleUp", &json!([pods, percent]));
        set(&mut behavior["scaleUp"], "stabilizationWindowSeconds", json!(0));
    }
}

fn default_scaling_rules(behavior: &mut Value, name: &str, policies: &Value) {
    set(behavior, name, json!({}));
    set(&mut behavior[name], "selectPolicy", json!("Max"));
    set(&mut behavior[name], "policies", policies.clone());
}
