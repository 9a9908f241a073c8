//! Converts values with variants: names, contents and the encoding of both.

use serde_json::{Map, Value};

use super::{Engine, Storage};
use crate::conversion::{
    ConversionError,
    plan::{Conversion, Enum, Payload, Tagging, Variant},
    stored::{Original, Stored},
};

/// Converts a value with variants. A value of an unknown variant, or in another encoding, is carried unchanged.
///
/// # Errors
/// Those of its content.
pub(super) fn convert(
    engine: &Engine,
    plan: &Enum,
    value: Value,
    storage: Storage<'_>,
) -> Result<Value, ConversionError> {
    let (source, target) = engine.direction.order(plan.spoke, plan.hub);
    let Some(name) = variant_name(source, &value) else { return Ok(value) };
    let is_this = |variant: &&Variant| {
        let (name_in_source, _) = engine.direction.order(variant.spoke, variant.hub);
        name_in_source == name && variant.narrows.is_none_or(|only| only == engine.direction)
    };
    let Some(variant) = plan.variants.iter().find(is_this) else { return Ok(value) };
    let (name, new_name) = engine.direction.order(variant.spoke, variant.hub);
    if variant.narrows.is_some() {
        let shown = encode(target, new_name, None);
        if engine.stores && variant.lost.is_none() {
            storage.source.store(Original::Value(value), Some(&shown));
        }
        return Ok(shown);
    }
    let is_unit = matches!(variant.payload, Payload::Unit);
    let content = content(source, name, value).filter(|content| !is_unit || !is_empty(content));
    let mut child = Stored::default();
    let stored = storage.target.and_then(|stored| stored.field(new_name));
    let content = match content {
        Some(content) => {
            let storage = Storage { target: stored, source: &mut child };
            let converted = engine.convert(variant.payload.conversion(), content, storage);
            converted.map_err(|error| error.below(name))?
        }
        None => None,
    };
    storage.source.add_field(name, child);
    Ok(encode(target, new_name, content))
}

impl Payload {
    fn conversion(self) -> Conversion {
        match self {
            Payload::Unit => Conversion::Same,
            Payload::Newtype(conversion) => conversion(),
            Payload::Struct(plan) => Conversion::Struct(plan),
        }
    }
}

/// Returns the name of the variant, if the value has this encoding.
fn variant_name(tagging: Tagging, value: &Value) -> Option<&str> {
    match (tagging, value) {
        (Tagging::External, Value::String(name)) => Some(name),
        (Tagging::External, Value::Object(object)) if object.len() == 1 => object.keys().next().map(String::as_str),
        (Tagging::Internal(tag) | Tagging::Adjacent(tag, _), Value::Object(object)) => object.get(tag)?.as_str(),
        _ => None,
    }
}

/// Returns the content of a variant with this name.
fn content(tagging: Tagging, name: &str, value: Value) -> Option<Value> {
    let Value::Object(mut object) = value else { return None };
    match tagging {
        Tagging::External => object.remove(name),
        Tagging::Adjacent(_, content) => object.remove(content),
        Tagging::Internal(tag) => {
            object.remove(tag);
            Some(Value::Object(object))
        }
    }
}

/// Whether this is the content of an internally tagged variant without fields.
fn is_empty(content: &Value) -> bool {
    content.as_object().is_some_and(Map::is_empty)
}

/// Encodes a variant.
fn encode(tagging: Tagging, name: &str, content: Option<Value>) -> Value {
    let mut object = Map::new();
    match (tagging, content) {
        (Tagging::External, None) => return name.into(),
        (Tagging::External, Some(content)) => {
            object.insert(name.to_owned(), content);
        }
        (Tagging::Internal(tag), content) => {
            if let Some(Value::Object(fields)) = content {
                object = fields;
            }
            object.insert(tag.to_owned(), name.into());
        }
        (Tagging::Adjacent(tag, key), content) => {
            object.insert(tag.to_owned(), name.into());
            object.extend(content.map(|content| (key.to_owned(), content)));
        }
    }
    Value::Object(object)
}
