//! What a new object is given or refused by what else there is

use serde_json::{Value, json};

use crate::{
    api::{
        error::{ApiError, Result},
        object::{Object, Stored},
    },
    resource::{priority_class, registry::Resource},
    storage::state::State,
};

/// Lets a new object in.
///
/// # Errors
/// It names what is not there, or says what it is not to say.
pub(crate) fn admit(state: &State, kind: &Resource, object: &mut Object) -> Result<()> {
    match kind.group_resource().as_str() {
        "pods" => prioritise(state, kind, object),
        _ => Ok(()),
    }
}

/// A pod has the priority of its class, or of the one that is the default.
fn prioritise(state: &State, kind: &Resource, pod: &mut Object) -> Result<()> {
    let name = pod.name().to_owned();
    let Some(spec) = pod.body.get_mut("spec") else {
        return Ok(());
    };
    let class = match spec["priorityClassName"].as_str().filter(|class| !class.is_empty()) {
        Some(class) => Some(state.store.get(priority_class::RESOURCE, "", class).ok_or_else(|| {
            ApiError::forbidden(kind, &name, &format!("no PriorityClass with name {class} was found"))
        })?),
        None => default_class(state),
    };
    let of_class = |field: &str| class.as_ref().and_then(|class| class.field(field)).cloned();
    let priority = of_class("value").unwrap_or_else(|| json!(0));
    let policy = of_class("preemptionPolicy").unwrap_or_else(|| json!("PreemptLowerPriority"));
    let computed = [
        ("priority", "integer value of priority", &priority),
        ("preemptionPolicy", "string value of PreemptionPolicy", &policy),
    ];
    for (field, words, value) in computed {
        let given = spec.get(field).filter(|given| !given.is_null() && *given != value);
        if let Some(given) = given {
            let (given, value) = (bare(given), bare(value));
            let why = format!(
                "the {words} ({given}) must not be provided in pod spec; priority admission controller computed {value} from the \
                 given PriorityClass name"
            );
            return Err(ApiError::forbidden(kind, &name, &why));
        }
        spec[field] = value.clone();
    }
    if let Some(class) = class {
        spec["priorityClassName"] = json!(class.name());
    }
    Ok(())
}

/// Of several classes that are the default the least counts.
fn default_class(state: &State) -> Option<Stored> {
    let classes = state.store.list(priority_class::RESOURCE, None).into_iter();
    let defaults = classes.filter(|class| class.field("globalDefault") == Some(&Value::Bool(true)));
    defaults.min_by_key(|class| class.field("value").and_then(Value::as_i64))
}

fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
