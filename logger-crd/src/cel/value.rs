//! Values while a rule runs: made by the rule, or read from an object as its schema types it.

use std::{cmp::Ordering, fmt, net::IpAddr, rc::Rc};

use serde_json::{Map as Fields, Value as Json};

use super::{
    escape,
    library::{base64, ip::Cidr, time, url::Url},
    schema::{Kind, ListType, Node},
};
use crate::quantity::Quantity;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure(pub(super) String);

impl Failure {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Failure(message.into())
    }

    pub(super) fn no_such_overload() -> Self {
        Failure::new("no such overload")
    }
}

pub(super) type Outcome<T> = Result<T, Failure>;

#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Rc<str>),
    Bytes(Rc<[u8]>),
    /// In nanoseconds since 1970 began.
    Timestamp(i128),
    /// In nanoseconds.
    Duration(i64),
    List(List<'a>),
    Map(Map<'a>),
    Optional(Option<Rc<Value<'a>>>),
    /// A type, by its name.
    Type(&'static str),
    Ip(IpAddr),
    Cidr(Cidr),
    Url(Rc<Url>),
    Quantity(Quantity),
    Semver(Rc<semver::Version>),
    /// A format, by its name.
    Format(&'static str),
    /// What a schema leaves open; it can only be compared.
    Open(&'a Json),
}

/// A list, and how its schema says it is compared.
#[derive(Clone, Debug)]
pub(super) struct List<'a> {
    pub(super) items: Items<'a>,
    pub(super) list_type: ListType,
    pub(super) keys: &'a [String],
}

#[derive(Clone, Debug)]
pub(super) enum Items<'a> {
    Made(Rc<Vec<Value<'a>>>),
    Read(&'a [Json], &'a Node),
}

#[derive(Clone, Debug)]
pub(super) enum Map<'a> {
    /// In the order of its making.
    Made(Rc<Vec<(Value<'a>, Value<'a>)>>),
    Read(&'a Fields<String, Json>, &'a Node),
}

impl<'a> Value<'a> {
    pub(super) fn text(text: impl AsRef<str>) -> Self {
        Value::String(Rc::from(text.as_ref()))
    }

    pub(super) fn list(items: Vec<Value<'a>>) -> Self {
        Value::List(List { items: Items::Made(Rc::new(items)), list_type: ListType::Atomic, keys: &[] })
    }

    pub(super) fn map(entries: Vec<(Value<'a>, Value<'a>)>) -> Self {
        Value::Map(Map::Made(Rc::new(entries)))
    }

    pub(super) fn some(value: Value<'a>) -> Self {
        Value::Optional(Some(Rc::new(value)))
    }

    pub(super) fn int(number: usize) -> Self {
        Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }

    /// A value of an object, as `node` types it.
    pub(super) fn read(json: &'a Json, node: &'a Node) -> Outcome<Self> {
        if json.is_null() {
            return match node.is_nullable {
                true => Ok(Value::Null),
                false => Err(Failure::new("invalid data, got null for schema with nullable=false")),
            };
        }
        if node.is_int_or_string {
            return match json {
                Json::String(text) => Ok(Value::text(text)),
                Json::Number(number) if number.is_i64() => Ok(Value::Int(number.as_i64().unwrap_or_default())),
                _ => Err(Failure::new("invalid data, expected XIntOrString value to be either a string or integer")),
            };
        }
        match (node.kind, json) {
            (Kind::Object, Json::Object(fields)) => Ok(Value::Map(Map::Read(fields, node))),
            (Kind::Array, Json::Array(items)) => match &node.items {
                Some(item) => {
                    let items = Items::Read(items, item);
                    Ok(Value::List(List { items, list_type: node.list_type, keys: &node.list_map_keys }))
                }
                None => Err(Failure::new("invalid array type, expected Items with a non-empty Schema")),
            },
            (Kind::String, Json::String(text)) => read_string(text, &node.format),
            (Kind::Number, Json::Number(number)) => Ok(Value::Double(number.as_f64().unwrap_or_default())),
            (Kind::Integer, Json::Number(number)) if whole(number).is_some() => {
                Ok(Value::Int(whole(number).unwrap_or_default()))
            }
            (Kind::Boolean, Json::Bool(flag)) => Ok(Value::Bool(*flag)),
            (Kind::None, json) if node.keeps_unknown => Ok(Value::Open(json)),
            (kind, _) => Err(Failure::new(format!("invalid data, expected {}", kind.name()))),
        }
    }

    /// The name `type` gives it.
    pub(super) fn type_name(&self) -> &'static str {
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
            Value::Format(_) => "kubernetes.NamedFormat",
            Value::Open(_) => "unknown",
        }
    }

    /// Whether two values are the same, numbers of any type among them.
    pub(super) fn equals(&self, other: &Value<'a>) -> Outcome<bool> {
        Ok(match (self, other) {
            (Value::Bool(one), Value::Bool(two)) => one == two,
            (Value::String(one), Value::String(two)) => one == two,
            (Value::Bytes(one), Value::Bytes(two)) => one == two,
            (Value::Timestamp(one), Value::Timestamp(two)) => one == two,
            (Value::Duration(one), Value::Duration(two)) => one == two,
            (Value::Null, Value::Null) => true,
            (Value::Type(one), Value::Type(two)) | (Value::Format(one), Value::Format(two)) => one == two,
            (Value::Ip(one), Value::Ip(two)) => one == two,
            (Value::Cidr(one), Value::Cidr(two)) => one == two,
            (Value::Url(one), Value::Url(two)) => one == two,
            (Value::Quantity(one), Value::Quantity(two)) => one == two,
            (Value::Semver(one), Value::Semver(two)) => one.cmp_precedence(two) == Ordering::Equal,
            (Value::Open(one), Value::Open(two)) => one == two,
            (Value::Optional(None), Value::Optional(None)) => true,
            (Value::Optional(Some(one)), Value::Optional(Some(two))) => one.equals(two)?,
            (Value::List(one), Value::List(two)) => one.equals(two)?,
            (Value::Map(one), Value::Map(two)) => one.equals(two)?,
            _ => self.compare_numbers(other) == Some(Ordering::Equal),
        })
    }

    /// The order of two numbers, of whatever types; `None` if they have none.
    pub(super) fn compare_numbers(&self, other: &Value<'_>) -> Option<Ordering> {
        match (self, other) {
            (Value::Int(one), Value::Int(two)) => Some(one.cmp(two)),
            (Value::Uint(one), Value::Uint(two)) => Some(one.cmp(two)),
            (Value::Double(one), Value::Double(two)) => one.partial_cmp(two),
            (Value::Int(one), Value::Uint(two)) => Some(i128::from(*one).cmp(&i128::from(*two))),
            (Value::Uint(one), Value::Int(two)) => Some(i128::from(*one).cmp(&i128::from(*two))),
            (Value::Int(one), Value::Double(two)) => compare_double(i128::from(*one), *two),
            (Value::Uint(one), Value::Double(two)) => compare_double(i128::from(*one), *two),
            (Value::Double(_), Value::Int(_) | Value::Uint(_)) => other.compare_numbers(self).map(Ordering::reverse),
            _ => None,
        }
    }

    /// The order of two values of a type that has one.
    pub(super) fn compare(&self, other: &Value<'a>) -> Outcome<Ordering> {
        let order = match (self, other) {
            (Value::Bool(one), Value::Bool(two)) => Some(one.cmp(two)),
            (Value::String(one), Value::String(two)) => Some(one.cmp(two)),
            (Value::Bytes(one), Value::Bytes(two)) => Some(one.cmp(two)),
            (Value::Timestamp(one), Value::Timestamp(two)) => Some(one.cmp(two)),
            (Value::Duration(one), Value::Duration(two)) => Some(one.cmp(two)),
            (Value::Double(number), Value::Int(_) | Value::Uint(_) | Value::Double(_))
            | (Value::Int(_) | Value::Uint(_), Value::Double(number))
                if number.is_nan() =>
            {
                return Err(Failure::new("NaN values cannot be ordered"));
            }
            _ => self.compare_numbers(other),
        };
        order.ok_or_else(Failure::no_such_overload)
    }

    /// Whether it is what `optional.ofNonZeroValue` leaves out.
    pub(super) fn is_zero(&self) -> bool {
        match self {
            Value::Null | Value::Bool(false) | Value::Int(0) | Value::Uint(0) | Value::Duration(0) => true,
            Value::Double(number) => *number == 0.0,
            Value::String(text) => text.is_empty(),
            Value::Bytes(bytes) => bytes.is_empty(),
            Value::List(list) => matches!(&list.items, Items::Made(items) if items.is_empty()),
            Value::Map(map) => matches!(map, Map::Made(entries) if entries.is_empty()),
            Value::Optional(inner) => inner.is_none(),
            _ => false,
        }
    }

    /// How many characters, bytes, items or entries it has.
    pub(super) fn size(&self) -> Option<usize> {
        match self {
            Value::String(text) => Some(text.chars().count()),
            Value::Bytes(bytes) => Some(bytes.len()),
            Value::List(list) => Some(list.len()),
            Value::Map(map) => Some(map.len()),
            _ => None,
        }
    }
}

fn whole(number: &serde_json::Number) -> Option<i64> {
    #[allow(clippy::cast_possible_truncation)]
    number.as_i64().or_else(|| number.as_f64().filter(|n| n.fract() == 0.0 && n.abs() < 9e15).map(|n| n as i64))
}

#[allow(clippy::cast_possible_truncation)]
fn compare_double(whole: i128, double: f64) -> Option<Ordering> {
    if double.is_nan() {
        return None;
    }
    if double.abs() > 1e20 {
        return Some(if double > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    let floor = double.floor();
    Some(whole.cmp(&(floor as i128)).then(if double > floor { Ordering::Less } else { Ordering::Equal }))
}

fn read_string<'a>(text: &str, format: &str) -> Outcome<Value<'a>> {
    let invalid = |what: &str, error: String| Failure::new(format!("Invalid {what} {text}: {error}"));
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
        _ => Ok(Value::text(text)),
    }
}

impl<'a> List<'a> {
    pub(super) fn len(&self) -> usize {
        match &self.items {
            Items::Made(items) => items.len(),
            Items::Read(items, _) => items.len(),
        }
    }

    pub(super) fn get(&self, index: usize) -> Option<Outcome<Value<'a>>> {
        match &self.items {
            Items::Made(items) => items.get(index).cloned().map(Ok),
            Items::Read(items, node) => items.get(index).map(|item| Value::read(item, node)),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Outcome<Value<'a>>> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    pub(super) fn values(&self) -> Outcome<Vec<Value<'a>>> {
        self.iter().collect()
    }

    pub(super) fn contains(&self, value: &Value<'a>) -> Outcome<bool> {
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

    /// The item with the same keys as another has.
    fn same_keys(&self, items: &[Value<'a>], other: &Value<'a>) -> Outcome<Option<usize>> {
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
            Value::Map(map) => map.get(&Value::text(key)).ok().flatten().unwrap_or(Value::Null),
            _ => Value::Null,
        }
    }

    /// Lists by order, sets by what they hold, maps by their keys.
    fn equals(&self, other: &List<'a>) -> Outcome<bool> {
        if self.len() != other.len() {
            return Ok(false);
        }
        let ours = self.values()?;
        for (index, theirs) in other.iter().enumerate() {
            let theirs = theirs?;
            let same = match self.list_type {
                ListType::Atomic => ours[index].equals(&theirs)?,
                ListType::Set => self.contains(&theirs)?,
                ListType::Map => match self.same_keys(&ours, &theirs)? {
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

    /// Lists one after the other; sets joined; maps with the other's items in place of those with the same keys.
    pub(super) fn plus(&self, other: &List<'a>) -> Outcome<Value<'a>> {
        let mut items = self.values()?;
        for item in other.iter() {
            let item = item?;
            let taken = match self.list_type {
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
                ListType::Map => self.same_keys(&items, &item)?,
            };
            match taken {
                Some(index) => items[index] = item,
                None => items.push(item),
            }
        }
        Ok(Value::List(List { items: Items::Made(Rc::new(items)), list_type: self.list_type, keys: self.keys }))
    }
}

impl<'a> Map<'a> {
    pub(super) fn len(&self) -> usize {
        match self {
            Map::Made(entries) => entries.len(),
            Map::Read(fields, _) => fields.len(),
        }
    }

    /// The value of a key. A null in place of a field is as if the field were not there.
    pub(super) fn get(&self, key: &Value<'a>) -> Outcome<Option<Value<'a>>> {
        match self {
            Map::Made(entries) => {
                for (candidate, value) in entries.iter() {
                    if candidate.equals(key)? {
                        return Ok(Some(value.clone()));
                    }
                }
                Ok(None)
            }
            Map::Read(fields, node) => {
                let Value::String(key) = key else { return Err(Failure::no_such_overload()) };
                let Some(properties) = &node.properties else {
                    let found = node.additional.as_deref().and_then(|node| Some((fields.get(&**key)?, node)));
                    return found.map(|(value, node)| Value::read(value, node)).transpose();
                };
                let Some(name) = escape::unescape(key) else { return Ok(None) };
                match (fields.get(&name), properties.get(&name)) {
                    (Some(Json::Null), _) | (None, _) | (_, None) => Ok(None),
                    (Some(value), Some(node)) => Value::read(value, node).map(Some),
                }
            }
        }
    }

    /// The keys a loop goes over.
    pub(super) fn keys(&self) -> Vec<Value<'a>> {
        match self {
            Map::Made(entries) => entries.iter().map(|(key, _)| key.clone()).collect(),
            Map::Read(fields, node) => match &node.properties {
                Some(properties) => fields
                    .keys()
                    .filter(|name| properties.contains_key(*name))
                    .map(|name| Value::text(escape::escape(name).unwrap_or_else(|| name.clone())))
                    .collect(),
                None if node.additional.is_some() => fields.keys().map(Value::text).collect(),
                None => Vec::new(),
            },
        }
    }

    fn equals(&self, other: &Map<'a>) -> Outcome<bool> {
        if self.len() != other.len() {
            return Ok(false);
        }
        for key in self.keys() {
            let same = match (self.get(&key)?, other.get(&key)?) {
                (Some(one), Some(two)) => one.equals(&two)?,
                (None, None) => true,
                _ => false,
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(self.unknown_fields_equal(other))
    }

    /// Fields the schema does not know are compared as they are written; one that is only here does not count.
    fn unknown_fields_equal(&self, other: &Map<'a>) -> bool {
        let (Map::Read(fields, node), Map::Read(others, _)) = (self, other) else { return true };
        let known = |name: &str| node.additional.is_some() || node.property(name).is_some();
        fields
            .iter()
            .filter(|(name, _)| !known(name))
            .all(|(name, value)| others.get(name).is_none_or(|other| other == value))
    }
}

/// A value as error messages show it.
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
