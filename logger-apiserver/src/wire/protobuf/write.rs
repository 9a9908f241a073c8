//! From JSON to protobuf: the bytes that Go's generated code writes, with its order and its zeros.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

use super::{
    types::{Field, Holds, Of, Place, Type, Types},
    wire::Writer,
};

/// Writes the fields of an object; those that are no pointers are written even if they are not there.
pub(super) fn message(type_: &Type, object: &Value) -> Vec<u8> {
    let mut writer = Writer::default();
    for field in &type_.fields {
        let value = match field.place {
            Place::Inline | Place::Whole => object,
            Place::Always | Place::Optional => object.get(&field.name).unwrap_or(&Value::Null),
        };
        write(field, value, &mut writer);
    }
    writer.written()
}

fn write(field: &Field, value: &Value, writer: &mut Writer) {
    let is_nothing = value.is_null();
    match (field.holds, value) {
        (Holds::Pointer, _) | (Holds::One, _) if is_nothing && !is_always_written(field) => {}
        (Holds::One | Holds::Pointer, value) => write_value(field.of, field.number, value, writer),
        (Holds::List, Value::Array(items)) => {
            items.iter().for_each(|item| write_value(field.of, field.number, item, writer));
        }
        (Holds::Map, Value::Object(map)) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            for (key, value) in entries {
                let mut entry = Writer::default();
                entry.bytes(1, key.as_bytes());
                write_value(field.of, 2, value, &mut entry);
                writer.bytes(field.number, &entry.written());
            }
        }
        (Holds::List | Holds::Map, _) => {}
    }
}

fn is_always_written(field: &Field) -> bool {
    field.holds == Holds::One && !matches!(field.of, Of::Bytes)
}

fn write_value(of: Of, number: u32, value: &Value, writer: &mut Writer) {
    let text = value.as_str().unwrap_or_default();
    match of {
        Of::Text => writer.bytes(number, text.as_bytes()),
        Of::Bytes => writer.bytes(number, &STANDARD.decode(text).unwrap_or_default()),
        Of::Bool => writer.varint(number, u64::from(value.as_bool().unwrap_or(false))),
        Of::Int32 | Of::Int64 => writer.varint(number, integer(value)),
        Of::Float64 => writer.fixed64(number, value.as_f64().unwrap_or_default().to_bits()),
        Of::Message(index) => writer.bytes(number, &message(Types::all().at(index), value)),
        Of::Special(special) => writer.bytes(number, &special.write(value)),
    }
}

/// Negative numbers are written as the large ones they are without their sign.
pub(super) fn integer(value: &Value) -> u64 {
    let whole = value.as_i64().or_else(|| value.as_f64().map(|float| float as i64));
    whole.unwrap_or_default() as u64
}
