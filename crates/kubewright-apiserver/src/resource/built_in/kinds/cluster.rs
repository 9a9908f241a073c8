//! Namespaces, nodes, volumes, priority and runtime classes, and admission configurations.

use k8s_openapi::api::{
    admissionregistration::v1::{
        MutatingWebhookConfiguration, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
        ValidatingWebhookConfiguration,
    },
    core::v1::{Namespace, Node, PersistentVolume, PersistentVolumeClaim},
    node::v1::RuntimeClass,
    scheduling::v1::PriorityClass,
};

use serde_json::json;

use super::{CORE, IMMUTABLE};
use crate::resource::{
    built_in::{BuiltIn, TypeInfo, defaults, rules},
    managed_fields, namespace, priority_class,
    strategy::{Generation, Lifecycle, Naming, Strategy},
};

/// The group of admission configurations.
pub(super) const ADMISSION: &str = "admissionregistration.k8s.io";

pub(super) static NAMESPACE: BuiltIn = BuiltIn::new(CORE, "Namespace", "namespaces", || {
    let conditions =
        json!({ "title": "v1.NamespaceStatus", "properties": { "conditions": { "items": { "properties": {} } } } });
    let types = &managed_fields::built_in::NAMESPACE;
    TypeInfo::typed::<Namespace>(types, managed_fields::built_in::empty_namespace(), Some(conditions))
})
.short_names(&["ns"])
.cluster()
.status()
.strategy(Strategy {
    lifecycle: Lifecycle::Namespace,
    generation: Generation::Content,
    naming: Naming::Label,
    allows_delete_collection: false,
    has_finalize: true,
    selectable: &["status.phase"],
    default: |namespace| {
        namespace::default(namespace);
        Ok(())
    },
    prepare_for_create: |namespace| {
        namespace::prepare_create(namespace);
        Ok(())
    },
    prepare_for_update: |namespace, old| {
        namespace::prepare_update(namespace, old);
        Ok(())
    },
    check_delete: namespace::check_delete,
    ..Strategy::DEFAULT
});

pub(super) static ALL: [BuiltIn; 9] = [
    BuiltIn::new(CORE, "Node", "nodes", TypeInfo::new::<Node>)
        .short_names(&["no"])
        .cluster()
        .status()
        .creates_status()
        .selectable(&["spec.unschedulable"])
        .defaults(&[defaults::node])
        .prepare_for_create(defaults::new_node)
        .rules(&[rules::node]),
    BuiltIn::new(CORE, "PersistentVolume", "persistentvolumes", TypeInfo::new::<PersistentVolume>)
        .short_names(&["pv"])
        .cluster()
        .status()
        .returns_deleted_object()
        .prepare_for_create(defaults::new_volume)
        .propagate(defaults::volume_changed)
        .rules(&[rules::volume]),
    BuiltIn::new(CORE, "PersistentVolumeClaim", "persistentvolumeclaims", TypeInfo::new::<PersistentVolumeClaim>)
        .revalidates_metadata()
        .short_names(&["pvc"])
        .status()
        .returns_deleted_object()
        .prepare_for_create(defaults::new_claim)
        .rules(&[rules::claim]),
    BuiltIn::new(
        ADMISSION,
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
        TypeInfo::new::<MutatingWebhookConfiguration>,
    )
    .in_category(&["api-extensions"])
    .cluster()
    .generation(Generation::Content)
    .requires_resource_version(),
    BuiltIn::new(
        ADMISSION,
        "ValidatingAdmissionPolicy",
        "validatingadmissionpolicies",
        TypeInfo::new::<ValidatingAdmissionPolicy>,
    )
    .in_category(&["api-extensions"])
    .cluster()
    .generation(Generation::Content)
    .status()
    .requires_resource_version(),
    BuiltIn::new(
        ADMISSION,
        "ValidatingAdmissionPolicyBinding",
        "validatingadmissionpolicybindings",
        TypeInfo::new::<ValidatingAdmissionPolicyBinding>,
    )
    .in_category(&["api-extensions"])
    .cluster()
    .generation(Generation::Content)
    .requires_resource_version(),
    BuiltIn::new(
        ADMISSION,
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
        TypeInfo::new::<ValidatingWebhookConfiguration>,
    )
    .in_category(&["api-extensions"])
    .cluster()
    .generation(Generation::Content)
    .requires_resource_version(),
    BuiltIn::new("node.k8s.io", "RuntimeClass", "runtimeclasses", TypeInfo::new::<RuntimeClass>)
        .cluster()
        .allows_create_on_update()
        .requires_resource_version()
        .immutable(&[("handler", IMMUTABLE)])
        .rules(&[rules::runtime_class]),
    BuiltIn::new("scheduling.k8s.io", "PriorityClass", "priorityclasses", TypeInfo::new::<PriorityClass>)
        .check_delete(priority_class::check_delete)
        .short_names(&["pc"])
        .cluster()
        .generation(Generation::Constant)
        .rules(&[rules::priority_class]),
];
