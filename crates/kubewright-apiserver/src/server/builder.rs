//! The options of a server.

use std::sync::Arc;

use crate::{
    authentication::{
        authenticator::Authenticator,
        options::Authentication,
        service_accounts::{DEFAULT_ISSUER, TokenIssuer},
        signing_key::SigningKey,
    },
    controllers::{garbage_collector::GarbageCollector, role_aggregation},
    server::{
        api_server::ApiServer,
        bootstrap::{self, control_plane, default_roles},
    },
    storage::{
        state::State,
        store::{History, Store},
    },
};
#[cfg(feature = "data-dir")]
use crate::{lifecycle::definitions, storage::data_dir};

impl ApiServer {
    /// Starts a server with the built-in kinds and the namespaces that every cluster has.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Creates a builder for a server with custom options.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::new()
    }
}

impl Default for ApiServer {
    fn default() -> Self {
        Self::new()
    }
}

/// Configures and starts a server. [`ApiServer::builder`] creates it, [`build`](Self::build) starts the server.
#[derive(Debug, Clone)]
pub struct Builder {
    pub(crate) history: History,
    pub(crate) collects: bool,
    pub(crate) rbac: bool,
    authentication: Option<Authentication>,
    service_account_issuer: String,
    service_account_key: Option<Arc<SigningKey>>,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            history: History::default(),
            collects: true,
            rbac: false,
            authentication: None,
            service_account_issuer: DEFAULT_ISSUER.to_owned(),
            service_account_key: None,
        }
    }

    /// Sets the number of changes in the history, over all kinds and including deletions: 1024 by default. A list or a
    /// watch from an earlier version fails with code 410. With 0 there is no history.
    #[must_use]
    pub fn history(mut self, events: usize) -> Self {
        self.history.events = events;
        self
    }

    /// Sets the memory of the history in bytes, over all kinds: 128 MiB by default, which is 128 KiB for each of 1024
    /// changes. It is an estimate of the replaced and deleted objects with their JSON. The oldest changes are
    /// discarded, but the latest one remains, whatever its size.
    #[must_use]
    pub fn history_bytes(mut self, bytes: usize) -> Self {
        self.history.bytes = bytes;
        self
    }

    /// Sets whether the server runs the garbage collector, the namespace controller and the quota controller of
    /// kube-controller-manager, and with [`rbac`](Self::rbac) the aggregation of cluster roles. All complete before the
    /// response to the request that triggers them. Without them, objects with dependents and namespaces wait for an
    /// external controller, and a quota limits nothing before its status is written.
    #[must_use]
    pub fn collects_garbage(mut self, collects: bool) -> Self {
        self.collects = collects;
        self
    }

    /// Sets whether requests are authorized by roles and bindings, as with `--authorization-mode=RBAC`. The server then
    /// starts with the default cluster roles and bindings, and [`ApiServer::as_user`] returns handles of users. By
    /// default every user may do anything.
    #[must_use]
    pub fn rbac(mut self, rbac: bool) -> Self {
        self.rbac = rbac;
        self
    }

    /// Sets that requests are authenticated, except those of handles with a user ([`ApiServer::as_user`]). By default
    /// an administrator makes every request.
    #[must_use]
    pub fn authentication(mut self, authentication: Authentication) -> Self {
        self.authentication = Some(authentication);
        self
    }

    /// Sets the issuer of the tokens of service accounts, and their default audience, as with
    /// `--service-account-issuer`: `https://kubernetes.default.svc.cluster.local` by default.
    #[must_use]
    pub fn service_account_issuer(mut self, issuer: impl Into<String>) -> Self {
        self.service_account_issuer = issuer.into();
        self
    }

    /// Sets the key that signs and verifies the tokens of service accounts, so that tokens of an earlier server with
    /// the same key are valid. By default a key is generated for the first token.
    #[must_use]
    pub fn service_account_key(mut self, key: SigningKey) -> Self {
        self.service_account_key = Some(Arc::new(key));
        self
    }

    /// Starts the server with a data directory, which is created if it does not exist. The server has all objects of
    /// the last acknowledged state, and resource versions continue to increase. Lists and watches from earlier versions
    /// fail with code 410.
    ///
    /// Every change is persisted before the response is sent and before any watch receives it. The thread that handles
    /// the request waits for the disk.
    ///
    /// # Errors
    /// Another server uses the directory, or it cannot be read or written.
    #[cfg(feature = "data-dir")]
    pub fn build_on(
        self,
        path: impl AsRef<std::path::Path>,
        safety: data_dir::Safety,
    ) -> Result<ApiServer, data_dir::DataDirError> {
        let path = path.as_ref();
        let mut state = self.state();
        let (persistence, is_new) = data_dir::open(path, safety, &mut state.store)?;
        state.persistence = Some(Box::new(persistence));
        if is_new {
            bootstrap::create(&mut state);
        }
        control_plane::create(&mut state);
        self.create_default_roles(&mut state);
        definitions::install_all(&mut state);
        let changes = state.store.take_events();
        state
            .persist(&changes)
            .map_err(|error| data_dir::DataDirError::new(path, format!("cannot be written: {}", error.message())))?;
        Ok(self.start(state))
    }

    /// Starts the server.
    #[must_use]
    pub fn build(self) -> ApiServer {
        let mut state = self.state();
        bootstrap::create(&mut state);
        control_plane::create(&mut state);
        self.create_default_roles(&mut state);
        state.store.take_events();
        self.start(state)
    }

    fn state(&self) -> State {
        let issuer = TokenIssuer::new(self.service_account_issuer.clone(), self.service_account_key.clone());
        let authentication = self.authentication.clone().map(|options| options.with_authorization(self.rbac));
        let authenticator = Authenticator::new(authentication, issuer);
        State::new(Store::new(self.history), self.rbac, authenticator)
    }

    /// Creates the default roles and bindings that do not exist.
    fn create_default_roles(&self, state: &mut State) {
        if self.rbac {
            default_roles::create(state);
            if self.collects {
                role_aggregation::aggregate(state);
            }
        }
    }

    fn start(&self, state: State) -> ApiServer {
        let collector = self.collects.then(|| GarbageCollector::new(&state.store));
        ApiServer::from_state(state, collector)
    }
}
