//! The types with a custom JSON encoding: quantities, times, raw JSON and unions.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    read::Values,
    wire::{self, Reader, VARINT, Writer},
    write,
};
use crate::api::types::{Special, Types};

/// The discriminator of an [`IntOrString`](Special::IntOrString) that is a string.
const IS_STRING: u64 = 1;

/// The first three fields of a message of a special type, as numbers or as bytes.
#[derive(Default)]
struct Parts<'a> {
    numbers: [u64; 2],
    /// Every occurrence of a field, with its number.
    bytes: Vec<(u32, &'a [u8])>,
}

impl<'a> Parts<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let mut parts = Self::default();
        let mut reader = Reader::new(bytes);
        while let Some((number, wire_type)) = reader.key("Special")? {
            match (number, wire_type) {
                (1 | 2, VARINT) => parts.numbers[number as usize - 1] = reader.varint()?,
                (1..=3, wire::BYTES) => parts.bytes.push((number, reader.bytes()?)),
                _ => reader.skip(wire_type)?,
            }
        }
        Ok(parts)
    }

    fn all(&self, number: u32) -> impl Iterator<Item = &'a [u8]> {
        self.bytes.iter().filter(move |(other, _)| *other == number).map(|(_, bytes)| *bytes)
    }

    fn text(&self, number: u32) -> Option<String> {
        self.all(number).last().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }
}

impl Special {
    pub(super) fn read(self, values: &mut Values, bytes: &[u8]) -> Result<Value, String> {
        let parts = Parts::read(bytes)?;
        Ok(match self {
            Self::Quantity => json!(parts.text(1).filter(|text| !text.is_empty()).unwrap_or_else(|| "0".to_owned())),
            Self::Raw => parts.all(1).last().and_then(|raw| serde_json::from_slice(raw).ok()).unwrap_or_default(),
            Self::IntOrString if parts.numbers[0] == IS_STRING => json!(parts.text(3).unwrap_or_default()),
            Self::IntOrString => json!(parts.numbers[1] as i32),
            Self::Time | Self::MicroTime if bytes.is_empty() => Value::Null,
            Self::Time => time(parts.numbers[0], 0, 0),
            Self::MicroTime => time(parts.numbers[0], parts.numbers[1], 6),
            Self::SchemaOrBool => match parts.all(2).last() {
                Some(schema) => values.schema(schema)?,
                None => json!(parts.numbers[0] != 0),
            },
            Self::SchemaOrArray => schema_or_array(&parts, values, |values, schema| values.schema(schema))?,
            Self::SchemaOrStringArray => {
                schema_or_array(&parts, values, |_, text| Ok(json!(String::from_utf8_lossy(text))))?
            }
        })
    }

    /// Encodes a value. Null is encoded as the zero value of the type.
    pub(super) fn write(self, value: &Value) -> Vec<u8> {
        let mut writer = Writer::default();
        match (self, value) {
            (Self::Quantity, Value::String(text)) => writer.bytes(1, text.as_bytes()),
            (Self::Quantity, Value::Null) => writer.bytes(1, b"0"),
            (Self::Quantity, other) => writer.bytes(1, other.to_string().as_bytes()),
            (Self::Raw, Value::Null) => {}
            (Self::Raw, json) => writer.bytes(1, json.to_string().as_bytes()),
            (Self::IntOrString, value) => {
                writer.varint(1, u64::from(value.is_string()));
                writer.varint(2, write::integer(value));
                writer.bytes(3, value.as_str().unwrap_or_default().as_bytes());
            }
            (Self::Time | Self::MicroTime, value) => write_time(self, value, &mut writer),
            (Self::SchemaOrBool, Value::Object(_)) => {
                writer.varint(1, 1);
                writer.bytes(2, &schema(value));
            }
            (Self::SchemaOrBool, value) => writer.varint(1, u64::from(value.as_bool().unwrap_or(false))),
            (Self::SchemaOrArray, Value::Array(items)) => items.iter().for_each(|item| writer.bytes(2, &schema(item))),
            (Self::SchemaOrStringArray, Value::Array(items)) => {
                items.iter().for_each(|item| writer.bytes(2, item.as_str().unwrap_or_default().as_bytes()));
            }
            (Self::SchemaOrArray | Self::SchemaOrStringArray, Value::Null) => {}
            (Self::SchemaOrArray | Self::SchemaOrStringArray, value) => writer.bytes(1, &schema(value)),
        }
        writer.into_bytes()
    }
}

/// Returns the array of a union with a schema if it has items, and the schema otherwise.
fn schema_or_array(
    parts: &Parts<'_>,
    values: &mut Values,
    item: impl Fn(&mut Values, &[u8]) -> Result<Value, String>,
) -> Result<Value, String> {
    let items: Vec<Value> = parts.all(2).map(|bytes| item(values, bytes)).collect::<Result<_, String>>()?;
    match parts.all(1).last() {
        _ if !items.is_empty() => Ok(Value::Array(items)),
        Some(schema) => values.schema(schema),
        None => Ok(Value::Null),
    }
}

fn schema(value: &Value) -> Vec<u8> {
    Types::all().schema().map(|type_| write::message(type_, value)).unwrap_or_default()
}

/// Formats a time with a number of fractional digits. A time that is out of range becomes null.
fn time(seconds: u64, nanoseconds: u64, digits: usize) -> Value {
    let time = Timestamp::new(seconds as i64, (nanoseconds as i32).max(0));
    time.map_or(Value::Null, |time| json!(format!("{time:.digits$}")))
}

fn write_time(special: Special, value: &Value, writer: &mut Writer) {
    let Some(time) = value.as_str().and_then(|text| text.parse::<Timestamp>().ok()) else {
        return;
    };
    let micros = if matches!(special, Special::MicroTime) { time.subsec_nanosecond() / 1000 } else { 0 };
    writer.varint(1, time.as_second() as u64);
    writer.varint(2, i64::from(micros * 1000) as u64);
}
