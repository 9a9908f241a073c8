//! Fake clientsets: the real one, on an API server in memory.

use std::{fmt, ops::Deref};

use serde::Serialize;
use serde_json::Value;

use crate::{
    handlers::load::LoadError,
    server::api_server::ApiServer,
    testing::{actions::Actions, faults::Faults, reactors::Reactors},
};

/// A clientset that can stand on a server in memory. Generated, behind the feature `fake` of a client crate.
pub trait Fakeable: Clone {
    /// The definitions of its kinds, as YAML documents.
    const DEFINITIONS: &'static str;

    /// The clientset on this client.
    fn on(client: kube::Client) -> Self;
}

/// The real clientset on a dedicated in-memory API server. It dereferences to the clientset. A clone is another handle
/// to the same server.
///
/// It promises:
/// - what it answers is what the real server answers: versions, conflicts, defaults, validation, watches;
/// - the objects it begins with are as they were given: status, uid, times and owners included;
/// - every request of the clientset is an [action](Self::actions), meets the [reactors](Self::reactors) first, the
///   [faults](Self::faults) then, and the [server](Self::server) last.
#[derive(Clone)]
pub struct Fake<C> {
    clientset: C,
    server: ApiServer,
    reactors: Reactors,
    faults: Faults,
}

impl<C: Fakeable> Fake<C> {
    /// Creates a clientset whose server has these objects, of its kinds or of built-in kinds. Their namespaces are
    /// created.
    ///
    /// # Errors
    /// An object breaks a rule of its kind, is there twice, or is of a kind that is not served.
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

    /// The same, with nothing in it yet.
    ///
    /// # Errors
    /// A definition breaks a rule, which generated ones do not.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn empty() -> Result<Self, LoadError> {
        Self::new([Value::Null; 0])
    }
}

impl<C> Fake<C> {
    /// What was asked, in order, each with the object it brought.
    pub fn actions(&self) -> Actions {
        self.reactors.actions()
    }

    /// What answers in the server's place, where it wants to.
    pub fn reactors(&self) -> &Reactors {
        &self.reactors
    }

    /// What goes wrong on the way to the server.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Returns the server. Another client of it acts as the rest of the cluster: its requests are not recorded.
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
