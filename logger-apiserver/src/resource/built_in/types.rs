//! The types a kind is made of: k8s-openapi's schemas, with what a real API server publishes beyond them.

use logger_crd::structural::overlay;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// The schema of a type and of all types it is made of, by name; they refer to each other below `#/$defs/`.
pub(super) fn types_of<T: JsonSchema>() -> Map<String, Value> {
    let mut root = Value::from(SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>());
    let mut types = match root["$defs"].take() {
        Value::Object(types) => types,
        _ => Map::new(),
    };
    types.insert(T::schema_name().into_owned(), root);
    for (name, schema) in &mut types {
        if let Some(applied) = overlay::apply(name, schema) {
            *schema = applied;
        }
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        properties.into_iter().flat_map(|properties| properties.values_mut()).for_each(settle);
    }
    types
}

/// What a field says in place of its type is what it says.
fn settle(property: &mut Value) {
    let Some(property) = property.as_object_mut() else { return };
    if let Some(Value::Object(instead)) = property.remove(overlay::OVERRIDE) {
        property.extend(instead);
    }
    property.remove("x-logger-float");
}
