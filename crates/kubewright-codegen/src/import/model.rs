//! The model of an imported module, before it is written as Rust.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::kubernetes::KubernetesType;
use crate::schema_path::Pointer;

/// A version of a group with everything that is imported into it.
pub(super) struct Module {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kinds: Vec<Kind>,
    pub(super) types: Types,
}

/// A version of a kind, except for its type.
pub(super) struct Kind {
    /// Its definition and version in messages, such as `widgets.example.com v1`.
    pub(super) shown: String,
    pub(super) names: Names,
    pub(super) namespaced: bool,
    /// Whether it is marked as the storage version: it is, and there are other versions.
    pub(super) storage: bool,
    pub(super) served: bool,
    /// The deprecation warning, which may be empty.
    pub(super) deprecated: Option<String>,
    pub(super) status: bool,
    pub(super) scale: Option<Scale>,
    pub(super) columns: Vec<Column>,
    pub(super) selectable: Vec<String>,
    pub(super) labels: Vec<(String, String)>,
    pub(super) annotations: Vec<(String, String)>,
    /// The original schema, normalized.
    pub(super) schema: Value,
    /// Its type, an index into the types of the module.
    pub(super) item: usize,
    /// Keywords of its schema that its types do not express, by path.
    pub(super) overrides: Overrides,
    /// Fields of the definition and of its version without an attribute, as JSON merge patches.
    pub(super) definition_patch: Value,
    pub(super) version_patch: Value,
}

/// Keywords that replace those of a generated schema, by the location of the node. A null removes the keyword.
pub(super) type Overrides = BTreeMap<Pointer, Map<String, Value>>;

/// The names of a kind.
#[derive(Clone)]
pub(super) struct Names {
    pub(super) kind: String,
    pub(super) list_kind: String,
    /// The name of the type of the kind.
    pub(super) type_name: String,
    /// The name of the type of the list.
    pub(super) list_type_name: String,
    pub(super) plural: String,
    pub(super) singular: String,
    pub(super) short_names: Vec<String>,
    pub(super) categories: Vec<String>,
}

/// The paths of the scale subresource.
pub(super) struct Scale {
    pub(super) spec: String,
    pub(super) status: String,
    pub(super) selector: Option<String>,
}

/// A column of `kubectl get`.
pub(super) struct Column {
    pub(super) column_type: String,
    pub(super) name: String,
    pub(super) path: String,
    pub(super) description: Option<String>,
    pub(super) format: Option<String>,
    pub(super) priority: i64,
}

/// The types of a module. A type is followed by those it uses.
#[derive(Default)]
pub(super) struct Types {
    pub(super) items: Vec<Item>,
    /// Fields with a default that a default of an enclosing field omits, by item and JSON name. They are optional.
    pub(super) omitted: BTreeSet<(usize, String)>,
}

/// A type of the module.
pub(super) struct Item {
    /// The name of the type of the kind, and the words of the first path below it where the type is used.
    pub(super) path: Vec<String>,
    pub(super) docs: Docs,
    pub(super) attributes: SchemaAttributes,
    pub(super) body: Body,
}

/// The documentation of a type. That of a field takes precedence in the schema.
#[derive(Clone, PartialEq)]
pub(super) enum Docs {
    /// It is part of the schema where the type is used, or must not be.
    Exact(Option<String>),
    /// Each field of the type is documented; this is for readers only.
    Informative(String),
}

/// The contents of a type.
pub(super) enum Body {
    Struct {
        fields: Vec<Field>,
        /// Whether unknown fields are preserved.
        open: bool,
    },
    /// An enum of strings.
    StringEnum(Vec<String>),
    /// An enum whose variants are objects with one field each.
    Union(Vec<Field>),
    /// A tuple struct with one field.
    Newtype(Type),
}

