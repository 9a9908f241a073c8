//! Strategies: the resource-specific steps between a request and the storage, as in the registries of kube-apiserver.

use serde_json::{Map, Value};

use crate::{
    api::{
        endpoint::{Endpoint, PodSubresource},
        error::{FieldError, Result},
        kind::Kind,
        object::{Object, Stored},
    },
    authorization::user::User,
};

/// A validation rule of one or several kinds. It appends its errors.
pub(crate) type Rule = fn(&Change<'_>, &mut Vec<FieldError>);

/// An object to validate, with the object that it replaces.
pub(crate) struct Change<'a> {
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) object: &'a Object,
    pub(crate) old: Option<&'a Object>,
}

/// How the objects of one resource are defaulted, prepared, validated, stored and deleted.
///
/// Hooks run in the order of a request: `defaults`, the defaults of the schema, `default`, `set_user`,
/// `prepare_for_create`, `prepare_for_update` or `prepare_for_subresource`, `propagate`, `rules`, `validate`,
/// `warnings`, `allocate`.
#[derive(Debug)]
pub(crate) struct Strategy {
    /// The effects of writes and deletions on other objects.
    pub(crate) lifecycle: Lifecycle,
    /// Which changes `metadata.generation` counts.
    pub(crate) generation: Generation,
    /// The rule for `metadata.name`.
    pub(crate) naming: Naming,
    /// The verb `deletecollection` is served.
    pub(crate) allows_delete_collection: bool,
    /// `/finalize` is served.
    pub(crate) has_finalize: bool,
    /// `/approval` is served.
    pub(crate) has_approval: bool,
    /// The subresources that only pods have.
    pub(crate) pod_subresources: &'static [PodSubresource],
    /// An update of an object that does not exist creates it (`AllowCreateOnUpdate`).
    pub(crate) allows_create_on_update: bool,
    /// An update without a resource version is accepted (`AllowUnconditionalUpdate`).
    pub(crate) allows_unconditional_update: bool,
    /// A delete returns the object and not a `Status` (`ReturnDeletedObject`).
    pub(crate) returns_deleted_object: bool,
    /// A delete without a propagation policy orphans dependents (`DefaultGarbageCollectionPolicy`).
    pub(crate) orphans_dependents: bool,
    /// A delete ignores propagation policies: objects never have dependents.
    pub(crate) has_no_dependents: bool,
    /// A delete has a grace period.
    pub(crate) has_grace_period: bool,
    /// The metadata rules are applied to updates a second time, by the kind itself.
    pub(crate) revalidates_metadata: bool,
    /// The metadata rules are part of `validate`.
    pub(crate) validates_own_metadata: bool,
    /// `validate` also applies to writes of `/status`.
    pub(crate) validates_status: bool,
    /// Fields for field selectors, beside those of every kind.
    pub(crate) selectable: &'static [&'static str],
    /// Errors of field selectors name the kind.
    pub(crate) names_kind_in_field_errors: bool,
    /// A create stores the status, as that of a node that its kubelet registers.
    pub(crate) creates_status: bool,
    /// Fields that a write of `/status` does not change, beside the spec (`GetResetFields`).
    pub(crate) status_reset_fields: &'static [&'static [&'static str]],
    /// A write of `/status` does not change labels, annotations, finalizers and owners (`ResetObjectMetaForStatus`).
    pub(crate) preserves_metadata_in_status: bool,
    /// Fields that never change, each with the reason for the error.
    pub(crate) immutable: &'static [(&'static str, &'static str)],
    /// The fields of the spec that may change; empty if all may.
    pub(crate) updatable: &'static [&'static str],
    /// The selector must match the labels of the template.
    pub(crate) selects_its_template: bool,
    /// Defaults that the schema cannot express.
    pub(crate) defaults: &'static [fn(&mut Map<String, Value>)],
    /// Defaults of the complete object, after those of the schema.
    pub(crate) default: fn(&mut Object) -> Result<()>,
    /// Sets the fields of a new object that identify the user who creates it.
    pub(crate) set_user: fn(&mut Object, &User),
    /// Sets the fields of a new object (`PrepareForCreate`).
    pub(crate) prepare_for_create: fn(&mut Object) -> Result<()>,
    /// Restores and sets fields of an update (`PrepareForUpdate`).
    pub(crate) prepare_for_update: fn(&mut Object, &Object) -> Result<()>,
    /// Restores, sets and checks fields of an update of `/status` or `/approval`.
    pub(crate) prepare_for_subresource: fn(&Endpoint, &Kind, &mut Object, &Object) -> Result<()>,
    /// Sets fields that follow from a change, also for `/status`.
    pub(crate) propagate: fn(&mut Object, &Object),
    /// Validation beyond the schema, rule by rule.
    pub(crate) rules: &'static [Rule],
    /// Validation of the complete object, and of an update (`Validate`, `ValidateUpdate`).
    pub(crate) validate: fn(&Object, Option<&Object>) -> Vec<FieldError>,
    /// The warnings for a valid object that is created or updated (`WarningsOnCreate`, `WarningsOnUpdate`).
    pub(crate) warnings: fn(&Object) -> Vec<String>,
    /// Admission of a new object, which depends on other objects.
    pub(crate) admit: fn(&dyn Objects, &Kind, &mut Object) -> Result<()>,
    /// Allocates what is unique in the cluster, such as addresses.
    pub(crate) allocate: fn(&dyn Objects, &Kind, &mut Object) -> Result<()>,
    /// Rejects the deletion of objects that the cluster needs.
    pub(crate) check_delete: fn(&Kind, &str) -> Result<()>,
}

