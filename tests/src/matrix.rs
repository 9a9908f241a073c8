//! The matrix of kinds on a server: what the table, the types and the client of a kind grant.

pub mod calls;
mod verify;

use std::marker::PhantomData;

use fixture_client::Clientset;
use kubewright_core::{
    Kind,
    meta::{ApiKind, ClientVerb, Scope},
    verbs,
};

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
struct Probe<K>(PhantomData<K>);

macro_rules! probes {
    ($($verb:ident $name:ident),* $(,)?) => {
        /// The constants of a [`Probe`] for verbs that are not granted.
        trait NotGranted {
            $(#[doc = concat!("Whether `", stringify!($verb), "` is granted.")] const $name: bool = false;)*
        }

        impl<K> NotGranted for Probe<K> {}

        $(impl<K: verbs::$verb> Probe<K> {
            #[doc = concat!("Whether `", stringify!($verb), "` is granted.")]
            const $name: bool = true;
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
macro_rules! granted {
    ($kind:ident: $($verb:ident $name:ident),* $(,)?) => {
        [$((ClientVerb::$verb, Probe::<fixture_types::matrix_v1::$kind>::$name)),*]
    };
    ($kind:ident) => {
        granted! {
            $kind:
            Create CREATE, Update UPDATE, UpdateStatus UPDATE_STATUS, Delete DELETE, DeleteCollection DELETE_COLLECTION,
            Get GET, List LIST, Watch WATCH, Patch PATCH, Apply APPLY, ApplyStatus APPLY_STATUS,
        }
    };
}

macro_rules! subjects {
    ($(
        $scope:ident $status:ident $kind:ident ($($list:ident)?) $apply:ident
            $getter:ident $options:tt [$($verb:ident)*];
    )*) => {
        /// Returns every kind of the table, on a clientset and in a namespace.
        pub fn subjects(clientset: &Clientset, namespace: &str) -> Vec<Subject> {
            vec![$(Subject {
                kind: <fixture_types::matrix_v1::$kind as Kind>::API_KIND,
                scope: Scope::$scope,
                status: stringify!($status),
                getter: stringify!($getter),
                granted: granted!($kind),
                calls: vec![$(call!($verb $apply, client!(clientset namespace $scope $getter))),*],
            }),*]
        }
    };
}

/// Returns the generated client of a kind, by its getter.
macro_rules! client {
    ($clientset:ident $namespace:ident Namespaced $getter:ident) => {
        $clientset.matrix_v1().$getter($namespace)
    };
    ($clientset:ident $namespace:ident Cluster $getter:ident) => {
        $clientset.matrix_v1().$getter()
    };
}

/// Returns the call of a verb; verbs that apply take the generated apply configuration.
macro_rules! call {
    (apply $apply:ident, $client:expr) => {
        calls::apply::<_, fixture_client::applyconfigurations::matrix_v1::$apply>($client)
    };
    (apply_status $apply:ident, $client:expr) => {
        calls::apply_status::<_, fixture_client::applyconfigurations::matrix_v1::$apply>($client)
    };
    ($verb:ident $apply:ident, $client:expr) => {
        calls::$verb($client)
    };
}

fixture_types::for_each_matrix_kind! { subjects }
