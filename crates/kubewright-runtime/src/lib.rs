//! Controllers of Kubernetes objects on kube's client: shared informers, listers, work queues and reconcilers, with
//! typed clients, leader election and events.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kubewright_runtime::{Controller, Error, InformerFactory, ReconcileContext, kube::Client};
//!
//! async fn reconcile(config_map: Arc<ConfigMap>, ctx: ReconcileContext) -> Result<(), Error> {
//!     println!("{} has {} entries", ctx.key(), config_map.data.as_ref().map_or(0, |data| data.len()));
//!     Ok(())
//! }
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let factory = InformerFactory::new(Client::try_default().await?);
//! let config_maps = factory.informer::<ConfigMap>();
//! let controller = Controller::new("config-maps", &config_maps).reconcile(reconcile).build();
//! factory.start();
//! controller.run_until_signal().await?;
//! # Ok(())
//! # }
//! ```
//!
//! The types are generic: a kind is one of k8s-openapi, one of the derive
//! `ApiObject`, or another one that implements kube's `Resource`. Generated clients instantiate them with their kinds.
//! kube's client provides HTTP, TLS, retries and decoding.
//!
//! The modules are layers. Each imports only from the lines above its own:
//!
//! | modules | contents |
//! |---|---|
//! | [`retry`] | retries of requests |
//! | [`object`], [`error`], [`metrics`] | object keys and resource versions, request errors, the metrics interface |
//! | [`client`], [`decode`], [`workqueue`] | typed and generic clients, the streaming decoder, the work queue |
//! | [`events`] | the event recorder |
//! | [`leader_election`] | leader election by a Lease |
//! | [`memory`] | how informers hold objects: decoded, or as compact bytes |
//! | [`sharding`] | replicas that share the objects |
//! | [`reflector`] | list and watch with recovery |
//! | [`store`] | indexed store, listers, read-your-writes helpers |
//! | [`informer`] | shared informers and their event handlers |
//! | [`factory`] | informer factory |
//! | [`controller`] | reconcilers, watches and workers |

pub mod client;
#[cfg(feature = "informers")]
pub mod controller;
pub mod decode;
pub mod error;
pub mod events;
#[cfg(feature = "informers")]
pub mod factory;
#[cfg(feature = "informers")]
pub mod informer;
pub mod leader_election;
#[cfg(feature = "informers")]
pub mod memory;
pub mod metrics;
pub mod object;
#[cfg(feature = "informers")]
pub mod reflector;
pub mod retry;
#[cfg(feature = "informers")]
pub mod sharding;
#[cfg(feature = "informers")]
mod signal;
#[cfg(test)]
mod simulation;
#[cfg(feature = "informers")]
pub mod store;
pub mod workqueue;

pub use kube;
/// Stops what runs with it, such as an informer or a controller.
pub use tokio_util::sync::CancellationToken;

pub use client::{AllNamespaces, EventStream, FieldManager, GenericClient, Preconditions, ResponseFuture, TypedClient};
#[cfg(feature = "informers")]
pub use controller::{Action, Controller, ReconcileContext, ReconcileError, Reconciler};
pub use error::Error;
pub use events::{EventRecorder, EventType};
#[cfg(feature = "informers")]
pub use factory::{InformerFactory, InformerFactoryBuilder};
#[cfg(feature = "informers")]
pub use informer::{
    AnyObject, Event, GenericInformer, GenericLister, HandlerOptions, HandlerRegistration, SharedInformer, SyncError,
};
pub use leader_election::{LeaderElectionConfig, LeaderElectionError, LeaderElector};
#[cfg(feature = "informers")]
pub use memory::Memory;
pub use object::{ApiObject, ObjectKey, ResourceVersion};
#[cfg(feature = "informers")]
pub use reflector::Reflector;
#[cfg(feature = "informers")]
pub use sharding::Sharding;
#[cfg(feature = "informers")]
pub use store::{
    Index, IndexError, IndexFunc, IndexValue, Lister, NamespaceLister, NotFound, Store, WaitError, WriteGate,
};
pub use workqueue::WorkQueue;
