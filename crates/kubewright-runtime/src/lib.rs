//! Generic runtime of generated clients: typed client, store, lister, shared informer, work queue, controller, leader
//! election, event recorder.
//!
//! Generated code instantiates these types with a kind; no type here depends on a particular kind. kube's client
//! provides HTTP, TLS, retries and decoding.
//!
//! The modules are layers. Each imports only from the lines above its own:
//!
//! | modules | contents |
//! |---|---|
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
#[cfg(feature = "informers")]
pub mod sharding;
#[cfg(feature = "informers")]
mod signal;
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
    Index, IndexError, IndexFunc, IndexValue, Lister, MutationCache, NamespaceLister, NotFound, Store, WaitError,
    WriteGate,
};
pub use workqueue::WorkQueue;
