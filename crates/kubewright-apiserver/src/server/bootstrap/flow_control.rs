//! The default objects of API priority and fairness: stored as on the real server, without an effect.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;
use serde_json::{Value, json};

use super::create_object_as;
use crate::{api::object::now, storage::state::State};

/// The managers of the specs, and of the status of flow schemas.
const PRODUCER: &str = "api-priority-and-fairness-config-producer-v1";
const CONSUMER: &str = "api-priority-and-fairness-config-consumer-v1";
const API_VERSION: &str = "flowcontrol.apiserver.k8s.io/v1";
const FLOW_SCHEMAS: &str = "flowschemas.flowcontrol.apiserver.k8s.io";
const PRIORITY_LEVELS: &str = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io";

/// The specs by name.
#[derive(Deserialize)]
struct Defaults {
    #[serde(rename = "prioritylevelconfigurations")]
    priority_levels: BTreeMap<String, Value>,
    #[serde(rename = "flowschemas")]
    flow_schemas: BTreeMap<String, Value>,
}

static DEFAULTS: LazyLock<Defaults> =
    LazyLock::new(|| serde_json::from_str(include_str!("flow_control.json")).expect("the file is checked by a test"));

/// Creates the objects that do not exist.
pub(crate) fn create(state: &mut State) {
    for (name, spec) in &DEFAULTS.priority_levels {
        create_object_as(state, PRODUCER, PRIORITY_LEVELS, &json!({ "metadata": metadata(name), "spec": spec }), None);
    }
    for (name, spec) in &DEFAULTS.flow_schemas {
        let object = json!({ "metadata": metadata(name), "spec": spec });
        create_object_as(state, PRODUCER, FLOW_SCHEMAS, &object, Some(&status(spec)));
    }
}

fn metadata(name: &str) -> Value {
    json!({ "name": name, "annotations": { "apf.kubernetes.io/autoupdate-spec": "true" } })
}

/// Returns the status of a flow schema, and the managed fields of its manager.
fn status(spec: &Value) -> (Value, Value) {
    let level = spec["priorityLevelConfiguration"]["name"].as_str().unwrap_or_default();
    let found = "This FlowSchema references the PriorityLevelConfiguration object named";
    let condition = json!({
        "type": "Dangling",
        "status": "False",
        "lastTransitionTime": now(),
        "reason": "Found",
        "message": format!("{found} {level:?} and it exists"),
    });
    let owned = json!({
        ".": {}, "f:lastTransitionTime": {}, "f:message": {}, "f:reason": {}, "f:status": {}, "f:type": {},
    });
    let entry = json!({
        "manager": CONSUMER,
        "operation": "Apply",
        "apiVersion": API_VERSION,
        "time": now(),
        "fieldsType": "FieldsV1",
        "fieldsV1": { "f:status": { "f:conditions": { "k:{\"type\":\"Dangling\"}": owned } } },
        "subresource": "status",
    });
    (json!({ "conditions": [condition] }), entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_the_default_objects() {
        assert_eq!((DEFAULTS.priority_levels.len(), DEFAULTS.flow_schemas.len()), (8, 11));
    }
}
