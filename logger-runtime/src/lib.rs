//! The generic bodies under generated clients: typed client, store, lister, shared informer, work queue.
//!
//! Generated code names these with a kind; nothing here knows one. kube's client does HTTP, TLS, retry and decoding.

mod apply;
pub mod client;
pub mod error;
mod extension;
pub mod factory;
pub mod informer;
pub mod key;
pub mod lister;
pub mod object;
pub mod store;
pub mod workqueue;

pub use apply::FieldManager;
pub use client::{AllNamespaces, EventStream, TypedClient};
pub use error::Error;
pub use extension::Answer;
pub use factory::{InformerFactory, SyncError};
pub use informer::{Event, Registration, SharedInformer};
pub use key::ObjectKey;
pub use kube;
pub use lister::{Lister, NamespaceLister, NotFound};
pub use object::ApiObject;
pub use store::Store;
pub use workqueue::WorkQueue;
