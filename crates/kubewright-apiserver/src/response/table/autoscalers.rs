//! The rows of autoscalers.

use serde_json::{Value, json};

use super::row::{NONE, Row, UNKNOWN, UNSET, text};

pub(super) fn autoscaler(row: &Row<'_>) -> Vec<Value> {
    let target = row.get("spec.scaleTargetRef");
    let min_replicas =
        row.get("spec.minReplicas").as_i64().map_or_else(|| UNSET.to_owned(), |replicas| replicas.to_string());
    vec![
        row.name(),
        json!(format!("{}/{}", text(&target["kind"]), text(&target["name"]))),
        json!(metrics(row)),
        json!(min_replicas),
        json!(row.number("spec.maxReplicas")),
        json!(row.number("status.currentReplicas")),
        row.age(),
    ]
}

/// Returns the current and target values of the first two metrics.
fn metrics(row: &Row<'_>) -> String {
    const MAX_SHOWN: usize = 2;
    let (specs, statuses) = (row.list("spec.metrics"), row.list("status.currentMetrics"));
    let all = specs.iter().enumerate().map(|(index, spec)| metric(spec, statuses.get(index).unwrap_or(&Value::Null)));
    let shown = all.take(MAX_SHOWN).collect::<Vec<_>>().join(", ");
    match specs.len() {
        0 => NONE.to_owned(),
        count if count > MAX_SHOWN => format!("{shown} + {} more...", count - MAX_SHOWN),
        _ => shown,
    }
}

fn metric(spec: &Value, status: &Value) -> String {
    let (field, is_resource) = match text(&spec["type"]) {
        "External" => ("external", false),
        "Pods" => ("pods", false),
        "Object" => ("object", false),
        "Resource" => ("resource", true),
        "ContainerResource" => ("containerResource", true),
        _ => return "<unknown type>".to_owned(),
    };
    let (target, current) = (&spec[field]["target"], &status[field]["current"]);
    let amount = |value: &Value, name: &str, none: &str| value[name].as_str().unwrap_or(none).to_owned();
    let percent = |value: &Value, none: &str| {
        value["averageUtilization"].as_i64().map_or_else(|| none.to_owned(), |percent| format!("{percent}%"))
    };
    let average = target["averageValue"].is_string();
    let (current, target) = match (is_resource, average) {
        (true, false) => (percent(current, UNKNOWN), percent(target, "<auto>")),
        (_, true) => (amount(current, "averageValue", UNKNOWN), amount(target, "averageValue", "")),
        (false, false) => (amount(current, "value", UNKNOWN), amount(target, "value", "")),
    };
    match field {
        "resource" | "containerResource" => format!("{}: {current}/{target}", text(&spec[field]["name"])),
        "external" | "object" if average => format!("{current}/{target} (avg)"),
        _ => format!("{current}/{target}"),
    }
}
