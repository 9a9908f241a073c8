//! What an imported module consists of, before it is written as Rust.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::kubernetes::Known;

/// A version of a group with all that is imported into it.
pub(super) struct Module {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kinds: Vec<Kind>,
    /// The types, those that are used after those that use them.
    pub(super) items: Vec<Item>,
}

/// A version of a kind, beside the item that is its type.
pub(super) struct Kind {
    pub(super) names: Names,
    pub(super) namespaced: bool,
    /// Whether the version must say that it is stored: there are others.
    pub(super) storage: bool,
    pub(super) served: bool,
    /// The warning, empty if there is none.
    pub(super) deprecated: Option<String>,
    pub(super) status: bool,
    /// Paths of the wanted and of the observed replicas, and of the selector.
    pub(super) scale: Option<(String, String, Option<String>)>,
    pub(super) columns: Vec<Column>,
    pub(super) selectable: Vec<String>,
    pub(super) labels: Vec<(String, String)>,
    pub(super) annotations: Vec<(String, String)>,
    /// Its type, among the items of the module.
    pub(super) item: usize,
}

/// What a kind is called.
#[derive(Clone)]
pub(super) struct Names {
    pub(super) kind: String,
    pub(super) list_kind: String,
    pub(super) plural: String,
    pub(super) singular: String,
    pub(super) short_names: Vec<String>,
    pub(super) categories: Vec<String>,
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

/// A type of the module.
pub(super) struct Item {
    /// The kind, and the words of the path below it that the type stands at first.
    pub(super) path: Vec<String>,
    pub(super) docs: Docs,
    pub(super) facts: Facts,
    pub(super) body: Body,
}

/// The docs of a type. A field's own docs win over them in the schema.
#[derive(Clone, PartialEq)]
pub(super) enum Docs {
    /// They are in the schema where the type is used, or must not be.
    Exactly(Option<String>),
    /// Each field of the type has docs of its own; these are for readers.
    Any(String),
}

/// What a type is made of.
pub(super) enum Body {
    Struct {
        fields: Vec<Field>,
        /// Whether fields that are not named are kept.
        open: bool,
    },
    /// An enum of words.
    Words(Vec<String>),
    /// An enum of which each variant is the one field that is there.
    Variants(Vec<Field>),
    /// A tuple of one.
    Wrapper(Type),
}

/// A field, or a variant.
pub(super) struct Field {
    pub(super) json: String,
    pub(super) docs: Option<String>,
    pub(super) ty: Type,
    pub(super) required: bool,
    pub(super) nullable: bool,
    pub(super) facts: Facts,
    pub(super) default: Option<Value>,
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Bool,
    /// `i32` or `i64`.
    Integer(&'static str),
    /// `f32` or `f64`.
    Float(&'static str),
    Text,
    /// Any JSON.
    Json,
    Known(&'static Known),
    /// An item of the module.
    Own(usize),
    List(Box<Type>),
    Map(Box<Type>),
}

/// What `#[schema(..)]` says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Facts {
    /// Keywords of the API server's schema.
    pub(super) said: Map<String, Value>,
    /// Keywords of `#[schema(..)]` that stand for themselves.
    pub(super) flags: BTreeSet<&'static str>,
    /// Fields, by their names in JSON, of which one must be there, and the keyword that says so.
    pub(super) choices: Vec<(&'static str, Vec<String>)>,
    /// What no keyword of `#[schema(..)]` says: `#[schemars(extend(..))]`.
    pub(super) extend: Map<String, Value>,
    /// Of each item or value.
    pub(super) each: Option<Box<Facts>>,
}

impl Facts {
    pub(super) fn is_empty(&self) -> bool {
        *self == Facts::default()
    }

    /// Whether `each(..)` can say it.
    pub(super) fn fits_each(&self) -> bool {
        self.extend.is_empty() && self.each.as_ref().is_none_or(|each| each.fits_each())
    }
}

/// Where a schema stands: in the definition, and in Rust.
#[derive(Clone)]
pub(super) struct At {
    /// The definition, the version and the path, as they are spoken of.
    pub(super) shown: String,
    /// The kind, and the words of the path below it.
    pub(super) words: Vec<String>,
}

impl At {
    pub(super) fn field(&self, name: &str) -> At {
        let mut words = self.words.clone();
        words.push(super::names::pascal(name));
        At { shown: format!("{}.{name}", self.shown), words }
    }

    /// The items of a list (`[]`), which one word in the singular is for, or the values of a map (`{}`).
    pub(super) fn below(&self, step: &str) -> At {
        let mut words = self.words.clone();
        let last = words.pop().unwrap_or_default();
        let one = super::names::singular(&last);
        let one = if one == last && self.words.len() > 1 { format!("{last}Item") } else { one };
        words.push(one);
        At { shown: format!("{}{step}", self.shown), words }
    }
}
