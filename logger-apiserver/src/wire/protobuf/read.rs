//! From protobuf to JSON, as Go writes the JSON of what it has read.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Number, Value, json};

use super::{
    types::{Field, Holds, Of, Place, Type, Types},
    wire::{self, BYTES, FIXED64, Reader, VARINT},
};
use crate::api::go::whole_numbers;

/// How deep messages are in each other at most, as with JSON.
const DEPTH: u32 = 128;
/// How many values a body has at most. An empty message is two bytes and, in JSON, whatever its type always has.
const VALUES: u32 = 1 << 20;

/// Counts what is read of a body.
#[derive(Default)]
pub(super) struct Values {
    count: u32,
    depth: u32,
}

impl Values {
    /// Reads a message, and fills in what Go writes of a struct in any case.
    pub(super) fn message(&mut self, type_: &Type, bytes: &[u8]) -> Result<Map<String, Value>, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(format!("messages are more than {DEPTH} deep in each other; send less nested ones"));
        }
        let mut fields = Map::new();
        let mut reader = Reader::new(bytes);
        while let Some((number, wire_type)) = reader.key(&type_.name)? {
            match type_.field(number) {
                Some(field) => self.field(field, wire_type, &mut reader, &mut fields)?,
                None => reader.skip(wire_type)?,
            }
        }
        self.complete(type_, &mut fields)?;
        self.depth -= 1;
        Ok(fields)
    }

    /// Fills in what is always there, and takes out what is nothing.
    fn complete(&mut self, type_: &Type, fields: &mut Map<String, Value>) -> Result<(), String> {
        for field in &type_.fields {
            match field.place {
                Place::Always if !fields.contains_key(&field.name) => {
                    let zero = self.zero(field)?;
                    fields.insert(field.name.clone(), zero);
                }
                Place::Inline if !fields.contains_key(&field.name) => {
                    if let Value::Object(zero) = self.zero(field)? {
                        fields.extend(zero);
                    }
                }
                Place::Inline => {
                    if let Some(Value::Object(inline)) = fields.remove(&field.name) {
                        fields.extend(inline);
                    }
                }
                Place::Optional if field.holds != Holds::Pointer && fields.get(&field.name).is_some_and(is_nothing) => {
                    fields.remove(&field.name);
                }
                Place::Always | Place::Optional | Place::Whole => {}
            }
        }
        Ok(())
    }

    /// What a field that was not written holds.
    fn zero(&mut self, field: &Field) -> Result<Value, String> {
        self.count()?;
        Ok(match (field.holds, field.of) {
            (Holds::Pointer | Holds::List | Holds::Map, _) | (Holds::One, Of::Bytes) => Value::Null,
            (Holds::One, of) => self.zero_of(of)?,
        })
    }

    fn zero_of(&mut self, of: Of) -> Result<Value, String> {
        Ok(match of {
            Of::Text | Of::Bytes => json!(""),
            Of::Bool => json!(false),
            Of::Int32 | Of::Int64 | Of::Float64 => json!(0),
            Of::Message(index) => self.nested(index, b"")?,
            Of::Special(special) => special.read(self, b"")?,
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
        match field.holds {
            Holds::One | Holds::Pointer => {
                fields.insert(name(), self.value(field, wire_type, reader)?);
            }
            Holds::List => {
                let items = self.items(field, wire_type, reader)?;
                if let Value::Array(list) = fields.entry(name()).or_insert_with(|| json!([])) {
                    list.extend(items);
                }
            }
            Holds::Map => {
                let (key, value) = self.entry(field, wire::bytes(reader, wire_type, &field.go_name)?)?;
                if let Value::Object(map) = fields.entry(name()).or_insert_with(|| json!({})) {
                    map.insert(key, value);
                }
            }
        }
        Ok(())
    }

    /// One item, or several numbers at once.
    fn items(&mut self, field: &Field, wire_type: u8, reader: &mut Reader<'_>) -> Result<Vec<Value>, String> {
        let is_packed = wire_type == BYTES && matches!(field.of, Of::Int32 | Of::Int64);
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

    /// A key and a value, each of which may be left out.
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
        Ok((key, value.map_or_else(|| self.zero_of(field.of), Ok)?))
    }

    fn value(&mut self, field: &Field, wire_type: u8, reader: &mut Reader<'_>) -> Result<Value, String> {
        self.count()?;
        let expected = match field.of {
            Of::Bool | Of::Int32 | Of::Int64 => VARINT,
            Of::Float64 => FIXED64,
            Of::Text | Of::Bytes | Of::Message(_) | Of::Special(_) => BYTES,
        };
        wire::expect(wire_type, expected, &field.go_name)?;
        Ok(match field.of {
            Of::Text => Value::from(String::from_utf8_lossy(reader.bytes()?)),
            Of::Bytes => Value::from(STANDARD.encode(reader.bytes()?)),
            Of::Bool => Value::from(reader.varint()? != 0),
            Of::Int32 => Value::from(reader.varint()? as i32),
            Of::Int64 => Value::from(reader.varint()? as i64),
            Of::Float64 => number(f64::from_bits(reader.fixed64()?)),
            Of::Message(index) => self.nested(index, reader.bytes()?)?,
            Of::Special(special) => special.read(self, reader.bytes()?)?,
        })
    }

    fn nested(&mut self, index: usize, bytes: &[u8]) -> Result<Value, String> {
        let type_ = Types::all().at(index);
        let mut fields = self.message(type_, bytes)?;
        match type_.fields.first() {
            Some(field) if field.place == Place::Whole => Ok(fields.remove(&field.name).unwrap_or_default()),
            _ => Ok(Value::Object(fields)),
        }
    }

    /// A schema of a definition.
    pub(super) fn schema(&mut self, bytes: &[u8]) -> Result<Value, String> {
        self.count()?;
        Types::all().schema().map_or(Ok(Value::Null), |type_| Ok(Value::Object(self.message(type_, bytes)?)))
    }

    fn count(&mut self) -> Result<(), String> {
        self.count += 1;
        if self.count > VALUES {
            Err(format!("there are more than {VALUES} values; send less at once"))
        } else {
            Ok(())
        }
    }
}

/// What Go leaves out if it may. A struct is something, even without fields.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(is) => !is,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(_) => false,
    }
}

/// As Go writes it: whole ones without a point, and none that is no number.
fn number(float: f64) -> Value {
    let mut value = Number::from_f64(float).map_or(Value::Null, Value::Number);
    whole_numbers(&mut value);
    value
}