/// The stored objects that a hook can read.
pub(crate) trait Objects {
    /// Returns one object of a resource (`plural.group`).
    fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Stored>;

    /// Returns the objects of a resource, of one namespace or of all.
    fn list(&self, resource: &str, namespace: Option<&str>) -> Vec<Stored>;
}

/// The effects of writes and deletions on other objects.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Lifecycle {
    /// Nothing.
    Object,
    /// The deletion of a namespace deletes its contents first.
    Namespace,
    /// A definition serves a kind, and its deletion deletes the objects of that kind first.
    Definition,
    /// The deletion of the last object can complete the deletion of its definition.
    CustomResource,
}

/// Which changes `metadata.generation` counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Generation {
    /// No generation.
    Unset,
    /// Always 1.
    Constant,
    /// Changes of anything but metadata and status.
    Content,
    /// Changes of content, from the first one on: a new object has no generation.
    Updates,
    /// Changes of content and of annotations.
    ContentAndAnnotations,
}

/// The rule for names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Naming {
    /// A DNS-1123 subdomain.
    Subdomain,
    /// A DNS-1123 label.
    Label,
    /// A path segment.
    PathSegment,
}

impl Strategy {
    /// The strategy of a namespaced object without any specific behavior.
    pub(crate) const DEFAULT: Self = Self {
        lifecycle: Lifecycle::Object,
        generation: Generation::Unset,
        naming: Naming::Subdomain,
        allows_delete_collection: true,
        has_finalize: false,
        has_approval: false,
        pod_subresources: &[],
        allows_create_on_update: false,
        allows_unconditional_update: true,
        returns_deleted_object: false,
        orphans_dependents: false,
        has_no_dependents: false,
        has_grace_period: false,
        revalidates_metadata: false,
        validates_own_metadata: false,
        validates_status: true,
        selectable: &[],
        names_kind_in_field_errors: false,
        creates_status: false,
        status_reset_fields: &[],
        preserves_metadata_in_status: false,
        immutable: &[],
        updatable: &[],
        selects_its_template: false,
        defaults: &[],
        default: |_| Ok(()),
        set_user: |_, _| {},
        prepare_for_create: |_| Ok(()),
        prepare_for_update: |_, _| Ok(()),
        prepare_for_subresource: |_, _, _, _| Ok(()),
        propagate: |_, _| {},
        rules: &[],
        validate: |_, _| Vec::new(),
        warnings: |_| Vec::new(),
        admit: |_, _, _| Ok(()),
        allocate: |_, _, _| Ok(()),
        check_delete: |_, _| Ok(()),
    };

    /// The strategy of every custom resource. Its schema validates and defaults it.
    pub(crate) const CUSTOM_RESOURCE: Self = Self {
        lifecycle: Lifecycle::CustomResource,
        generation: Generation::Content,
        allows_unconditional_update: false,
        ..Self::DEFAULT
    };
}
