//! Builder methods for the rows of the table of built-in kinds.

use std::sync::LazyLock;

use crate::{
    api::{endpoint::PodSubresource, error::Result, kind::Kind, object::Object},
    resource::{
        built_in::{BuiltIn, Fields, TypeInfo, rules::Rule},
        strategy::{Generation, Naming, Objects, Strategy},
    },
};

/// A row specifies only what differs from a plain namespaced kind.
impl BuiltIn {
    pub(super) const fn new(
        group: &'static str,
        kind: &'static str,
        plural: &'static str,
        type_info: fn() -> TypeInfo,
    ) -> Self {
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
            strategy: Strategy::DEFAULT,
            warning: None,
            type_info: LazyLock::new(type_info),
        }
    }

    pub(super) const fn short_names(mut self, names: &'static [&'static str]) -> Self {
        self.short_names = names;
        self
    }

    /// Adds the kind to the category `all`.
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

    pub(super) const fn status_reset_fields(mut self, paths: &'static [&'static [&'static str]]) -> Self {
        self.strategy.status_reset_fields = paths;
        self
    }

    pub(super) const fn scale(mut self) -> Self {
        self.has_scale = true;
        self
    }

    pub(super) const fn generation(mut self, generation: Generation) -> Self {
        self.strategy.generation = generation;
        self
    }

    pub(super) const fn naming(mut self, naming: Naming) -> Self {
        self.strategy.naming = naming;
        self
    }

    pub(super) const fn allows_create_on_update(mut self) -> Self {
        self.strategy.allows_create_on_update = true;
        self
    }

    pub(super) const fn requires_resource_version(mut self) -> Self {
        self.strategy.allows_unconditional_update = false;
        self
    }

    pub(super) const fn returns_deleted_object(mut self) -> Self {
        self.strategy.returns_deleted_object = true;
        self
    }

    pub(super) const fn selectable(mut self, fields: &'static [&'static str]) -> Self {
        self.strategy.selectable = fields;
        self
    }

    pub(super) const fn immutable(mut self, fields: &'static [(&'static str, &'static str)]) -> Self {
        self.strategy.immutable = fields;
        self
    }

    pub(super) const fn updatable(mut self, fields: &'static [&'static str]) -> Self {
        self.strategy.updatable = fields;
        self
    }

    pub(super) const fn selects_its_template(mut self) -> Self {
        self.strategy.selects_its_template = true;
        self
    }

    /// Defaults that the schema cannot express.
    pub(super) const fn defaults(mut self, defaults: &'static [fn(&mut Fields)]) -> Self {
        self.strategy.defaults = defaults;
        self
    }

    /// Validation beyond the schema.
    pub(super) const fn rules(mut self, rules: &'static [Rule]) -> Self {
        self.strategy.rules = rules;
        self
    }

    pub(super) const fn prepare_for_create(mut self, prepare: fn(&mut Object) -> Result<()>) -> Self {
        self.strategy.prepare_for_create = prepare;
        self
    }

    pub(super) const fn propagate(mut self, propagate: fn(&mut Object, &Object)) -> Self {
        self.strategy.propagate = propagate;
        self
    }

    pub(super) const fn revalidates_metadata(mut self) -> Self {
        self.strategy.revalidates_metadata = true;
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

    /// Every request for the kind returns this warning.
    pub(super) const fn deprecated(mut self, warning: &'static str) -> Self {
        self.warning = Some(warning);
        self
    }

    pub(super) const fn pod_subresources(mut self, pod_subresources: &'static [PodSubresource]) -> Self {
        self.strategy.pod_subresources = pod_subresources;
        self
    }

    pub(super) const fn admit(mut self, admit: fn(&dyn Objects, &Kind, &mut Object) -> Result<()>) -> Self {
        self.strategy.admit = admit;
        self
    }

    pub(super) const fn allocate(mut self, allocate: fn(&dyn Objects, &Kind, &mut Object) -> Result<()>) -> Self {
        self.strategy.allocate = allocate;
        self
    }

    pub(super) const fn check_delete(mut self, check_delete: fn(&Kind, &str) -> Result<()>) -> Self {
        self.strategy.check_delete = check_delete;
        self
    }

    pub(super) const fn grace_period(mut self) -> Self {
        self.strategy.has_grace_period = true;
        self
    }

    pub(super) const fn orphans_dependents(mut self) -> Self {
        self.strategy.orphans_dependents = true;
        self
    }

    pub(super) const fn has_no_dependents(mut self) -> Self {
        self.strategy.has_no_dependents = true;
        self
    }

    pub(super) const fn names_kind_in_field_errors(mut self) -> Self {
        self.strategy.names_kind_in_field_errors = true;
        self
    }

    /// Sets the complete strategy.
    pub(super) const fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }
}
