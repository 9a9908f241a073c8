//! Kubernetes operators in Rust, built on [kube](https://docs.rs/kube): from API types with derives to CRDs, typed
//! clients, controllers, webhooks and manifests.
//!
//! ```
//! use kubewright::prelude::*;
//!
//! /// A Note is published as a ConfigMap.
//! #[derive(Clone, Debug, ApiObject)]
//! #[genclient]
//! pub struct Note {
//!     pub metadata: ObjectMeta,
//!     pub spec: NoteSpec,
//! }
//!
//! /// The desired state of a Note.
//! #[derive(Clone, Debug, Deserialize, Serialize, ApiType)]
//! pub struct NoteSpec {
//!     #[schema(length = 1..=1024)]
//!     pub text: String,
//! }
//!
//! kubewright::group_version! { group = "notes.example.com", version = "v1", kinds = [Note] }
//! # fn main() {
//! assert_eq!(GROUP_VERSION.api_version, "notes.example.com/v1");
//! # }
//! ```
//!
//! This crate re-exports the crates of kubewright. Without features it contains what API types need, and neither an
//! asynchronous runtime nor a client:
//!
//! | feature | adds | module |
//! |---|---|---|
//! | none | derives, scheme, conditions, conversion, metadata of kinds | [`core`] |
//! | `runtime` | typed clients, informers, listers, work queues, controllers | `runtime` |
//! | `manager` | `runtime`, and the operator as a process: leader election, health checks, metrics, webhooks | `manager` |
//! | `apply` | apply configurations of Kubernetes' own types | `apply` |
//! | `fake` | the API server in memory, for tests | `fake` |
//! | `serve` | `fake` on a socket, for kubectl | `fake::serve` |
//! | `simulator` | `fake`, and a simulated cluster on it | `simulator` |
//! | `envtest` | `runtime`, and etcd with kube-apiserver, for tests | `envtest` |
//! | `codegen` | the generator of clients and CRDs | `codegen` |
//! | `cli` | `codegen`, and the commands of `cargo xtask` | `cli` |
//! | `validation` | validation by the rules of the CRD, without a server | [`core::validation`] |
//! | `compact`, `otlp` | compact caches; the export of traces | |
//! | `v1_33` to `v1_37` | the version of the Kubernetes API; exactly one in a build | |

pub mod prelude;

pub use kubewright_core as core;

#[cfg(feature = "fake")]
pub use kubewright_apiserver as fake;
#[cfg(feature = "apply")]
pub use kubewright_apply as apply;
#[cfg(feature = "codegen")]
pub use kubewright_codegen as codegen;
#[cfg(feature = "envtest")]
pub use kubewright_envtest as envtest;
#[cfg(feature = "manager")]
pub use kubewright_manager as manager;
#[cfg(feature = "cli")]
pub use kubewright_project as cli;
#[cfg(feature = "runtime")]
pub use kubewright_runtime as runtime;
#[cfg(feature = "simulator")]
pub use kubewright_simulator as simulator;

pub use kubewright_core::{
    ApiObject, ApiType, ApplyConfiguration, ConditionStatus, Conditions, Convert, Converter, CrdSchema, DeepCopy,
    GroupVersionKind, Nullable, Object, ObjectList, Scheme, Unstructured, adopt, deep_copy_dyn, defaults,
    group_version, k8s_openapi, meta, new_condition, schemars, serde, serde_json,
};
#[cfg(feature = "manager")]
pub use kubewright_manager::{Manager, ManagerBuilder, Operator, Replicas, Runnable, Setup, Telemetry, Webhooks};
#[cfg(feature = "runtime")]
pub use kubewright_runtime::{
    Action, CancellationToken, Controller, Error, EventRecorder, InformerFactory, Lister, ObjectKey, ReconcileContext,
    ReconcileError, SharedInformer, TypedClient, kube,
};
