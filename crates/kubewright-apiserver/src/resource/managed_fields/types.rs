//! The types for merging and field ownership: scalars, lists and maps, derived from the schema of a kind.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use kubewright_crd::value::item_schema;
use serde_json::{Value, json};

use super::path::{ItemValue, PathElement};

/// The type of a field.
#[derive(Debug, Clone)]
pub(crate) enum Type {
    Scalar(Scalar),
    List(Arc<List>),
    Map(Arc<Map>),
    /// A scalar, list or map, depending on the value.
    Any(Arc<List>, Arc<Map>),
    /// A value without a schema: maps are granular, lists are atomic.
    Deduced,
    /// A value without a schema inside an atomic value.
    Opaque,
}

/// The type of a scalar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scalar {
    Number,
    Text,
    Boolean,
    Any,
}

#[derive(Debug)]
pub(crate) struct List {
    pub(crate) item: Type,
    pub(crate) identity: Identity,
}

/// How items of two lists are matched.
#[derive(Debug, PartialEq)]
pub(crate) enum Identity {
    /// Not at all: the list is atomic.
    None,
    /// By value: the list is a set.
    Value,
    /// By these key fields: the list is a map.
    Keys(Vec<Key>),
}

/// A key field and its default.
#[derive(Debug, PartialEq)]
pub(crate) struct Key {
    name: String,
    default: Option<Value>,
}

#[derive(Debug)]
pub(crate) struct Map {
    /// The declared fields.
    fields: BTreeMap<String, Type>,
    /// The type of all other fields, if they are allowed.
    additional: Option<Type>,
    /// Whether the map is owned as one value.
    pub(crate) atomic: bool,
}

/// The type of one value.
#[derive(Clone, Copy)]
pub(crate) enum Shape<'a> {
    Scalar(Scalar),
    List(&'a List),
    Map(&'a Map),
}

impl Shape<'_> {
    /// Returns whether two shapes of one type are equal.
    pub(crate) fn is(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

impl Type {
    /// Returns the type of the objects of a kind.
    pub(crate) fn from_kind(schema: Option<&Value>) -> Self {
        schema.map_or(Self::Deduced, |schema| {
            let mut root = schema.clone();
            root["x-kubernetes-embedded-resource"] = json!(true);
            Self::from_schema(&root, false)
        })
    }

    /// Returns the type of a schema. `preserve`: an ancestor preserves unknown fields.
    pub(crate) fn from_schema(schema: &Value, preserve: bool) -> Self {
        let preserve = preserve || schema["x-kubernetes-preserve-unknown-fields"] == true;
        match (schema["type"].as_str().unwrap_or_default(), schema["format"].as_str().unwrap_or_default()) {
            ("object", _) => Self::Map(Arc::new(Map::from_schema(schema, preserve))),
            ("array", _) => Self::List(Arc::new(List::from_schema(schema, preserve))),
            ("integer" | "number", _) => Self::Scalar(Scalar::Number),
            ("boolean", _) => Self::Scalar(Scalar::Boolean),
            ("string", "" | "byte") => Self::Scalar(Scalar::Text),
            ("string", _) => Self::Scalar(Scalar::Any),
            _ => Self::Any(Arc::new(List::from_schema(schema, preserve)), Arc::new(Map::from_schema(schema, preserve))),
        }
    }

    /// Returns the shape of a value. A missing value and null have the default shape of the type.
    pub(crate) fn shape(&self, value: Option<&Value>) -> Shape<'_> {
        match self {
            Self::Scalar(scalar) => Shape::Scalar(*scalar),
            Self::List(list) => Shape::List(list),
            Self::Map(map) => Shape::Map(map),
            Self::Any(list, map) => shape_of(value, list, map),
            Self::Deduced => shape_of(value, &DEDUCED.0, &DEDUCED.1),
            Self::Opaque => shape_of(value, &OPAQUE.0, &OPAQUE.1),
        }
    }

    /// Returns the list type, if values can be lists.
    pub(crate) fn list(&self) -> Option<&List> {
        match self {
            Self::List(list) | Self::Any(list, _) => Some(list),
            Self::Deduced => Some(&DEDUCED.0),
            Self::Opaque => Some(&OPAQUE.0),
            Self::Scalar(_) | Self::Map(_) => None,
        }
    }

    /// Returns the map type, if values can be maps.
    pub(crate) fn map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) | Self::Any(_, map) => Some(map),
            Self::Deduced => Some(&DEDUCED.1),
            Self::Opaque => Some(&OPAQUE.1),
            Self::Scalar(_) | Self::List(_) => None,
        }
    }
}

static DEDUCED: LazyLock<(List, Map)> = LazyLock::new(|| {
    let list = List { item: Type::Opaque, identity: Identity::None };
    (list, Map { fields: BTreeMap::new(), additional: Some(Type::Deduced), atomic: false })
});

static OPAQUE: LazyLock<(List, Map)> = LazyLock::new(|| {
    let list = List { item: Type::Opaque, identity: Identity::None };
    (list, Map { fields: BTreeMap::new(), additional: Some(Type::Opaque), atomic: true })
});

