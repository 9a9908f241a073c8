//! Storage classes, and drivers of the container storage interface with their nodes, attachments and capacities.

use k8s_openapi::api::storage::v1::{CSIDriver, CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment};

use super::IMMUTABLE;
use crate::resource::{
    built_in::{BuiltIn, TypeInfo},
    strategy::Generation,
};

/// The group of storage.
pub(super) const STORAGE: &str = "storage.k8s.io";

pub(super) static ALL: [BuiltIn; 5] = [
    BuiltIn::new(STORAGE, "CSIDriver", "csidrivers", TypeInfo::of::<CSIDriver>)
        .cluster()
        .generation(Generation::Content)
        .requires_resource_version()
        .returns_deleted_object()
        .immutable(&[("spec.attachRequired", IMMUTABLE), ("spec.volumeLifecycleModes", IMMUTABLE)]),
    BuiltIn::new(STORAGE, "CSINode", "csinodes", TypeInfo::of::<CSINode>)
        .cluster()
        .requires_resource_version()
        .returns_deleted_object(),
    BuiltIn::new(STORAGE, "CSIStorageCapacity", "csistoragecapacities", TypeInfo::of::<CSIStorageCapacity>)
        .requires_resource_version()
        .immutable(&[("nodeTopology", IMMUTABLE), ("storageClassName", IMMUTABLE)]),
    BuiltIn::new(STORAGE, "StorageClass", "storageclasses", TypeInfo::of::<StorageClass>)
        .short_names(&["sc"])
        .cluster()
        .returns_deleted_object()
        .immutable(&[
            ("parameters", IMMUTABLE),
            ("provisioner", IMMUTABLE),
            ("reclaimPolicy", IMMUTABLE),
            ("volumeBindingMode", IMMUTABLE),
        ]),
    BuiltIn::new(STORAGE, "VolumeAttachment", "volumeattachments", TypeInfo::of::<VolumeAttachment>)
        .cluster()
        .status()
        .requires_resource_version()
        .returns_deleted_object()
        .immutable(&[("spec", IMMUTABLE)]),
];