/// A field, or a variant of a union.
pub(super) struct Field {
    pub(super) json: String,
    pub(super) docs: Option<String>,
    pub(super) ty: Type,
    pub(super) required: bool,
    /// Whether it is an `Option` even if it is required.
    pub(super) nullable: bool,
    pub(super) attributes: SchemaAttributes,
    pub(super) default: Option<Value>,
    /// Keywords that the field does not express, by path below it.
    pub(super) overrides: Overrides,
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Bool,
    /// `i32` or `i64`.
    Integer(&'static str),
    /// `f32` or `f64`.
    Float(&'static str),
    String,
    /// Any JSON.
    Json,
    Kubernetes(&'static KubernetesType),
    /// A type of the module.
    Local(usize),
    List(Box<Type>),
    Map(Box<Type>),
}

/// The attributes `#[schema(..)]` and `#[schemars(extend(..))]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SchemaAttributes {
    /// Keywords of the schema that `#[schema(..)]` has a key for.
    pub(super) keywords: Map<String, Value>,
    /// Keys of `#[schema(..)]` without a value.
    pub(super) flags: BTreeSet<&'static str>,
    /// Keys such as `exactly_one_of`, with the JSON names of their fields.
    pub(super) choices: Vec<(&'static str, Vec<String>)>,
    /// Keywords of the schema for `#[schemars(extend(..))]`.
    pub(super) extend: Map<String, Value>,
    /// The attributes of each item or value.
    pub(super) each: Option<Box<SchemaAttributes>>,
}

impl SchemaAttributes {
    pub(super) fn is_empty(&self) -> bool {
        *self == SchemaAttributes::default()
    }

    /// Whether `each(..)` can express them.
    pub(super) fn fits_each(&self) -> bool {
        self.extend.is_empty() && self.each.as_ref().is_none_or(|each| each.fits_each())
    }

    /// Removes everything that the type does not need. Returns whether anything was removed.
    pub(super) fn clear(&mut self) -> bool {
        let flags = self.flags.iter().copied().filter(|flag| ["allow_float", "no_format"].contains(flag)).collect();
        let cleared = SchemaAttributes { flags, ..SchemaAttributes::default() };
        let is_changed = *self != cleared;
        *self = cleared;
        is_changed
    }

    /// Removes a keyword. Returns whether it was there.
    pub(super) fn remove(&mut self, keyword: &str) -> bool {
        const ALTERNATIVES: [&str; 4] = ["allOf", "anyOf", "not", "oneOf"];
        // The alternatives of a node are merged with each other, so they are removed together.
        if ALTERNATIVES.contains(&keyword) {
            let had_choices = !self.choices.is_empty();
            self.choices.clear();
            return ALTERNATIVES.iter().filter(|key| self.extend.remove(**key).is_some()).count() > 0 || had_choices;
        }
        let keyword = if keyword == "example" { "examples" } else { keyword };
        let had_flag = match keyword {
            "nullable" => self.flags.remove("nullable"),
            "format" => self.flags.remove("no_format"),
            _ => false,
        };
        let bound = match keyword {
            "exclusiveMinimum" => Some("minimum"),
            "exclusiveMaximum" => Some("maximum"),
            _ => None,
        };
        let had_bound = bound.is_some_and(|bound| self.keywords.remove(bound).is_some());
        self.keywords.remove(keyword).is_some() || self.extend.remove(keyword).is_some() || had_flag || had_bound
    }
}

impl Types {
    /// Whether a field is an `Option`.
    pub(super) fn is_optional(&self, item: usize, field: &Field) -> bool {
        let may_be_absent = match field.default {
            None => !field.required,
            Some(_) => self.omitted.contains(&(item, field.json.clone())) || self.is_status(item, field),
        };
        may_be_absent || field.nullable
    }

    /// Whether it is the status of a kind. New objects have none, even if it has a default.
    fn is_status(&self, item: usize, field: &Field) -> bool {
        self.items[item].path.len() == 1 && field.json == "status"
    }

    /// Whether an item implements `Default`.
    pub(super) fn has_default(&self, item: usize) -> bool {
        match &self.items[item].body {
            Body::Struct { fields, .. } => fields.iter().all(|field| {
                field.default.is_some() || self.is_optional(item, field) || self.type_has_default(&field.ty)
            }),
            Body::StringEnum(_) | Body::Union(_) => false,
            Body::Newtype(ty) => self.type_has_default(ty),
        }
    }

    fn type_has_default(&self, ty: &Type) -> bool {
        match ty {
            Type::Kubernetes(known) => known.has_default,
            Type::Local(item) => self.has_default(*item),
            _ => true,
        }
    }

    /// Calls the function with each type that is used, and the types within it.
    pub(super) fn for_each_type(&self, visit: &mut impl FnMut(&Type)) {
        fn below(ty: &Type, visit: &mut impl FnMut(&Type)) {
            visit(ty);
            if let Type::List(ty) | Type::Map(ty) = ty {
                below(ty, visit);
            }
        }
        for item in &self.items {
            match &item.body {
                Body::Newtype(ty) => below(ty, visit),
                body => body.fields().iter().for_each(|field| below(&field.ty, visit)),
            }
        }
    }

    /// Returns the Kubernetes types that are used.
    pub(super) fn kubernetes(&self) -> Vec<&'static KubernetesType> {
        let mut found: Vec<&'static KubernetesType> = Vec::new();
        self.for_each_type(&mut |ty| {
            if let Type::Kubernetes(known) = ty
                && !found.contains(known)
            {
                found.push(known);
            }
        });
        found
    }
}

impl Body {
    /// Returns the fields or variants.
    pub(super) fn fields(&self) -> &[Field] {
        match self {
            Body::Struct { fields, .. } | Body::Union(fields) => fields,
            Body::StringEnum(_) | Body::Newtype(_) => &[],
        }
    }

    pub(super) fn fields_mut(&mut self) -> &mut [Field] {
        match self {
            Body::Struct { fields, .. } | Body::Union(fields) => fields,
            Body::StringEnum(_) | Body::Newtype(_) => &mut [],
        }
    }
}