fn shape_of<'a>(value: Option<&Value>, list: &'a List, map: &'a Map) -> Shape<'a> {
    match value {
        Some(Value::Array(_)) => Shape::List(list),
        None | Some(Value::Null | Value::Object(_)) => Shape::Map(map),
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) => Shape::Scalar(Scalar::Any),
    }
}

impl List {
    fn from_schema(schema: &Value, preserve: bool) -> Self {
        let item = item_schema(schema);
        let identity = match schema["x-kubernetes-list-type"].as_str() {
            Some("set") => Identity::Value,
            Some("map") => {
                let names =
                    schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten().filter_map(Value::as_str);
                Identity::Keys(
                    names.map(|name| Key { name: name.to_owned(), default: default_of(item, name) }).collect(),
                )
            }
            _ => Identity::None,
        };
        Self { item: item.map_or(Type::Opaque, |item| Type::from_schema(item, preserve)), identity }
    }

    /// Returns the path element of an item.
    pub(crate) fn element(&self, item: &Value) -> Result<PathElement, String> {
        match &self.identity {
            Identity::None => Err("invalid indexing of non-associative list".to_owned()),
            Identity::Value => match item {
                Value::Object(_) => Err("associative list without keys has an element that's a map type".to_owned()),
                Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
                Value::Null => Err("associative list without keys has an element that's an explicit null".to_owned()),
                scalar => Ok(PathElement::Value(ItemValue(scalar.clone()))),
            },
            Identity::Keys(keys) => key_element(keys, item),
        }
    }
}

fn key_element(keys: &[Key], item: &Value) -> Result<PathElement, String> {
    let fields = match item {
        Value::Object(fields) => fields,
        Value::Null => return Err("associative list with keys may not have a null element".to_owned()),
        _ => return Err("associative list with keys may not have non-map elements".to_owned()),
    };
    let value =
        |key: &Key| Some((key.name.clone(), ItemValue(fields.get(&key.name).or(key.default.as_ref())?.clone())));
    let mut found: Vec<_> = keys.iter().filter_map(value).collect();
    if found.is_empty() && !keys.is_empty() {
        let names: Vec<String> = keys.iter().map(|key| format!("{:?}", key.name)).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
            names.join(" "),
        ));
    }
    found.sort();
    Ok(PathElement::Key(found))
}

fn default_of(item: Option<&Value>, name: &str) -> Option<Value> {
    item?.get("properties")?.get(name)?.get("default").cloned()
}

impl Map {
    fn from_schema(schema: &Value, preserve: bool) -> Self {
        let properties = schema["properties"].as_object().into_iter().flatten();
        let mut fields: BTreeMap<String, Type> =
            properties.map(|(name, property)| (name.clone(), Type::from_schema(property, preserve))).collect();
        if schema["x-kubernetes-embedded-resource"] == true {
            fields.insert("apiVersion".to_owned(), Type::Scalar(Scalar::Text));
            fields.insert("kind".to_owned(), Type::Scalar(Scalar::Text));
            fields.insert("metadata".to_owned(), OBJECT_META.clone());
        }
        let additional = match schema.get("additionalProperties") {
            None if preserve || fields.is_empty() => Some(Type::Deduced),
            None | Some(Value::Bool(false)) => None,
            Some(Value::Bool(true)) => Some(Type::Deduced),
            Some(schema) => Some(Type::from_schema(schema, preserve)),
        };
        Self { fields, additional, atomic: schema["x-kubernetes-map-type"] == "atomic" }
    }

    /// Returns the type of a field, if the field is allowed.
    pub(crate) fn field(&self, name: &str) -> Option<&Type> {
        self.fields.get(name).or(self.additional.as_ref())
    }

    /// Returns whether the type declares this field.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// Returns whether the map has no declared fields.
    pub(crate) fn is_deduced(&self) -> bool {
        self.fields.is_empty() && matches!(self.additional, Some(Type::Deduced))
    }
}

/// Returns the type of a kind for a schema in this crate.
pub(super) fn embedded(schema: Value) -> Type {
    Type::from_kind(Some(&schema))
}

static OBJECT_META: LazyLock<Type> = LazyLock::new(|| {
    let texts = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    let time = json!({ "type": "string", "format": "date-time" });
    let schema = json!({
        "type": "object",
        "properties": {
            "annotations": texts,
            "creationTimestamp": time,
            "deletionGracePeriodSeconds": { "type": "integer" },
            "deletionTimestamp": time,
            "finalizers": { "type": "array", "x-kubernetes-list-type": "set", "items": { "type": "string" } },
            "generateName": { "type": "string" },
            "generation": { "type": "integer" },
            "labels": texts,
            "managedFields": { "type": "array", "items": { "type": "object" } },
            "name": { "type": "string" },
            "namespace": { "type": "string" },
            "ownerReferences": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["uid"],
                "items": {
                    "type": "object",
                    "x-kubernetes-map-type": "atomic",
                    "properties": {
                        "apiVersion": { "type": "string" },
                        "blockOwnerDeletion": { "type": "boolean" },
                        "controller": { "type": "boolean" },
                        "kind": { "type": "string" },
                        "name": { "type": "string" },
                        "uid": { "type": "string", "default": "" },
                    },
                },
            },
            "resourceVersion": { "type": "string" },
            "selfLink": { "type": "string" },
            "uid": { "type": "string" },
        },
    });
    Type::from_schema(&schema, false)
});
