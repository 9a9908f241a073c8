//! Priority classes: the system classes, and the admission of pods.

use serde_json::{Value, json};

use crate::{
    api::{
        error::{ApiError, Result},
        kind::Kind,
        object::{Object, Stored},
    },
    resource::{built_in::SYSTEM_PRIORITIES, strategy::Objects},
};

/// The resource of priority classes.
pub(crate) const RESOURCE: &str = "priorityclasses.scheduling.k8s.io";

/// Rejects the deletion of the system priority classes.
pub(crate) fn check_delete(kind: &Kind, name: &str) -> Result<()> {
    if SYSTEM_PRIORITIES.iter().any(|(known, ..)| *known == name) {
        return Err(ApiError::forbidden(kind, name, "this is a system priority class and cannot be deleted"));
    }
    Ok(())
}

/// Sets the priority of a new pod: that of its class, or of the default class.
///
/// # Errors
/// The class does not exist, or the pod has another priority.
pub(crate) fn admit(objects: &dyn Objects, kind: &Kind, pod: &mut Object) -> Result<()> {
    let name = pod.name().to_owned();
    let Some(spec) = pod.body.get_mut("spec") else {
        return Ok(());
    };
    let class = match spec["priorityClassName"].as_str().filter(|class| !class.is_empty()) {
        Some(class) => Some(objects.get(RESOURCE, "", class).ok_or_else(|| {
            ApiError::forbidden(kind, &name, &format!("no PriorityClass with name {class} was found"))
        })?),
        None => default_class(objects),
    };
    let of_class = |field: &str| class.as_ref().and_then(|class| class.field(field)).cloned();
    let priority = of_class("value").unwrap_or_else(|| json!(0));
    let policy = of_class("preemptionPolicy").unwrap_or_else(|| json!("PreemptLowerPriority"));
    let computed = [
        ("priority", "integer value of priority", &priority),
        ("preemptionPolicy", "string value of PreemptionPolicy", &policy),
    ];
    for (field, words, value) in computed {
        let provided = spec.get(field).filter(|provided| !provided.is_null() && *provided != value);
        if let Some(provided) = provided {
            let (provided, value) = (unquoted(provided), unquoted(value));
            let message = format!(
                "the {words} ({provided}) must not be provided in pod spec; priority admission controller computed {value} from the \
                 given PriorityClass name"
            );
            return Err(ApiError::forbidden(kind, &name, &message));
        }
        spec[field] = value.clone();
    }
    if let Some(class) = class {
        spec["priorityClassName"] = json!(class.name());
    }
    Ok(())
}

/// Returns the default class: that with the lowest value, if there are several.
fn default_class(objects: &dyn Objects) -> Option<Stored> {
    let classes = objects.list(RESOURCE, None).into_iter();
    let defaults = classes.filter(|class| class.field("globalDefault") == Some(&Value::Bool(true)));
    defaults.min_by_key(|class| class.field("value").and_then(Value::as_i64))
}

fn unquoted(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
