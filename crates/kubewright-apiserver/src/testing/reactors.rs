//! Reactors: callbacks that handle requests before the server does, and the record of actions.

mod layer;
mod reaction;

use std::{fmt, sync::Arc};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::testing::{
    actions::{Action, Actions},
    faults::Fault,
    layer::InterceptLayer,
    record::Record,
    requests::Requests,
};

pub use layer::{ReactorLayer, ReactorService};
pub use reaction::Reaction;

use reaction::Kind;

/// The default number of recorded actions.
const RECORD_LIMIT: usize = 16_384;

/// The maximum total size of recorded bodies, in bytes.
const RECORD_BYTE_LIMIT: usize = 64 << 20;

/// A chain of reactors between a client and a server, and the record of the actions. A clone is another handle to the
/// same chain.
///
/// The [layer](Self::layer) goes before any server: the embedded one or a cluster. The server is the end of the chain.
/// The layer is above kube's retry layer, so each request of the program is one action, retried or not.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::{Api, api::PostParams};
/// use kubewright_apiserver::{ApiServer, Reaction, Reactors, Requests, Verb};
///
/// let reactors = Reactors::new();
/// let maps: Api<ConfigMap> = Api::default_namespaced(ApiServer::new().client_with(reactors.layer()));
///
/// let creates = Requests::to("configmaps").verb(Verb::Create);
/// reactors.prepend(creates, |_| Reaction::reject(403, "Forbidden", "no more maps"));
/// let mut map = ConfigMap::default();
/// map.metadata.name = Some("settings".into());
/// assert!(maps.create(&PostParams::default(), &map).await.is_err());
/// assert_eq!(reactors.actions().creates::<ConfigMap>()?, [map]);
/// # Ok(())
/// # }
/// ```
///
/// Guarantees:
/// - Reactors are called in order, each for the requests that it matches. The reactor that was prepended last is first.
/// - A reactor that handles the request ends the chain, and the server does not receive the request.
/// - If a reactor changes the object, the reactors after it and the server receive the changed object.
/// - Every action is recorded once, in order, before any reactor and with the original object.
/// - Only the latest actions are recorded (16,384 by default, and at most 64 MiB), and the number of dropped ones is
///   reported.
#[derive(Clone)]
pub struct Reactors(Arc<Mutex<State>>);

struct State {
    chain: Vec<Arc<Reactor>>,
    actions: Record<Arc<Action>>,
}

struct Reactor {
    requests: Requests,
    react: Box<dyn Fn(&Action) -> Reaction + Send + Sync>,
}

impl Reactors {
    /// Creates an empty chain.
    #[must_use]
    pub fn new() -> Self {
        Self::remembering(RECORD_LIMIT)
    }

    /// Creates an empty chain that records this many of the latest actions.
    #[must_use]
    pub fn remembering(limit: usize) -> Self {
        let actions = Record::new(limit, RECORD_BYTE_LIMIT);
        Self(Arc::new(Mutex::new(State { chain: Vec::new(), actions })))
    }

    /// Returns the [`tower::Layer`] to put between a client and a server.
    #[must_use]
    pub fn layer(&self) -> ReactorLayer {
        InterceptLayer::new(self.clone())
    }

    /// Adds a reactor before the others.
    pub fn prepend(&self, requests: impl Into<Requests>, react: impl Fn(&Action) -> Reaction + Send + Sync + 'static) {
        self.0.lock().chain.insert(0, Reactor::new(requests.into(), react));
    }

    /// Adds a reactor after the others, and before the server.
    pub fn append(&self, requests: impl Into<Requests>, react: impl Fn(&Action) -> Reaction + Send + Sync + 'static) {
        self.0.lock().chain.push(Reactor::new(requests.into(), react));
    }

    /// Removes all reactors. The record is retained.
    pub fn clear(&self) {
        self.0.lock().chain.clear();
    }

    /// Returns the recorded actions.
    #[must_use]
    pub fn actions(&self) -> Actions {
        Actions::new(self.0.lock().actions.iter().cloned())
    }

    /// Clears the record.
    pub fn clear_actions(&self) {
        self.0.lock().actions.clear();
    }

    /// Returns the number of actions that were dropped from the record.
    #[must_use]
    pub fn forgotten(&self) -> u64 {
        self.0.lock().actions.dropped()
    }

    /// Records an action and calls the reactors that match it. If none handles it, returns the body to forward as the
    /// error.
    fn react(&self, mut action: Action) -> Result<Box<Fault>, Bytes> {
        for reactor in self.record(&action) {
            if !reactor.requests.contain(&action.info) {
                continue;
            }
            match (reactor.react)(&action).0 {
                Kind::Pass => {}
                Kind::Change(body) => action.body = body,
                Kind::Handle(handled) => return Ok(handled),
            }
        }
        Err(action.body)
    }

    /// Records an action and returns the current chain. Reactors are called outside the lock, so they can use the
    /// chain.
    fn record(&self, action: &Action) -> Vec<Arc<Reactor>> {
        let mut state = self.0.lock();
        state.actions.push(Arc::new(action.clone()), action.body.len());
        state.chain.clone()
    }
}

impl Default for Reactors {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Reactors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chain: Vec<_> = self.0.lock().chain.iter().map(|reactor| reactor.requests.clone()).collect();
        f.debug_struct("Reactors").field("chain", &chain).finish_non_exhaustive()
    }
}

impl Reactor {
    fn new(requests: Requests, react: impl Fn(&Action) -> Reaction + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { requests, react: Box::new(react) })
    }
}
