//! How a row of the table of built-in kinds is written

use std::sync::LazyLock;

use crate::{
    api::object::Object,
    resource::built_in::{BuiltIn, Fields, Form, Generation, Naming, rules::Rule},
};

/// A row says only what is unlike a plain namespaced kind.
impl BuiltIn {
    pub(super) const fn new(group: &'static str, kind: &'static str, plural: &'static str, form: fn() -> Form) -> Self {
        Self {
            group,
            kind,
            plural,
            version: "v1",
            storage_group: group,
            short_names: &[],
            categories: &[],
            namespaced: true,
            has_status: false,
            has_scale: false,
            generation: Generation::Uncounted,
            naming: Naming::Subdomain,
            is_made_by_updates: false,
            updates_name_a_version: false,
            is_returned_when_deleted: false,
            selectable: &[],
            kept_by_status: &[],
            immutable: &[],
            updatable: &[],
            selects_its_template: false,
            fill_in: &[],
            rules: &[],
            fill_in_new: &[],
            follow: &[],
            warning: None,
            form: LazyLock::new(form),
        }
    }

    pub(super) const fn short_names(mut self, names: &'static [&'static str]) -> Self {
        self.short_names = names;
        self
    }

    /// `kubectl get all` shows it.
    pub(super) const fn in_all(self) -> Self {
        self.in_category(&["all"])
    }

    pub(super) const fn in_category(mut self, categories: &'static [&'static str]) -> Self {
        self.categories = categories;
        self
    }

    pub(super) const fn cluster(mut self) -> Self {
        self.namespaced = false;
        self
    }

    pub(super) const fn status(mut self) -> Self {
        self.has_status = true;
        self
    }

    pub(super) const fn kept_by_status(mut self, paths: &'static [&'static [&'static str]]) -> Self {
        self.kept_by_status = paths;
        self
    }

    pub(super) const fn scale(mut self) -> Self {
        self.has_scale = true;
        self
    }

    pub(super) const fn generation(mut self, generation: Generation) -> Self {
        self.generation = generation;
        self
    }

    pub(super) const fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    pub(super) const fn made_by_updates(mut self) -> Self {
        self.is_made_by_updates = true;
        self
    }

    pub(super) const fn updates_name_a_version(mut self) -> Self {
        self.updates_name_a_version = true;
        self
    }

    pub(super) const fn returned_when_deleted(mut self) -> Self {
        self.is_returned_when_deleted = true;
        self
    }

    pub(super) const fn selectable(mut self, fields: &'static [&'static str]) -> Self {
        self.selectable = fields;
        self
    }

    pub(super) const fn immutable(mut self, fields: &'static [(&'static str, &'static str)]) -> Self {
        self.immutable = fields;
        self
    }

    pub(super) const fn updatable(mut self, fields: &'static [&'static str]) -> Self {
        self.updatable = fields;
        self
    }

    pub(super) const fn selects_its_template(mut self) -> Self {
        self.selects_its_template = true;
        self
    }

    pub(super) const fn filled_in_by(mut self, rules: &'static [fn(&mut Fields)]) -> Self {
        self.fill_in = rules;
        self
    }

    pub(super) const fn obeys(mut self, rules: &'static [Rule]) -> Self {
        self.rules = rules;
        self
    }

    /// What is filled in when an object is made, and not when it changes.
    pub(super) const fn new_is_filled_in_by(mut self, rules: &'static [fn(&mut Object)]) -> Self {
        self.fill_in_new = rules;
        self
    }

    /// What is filled in when an object changes, by how it was.
    pub(super) const fn changes_are_followed_by(mut self, rules: &'static [fn(&mut Object, &Object)]) -> Self {
        self.follow = rules;
        self
    }

    /// Stores objects in the representation of another group.
    pub(super) const fn stored_in(mut self, group: &'static str) -> Self {
        self.storage_group = group;
        self
    }

    pub(super) const fn version(mut self, version: &'static str) -> Self {
        self.version = version;
        self
    }

    /// Who uses it is told so.
    pub(super) const fn deprecated(mut self, warning: &'static str) -> Self {
        self.warning = Some(warning);
        self
    }
}
