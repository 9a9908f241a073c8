//! Storage classes, and drivers of the container storage interface with their nodes, attachments and capacities.

use k8s_openapi::api::storage::v1::{CSIDriver, CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment};

use super::IMMUTABLE;
use crate::{
    api::object::Object,
    resource::{
        built_in::{BuiltIn, TypeInfo, rules},
        strategy::Generation,
    },
};

/// The group of storage.
pub(super) const STORAGE: &str = "storage.k8s.io";

pub(super) static ALL: [BuiltIn; 5] = [
    BuiltIn::new(STORAGE, "CSIDriver", "csidrivers", TypeInfo::new::<CSIDriver>)
        .cluster()
        .generation(Generation::Updates)
        .requires_resource_version()
        .returns_deleted_object()
        .immutable(&[("spec.volumeLifecycleModes", IMMUTABLE)])
        .rules(&[rules::csi_driver])
        .warnings(driver_warnings),
    BuiltIn::new(STORAGE, "CSINode", "csinodes", TypeInfo::new::<CSINode>)
        .cluster()
        .requires_resource_version()
        .returns_deleted_object(),
    BuiltIn::new(STORAGE, "CSIStorageCapacity", "csistoragecapacities", TypeInfo::new::<CSIStorageCapacity>)
        .requires_resource_version()
        .immutable(&[("nodeTopology", IMMUTABLE), ("storageClassName", IMMUTABLE)])
        .rules(&[rules::csi_storage_capacity]),
    BuiltIn::new(STORAGE, "StorageClass", "storageclasses", TypeInfo::new::<StorageClass>)
        .short_names(&["sc"])
        .cluster()
        .returns_deleted_object()
        .immutable(&[
            ("parameters", IMMUTABLE),
            ("provisioner", IMMUTABLE),
            ("reclaimPolicy", IMMUTABLE),
            ("volumeBindingMode", IMMUTABLE),
        ]),
    BuiltIn::new(STORAGE, "VolumeAttachment", "volumeattachments", TypeInfo::new::<VolumeAttachment>)
        .cluster()
        .status()
        .requires_resource_version()
        .returns_deleted_object()
        .immutable(&[("spec", IMMUTABLE)])
        .rules(&[rules::volume_attachment]),
];

/// Returns the warning for a driver with tokens that does not specify whether they are in secrets.
fn driver_warnings(driver: &Object) -> Vec<String> {
    const WARNING: &str = "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent \
                           possible logging of tokens in volume attributes";
    let is_set = |name: &str| driver.field(name).is_some();
    if is_set("spec.tokenRequests") && !is_set("spec.serviceAccountTokenInSecrets") {
        vec![WARNING.to_owned()]
    } else {
        Vec::new()
    }
}
