//! Decodes protobuf as JSON, as Go encodes the decoded object.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Number, Value, json};

use super::wire::{self, BYTES, FIXED64, Reader, VARINT};
use crate::api::{
    go::{is_empty_value, normalize_numbers},
    types::{Cardinality, Field, JsonTag, Type, Types, ValueType},
};

/// The maximum nesting of messages.
const MAX_DEPTH: u32 = 128;
/// The maximum number of values in a body. An empty message has two bytes, but in JSON all fields that its type always
/// has.
const MAX_VALUES: u32 = 1 << 20;

/// Decodes values, and counts them to limit their number and nesting.
#[derive(Default)]
pub(super) struct Values {
    count: u32,
    depth: u32,
}

impl Values {
    /// Decodes a message, and adds the fields that Go encodes in any case.
    pub(super) fn message(&mut self, type_: &Type, bytes: &[u8]) -> Result<Map<String, Value>, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("message nesting exceeds {MAX_DEPTH} levels; send messages with less nesting"));
        }
        let mut fields = Map::new();
        let mut reader = Reader::new(bytes);
        while let Some((number, wire_type)) = reader.key(&type_.name)? {
            match type_.field(number) {
                Some(field) => self.field(field, wire_type, &mut reader, &mut fields)?,
                None => reader.skip(wire_type)?,
            }
        }
        self.finish(type_, &mut fields)?;
        self.depth -= 1;
        Ok(fields)
    }

    /// Adds absent fields that are always encoded, and removes empty fields that are omitted.
    fn finish(&mut self, type_: &Type, fields: &mut Map<String, Value>) -> Result<(), String> {
        for field in &type_.fields {
            match field.json_tag {
                JsonTag::Always if !fields.contains_key(&field.name) => {
                    let zero = self.zero(field)?;
                    fields.insert(field.name.clone(), zero);
                }
                JsonTag::Inline if !fields.contains_key(&field.name) => {
                    if let Value::Object(zero) = self.zero(field)? {
                        fields.extend(zero);
                    }
                }
                JsonTag::Inline => {
                    if let Some(Value::Object(inline)) = fields.remove(&field.name) {
                        fields.extend(inline);
                    }
                }
                JsonTag::OmitEmpty if field.omits_empty() && fields.get(&field.name).is_some_and(is_empty_value) => {
                    fields.remove(&field.name);
                }
                JsonTag::Always | JsonTag::OmitEmpty | JsonTag::Transparent => {}
            }
        }
        Ok(())
    }

    /// Returns the zero value of a field.
    fn zero(&mut self, field: &Field) -> Result<Value, String> {
        self.count()?;
        Ok(match (field.cardinality, field.value_type) {
            (Cardinality::Pointer | Cardinality::List | Cardinality::Map, _) | (Cardinality::One, ValueType::Bytes) => {
                Value::Null
            }
            (Cardinality::One, value_type) => self.zero_of(value_type)?,
        })
    }

    fn zero_of(&mut self, value_type: ValueType) -> Result<Value, String> {
        Ok(match value_type {
            ValueType::String | ValueType::Bytes => json!(""),
            ValueType::Bool => json!(false),
            ValueType::Int32 | ValueType::Int64 | ValueType::Float64 => json!(0),
            ValueType::Message(index) => self.nested(index, b"")?,
            ValueType::Special(special) => special.read(self, b"")?,
        })
    }

    fn field(
        &mut self,
        field: &Field,
        wire_type: u8,
        reader: &mut Reader<'_>,
        fields: &mut Map<String, Value>,
    ) -> Result<(), String> {
        let name = || field.name.clone();
        match field.cardinality {
            Cardinality::One | Cardinality::Pointer => {
                fields.insert(name(), self.value(field, wire_type, reader)?);
            }
            Cardinality::List => {
                let items = self.items(field, wire_type, reader)?;
                if let Value::Array(list) = fields.entry(name()).or_insert_with(|| json!([])) {
                    list.extend(items);
                }
            }
            Cardinality::Map => {
                let (key, value) = self.entry(field, wire::bytes(reader, wire_type, &field.go_name)?)?;
                if let Value::Object(map) = fields.entry(name()).or_insert_with(|| json!({})) {
                    map.insert(key, value);
                }
            }
        }
        Ok(())
    }

    /// Decodes one item, or several packed numbers.
    fn items(&mut self, field: &Field, wire_type: u8, reader: &mut Reader<'_>) -> Result<Vec<Value>, String> {
        let is_packed = wire_type == BYTES && matches!(field.value_type, ValueType::Int32 | ValueType::Int64);
        if !is_packed {
            return Ok(vec![self.value(field, wire_type, reader)?]);
        }
        let mut packed = Reader::new(reader.bytes()?);
        let mut items = Vec::new();
        while !packed.is_at_end() {
            items.push(self.value(field, VARINT, &mut packed)?);
        }
        Ok(items)
    }

    /// Decodes a map entry, whose key and value are optional.
    fn entry(&mut self, field: &Field, bytes: &[u8]) -> Result<(String, Value), String> {
        let (mut key, mut value) = (String::new(), None);
        let mut reader = Reader::new(bytes);
        while let Some((number, wire_type)) = reader.key(&field.name)? {
            match number {
                1 => key = wire::text(&mut reader, wire_type, &field.go_name)?,
                2 => value = Some(self.value(field, wire_type, &mut reader)?),
                _ => reader.skip(wire_type)?,
            }
        }
        Ok((key, value.map_or_else(|| self.zero_of(field.value_type), Ok)?))
    }

    fn value(&mut self, field: &Field, wire_type: u8, reader: &mut Reader<'_>) -> Result<Value, String> {
        self.count()?;
        let expected = match field.value_type {
            ValueType::Bool | ValueType::Int32 | ValueType::Int64 => VARINT,
            ValueType::Float64 => FIXED64,
            ValueType::String | ValueType::Bytes | ValueType::Message(_) | ValueType::Special(_) => BYTES,
        };
        wire::expect(wire_type, expected, &field.go_name)?;
        Ok(match field.value_type {
            ValueType::String => Value::from(String::from_utf8_lossy(reader.bytes()?)),
            ValueType::Bytes => Value::from(STANDARD.encode(reader.bytes()?)),
            ValueType::Bool => Value::from(reader.varint()? != 0),
            ValueType::Int32 => Value::from(reader.varint()? as i32),
            ValueType::Int64 => Value::from(reader.varint()? as i64),
            ValueType::Float64 => number(f64::from_bits(reader.fixed64()?)),
            ValueType::Message(index) => self.nested(index, reader.bytes()?)?,
            ValueType::Special(special) => special.read(self, reader.bytes()?)?,
        })
    }

    fn nested(&mut self, index: usize, bytes: &[u8]) -> Result<Value, String> {
        let type_ = Types::all().at(index);
        let mut fields = self.message(type_, bytes)?;
        match type_.fields.first() {
            Some(field) if field.json_tag == JsonTag::Transparent => Ok(fields.remove(&field.name).unwrap_or_default()),
            _ => Ok(Value::Object(fields)),
        }
    }

    /// Decodes a schema of a definition.
    pub(super) fn schema(&mut self, bytes: &[u8]) -> Result<Value, String> {
        self.count()?;
        Types::all().schema().map_or(Ok(Value::Null), |type_| Ok(Value::Object(self.message(type_, bytes)?)))
    }

    fn count(&mut self) -> Result<(), String> {
        self.count += 1;
        if self.count > MAX_VALUES {
            Err(format!("body has more than {MAX_VALUES} values; send fewer objects per request"))
        } else {
            Ok(())
        }
    }
}

/// Encodes a float as Go does: integral floats become integers. NaN and infinities become null.
fn number(float: f64) -> Value {
    let mut value = Number::from_f64(float).map_or(Value::Null, Value::Number);
    normalize_numbers(&mut value);
    value
}
