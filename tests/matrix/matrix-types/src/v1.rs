//! Version `v1` of group `matrix.example.org`: the kinds, which macros generate from the table.

use k8s_openapi::{
    api::autoscaling::v1::Scale,
    apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta},
};
use renamed::core::{ApiObject, ApiType, ApplyConfiguration, DeepCopy, Object, ObjectList};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The desired state of any kind of the matrix.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct Spec {
    /// A word.
    pub word: Option<String>,
    /// The desired replicas.
    pub count: Option<i32>,
}

/// The observed state of any kind of the matrix.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct Status {
    /// A word.
    pub word: Option<String>,
    /// The current replicas.
    pub count: Option<i32>,
}

/// An input and result type of extension methods, other than the kind itself.
#[derive(Clone, Debug, Default, PartialEq, ApplyConfiguration, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Letter {
    /// The API version that it is sent as.
    pub api_version: String,
    /// The kind it is sent as.
    pub kind: String,
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    /// The desired state.
    pub spec: Spec,
}

/// A result type of extension methods that return lists.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Letters {
    /// The letters.
    pub items: Vec<Letter>,
}

/// Declares a kind by its scope, its status and the options of `#[genclient]`.
macro_rules! kind {
    (Namespaced $($rest:tt)*) => { kind! { [] $($rest)* } };
    (Cluster $($rest:tt)*) => { kind! { [non_namespaced,] $($rest)* } };
    ([$($scope:tt)*] NoStatus $($rest:tt)*) => { kind! { [$($scope)* no_status,] Status $($rest)* } };
    ([$($scope:tt)*] Status $kind:ident [$($options:tt)*]) => {
        #[doc = concat!("The kind `", stringify!($kind), "` of the matrix.")]
        #[derive(Clone, Debug, Default, PartialEq, ApplyConfiguration, DeepCopy, JsonSchema, Object)]
        #[genclient($($scope)* $($options)*)]
        #[k8s(subresource(status))]
        pub struct $kind {
            /// Standard object metadata.
            pub metadata: ObjectMeta,
            /// The desired state.
            pub spec: Spec,
            /// The observed state.
            pub status: Option<Status>,
        }
    };
    ([$($scope:tt)*] Plain $kind:ident [$($options:tt)*]) => {
        #[doc = concat!("The kind `", stringify!($kind), "` of the matrix.")]
        #[derive(Clone, Debug, Default, PartialEq, ApplyConfiguration, DeepCopy, JsonSchema, Object)]
        #[genclient($($scope)* $($options)*)]
        pub struct $kind {
            /// Standard object metadata.
            pub metadata: ObjectMeta,
            /// The desired state.
            pub spec: Spec,
        }
    };
}

macro_rules! list {
    ($list:ident of $kind:ident) => {
        #[doc = concat!("A list of `", stringify!($kind), "` objects.")]
        #[derive(Clone, Debug, Default, PartialEq, DeepCopy, ObjectList)]
        pub struct $list {
            /// Standard list metadata.
            pub metadata: ListMeta,
            /// The objects.
            pub items: Vec<$kind>,
        }
    };
}

/// Declares a kind with every extension method: each verb on the object, its status and its scale, with the kind's own
/// types and with others.
macro_rules! extended {
    ($kind:ident $($scope:ident)?) => {
        #[doc = concat!("The kind `", stringify!($kind), "`, whose client has every extension method.")]
        #[derive(Clone, Debug, Default, PartialEq, ApiObject)]
        #[genclient(
            $($scope,)?
            method(name = get_own, verb = get),
            method(name = get_other, verb = get, result = Letter),
            method(name = get_status_own, verb = get, subresource = "status"),
            method(name = get_status_other, verb = get, subresource = "status", result = Value),
            method(name = get_scale_own, verb = get, subresource = "scale"),
            method(name = get_scale_other, verb = get, subresource = "scale", result = Scale),
            method(name = list_own, verb = list),
            method(name = list_other, verb = list, result = Letters),
            method(name = list_status_own, verb = list, subresource = "status"),
            method(name = list_status_other, verb = list, subresource = "status", result = Value),
            method(name = list_scale_own, verb = list, subresource = "scale"),
            method(name = list_scale_other, verb = list, subresource = "scale", result = Scale),
            method(name = create_own, verb = create),
            method(name = create_other, verb = create, input = Letter, result = Letter),
            method(name = create_status_own, verb = create, subresource = "status"),
            method(name = create_status_other, verb = create, subresource = "status", input = Value, result = Value),
            method(name = create_scale_own, verb = create, subresource = "scale"),
            method(name = create_scale_other, verb = create, subresource = "scale", input = Scale, result = Scale),
            method(name = update_own, verb = update),
            method(name = update_other, verb = update, input = Letter, result = Letter),
            method(name = update_status_own, verb = update, subresource = "status"),
            method(name = update_status_other, verb = update, subresource = "status", input = Value, result = Value),
            method(name = update_scale_own, verb = update, subresource = "scale"),
            method(name = update_scale_other, verb = update, subresource = "scale", input = Scale, result = Scale),
            method(name = patch_own, verb = patch),
            method(name = patch_other, verb = patch, result = Letter),
            method(name = patch_status_own, verb = patch, subresource = "status"),
            method(name = patch_status_other, verb = patch, subresource = "status", result = Value),
            method(name = patch_scale_own, verb = patch, subresource = "scale"),
            method(name = patch_scale_other, verb = patch, subresource = "scale", result = Scale),
            method(name = apply_own, verb = apply),
            method(name = apply_other, verb = apply, input = Letter, result = Letter),
            method(name = apply_status_own, verb = apply, subresource = "status"),
            method(name = apply_status_other, verb = apply, subresource = "status", input = Value, result = Value),
            method(name = apply_scale_own, verb = apply, subresource = "scale"),
            method(name = apply_scale_other, verb = apply, subresource = "scale", input = Scale, result = Scale),
        )]
        #[k8s(subresource(status, scale(spec_path = ".spec.count", status_path = ".status.count")))]
        pub struct $kind {
            /// Standard object metadata.
            pub metadata: ObjectMeta,
            /// The desired state.
            pub spec: Spec,
            /// The observed state.
            pub status: Option<Status>,
        }
    };
}

extended! { NamespacedExtended }
extended! { ClusterExtended non_namespaced }

macro_rules! declare {
    ($(
        $scope:ident $status:ident $kind:ident ($($list:ident)?) $apply:ident
            $getter:ident $options:tt $verbs:tt;
    )*) => {
        $(
            kind! { $scope $status $kind $options }
            $(list! { $list of $kind })?
        )*

        renamed::core::group_version! {
            group = "matrix.example.org",
            version = "v1",
            kinds = [
                $($kind, $($list,)?)*
                NamespacedExtended, NamespacedExtendedList, ClusterExtended, ClusterExtendedList,
            ],
        }
    };
}

crate::for_each_kind! { declare }
