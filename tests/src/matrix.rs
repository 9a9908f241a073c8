//! The matrix of kinds on a server: what the table, the types and the client of a kind grant.

pub mod calls;
mod verify;

use std::marker::PhantomData;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kubewright_core::{
    meta::{ApiKind, ClientVerb, Scope},
    verbs,
};
use matrix_client::Clientset;

pub use calls::Call;

/// A kind with the verbs that the table grants it and the calls of its client.
pub struct Subject {
    /// The constant that its derive generates.
    pub kind: ApiKind,
    /// Its scope in the table.
    pub scope: Scope,
    /// Its status option in the table: `Status`, `NoStatus` or `Plain`.
    pub status: &'static str,
    /// The getter of its client.
    pub getter: &'static str,
    /// Every verb, and whether the types grant it.
    pub granted: [(ClientVerb, bool); 11],
    /// The calls of its client for the verbs that the table grants.
    pub calls: Vec<Call>,
}

impl Subject {
    /// Reports whether the table grants a verb.
    pub fn grants(&self, verb: ClientVerb) -> bool {
        self.calls.iter().any(|call| call.verb == verb)
    }

    /// Returns the namespace of its objects if the kind is namespaced.
    pub fn namespace<'a>(&self, namespace: &'a str) -> Option<&'a str> {
        (self.scope == Scope::Namespaced).then_some(namespace)
    }

    /// Verifies every granted verb of its client.
    ///
    /// # Panics
    /// If a verb does not behave as specified.
    pub async fn verify(&self, clientset: &Clientset, namespace: &str) {
        let verifier = verify::Verifier::new(self, clientset, namespace);
        for call in &self.calls {
            verifier.verb(call).await;
        }
    }
}

/// The verbs that the types grant a kind: the constant of a verb comes from this type if the verb is granted, and from
/// [`NotGranted`] otherwise.
pub struct Probe<K>(PhantomData<K>);

macro_rules! probes {
    ($($verb:ident $name:ident),* $(,)?) => {
        /// The constants of a [`Probe`] for verbs that are not granted.
        pub trait NotGranted {
            $(#[doc = concat!("Whether `", stringify!($verb), "` is granted.")] const $name: bool = false;)*
        }

        impl<K> NotGranted for Probe<K> {}

        $(impl<K: verbs::$verb> Probe<K> {
            #[doc = concat!("Whether `", stringify!($verb), "` is granted.")]
            pub const $name: bool = true;
        })*
    };
}

probes! {
    Create CREATE,
    Update UPDATE,
    UpdateStatus UPDATE_STATUS,
    Delete DELETE,
    DeleteCollection DELETE_COLLECTION,
    Get GET,
    List LIST,
    Watch WATCH,
    Patch PATCH,
    Apply APPLY,
    ApplyStatus APPLY_STATUS,
}

/// Returns every verb, and whether the types grant it to a kind.
#[doc(hidden)]
#[macro_export]
macro_rules! granted {
    ($kind:ident: $($verb:ident $name:ident),* $(,)?) => {
        [$((kubewright_core::meta::ClientVerb::$verb, $crate::matrix::Probe::<matrix_types::v1::$kind>::$name)),*]
    };
    ($kind:ident) => {
        $crate::granted! {
            $kind:
            Create CREATE, Update UPDATE, UpdateStatus UPDATE_STATUS, Delete DELETE, DeleteCollection DELETE_COLLECTION,
            Get GET, List LIST, Watch WATCH, Patch PATCH, Apply APPLY, ApplyStatus APPLY_STATUS,
        }
    };
}

/// Returns the [`Subject`] of an entry of the matrix, on a clientset and in a namespace.
#[macro_export]
macro_rules! subject {
    (
        $clientset:ident $namespace:ident
        $scope:ident $status:ident $kind:ident $apply:ident $getter:ident $options:tt [$($verb:ident)*]
    ) => {{
        #[allow(unused_imports)]
        use $crate::matrix::NotGranted as _;
        $crate::matrix::Subject {
            kind: <matrix_types::v1::$kind as kubewright_core::Kind>::API_KIND,
            scope: kubewright_core::meta::Scope::$scope,
            status: stringify!($status),
            getter: stringify!($getter),
            granted: $crate::granted!($kind),
            calls: vec![$(
                $crate::call!($verb $apply, $crate::client!($clientset $namespace $scope $getter))
            ),*],
        }
    }};
}

/// Returns the generated client of a kind, by its getter.
#[doc(hidden)]
#[macro_export]
macro_rules! client {
    ($clientset:ident $namespace:ident Namespaced $getter:ident) => {
        $clientset.matrix_v1().$getter($namespace)
    };
    ($clientset:ident $namespace:ident Cluster $getter:ident) => {
        $clientset.matrix_v1().$getter()
    };
}

/// Returns the call of a verb; verbs that apply take the generated apply configuration.
#[doc(hidden)]
#[macro_export]
macro_rules! call {
    (apply $apply:ident, $client:expr) => {
        $crate::matrix::calls::apply::<_, matrix_client::applyconfigurations::matrix_v1::$apply>($client)
    };
    (apply_status $apply:ident, $client:expr) => {
        $crate::matrix::calls::apply_status::<_, matrix_client::applyconfigurations::matrix_v1::$apply>($client)
    };
    ($verb:ident $apply:ident, $client:expr) => {
        $crate::matrix::calls::$verb($client)
    };
}

/// Reads the generated CRDs of the matrix, of these resources or of all.
///
/// # Panics
/// If they cannot be read.
pub fn crds(plurals: Option<&[&str]>) -> Vec<CustomResourceDefinition> {
    let kinds = matrix_types::v1::API_GROUP.kinds().map(|kind| kind.plural);
    let is_wanted = |plural: &&str| plurals.is_none_or(|plurals| plurals.contains(plural));
    let directory = crate::workspace_root().join("tests/matrix/config/crd/bases");
    let read = |plural| {
        let text = std::fs::read_to_string(directory.join(format!("matrix.example.org_{plural}.yaml")));
        serde_saphyr::from_str(&text.expect("the file can be read")).expect("a CRD")
    };
    kinds.filter(is_wanted).map(read).collect()
}
