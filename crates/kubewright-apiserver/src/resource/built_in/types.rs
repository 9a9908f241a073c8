//! The schemas of the types that a kind consists of: those of k8s-openapi with the overlay of `kubewright-crd`.

use kubewright_crd::structural::overlay;
use kubewright_names::extension::Extension;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// Returns the schemas of a type and of all types that it references, by name. References start with `#/$defs/`.
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
        properties.into_iter().flat_map(|properties| properties.values_mut()).for_each(apply_overrides);
    }
    types
}

/// Applies the overrides of the overlay to a property.
fn apply_overrides(property: &mut Value) {
    let Some(property) = property.as_object_mut() else { return };
    if let Some(Value::Object(overrides)) = property.remove(Extension::Instead.name()) {
        property.extend(overrides);
    }
    property.remove(Extension::Float.name());
}
