//! The kinds of Kubernetes itself: one description each, and the rules that all of them share
//!
//! A kind is a row below `kinds`. Its schema is that of its k8s-openapi type with what a real server publishes of it (`logger-crd`'s
//! overlay) and the marks of `marks.rs`, and all else goes
//! by these: how its bodies are read, what is filled in, what is refused, and how its fields are merged and owned.

mod decode;
mod fill_in;
mod kinds;
mod marks;
mod published;
mod rules;
mod schema;
mod types;

use std::sync::LazyLock;

pub(crate) use decode::read;
pub(crate) use kinds::all;
pub(crate) use published::published;
pub(crate) use rules::{SYSTEM_PRIORITIES, check};
pub(crate) use schema::{Form, default};

use crate::api::object::Object;

/// What sets one kind of Kubernetes apart from another.
#[derive(Debug)]
pub(crate) struct BuiltIn {
    pub(crate) group: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) version: &'static str,
    /// The group in whose representation objects are stored.
    pub(crate) storage_group: &'static str,
    pub(crate) short_names: &'static [&'static str],
    pub(crate) categories: &'static [&'static str],
    pub(crate) namespaced: bool,
    pub(crate) has_status: bool,
    /// Replicas are in the spec and the status, the selector in the spec.
    pub(crate) has_scale: bool,
    pub(crate) generation: Generation,
    pub(crate) naming: Naming,
    /// An update of what is not there makes it.
    pub(crate) is_made_by_updates: bool,
    /// An update has to say which version it is for.
    pub(crate) updates_name_a_version: bool,
    /// Who deletes gets the object back, not a success.
    pub(crate) is_returned_when_deleted: bool,
    /// The fields that field selectors may name, beside those every kind has.
    pub(crate) selectable: &'static [&'static str],
    /// The fields that a write of the status leaves alone, beside the spec.
    pub(crate) kept_by_status: &'static [&'static [&'static str]],
    /// The fields that never change, and what is said of them.
    immutable: &'static [(&'static str, &'static str)],
    /// The fields of the spec that may change, if the others may not.
    updatable: &'static [&'static str],
    /// Its selector has to match the labels of its template.
    selects_its_template: bool,
    /// What a schema cannot say of what is filled in.
    fill_in: &'static [fn(&mut Fields)],
    /// What it refuses beyond its schema and what all share.
    rules: &'static [rules::Rule],
    /// What a new object gets beyond that.
    fill_in_new: &'static [fn(&mut Object)],
    /// What follows from how it has changed.
    follow: &'static [fn(&mut Object, &Object)],
    /// What who uses it is told.
    pub(crate) warning: Option<&'static str>,
    form: LazyLock<Form>,
}

type Fields = serde_json::Map<String, serde_json::Value>;

/// Which changes `metadata.generation` counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Generation {
    /// None: it is whatever was written first.
    Uncounted,
    /// None, and it is 1.
    One,
    /// Those of anything but metadata and status.
    OfContent,
    /// And those of the annotations.
    OfContentAndAnnotations,
}

/// What a name has to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Naming {
    Subdomain,
    Label,
    /// Anything that can stand in a path.
    PathSegment,
}

impl BuiltIn {
    pub(crate) fn form(&self) -> &Form {
        &self.form
    }

    /// Fills in what may be left out and no default says.
    pub(crate) fn fill_in(&self, object: &mut Object) {
        self.fill_in.iter().for_each(|fill_in| fill_in(&mut object.body));
    }

    /// Fills in what only a new object gets.
    pub(crate) fn fill_in_new(&self, object: &mut Object) {
        self.fill_in_new.iter().for_each(|fill_in| fill_in(object));
    }

    /// Fills in what follows from a change.
    pub(crate) fn follow(&self, object: &mut Object, old: &Object) {
        self.follow.iter().for_each(|follow| follow(object, old));
    }
}
