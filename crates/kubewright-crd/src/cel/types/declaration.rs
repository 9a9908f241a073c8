//! The types that a schema declares, with the maximum size of their values (`k8s.io/apiserver/pkg/cel/types.go`).

use std::{collections::BTreeMap, sync::Arc};

use super::cel_type::Type;
use crate::cel::{
    schema::{SchemaType, Structural},
    syntax::escape,
};

/// The maximum size of a request in bytes. It bounds every value that its schema leaves unbounded.
const MAX_REQUEST_SIZE: i64 = 3 * 1024 * 1024;

/// The maximum length of a duration or an RFC 3339 timestamp in JSON, quotes included.
const MAX_TIME_SIZE: i64 = 32;
/// The minimum length of an RFC 3339 timestamp in JSON, quotes included.
const MIN_TIMESTAMP_SIZE: i64 = 21;
/// The length of a date in JSON, quotes included.
const DATE_SIZE: i64 = 12;

/// A declared type.
#[derive(Clone, Debug)]
pub(crate) struct DeclType {
    pub(crate) kind: DeclKind,
    /// The maximum number of elements, entries, characters or bytes of a value; 0 for types without a size.
    pub(crate) max_elements: u64,
    /// The minimum number of bytes of a value in JSON.
    min_serialized_size: i64,
}

#[derive(Clone, Debug)]
pub(crate) enum DeclKind {
    Simple(Type),
    List(Arc<DeclType>),
    /// A map. All keys are strings.
    Map(Arc<DeclType>),
    /// The fields of an object by their escaped names.
    Object(BTreeMap<String, Arc<DeclType>>),
}

impl DeclType {
    /// The type that a schema declares; `None` if rules cannot access its values.
    pub(crate) fn from_schema(schema: &Structural, is_resource_root: bool) -> Option<Self> {
        if schema.is_int_or_string {
            let max = schema.max_length.map_or(MAX_REQUEST_SIZE - 2, |length| length.max(0).saturating_mul(4));
            return Some(DeclType::simple(Type::Dyn, max, 1));
        }
        match schema.schema_type {
            SchemaType::Object if is_resource_root => object(&schema.with_type_and_object_meta()),
            SchemaType::Object => object(schema),
            SchemaType::Array => list(schema),
            SchemaType::String => Some(string(schema)),
            SchemaType::Boolean => Some(DeclType::simple(Type::Bool, 0, 4)),
            SchemaType::Number => Some(DeclType::simple(Type::Double, 0, 1)),
            SchemaType::Integer => Some(DeclType::simple(Type::Int, 0, 1)),
            SchemaType::None => None,
        }
    }

    fn simple(t: Type, max_elements: i64, min_serialized_size: i64) -> Self {
        DeclType { kind: DeclKind::Simple(t), max_elements: count(max_elements), min_serialized_size }
    }

    /// The type that the checker uses. Objects are named by their path, which starts with `name`.
    pub(crate) fn to_type(&self, name: &str) -> Type {
        match &self.kind {
            DeclKind::Simple(t) => t.clone(),
            DeclKind::List(item) => Type::list(item.to_type(&format!("{name}.@idx"))),
            DeclKind::Map(value) => Type::map(Type::String, value.to_type(&format!("{name}.@elem"))),
            DeclKind::Object(fields) => {
                let fields = fields
                    .iter()
                    .map(|(field, declared)| (field.clone(), declared.to_type(&format!("{name}.{field}"))))
                    .collect();
                Type::object(name, fields)
            }
        }
    }

    /// The maximum number of values of this type in one request.
    pub(crate) fn max_cardinality(&self) -> u64 {
        count(MAX_REQUEST_SIZE / (self.min_serialized_size + 1))
    }
}

fn count(elements: i64) -> u64 {
    u64::try_from(elements).unwrap_or(0)
}

fn list(schema: &Structural) -> Option<DeclType> {
    let items = schema.items.as_ref()?;
    let item = DeclType::from_schema(items, items.is_embedded_resource)?;
    let max = schema.max_items.unwrap_or_else(|| (MAX_REQUEST_SIZE - 2) / (item.min_serialized_size + 1));
    Some(DeclType { kind: DeclKind::List(Arc::new(item)), max_elements: count(max), min_serialized_size: 2 })
}

fn object(schema: &Structural) -> Option<DeclType> {
    if let Some(values) = &schema.additional_properties {
        let value = DeclType::from_schema(values, values.is_embedded_resource)?;
        // The server counts two bytes for the key, two for its quotes, a colon and a comma.
        let max = schema.max_properties.unwrap_or_else(|| (MAX_REQUEST_SIZE - 2) / (value.min_serialized_size + 6));
        return Some(DeclType {
            kind: DeclKind::Map(Arc::new(value)),
            max_elements: count(max),
            min_serialized_size: 2,
        });
    }
    let mut min_serialized_size = 2;
    let mut fields = BTreeMap::new();
    for (name, property) in schema.properties.iter().flatten() {
        let Some(declared) = DeclType::from_schema(property, property.is_embedded_resource) else { continue };
        if schema.required.contains(name) && !property.has_default {
            min_serialized_size += i64::try_from(name.len()).unwrap_or(0) + declared.min_serialized_size + 4;
        }
        if let Some(escaped) = escape(name) {
            fields.insert(escaped, Arc::new(declared));
        }
    }
    Some(DeclType { kind: DeclKind::Object(fields), max_elements: 0, min_serialized_size })
}

fn string(schema: &Structural) -> DeclType {
    match schema.format.as_str() {
        "byte" => DeclType::simple(Type::Bytes, schema.max_length.unwrap_or(MAX_REQUEST_SIZE - 2), 2),
        "duration" => DeclType::simple(Type::Duration, MAX_TIME_SIZE, 3),
        "date" => DeclType::simple(Type::Timestamp, DATE_SIZE, DATE_SIZE),
        "date-time" => DeclType::simple(Type::Timestamp, MAX_TIME_SIZE, MIN_TIMESTAMP_SIZE),
        _ => {
            // A character has at most four bytes.
            let bounded = schema.max_length.map(|length| length.max(0).saturating_mul(4)).or(schema.max_enum_length);
            DeclType::simple(Type::String, bounded.unwrap_or(MAX_REQUEST_SIZE - 2), 2)
        }
    }
}
