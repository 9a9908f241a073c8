//! The values of expressions: computed by the rule, or read lazily from an object with the types of its schema.

use std::{cmp::Ordering, fmt, net::IpAddr, rc::Rc};

use serde_json::{Map as Fields, Value as Json};

use super::access::AccessValue;

use crate::{
    cel::{
        formats::{base64, ip::Cidr, time, url::Url},
        schema::{ListType, SchemaType, Structural},
        syntax::{Literal, escape, unescape},
    },
    quantity::Quantity,
};

/// An error that the evaluation of an expression results in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EvalError(pub(crate) String);

impl EvalError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        EvalError(message.into())
    }

    pub(crate) fn no_such_overload() -> Self {
        EvalError::new("no such overload")
    }

    /// Returns the error for an evaluation that exceeds its cost limit, or whose result would be too large.
    pub(crate) fn cost_limit_exceeded() -> Self {
        EvalError::new("operation cancelled: actual cost limit exceeded")
    }
}

/// The maximum number of items of a computed list: iterating over more exceeds the cost limit.
pub(crate) const MAX_LIST_LENGTH: usize = 1_000_000;
/// The maximum length of a computed string in bytes: reading more exceeds the cost limit.
pub(crate) const MAX_STRING_LENGTH: usize = 10_000_000;

pub(crate) type EvalResult<T> = Result<T, EvalError>;

