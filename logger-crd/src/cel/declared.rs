//! The types a schema declares, with how large their values may become.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    escape::escape,
    schema::{Kind, Node},
    types::{ObjectType, Type},
};

/// The largest request the server takes, in bytes: what bounds that which nothing else bounds.
pub(super) const MAX_REQUEST: i64 = 3 * 1024 * 1024;

/// Length of the longest duration and date with time, quotes included (RFC 3339).
const LONGEST_TIME: i64 = 32;
/// Length of a date with its quotes.
const DATE: i64 = 12;

/// A declared type.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) shape: Shape,
    /// The most elements, entries, characters or bytes a value can have, by what it is; 0 where nothing is counted.
    pub(super) max_elements: u64,
    /// The least bytes of JSON a value takes.
    pub(super) min_size: i64,
}

#[derive(Clone, Debug)]
pub(super) enum Shape {
    Simple(Type),
    List(Arc<Declared>),
    /// Keys are strings.
    Map(Arc<Declared>),
    /// Fields by their escaped names.
    Object(BTreeMap<String, Arc<Declared>>),
}

impl Declared {
    fn simple(kind: Type, max_elements: i64, min_size: i64) -> Self {
        Declared { shape: Shape::Simple(kind), max_elements: count(max_elements), min_size }
    }

    /// The type rules are checked with. Objects are named by where they are, from `name` on.
    pub(super) fn named(&self, name: &str) -> Type {
        match &self.shape {
            Shape::Simple(kind) => kind.clone(),
            Shape::List(item) => Type::list(item.named(&format!("{name}.@idx"))),
            Shape::Map(value) => Type::map(Type::String, value.named(&format!("{name}.@elem"))),
            Shape::Object(fields) => {
                let fields = fields
                    .iter()
                    .map(|(field, declared)| (field.clone(), declared.named(&format!("{name}.{field}"))))
                    .collect();
                Type::Object(Arc::new(ObjectType { name: name.to_owned(), fields }))
            }
        }
    }

    /// How often a value could be in one request at most.
    pub(super) fn max_cardinality(&self) -> u64 {
        count(MAX_REQUEST / (self.min_size + 1))
    }
}

fn count(elements: i64) -> u64 {
    u64::try_from(elements).unwrap_or(0)
}

/// The type of a node's values; `None` for what rules cannot see.
pub(super) fn declare(node: &Node, is_resource: bool) -> Option<Declared> {
    if node.is_int_or_string {
        let max = node.max_length.map_or(MAX_REQUEST - 2, |length| length.max(0).saturating_mul(4));
        return Some(Declared::simple(Type::Dyn, max, 1));
    }
    match node.kind {
        Kind::Object if is_resource => object(&node.as_resource()),
        Kind::Object => object(node),
        Kind::Array => list(node),
        Kind::String => Some(string(node)),
        Kind::Boolean => Some(Declared::simple(Type::Bool, 0, 4)),
        Kind::Number => Some(Declared::simple(Type::Double, 0, 1)),
        Kind::Integer => Some(Declared::simple(Type::Int, 0, 1)),
        Kind::None => None,
    }
}

fn list(node: &Node) -> Option<Declared> {
    let items = node.items.as_ref()?;
    let item = declare(items, items.is_embedded)?;
    let max = node.max_items.unwrap_or_else(|| (MAX_REQUEST - 2) / (item.min_size + 1));
    Some(Declared { shape: Shape::List(Arc::new(item)), max_elements: count(max), min_size: 2 })
}

fn object(node: &Node) -> Option<Declared> {
    if let Some(additional) = &node.additional {
        let value = declare(additional, additional.is_embedded)?;
        // A key of two bytes, its quotes, a colon and a comma.
        let max = node.max_properties.unwrap_or_else(|| (MAX_REQUEST - 2) / (value.min_size + 6));
        return Some(Declared { shape: Shape::Map(Arc::new(value)), max_elements: count(max), min_size: 2 });
    }
    let mut min_size = 2;
    let mut fields = BTreeMap::new();
    for (name, property) in node.properties.iter().flatten() {
        let Some(declared) = declare(property, property.is_embedded) else { continue };
        if node.required.contains(name) && !property.has_default {
            min_size += i64::try_from(name.len()).unwrap_or(0) + declared.min_size + 4;
        }
        if let Some(escaped) = escape(name) {
            fields.insert(escaped, Arc::new(declared));
        }
    }
    Some(Declared { shape: Shape::Object(fields), max_elements: 0, min_size })
}

fn string(node: &Node) -> Declared {
    match node.format.as_str() {
        "byte" => Declared::simple(Type::Bytes, node.max_length.unwrap_or(MAX_REQUEST - 2), 2),
        "duration" => Declared::simple(Type::Duration, LONGEST_TIME, 3),
        "date" => Declared::simple(Type::Timestamp, DATE, DATE),
        "date-time" => Declared::simple(Type::Timestamp, LONGEST_TIME, 21),
        _ => {
            // A character is up to four bytes.
            let bounded = node.max_length.map(|length| length.max(0).saturating_mul(4)).or(node.longest_enum);
            Declared::simple(Type::String, bounded.unwrap_or(MAX_REQUEST - 2), 2)
        }
    }
}
