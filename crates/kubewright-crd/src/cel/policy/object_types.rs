//! The types of `object`, of `params`, and of the messages that mutations construct.

use std::{collections::HashMap, sync::Arc};

use crate::cel::{
    schema::{SchemaType, Structural},
    types::{ObjectType, Substitutions, Type},
};

/// The name of the type of the object in messages: a mutation constructs `Object{spec: Object.spec{}}`.
const OBJECT: &str = "Object";
/// The name of the messages of a JSON patch.
pub(super) const JSON_PATCH: &str = "JSONPatch";

/// The types of the object that a policy admits, and of its parameters.
#[derive(Clone, Debug)]
pub(crate) struct ObjectTypes {
    /// The type of `object` and `oldObject`.
    pub(super) object: Type,
    /// The type of `params`.
    pub(super) params: Type,
}

impl ObjectTypes {
    /// The types that the API server compiles expressions with: all are `dyn`.
    pub(crate) const DYNAMIC: ObjectTypes = ObjectTypes { object: Type::Dyn, params: Type::Dyn };

    /// The types that schemas declare, so that misspelled fields are errors. A missing schema of the parameters leaves
    /// these untyped.
    ///
    /// They are the types of JSON values, unlike those of CRD rules: a date is a string, and names are not escaped.
    pub(crate) fn from_schemas(object: &Structural, params: Option<&Structural>) -> Self {
        let params = params.map_or(Type::Dyn, |params| root(params, "params"));
        ObjectTypes { object: root(object, OBJECT), params }
    }

    /// The type of the field at a path. The value of a map is a field of it.
    ///
    /// # Errors
    /// Returns the length of the part of the path that exists, if there is no such field.
    pub(crate) fn field(&self, path: &[&str]) -> Result<Type, usize> {
        path.iter().enumerate().try_fold(self.object.clone(), |found, (index, name)| {
            let next = match &found {
                Type::Object(object) => object.field(name),
                Type::Map(_, value) => Some(Type::clone(value)),
                Type::Dyn => Some(Type::Dyn),
                _ => None,
            };
            next.ok_or(index)
        })
    }

    pub(crate) fn is_map(t: &Type) -> bool {
        matches!(t, Type::Map(..))
    }

    /// Whether a value of a type can be assigned to a field of another one.
    pub(crate) fn is_assignable(found: &Type, expected: &Type) -> bool {
        Substitutions::default().assign(found, expected)
    }

    /// The type of the messages with a name; `None` if there are no such messages.
    pub(super) fn message(&self, name: &str) -> Option<Arc<ObjectType>> {
        if name == JSON_PATCH {
            return Some(json_patch());
        }
        let mut segments = name.split('.');
        if segments.next() != Some(OBJECT) {
            return None;
        }
        let found = segments.try_fold(self.object.clone(), |t, field| match element(t) {
            Type::Object(object) => object.field(field),
            Type::Dyn => Some(Type::Dyn),
            _ => None,
        });
        match element(found?) {
            Type::Object(object) => Some(object),
            Type::Dyn => Some(Arc::new(ObjectType { name: name.to_owned(), fields: HashMap::new(), is_open: true })),
            _ => None,
        }
    }
}

fn json_patch() -> Arc<ObjectType> {
    let fields = [("op", Type::String), ("path", Type::String), ("from", Type::String), ("value", Type::Dyn)];
    let fields = fields.into_iter().map(|(name, t)| (name.to_owned(), t)).collect();
    Arc::new(ObjectType { name: JSON_PATCH.to_owned(), fields, is_open: false })
}

/// The type of the innermost elements of nested lists and maps, or the type itself.
fn element(t: Type) -> Type {
    match t {
        Type::List(inner) | Type::Map(_, inner) => element(Type::clone(&inner)),
        other => other,
    }
}

/// The type of a resource: that of its schema, with the metadata of every object.
fn root(schema: &Structural, name: &str) -> Type {
    let mut fields = properties(schema, name);
    for field in ["apiVersion", "kind"] {
        fields.insert(field.to_owned(), Type::String);
    }
    fields.insert("metadata".to_owned(), object_meta(&format!("{name}.metadata")));
    object(name, fields, schema.preserves_unknown_fields)
}

fn object(name: &str, fields: HashMap<String, Type>, is_open: bool) -> Type {
    if is_open { Type::open_object(name, fields) } else { Type::object(name, fields) }
}

fn properties(schema: &Structural, name: &str) -> HashMap<String, Type> {
    let properties = schema.properties.iter().flatten();
    properties.map(|(field, schema)| (field.clone(), value(schema, &format!("{name}.{field}")))).collect()
}

