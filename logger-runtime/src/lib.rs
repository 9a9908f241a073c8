//! The generic bodies under generated clients: typed client, store, lister, shared informer, work queue.
//!
//! Generated code names these with a kind; nothing here knows one. kube's client does HTTP, TLS, retry and decoding.

mod apply;
#[cfg(feature = "informers")]
pub mod chapters;
pub mod client;
#[cfg(feature = "informers")]
pub mod controller;
pub mod decode;
pub mod error;
mod extension;
#[cfg(feature = "informers")]
pub mod factory;
pub mod generic;
#[cfg(feature = "informers")]
pub mod index;
#[cfg(feature = "informers")]
pub mod informer;
pub mod key;
#[cfg(feature = "informers")]
pub mod lister;
pub mod metrics;
pub mod object;
mod preconditions;
#[cfg(feature = "informers")]
pub mod reflector;
#[cfg(feature = "informers")]
pub mod store;
pub mod version;
pub mod workqueue;

pub use apply::FieldManager;
pub use client::{AllNamespaces, EventStream, TypedClient};
#[cfg(feature = "informers")]
pub use controller::{Action, Controller, ReconcileError, Reconciler};
pub use error::Error;
pub use extension::Answer;
#[cfg(feature = "informers")]
pub use factory::{InformerFactory, InformerFactoryBuilder, SyncError};
pub use generic::GenericClient;
#[cfg(feature = "informers")]
pub use generic::{GenericInformer, GenericLister};
#[cfg(feature = "informers")]
pub use index::{Index, IndexError, IndexFunction, IndexValue};
#[cfg(feature = "informers")]
pub use informer::{AnyObject, Event, HandlerOptions, Registration, SharedInformer};
pub use key::ObjectKey;
pub use kube;
#[cfg(feature = "informers")]
pub use lister::{Lister, NamespaceLister, NotFound};
pub use object::ApiObject;
pub use preconditions::Preconditions;
#[cfg(feature = "informers")]
pub use reflector::Reflector;
#[cfg(feature = "informers")]
pub use store::{Store, WaitError, WriteGate, WriteOverlay};
/// Stops what is run with it: an informer, a controller.
pub use tokio_util::sync::CancellationToken;
pub use version::ResourceVersion;
pub use workqueue::WorkQueue;
