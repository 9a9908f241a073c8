//! The rows of autoscalers.

use serde_json::{Value, json};

use super::row::{NONE, Row, UNKNOWN, UNSET, text};

pub(super) fn autoscaler(row: &Row<'_>) -> Vec<Value> {
    let target = row.get("spec.scaleTargetRef");
    let least = row.get("spec.minReplicas").as_i64().map_or_else(|| UNSET.to_owned(), |least| least.to_string());
    vec![
        row.name(),
        json!(format!("{}/{}", text(&target["kind"]), text(&target["name"]))),
        json!(metrics(row)),
        json!(least),
        json!(row.number("spec.maxReplicas")),
        json!(row.number("status.currentReplicas")),
        row.age(),
    ]
}

/// The first two metrics, with how they are and how they should be.
fn metrics(row: &Row<'_>) -> String {
    const FEW: usize = 2;
    let (wanted, found) = (row.list("spec.metrics"), row.list("status.currentMetrics"));
    let all = wanted.iter().enumerate().map(|(index, wanted)| metric(wanted, found.get(index).unwrap_or(&Value::Null)));
    let few = all.take(FEW).collect::<Vec<_>>().join(", ");
    match wanted.len() {
        0 => NONE.to_owned(),
        count if count > FEW => format!("{few} + {} more...", count - FEW),
        _ => few,
    }
}

fn metric(wanted: &Value, found: &Value) -> String {
    let (field, is_resource) = match text(&wanted["type"]) {
        "External" => ("external", false),
        "Pods" => ("pods", false),
        "Object" => ("object", false),
        "Resource" => ("resource", true),
        "ContainerResource" => ("containerResource", true),
        _ => return "<unknown type>".to_owned(),
    };
    let (target, current) = (&wanted[field]["target"], &found[field]["current"]);
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
        "resource" | "containerResource" => format!("{}: {current}/{target}", text(&wanted[field]["name"])),
        "external" | "object" if average => format!("{current}/{target} (avg)"),
        _ => format!("{current}/{target}"),
    }
}
