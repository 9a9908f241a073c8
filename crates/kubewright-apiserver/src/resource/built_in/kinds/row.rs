//! Builder methods for the rows of the table of built-in kinds.

use std::sync::LazyLock;

use crate::{
    api::{
        endpoint::{Endpoint, PodSubresource},
        error::Result,
        kind::Kind,
        object::Object,
    },
    authorization::user::User,
    resource::{
        built_in::{BuiltIn, Fields, TypeInfo},
        stored_representation::Conversion,
        strategy::{Generation, Naming, Objects, Rule, Strategy},
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
            conversion: None,
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

    /// Stores the status of a new object, as for a Node.
    pub(super) const fn creates_status(mut self) -> Self {
        self.strategy.creates_status = true;
        self
    }

    /// A write of `/status` does not change labels, annotations, finalizers and owners.
    pub(super) const fn preserves_metadata_in_status(mut self) -> Self {
        self.strategy.preserves_metadata_in_status = true;
        self
    }

    /// Serves `/approval`.
    pub(super) const fn approval(mut self) -> Self {
        self.strategy.has_approval = true;
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

    /// Defaults of the complete object, after those of the schema.
    pub(super) const fn default_object(mut self, default: fn(&mut Object) -> Result<()>) -> Self {
        self.strategy.default = default;
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

    pub(super) const fn prepare_for_update(mut self, prepare: fn(&mut Object, &Object) -> Result<()>) -> Self {
        self.strategy.prepare_for_update = prepare;
        self
    }

    pub(super) const fn prepare_for_subresource(
        mut self,
        prepare: fn(&Endpoint, &Kind, &mut Object, &Object) -> Result<()>,
    ) -> Self {
        self.strategy.prepare_for_subresource = prepare;
        self
    }

    /// Sets the fields of a new object that identify the user who creates it.
    pub(super) const fn set_user(mut self, set_user: fn(&mut Object, &User)) -> Self {
        self.strategy.set_user = set_user;
        self
    }

    pub(super) const fn propagate(mut self, propagate: fn(&mut Object, &Object)) -> Self {
        self.strategy.propagate = propagate;
        self
    }

    /// The warnings for a written object.
    pub(super) const fn warnings(mut self, warnings: fn(&Object) -> Vec<String>) -> Self {
        self.strategy.warnings = warnings;
        self
    }

    pub(super) const fn revalidates_metadata(mut self) -> Self {
        self.strategy.revalidates_metadata = true;
        self
    }

    /// Stores objects in the representation of another group.
    pub(super) const fn stored_in(mut self, group: &'static str, conversion: &'static Conversion) -> Self {
        self.storage_group = group;
        self.conversion = Some(conversion);
        self
    }

    pub(super) const fn version(mut self, version: &'static str) -> Self {
        self.version = version;
        self
    }

    /// Every request with a supported method returns this warning.
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