/// A value.
#[derive(Clone, Debug)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Rc<str>),
    Bytes(Rc<[u8]>),
    /// Nanoseconds since the Unix epoch.
    Timestamp(i128),
    /// Nanoseconds.
    Duration(i64),
    List(List<'a>),
    Map(Map<'a>),
    Optional(Option<Rc<Value<'a>>>),
    /// The name of a type.
    Type(&'static str),
    Ip(IpAddr),
    Cidr(Cidr),
    Url(Rc<Url>),
    Quantity(Quantity),
    Semver(Rc<semver::Version>),
    /// The name of a format.
    NamedFormat(&'static str),
    /// Data without a declared type, of a field with `x-kubernetes-preserve-unknown-fields`. It can only be compared.
    UnknownPreserved(&'a Json),
    /// A constructed message.
    Message(Rc<Message<'a>>),
    /// The authorizer, or a check of it.
    Access(Rc<AccessValue<'a>>),
}

/// A constructed message: the name of its type, and its fields in order of construction.
#[derive(Clone, Debug)]
pub(crate) struct Message<'a> {
    pub(crate) type_name: String,
    pub(crate) fields: Vec<(String, Value<'a>)>,
}

/// A list with the list type of its schema, which determines how it is compared and concatenated.
#[derive(Clone, Debug)]
pub(crate) struct List<'a> {
    items: Items<'a>,
    list_type: ListType,
    keys: &'a [String],
}

#[derive(Clone, Debug)]
enum Items<'a> {
    Computed(Rc<Vec<Value<'a>>>),
    /// JSON and the schema of its items.
    Unstructured(&'a [Json], &'a Structural),
    /// JSON without a schema.
    Dynamic(&'a [Json]),
}

/// A map or an object.
#[derive(Clone, Debug)]
pub(crate) enum Map<'a> {
    /// The entries in order of insertion.
    Computed(Rc<Vec<MapEntry<'a>>>),
    /// JSON and its schema.
    Unstructured(&'a Fields<String, Json>, &'a Structural),
    /// JSON without a schema. Its keys are not escaped.
    Dynamic(&'a Fields<String, Json>),
}

/// A key and its value.
pub(crate) type MapEntry<'a> = (Value<'a>, Value<'a>);

impl<'a> Value<'a> {
    pub(crate) fn string(text: impl AsRef<str>) -> Self {
        Value::String(Rc::from(text.as_ref()))
    }

    pub(crate) fn list(items: Vec<Value<'a>>) -> Self {
        Value::List(List { items: Items::Computed(Rc::new(items)), list_type: ListType::Atomic, keys: &[] })
    }

    pub(crate) fn map(entries: Vec<MapEntry<'a>>) -> Self {
        Value::Map(Map::Computed(Rc::new(entries)))
    }

    pub(crate) fn some(value: Value<'a>) -> Self {
        Value::Optional(Some(Rc::new(value)))
    }

    pub(crate) fn int(number: usize) -> Self {
        Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }

    pub(crate) fn from_literal(literal: &Literal) -> Self {
        match literal {
            Literal::Null => Value::Null,
            Literal::Bool(flag) => Value::Bool(*flag),
            Literal::Int(number) => Value::Int(*number),
            Literal::Uint(number) => Value::Uint(*number),
            Literal::Double(number) => Value::Double(*number),
            Literal::String(text) => Value::string(text),
            Literal::Bytes(bytes) => Value::Bytes(bytes.as_slice().into()),
        }
    }

    /// Converts JSON to a value of the type that its schema declares (`UnstructuredToVal` of the API server).
    pub(crate) fn from_unstructured(json: &'a Json, schema: &'a Structural) -> EvalResult<Self> {
        if json.is_null() {
            return match schema.is_nullable {
                true => Ok(Value::Null),
                false => Err(EvalError::new("invalid data, got null for schema with nullable=false")),
            };
        }
        if schema.is_int_or_string {
            return match json {
                Json::String(text) => Ok(Value::string(text)),
                Json::Number(number) if number.is_i64() => Ok(Value::Int(number.as_i64().unwrap_or_default())),
                _ => Err(EvalError::new("invalid data, expected XIntOrString value to be either a string or integer")),
            };
        }
        match (schema.schema_type, json) {
            (SchemaType::Object, Json::Object(fields)) => Ok(Value::Map(Map::Unstructured(fields, schema))),
            (SchemaType::Array, Json::Array(items)) => match &schema.items {
                Some(item) => {
                    let items = Items::Unstructured(items, item);
                    Ok(Value::List(List { items, list_type: schema.list_type, keys: &schema.list_map_keys }))
                }
                None => Err(EvalError::new("invalid array type, expected Items with a non-empty Schema")),
            },
            (SchemaType::String, Json::String(text)) => string_from_unstructured(text, &schema.format),
            (SchemaType::Number, Json::Number(number)) => Ok(Value::Double(number.as_f64().unwrap_or_default())),
            (SchemaType::Integer, Json::Number(number)) if as_integer(number).is_some() => {
                Ok(Value::Int(as_integer(number).unwrap_or_default()))
            }
            (SchemaType::Boolean, Json::Bool(flag)) => Ok(Value::Bool(*flag)),
            (SchemaType::None, json) if schema.preserves_unknown_fields => Ok(Value::UnknownPreserved(json)),
            (expected, _) => Err(EvalError::new(format!("invalid data, expected {}", expected.name()))),
        }
    }

    /// Converts JSON without a schema to a value of type `dyn`.
    pub(crate) fn from_dynamic(json: &'a Json) -> Self {
        match json {
            Json::Null => Value::Null,
            Json::Bool(flag) => Value::Bool(*flag),
            Json::Number(number) => match number.as_i64() {
                Some(integer) => Value::Int(integer),
                None => Value::Double(number.as_f64().unwrap_or_default()),
            },
            Json::String(text) => Value::string(text),
            Json::Array(items) => {
                Value::List(List { items: Items::Dynamic(items), list_type: ListType::Atomic, keys: &[] })
            }
            Json::Object(fields) => Value::Map(Map::Dynamic(fields)),
        }
    }

    /// The name of the type at run time, which the function `type` returns.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null_type",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Uint(_) => "uint",
            Value::Double(_) => "double",
            Value::String(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::Timestamp(_) => "google.protobuf.Timestamp",
            Value::Duration(_) => "google.protobuf.Duration",
            Value::List(_) => "list",
            Value::Map(_) => "map",
            Value::Optional(_) => "optional_type",
            Value::Type(_) => "type",
            Value::Ip(_) => "net.IP",
            Value::Cidr(_) => "net.CIDR",
            Value::Url(_) => "kubernetes.URL",
            Value::Quantity(_) => "kubernetes.Quantity",
            Value::Semver(_) => "kubernetes.Semver",
            Value::NamedFormat(_) => "kubernetes.NamedFormat",
            Value::UnknownPreserved(_) => "unknown",
            Value::Message(_) => "Object",
            Value::Access(access) => access.type_name(),
        }
    }

    /// Whether two values are equal. Numbers are compared across types.
    pub(crate) fn equals(&self, other: &Value<'a>) -> EvalResult<bool> {
        Ok(match (self, other) {
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::String(left), Value::String(right)) => left == right,
            (Value::Bytes(left), Value::Bytes(right)) => left == right,
            (Value::Timestamp(left), Value::Timestamp(right)) => left == right,
            (Value::Duration(left), Value::Duration(right)) => left == right,
            (Value::Null, Value::Null) => true,
            (Value::Type(left), Value::Type(right)) | (Value::NamedFormat(left), Value::NamedFormat(right)) => {
                left == right
            }
            (Value::Ip(left), Value::Ip(right)) => left == right,
            (Value::Cidr(left), Value::Cidr(right)) => left == right,
            (Value::Url(left), Value::Url(right)) => left == right,
            (Value::Quantity(left), Value::Quantity(right)) => left == right,
            (Value::Semver(left), Value::Semver(right)) => left.cmp_precedence(right) == Ordering::Equal,
            (Value::UnknownPreserved(left), Value::UnknownPreserved(right)) => left == right,
            (Value::Optional(None), Value::Optional(None)) => true,
            (Value::Optional(Some(left)), Value::Optional(Some(right))) => left.equals(right)?,
            (Value::List(left), Value::List(right)) => left.equals(right)?,
            (Value::Map(left), Value::Map(right)) => left.equals(right)?,
            (Value::Message(left), Value::Message(right)) => left.equals(right)?,
            _ => self.compare_numbers(other) == Some(Ordering::Equal),
        })
    }

    /// Compares two numbers of any types; `None` if they have no order.
    pub(crate) fn compare_numbers(&self, other: &Value<'_>) -> Option<Ordering> {
        match (self, other) {
            (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
            (Value::Uint(left), Value::Uint(right)) => Some(left.cmp(right)),
            (Value::Double(left), Value::Double(right)) => left.partial_cmp(right),
            (Value::Int(left), Value::Uint(right)) => Some(i128::from(*left).cmp(&i128::from(*right))),
            (Value::Uint(left), Value::Int(right)) => Some(i128::from(*left).cmp(&i128::from(*right))),
            (Value::Int(left), Value::Double(right)) => compare_double(i128::from(*left), *right),
            (Value::Uint(left), Value::Double(right)) => compare_double(i128::from(*left), *right),
            (Value::Double(_), Value::Int(_) | Value::Uint(_)) => other.compare_numbers(self).map(Ordering::reverse),
            _ => None,
        }
    }

    /// Compares two values of an ordered type.
    pub(crate) fn compare(&self, other: &Value<'a>) -> EvalResult<Ordering> {
        let order = match (self, other) {
            (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
            (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
            (Value::Bytes(left), Value::Bytes(right)) => Some(left.cmp(right)),
            (Value::Timestamp(left), Value::Timestamp(right)) => Some(left.cmp(right)),
            (Value::Duration(left), Value::Duration(right)) => Some(left.cmp(right)),
            (Value::Double(number), Value::Int(_) | Value::Uint(_) | Value::Double(_))
            | (Value::Int(_) | Value::Uint(_), Value::Double(number))
                if number.is_nan() =>
            {
                return Err(EvalError::new("NaN values cannot be ordered"));
            }
            _ => self.compare_numbers(other),
        };
        order.ok_or_else(EvalError::no_such_overload)
    }

    /// Whether this is the zero value of its type, for which `optional.ofNonZeroValue` returns none.
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Value::Null | Value::Bool(false) | Value::Int(0) | Value::Uint(0) | Value::Duration(0) => true,
            Value::Double(number) => *number == 0.0,
            Value::String(text) => text.is_empty(),
            Value::Bytes(bytes) => bytes.is_empty(),
            Value::List(list) => !matches!(list.items, Items::Unstructured(..)) && list.len() == 0,
            Value::Map(map) => !matches!(map, Map::Unstructured(..)) && map.len() == 0,
            Value::Message(message) => message.fields.is_empty(),
            Value::Optional(inner) => inner.is_none(),
            _ => false,
        }
    }

    /// The number of characters, bytes, items or entries; `None` for a type without a size.
    pub(crate) fn size(&self) -> Option<usize> {
        match self {
            Value::String(text) => Some(text.chars().count()),
            Value::Bytes(bytes) => Some(bytes.len()),
            Value::List(list) => Some(list.len()),
            Value::Map(map) => Some(map.len()),
            _ => None,
        }
    }
}

fn as_integer(number: &serde_json::Number) -> Option<i64> {
    number.as_i64().or_else(|| number.as_f64().filter(|n| n.fract() == 0.0 && n.abs() < 9e15).map(|n| n as i64))
}

fn compare_double(integer: i128, double: f64) -> Option<Ordering> {
    if double.is_nan() {
        return None;
    }
    if double.abs() > 1e20 {
        return Some(if double > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    let floor = double.floor();
    Some(integer.cmp(&(floor as i128)).then(if double > floor { Ordering::Less } else { Ordering::Equal }))
}

fn string_from_unstructured<'a>(text: &str, format: &str) -> EvalResult<Value<'a>> {
    let invalid = |what: &str, error: String| EvalError::new(format!("Invalid {what} {text}: {error}"));
    match format {
        "duration" => {
            time::parse_format_duration(text).map(Value::Duration).map_err(|error| invalid("duration", error))
        }
        "date" => time::parse_date(text).map(Value::Timestamp).map_err(|error| invalid("date formatted string", error)),
        "date-time" => time::parse_format_date_time(text)
            .map(Value::Timestamp)
            .map_err(|error| invalid("date-time formatted string", error)),
        "byte" => base64::decode(text)
            .map(|bytes| Value::Bytes(bytes.into()))
            .ok_or_else(|| invalid("byte formatted string", "illegal base64 data".to_owned())),
        _ => Ok(Value::string(text)),
    }
}

impl<'a> List<'a> {
    pub(crate) fn len(&self) -> usize {
        match &self.items {
            Items::Computed(items) => items.len(),
            Items::Unstructured(items, _) | Items::Dynamic(items) => items.len(),
        }
    }

    pub(crate) fn get(&self, index: usize) -> Option<EvalResult<Value<'a>>> {
        match &self.items {
            Items::Computed(items) => items.get(index).cloned().map(Ok),
            Items::Unstructured(items, schema) => items.get(index).map(|item| Value::from_unstructured(item, schema)),
            Items::Dynamic(items) => items.get(index).map(|item| Ok(Value::from_dynamic(item))),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = EvalResult<Value<'a>>> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    pub(crate) fn values(&self) -> EvalResult<Vec<Value<'a>>> {
        self.iter().collect()
    }

    pub(crate) fn contains(&self, value: &Value<'a>) -> EvalResult<bool> {
        let mut failure = None;
        for item in self.iter() {
            match item.and_then(|item| item.equals(value)) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(error) => failure = Some(error),
            }
        }
        failure.map_or(Ok(false), Err)
    }

    /// The position of the item that has the same map keys as another one.
    fn position_by_keys(&self, items: &[Value<'a>], other: &Value<'a>) -> EvalResult<Option<usize>> {
        for (index, item) in items.iter().enumerate() {
            let mut same = true;
            for key in self.keys {
                same = same && self.key(item, key).equals(&self.key(other, key))?;
            }
            if same {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    fn key(&self, item: &Value<'a>, key: &str) -> Value<'a> {
        match item {
            Value::Map(map) => map.get(&Value::string(key)).ok().flatten().unwrap_or(Value::Null),
            _ => Value::Null,
        }
    }

    /// Compares lists in order, sets by their elements, and list maps by their keys.
    fn equals(&self, other: &List<'a>) -> EvalResult<bool> {
        if self.len() != other.len() {
            return Ok(false);
        }
        let ours = self.values()?;
        for (index, theirs) in other.iter().enumerate() {
            let theirs = theirs?;
            let same = match self.list_type {
                ListType::Atomic => ours[index].equals(&theirs)?,
                ListType::Set => self.contains(&theirs)?,
                ListType::Map => match self.position_by_keys(&ours, &theirs)? {
                    Some(index) => ours[index].equals(&theirs)?,
                    None => false,
                },
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Concatenates lists, or merges sets and list maps. Items of the other list replace those with the same keys.
    pub(crate) fn add(&self, other: &List<'a>) -> EvalResult<Value<'a>> {
        // The cost of an addition is constant, so that a rule could double a list in each call.
        if self.len().saturating_add(other.len()) > MAX_LIST_LENGTH {
            return Err(EvalError::cost_limit_exceeded());
        }
        let mut items = self.values()?;
        for item in other.iter() {
            let item = item?;
            let replaced = match self.list_type {
                ListType::Atomic => None,
                ListType::Set => {
                    let mut found = None;
                    for (index, ours) in items.iter().enumerate() {
                        if ours.equals(&item)? {
                            found = Some(index);
                            break;
                        }
                    }
                    found
                }
                ListType::Map => self.position_by_keys(&items, &item)?,
            };
            match replaced {
                Some(index) => items[index] = item,
                None => items.push(item),
            }
        }
        Ok(Value::List(List { items: Items::Computed(Rc::new(items)), list_type: self.list_type, keys: self.keys }))
    }
}

impl<'a> Message<'a> {
    /// The value of a field.
    pub(crate) fn get(&self, field: &str) -> Option<&Value<'a>> {
        self.fields.iter().find(|(name, _)| name == field).map(|(_, value)| value)
    }

    fn equals(&self, other: &Message<'a>) -> EvalResult<bool> {
        if self.type_name != other.type_name || self.fields.len() != other.fields.len() {
            return Ok(false);
        }
        for (name, value) in &self.fields {
            let Some(theirs) = other.get(name) else { return Ok(false) };
            if !value.equals(theirs)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl<'a> Map<'a> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Map::Computed(entries) => entries.len(),
            Map::Unstructured(fields, _) | Map::Dynamic(fields) => fields.len(),
        }
    }

    /// The value of a key. A field whose value is null counts as absent, unless the map has no schema.
    pub(crate) fn get(&self, key: &Value<'a>) -> EvalResult<Option<Value<'a>>> {
        match self {
            Map::Computed(entries) => {
                for (candidate, value) in entries.iter() {
                    if candidate.equals(key)? {
                        return Ok(Some(value.clone()));
                    }
                }
                Ok(None)
            }
            Map::Dynamic(fields) => {
                let Value::String(key) = key else { return Ok(None) };
                Ok(fields.get(&**key).map(Value::from_dynamic))
            }
            Map::Unstructured(fields, schema) => {
                let Value::String(key) = key else { return Err(EvalError::no_such_overload()) };
                let Some(properties) = &schema.properties else {
                    let values = schema.additional_properties.as_deref();
                    let found = values.and_then(|schema| Some((fields.get(&**key)?, schema)));
                    return found.map(|(value, schema)| Value::from_unstructured(value, schema)).transpose();
                };
                let Some(name) = unescape(key) else { return Ok(None) };
                match (fields.get(&name), properties.get(&name)) {
                    (Some(Json::Null), _) | (None, _) | (_, None) => Ok(None),
                    (Some(value), Some(schema)) => Value::from_unstructured(value, schema).map(Some),
                }
            }
        }
    }

    /// The keys in iteration order.
    pub(crate) fn keys(&self) -> Vec<Value<'a>> {
        match self {
            Map::Computed(entries) => entries.iter().map(|(key, _)| key.clone()).collect(),
            Map::Dynamic(fields) => fields.keys().map(Value::string).collect(),
            Map::Unstructured(fields, schema) => match &schema.properties {
                Some(properties) => fields
                    .keys()
                    .filter(|name| properties.contains_key(*name))
                    .map(|name| Value::string(escape(name).unwrap_or_else(|| name.clone())))
                    .collect(),
                None if schema.additional_properties.is_some() => fields.keys().map(Value::string).collect(),
                None => Vec::new(),
            },
        }
    }

    /// The entries in iteration order.
    pub(crate) fn entries(&self) -> EvalResult<Vec<MapEntry<'a>>> {
        let value = |key: &Value<'a>| self.get(key)?.ok_or_else(EvalError::no_such_overload);
        self.keys().into_iter().map(|key| Ok((key.clone(), value(&key)?))).collect()
    }

    fn equals(&self, other: &Map<'a>) -> EvalResult<bool> {
        if self.len() != other.len() {
            return Ok(false);
        }
        for key in self.keys() {
            let same = match (self.get(&key)?, other.get(&key)?) {
                (Some(left), Some(right)) => left.equals(&right)?,
                (None, None) => true,
                _ => false,
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(self.unknown_fields_equal(other))
    }

    /// Whether unknown fields are equal as JSON. A field that only this map has is ignored.
    fn unknown_fields_equal(&self, other: &Map<'a>) -> bool {
        let (Map::Unstructured(fields, schema), Map::Unstructured(others, _)) = (self, other) else { return true };
        let known = |name: &str| schema.additional_properties.is_some() || schema.property(name).is_some();
        fields
            .iter()
            .filter(|(name, _)| !known(name))
            .all(|(name, value)| others.get(name).is_none_or(|other| other == value))
    }
}

/// Adds an entry to a map; an existing key is an error.
pub(crate) fn insert_entry<'a>(
    mut entries: Vec<MapEntry<'a>>,
    key: Value<'a>,
    value: Value<'a>,
) -> EvalResult<Vec<MapEntry<'a>>> {
    for (existing, _) in &entries {
        if existing.equals(&key)? {
            return Err(EvalError::new(format!("insert failed: key {key} already exists")));
        }
    }
    entries.push((key, value));
    Ok(entries)
}

/// Formats a value as error messages do.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(flag) => write!(f, "{flag}"),
            Value::Int(number) => write!(f, "{number}"),
            Value::Uint(number) => write!(f, "{number}"),
            Value::Double(number) => write!(f, "{number}"),
            Value::String(text) => f.write_str(text),
            Value::Type(name) => f.write_str(name),
            other => f.write_str(other.type_name()),
        }
    }
}
