//! What a cluster is made of and how it is run: nodes, volumes, priorities, admission

use k8s_openapi::api::{
    admissionregistration::v1::{
        MutatingWebhookConfiguration, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
        ValidatingWebhookConfiguration,
    },
    core::v1::{Node, PersistentVolume, PersistentVolumeClaim},
    scheduling::v1::PriorityClass,
    storage::v1::StorageClass,
};

use super::{CORE, IMMUTABLE};
use crate::resource::built_in::{BuiltIn, Form, Generation, fill_in, rules};

const ADMISSION: &str = "admissionregistration.k8s.io";

pub(super) static ALL: [BuiltIn; 9] = [
    BuiltIn::new(CORE, "Node", "nodes", Form::of::<Node>)
        .short_names(&["no"])
        .cluster()
        .status()
        .selectable(&["spec.unschedulable"])
        .filled_in_by(&[fill_in::node])
        .new_is_filled_in_by(&[fill_in::new_node])
        .obeys(&[rules::node]),
    BuiltIn::new(CORE, "PersistentVolume", "persistentvolumes", Form::of::<PersistentVolume>)
        .short_names(&["pv"])
        .cluster()
        .status()
        .returned_when_deleted()
        .new_is_filled_in_by(&[fill_in::new_volume])
        .changes_are_followed_by(&[fill_in::volume_changed])
        .obeys(&[rules::volume]),
    BuiltIn::new(CORE, "PersistentVolumeClaim", "persistentvolumeclaims", Form::of::<PersistentVolumeClaim>)
        .short_names(&["pvc"])
        .status()
        .returned_when_deleted()
        .obeys(&[rules::claim]),
    BuiltIn::new(
        ADMISSION,
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
        Form::of::<MutatingWebhookConfiguration>,
    )
    .in_category(&["api-extensions"])
    .cluster()
    .generation(Generation::OfContent)
    .updates_name_a_version(),
    BuiltIn::new(
        ADMISSION,
        "ValidatingAdmissionPolicy",
        "validatingadmissionpolicies",
        Form::of::<ValidatingAdmissionPolicy>,
    )
    .in_category(&["api-extensions"])
    .cluster()
    .generation(Generation::OfContent)
    .status()
    .updates_name_a_version(),
    BuiltIn::new(
        ADMISSION,
        "ValidatingAdmissionPolicyBinding",
        "validatingadmissionpolicybindings",
        Form::of::<ValidatingAdmissionPolicyBinding>,
    )
    .in_category(&["api-extensions"])
    .cluster()
    .generation(Generation::OfContent)
    .updates_name_a_version(),
    BuiltIn::new(
        ADMISSION,
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
        Form::of::<ValidatingWebhookConfiguration>,
    )
    .in_category(&["api-extensions"])
    .cluster()
    .generation(Generation::OfContent)
    .updates_name_a_version(),
    BuiltIn::new("scheduling.k8s.io", "PriorityClass", "priorityclasses", Form::of::<PriorityClass>)
        .short_names(&["pc"])
        .cluster()
        .generation(Generation::One)
        .obeys(&[rules::priority_class]),
    BuiltIn::new("storage.k8s.io", "StorageClass", "storageclasses", Form::of::<StorageClass>)
        .short_names(&["sc"])
        .cluster()
        .returned_when_deleted()
        .immutable(&[
            ("parameters", IMMUTABLE),
            ("provisioner", IMMUTABLE),
            ("reclaimPolicy", IMMUTABLE),
            ("volumeBindingMode", IMMUTABLE),
        ]),
];
