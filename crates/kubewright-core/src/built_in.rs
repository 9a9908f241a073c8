//! Metadata of the built-in kinds of Kubernetes, for their clients, listers and informers.
//!
//! All kinds of stable versions that can be listed and that k8s-openapi has for every Kubernetes version it supports,
//! 1.33 to 1.37.

use k8s_openapi::{List, ListableResource, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    deep_copy::DeepCopy,
    meta::{ApiKind, ClientVerb, HasScope},
    object::{Listed, Object},
    verbs,
};

/// A built-in kind of Kubernetes. Its client has every verb.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a built-in kind of Kubernetes",
    label = "expected a kind of k8s-openapi in a stable version that can be listed",
    note = "list a type of kube's `CustomResource` derive in `custom_resources = [..]` of `adopt!`"
)]
pub trait BuiltIn:
    Object
    + Clone
    + DeepCopy
    + ListableResource<Scope: HasScope>
    + k8s_openapi::Metadata<Ty = ObjectMeta>
    + Serialize
    + DeserializeOwned
{
    /// The metadata of the kind.
    const API_KIND: ApiKind;
}

/// A built-in kind of Kubernetes with a status.
pub trait BuiltInWithStatus: BuiltIn {}

const VERBS: &[ClientVerb] = &[
    ClientVerb::Create,
    ClientVerb::Update,
    ClientVerb::Delete,
    ClientVerb::DeleteCollection,
    ClientVerb::Get,
    ClientVerb::List,
    ClientVerb::Watch,
    ClientVerb::Patch,
    ClientVerb::Apply,
    ClientVerb::UpdateStatus,
    ClientVerb::ApplyStatus,
];

const fn api_kind<T: ListableResource<Scope: HasScope>>(has_status: bool) -> ApiKind {
    let (without_status, _) = VERBS.split_at(VERBS.len() - 2);
    ApiKind {
        kind: T::KIND,
        rust_name: T::KIND,
        plural: T::URL_PATH_SEGMENT,
        scope: <T::Scope as HasScope>::SCOPE,
        genclient: true,
        verbs: if has_status { VERBS } else { without_status },
        status: has_status,
        ..ApiKind::DEFAULT
    }
}

macro_rules! built_in {
    ($($module:ident)::* { $($kind:ident $(($status:ident))?)* }) => {
        const _: () = {
            use k8s_openapi::$($module)::* as types;
            $(
                impl BuiltIn for types::$kind {
                    const API_KIND: ApiKind = api_kind::<types::$kind>(built_in!(@has $($status)?));
                }
                impl Listed for types::$kind {
                    type List = List<Self>;
                }
                impl verbs::Granted for types::$kind {
                    const VERBS: &'static [ClientVerb] = <Self as BuiltIn>::API_KIND.verbs;
                }
                impl verbs::Create for types::$kind {}
                impl verbs::Update for types::$kind {}
                impl verbs::Delete for types::$kind {}
                impl verbs::DeleteCollection for types::$kind {}
                impl verbs::Get for types::$kind {}
                impl verbs::List for types::$kind {}
                impl verbs::Watch for types::$kind {}
                impl verbs::Patch for types::$kind {}
                impl verbs::Apply for types::$kind {}
                $(built_in!(@$status types::$kind);)?
            )*
        };
    };
    (@has) => { false };
    (@has status) => { true };
    (@status $kind:ty) => {
        impl BuiltInWithStatus for $kind {}
        impl verbs::UpdateStatus for $kind {}
        impl verbs::ApplyStatus for $kind {}
    };
}

built_in! { api::admissionregistration::v1 {
    MutatingWebhookConfiguration ValidatingAdmissionPolicy(status) ValidatingAdmissionPolicyBinding
    ValidatingWebhookConfiguration
} }
built_in! { api::apps::v1 {
    ControllerRevision DaemonSet(status) Deployment(status) ReplicaSet(status) StatefulSet(status)
} }
built_in! { api::autoscaling::v1 {
    HorizontalPodAutoscaler(status)
} }
built_in! { api::autoscaling::v2 {
    HorizontalPodAutoscaler(status)
} }
built_in! { api::batch::v1 {
    CronJob(status) Job(status)
} }
built_in! { api::certificates::v1 {
    CertificateSigningRequest(status)
} }
built_in! { api::coordination::v1 {
    Lease
} }
built_in! { api::core::v1 {
    ConfigMap Endpoints Event LimitRange Namespace(status) Node(status) PersistentVolume(status)
    PersistentVolumeClaim(status) Pod(status) PodTemplate ReplicationController(status) ResourceQuota(status) Secret
    Service(status) ServiceAccount
} }
built_in! { api::discovery::v1 {
    EndpointSlice
} }
built_in! { api::events::v1 {
    Event
} }
built_in! { api::flowcontrol::v1 {
    FlowSchema(status) PriorityLevelConfiguration(status)
} }
built_in! { api::networking::v1 {
    Ingress(status) IngressClass IPAddress NetworkPolicy ServiceCIDR(status)
} }
built_in! { api::node::v1 {
    RuntimeClass
} }
built_in! { api::policy::v1 {
    PodDisruptionBudget(status)
} }
built_in! { api::rbac::v1 {
    ClusterRole ClusterRoleBinding Role RoleBinding
} }
built_in! { api::scheduling::v1 {
    PriorityClass
} }
built_in! { api::storage::v1 {
    CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment(status)
} }
built_in! { apiextensions_apiserver::pkg::apis::apiextensions::v1 {
    CustomResourceDefinition(status)
} }
built_in! { kube_aggregator::pkg::apis::apiregistration::v1 {
    APIService(status)
} }

impl<T: ListableResource + DeepCopy> DeepCopy for List<T> {
    fn deep_copy(&self) -> Self {
        List { items: self.items.deep_copy(), metadata: self.metadata.deep_copy() }
    }

    fn deep_copy_into(&self, target: &mut Self) {
        self.items.deep_copy_into(&mut target.items);
        self.metadata.deep_copy_into(&mut target.metadata);
    }
}
