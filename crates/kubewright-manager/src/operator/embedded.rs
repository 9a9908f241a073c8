//! An API server in the process of the operator, for the command `local`.

use kube::Client;

use crate::manager::{BoxError, ManagerBuilder, Replicas, Runnable, Stage};

type Start = Box<dyn Fn(&str) -> Result<(Client, AddServer), BoxError> + Send + Sync>;
type AddServer = Box<dyn FnOnce(ManagerBuilder) -> ManagerBuilder>;

/// The function that starts the server, with the type of its task erased.
pub(super) struct Embedded(Start);

impl Embedded {
    pub(super) fn new<S: Runnable, E: Into<BoxError>>(
        start: impl Fn(&str) -> Result<(Client, S), E> + Send + Sync + 'static,
    ) -> Self {
        Embedded(Box::new(move |definitions| {
            let (client, server) = start(definitions).map_err(Into::into)?;
            let add =
                |manager: ManagerBuilder| manager.add(Replicas::All, "apiserver", server.at_stage(Stage::Servers));
            Ok((client, Box::new(add)))
        }))
    }

    /// Starts a server with these CRDs. Returns a client, and a function that adds the task of the server to a manager.
    pub(super) fn start(&self, definitions: &str) -> Result<(Client, AddServer), BoxError> {
        (self.0)(definitions)
    }
}