/// The type of a value. Objects are named by their path, which lists and maps are no part of.
fn value(schema: &Structural, name: &str) -> Type {
    let t = match schema.schema_type {
        _ if schema.is_int_or_string => Type::Dyn,
        SchemaType::Object => fields(schema, name),
        SchemaType::Array => Type::list(schema.items.as_ref().map_or(Type::Dyn, |items| value(items, name))),
        SchemaType::String => Type::String,
        SchemaType::Integer => Type::Int,
        SchemaType::Boolean => Type::Bool,
        // The JSON of a number can be an integer.
        SchemaType::Number | SchemaType::None => Type::Dyn,
    };
    let is_scalar = matches!(t, Type::String | Type::Int | Type::Bool);
    if schema.is_nullable && is_scalar { Type::Dyn } else { t }
}

fn fields(schema: &Structural, name: &str) -> Type {
    if schema.is_embedded_resource {
        return Type::open_object(name, properties(schema, name));
    }
    if let Some(values) = &schema.additional_properties {
        return Type::map(Type::String, value(values, name));
    }
    if schema.allows_additional_properties {
        return Type::map(Type::String, Type::Dyn);
    }
    let fields = properties(schema, name);
    // A field that cannot be selected by its name is read by `[..]`, which objects do not support.
    match fields.keys().all(|field| is_selectable(field)) {
        true => object(name, fields, schema.preserves_unknown_fields),
        false => Type::Dyn,
    }
}

fn is_selectable(name: &str) -> bool {
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_keyword = matches!(name, "in" | "true" | "false" | "null");
    starts_well && !is_keyword && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The type of the metadata of an object.
fn object_meta(name: &str) -> Type {
    let texts = || Type::map(Type::String, Type::String);
    let owner = ["apiVersion", "kind", "name", "uid"].map(|field| (field.to_owned(), Type::String));
    let flags = ["controller", "blockOwnerDeletion"].map(|field| (field.to_owned(), Type::Bool));
    let owner = Type::object(format!("{name}.ownerReferences"), owner.into_iter().chain(flags).collect());
    let strings = [
        "name",
        "generateName",
        "namespace",
        "uid",
        "resourceVersion",
        "selfLink",
        "creationTimestamp",
        "deletionTimestamp",
    ];
    let mut fields: HashMap<String, Type> = strings.map(|field| (field.to_owned(), Type::String)).into();
    let others = [
        ("generation", Type::Int),
        ("deletionGracePeriodSeconds", Type::Int),
        ("labels", texts()),
        ("annotations", texts()),
        ("finalizers", Type::list(Type::String)),
        ("ownerReferences", Type::list(owner)),
        ("managedFields", Type::list(Type::Dyn)),
    ];
    fields.extend(others.map(|(field, t)| (field.to_owned(), t)));
    Type::object(name, fields)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn types() -> ObjectTypes {
        let schema = json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "replicas": {"type": "integer"},
                "ratio": {"type": "number"},
                "level": {"type": "string", "nullable": true},
                "start": {"type": "string", "format": "date-time"},
                "ports": {"type": "array", "items": {"type": "object", "properties": {
                    "port": {"type": "integer"},
                }}},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                "odd": {"type": "object", "properties": {"log-level": {"type": "string"}}},
            }},
        }});
        ObjectTypes::from_schemas(&Structural::decode(&schema), None)
    }

    #[test]
    fn values_have_the_types_of_their_json() {
        let types = types();
        let spec = types.message("Object.spec").expect("the schema has a spec");
        for (field, expected) in [
            ("replicas", "int"),
            ("ratio", "dyn"),
            ("level", "dyn"),
            ("start", "string"),
            ("ports", "list(Object.spec.ports)"),
            ("free", "Object.spec.free"),
            ("odd", "dyn"),
        ] {
            assert_eq!(spec.field(field).map(|t| t.to_string()).as_deref(), Some(expected), "{field}");
        }
        assert_eq!(spec.field("missing"), None);
    }

    #[test]
    fn messages_are_those_of_the_schema() {
        let types = types();
        for (name, exists) in [
            ("Object", true),
            ("Object.metadata", true),
            ("Object.spec.ports", true),
            ("Object.spec.free.anything", true),
            ("Object.spec.odd", true),
            ("Object.spec.missing", false),
            ("Object.spec.replicas", false),
            ("JSONPatch", true),
            ("Widget", false),
        ] {
            assert_eq!(types.message(name).is_some(), exists, "{name}");
        }
        assert!(ObjectTypes::DYNAMIC.message("Object.spec.missing").is_some_and(|object| object.is_open));
    }
}
