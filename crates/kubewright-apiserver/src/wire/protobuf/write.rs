//! Encodes JSON as protobuf, byte for byte as Go's generated code: in its order and with its zero values.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

use super::wire::Writer;
use crate::api::types::{Cardinality, Field, JsonTag, Type, Types, ValueType};

/// Encodes the fields of an object. Fields that are not pointers are encoded even if they are absent.
pub(super) fn message(type_: &Type, object: &Value) -> Vec<u8> {
    let mut writer = Writer::default();
    for field in &type_.fields {
        let value = match field.json_tag {
            JsonTag::Inline | JsonTag::Transparent => object,
            JsonTag::Always | JsonTag::OmitEmpty => object.get(&field.name).unwrap_or(&Value::Null),
        };
        write(field, value, &mut writer);
    }
    writer.into_bytes()
}

fn write(field: &Field, value: &Value, writer: &mut Writer) {
    let is_null = value.is_null();
    match (field.cardinality, value) {
        (Cardinality::Pointer, _) | (Cardinality::One, _) if is_null && !is_always_encoded(field) => {}
        (Cardinality::One | Cardinality::Pointer, value) => write_value(field.value_type, field.number, value, writer),
        (Cardinality::List, Value::Array(items)) => {
            items.iter().for_each(|item| write_value(field.value_type, field.number, item, writer));
        }
        (Cardinality::Map, Value::Object(map)) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            for (key, value) in entries {
                let mut entry = Writer::default();
                entry.bytes(1, key.as_bytes());
                write_value(field.value_type, 2, value, &mut entry);
                writer.bytes(field.number, &entry.into_bytes());
            }
        }
        (Cardinality::List | Cardinality::Map, _) => {}
    }
}

fn is_always_encoded(field: &Field) -> bool {
    field.cardinality == Cardinality::One && !matches!(field.value_type, ValueType::Bytes)
}

fn write_value(value_type: ValueType, number: u32, value: &Value, writer: &mut Writer) {
    let text = value.as_str().unwrap_or_default();
    match value_type {
        ValueType::String => writer.bytes(number, text.as_bytes()),
        ValueType::Bytes => writer.bytes(number, &STANDARD.decode(text).unwrap_or_default()),
        ValueType::Bool => writer.varint(number, u64::from(value.as_bool().unwrap_or(false))),
        ValueType::Int32 | ValueType::Int64 => writer.varint(number, integer(value)),
        ValueType::Float64 => writer.fixed64(number, value.as_f64().unwrap_or_default().to_bits()),
        ValueType::Message(index) => writer.bytes(number, &message(Types::all().at(index), value)),
        ValueType::Special(special) => writer.bytes(number, &special.write(value)),
    }
}

/// Returns the integer of a value. Negative numbers become their two's complement.
pub(super) fn integer(value: &Value) -> u64 {
    let integer = value.as_i64().or_else(|| value.as_f64().map(|float| float as i64));
    integer.unwrap_or_default() as u64
}
