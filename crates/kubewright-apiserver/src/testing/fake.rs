//! Fake clientsets: generated clientsets on an in-memory API server.

use std::{fmt, ops::Deref};

use serde::Serialize;
use serde_json::Value;

use crate::{
    handlers::load::LoadError,
    server::api_server::ApiServer,
    testing::{actions::Actions, faults::Faults, reactors::Reactors},
};

/// A clientset that can use an in-memory API server. The implementation is generated (feature `fake` of a client
/// crate).
pub trait Fakeable: Clone {
    /// The CustomResourceDefinitions of its kinds, as YAML documents.
    const DEFINITIONS: &'static str;

    /// Creates the clientset on this client.
    fn on(client: kube::Client) -> Self;
}

/// The real clientset on a dedicated in-memory API server. It dereferences to the clientset. A clone is another handle
/// to the same server.
///
/// Guarantees:
/// - Responses are those of a real server: resource versions, conflicts, defaults, validation, watches.
/// - Initial objects are stored unchanged, with their status, uid, times and owners.
/// - Every request of the clientset is recorded as an [action](Self::actions), and passes the
///   [reactors](Self::reactors), then the [faults](Self::faults), then the [server](Self::server).
#[derive(Clone)]
pub struct Fake<C> {
    clientset: C,
    server: ApiServer,
    reactors: Reactors,
    faults: Faults,
}

impl<C: Fakeable> Fake<C> {
    /// Creates a clientset whose server contains these objects, of its kinds or of built-in kinds. Their namespaces are
    /// created.
    ///
    /// # Errors
    /// An object is invalid, is a duplicate, or is of a kind that is not served.
    ///
    /// # Panics
    /// Outside a tokio runtime, as [`ApiServer::client`].
    pub fn new<T: Serialize>(objects: impl IntoIterator<Item = T>) -> Result<Self, LoadError> {
        let server = ApiServer::new();
        server.load_yaml(C::DEFINITIONS)?;
        objects.into_iter().try_for_each(|object| server.load(&object))?;
        let (reactors, faults) = (Reactors::new(), Faults::new());
        let client = server.client_with((reactors.layer(), faults.layer()));
        Ok(Fake { clientset: C::on(client), server, reactors, faults })
    }

    /// Creates a clientset without objects.
    ///
    /// # Errors
    /// A definition is invalid. Generated definitions are valid.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn empty() -> Result<Self, LoadError> {
        Self::new([Value::Null; 0])
    }
}

impl<C> Fake<C> {
    /// Returns the recorded requests, in order, with their bodies.
    pub fn actions(&self) -> Actions {
        self.reactors.actions()
    }

    /// Returns the reactors, which can handle requests in place of the server.
    pub fn reactors(&self) -> &Reactors {
        &self.reactors
    }

    /// Returns the faults on the way to the server.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Returns the server. Other clients of it act as the rest of the cluster: their requests are not recorded.
    pub fn server(&self) -> &ApiServer {
        &self.server
    }
}

impl<C> fmt::Debug for Fake<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fake").field("server", &self.server).finish_non_exhaustive()
    }
}

impl<C> Deref for Fake<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.clientset
    }
}
