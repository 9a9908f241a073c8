//! Kinds that were added in one of the versions of Kubernetes that k8s-openapi supports: devices and their claims,
//! volume attributes classes and mutating admission policies.

use crate::resource::built_in::BuiltIn;

k8s_openapi::k8s_if_ge_1_34! {
    use k8s_openapi::api::{
        resource::v1::{DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice},
        storage::v1::VolumeAttributesClass,
    };

    use super::{IMMUTABLE, storage::STORAGE};
    use crate::resource::{
        built_in::{TypeInfo, defaults, rules},
        strategy::Generation,
    };

    const RESOURCE: &str = "resource.k8s.io";

    pub(super) static SINCE_1_34: [BuiltIn; 5] = [
        BuiltIn::new(RESOURCE, "DeviceClass", "deviceclasses", TypeInfo::new::<DeviceClass>)
            .cluster()
            .generation(Generation::Content)
            .returns_deleted_object(),
        BuiltIn::new(RESOURCE, "ResourceClaim", "resourceclaims", TypeInfo::new::<ResourceClaim>)
            .status()
            .preserves_metadata_in_status()
            .status_reset_fields(&[&["metadata"]])
            .returns_deleted_object()
            .defaults(&[defaults::resource_claim])
            .immutable(&[("spec", IMMUTABLE)]),
        BuiltIn::new(
            RESOURCE,
            "ResourceClaimTemplate",
            "resourceclaimtemplates",
            TypeInfo::new::<ResourceClaimTemplate>,
        )
        .returns_deleted_object()
        .defaults(&[defaults::resource_claim_template])
        .immutable(&[("spec", IMMUTABLE)]),
        BuiltIn::new(RESOURCE, "ResourceSlice", "resourceslices", TypeInfo::new::<ResourceSlice>)
            .cluster()
            .generation(Generation::Content)
            .returns_deleted_object()
            .selectable(&["spec.driver", "spec.nodeName"])
            .defaults(&[defaults::resource_slice])
            .immutable(&[("spec.driver", IMMUTABLE), ("spec.nodeName", IMMUTABLE), ("spec.pool.name", IMMUTABLE)]),
        BuiltIn::new(
            STORAGE,
            "VolumeAttributesClass",
            "volumeattributesclasses",
            TypeInfo::new::<VolumeAttributesClass>,
        )
        .short_names(&["vac"])
        .cluster()
        .returns_deleted_object()
        .prepare_for_create(defaults::new_attributes_class)
        .rules(&[rules::volume_attributes_class]),
    ];
}
k8s_openapi::k8s_if_le_1_33! {
    pub(super) static SINCE_1_34: [BuiltIn; 0] = [];
}

k8s_openapi::k8s_if_ge_1_36! {
    use k8s_openapi::api::admissionregistration::v1::{MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding};

    use super::cluster::ADMISSION;

    pub(super) static SINCE_1_36: [BuiltIn; 2] = [
        BuiltIn::new(
            ADMISSION,
            "MutatingAdmissionPolicy",
            "mutatingadmissionpolicies",
            TypeInfo::new::<MutatingAdmissionPolicy>,
        )
        .in_category(&["api-extensions"])
        .cluster()
        .generation(Generation::Content)
        .requires_resource_version(),
        BuiltIn::new(
            ADMISSION,
            "MutatingAdmissionPolicyBinding",
            "mutatingadmissionpolicybindings",
            TypeInfo::new::<MutatingAdmissionPolicyBinding>,
        )
        .in_category(&["api-extensions"])
        .cluster()
        .generation(Generation::Content)
        .requires_resource_version(),
    ];
}
k8s_openapi::k8s_if_le_1_35! {
    pub(super) static SINCE_1_36: [BuiltIn; 0] = [];
}
