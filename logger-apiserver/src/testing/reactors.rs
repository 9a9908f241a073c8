//! Reactors: what answers a request before the server does, and the record of actions.

mod feed;
mod layer;
mod reaction;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;

use crate::testing::{
    actions::{Action, Actions},
    record::Record,
    requests::Requests,
};

pub use feed::WatchFeed;
pub use layer::{ReactorLayer, ReactorService};
pub use reaction::Reaction;

use reaction::{Handled, Kind};

/// The default number of recorded actions.
const REMEMBERED: usize = 16_384;

/// How many bytes of bodies are remembered.
const REMEMBERED_BYTES: usize = 64 << 20;

/// A chain of reactors between a client and a server, and the record of what went over it. A clone is another handle to the
/// same chain.
///
/// It stands, as a [`tower::Layer`], before any server: the embedded one or a cluster. The server is the end of the chain.
/// It stands above kube's own retries, so actions are what the program asks for, each once.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::{Api, api::PostParams};
/// use logger_apiserver::{ApiServer, Reaction, Reactors, Requests, Verb};
///
/// let reactors = Reactors::new();
/// let maps: Api<ConfigMap> = Api::default_namespaced(ApiServer::new().client_with(reactors.layer()));
///
/// reactors.prepend(Requests::to("configmaps").verb(Verb::Create), |_| Reaction::refuse(403, "Forbidden", "no more maps"));
/// let mut map = ConfigMap::default();
/// map.metadata.name = Some("settings".into());
/// assert!(maps.create(&PostParams::default(), &map).await.is_err());
/// assert_eq!(reactors.actions().creates::<ConfigMap>()?, [map]);
/// # Ok(())
/// # }
/// ```
///
/// It promises:
/// - reactors are asked in their order, each for the requests it is for: what was prepended last is first;
/// - a reactor that handles the request ends the chain, and the server does not receive it;
/// - one that changes the object hands the changed one to those after it, and to the server;
/// - every action is recorded once, in order, as it was sent: before any reactor, and with the object unchanged;
/// - only the latest actions are recorded (16,384 by default, and at most 64 MiB), and the number of dropped ones is
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
    /// An empty chain.
    #[must_use]
    pub fn new() -> Self {
        Self::remembering(REMEMBERED)
    }

    /// An empty chain that remembers so many of the latest actions.
    #[must_use]
    pub fn remembering(limit: usize) -> Self {
        let actions = Record::new(limit, REMEMBERED_BYTES);
        Self(Arc::new(Mutex::new(State { chain: Vec::new(), actions })))
    }

    /// What to put between a client and a server.
    #[must_use]
    pub fn layer(&self) -> ReactorLayer {
        ReactorLayer(self.clone())
    }

    /// Adds a reactor before the others.
    pub fn prepend(&self, requests: impl Into<Requests>, react: impl Fn(&Action) -> Reaction + Send + Sync + 'static) {
        self.lock().chain.insert(0, Reactor::new(requests.into(), react));
    }

    /// Adds a reactor after the others, and before the server.
    pub fn append(&self, requests: impl Into<Requests>, react: impl Fn(&Action) -> Reaction + Send + Sync + 'static) {
        self.lock().chain.push(Reactor::new(requests.into(), react));
    }

    /// Removes every reactor. The record stays.
    pub fn clear(&self) {
        self.lock().chain.clear();
    }

    /// What was sent, of what is remembered.
    #[must_use]
    pub fn actions(&self) -> Actions {
        Actions::new(self.lock().actions.iter().cloned())
    }

    /// Forgets what was sent.
    pub fn clear_actions(&self) {
        self.lock().actions.clear();
    }

    /// How many actions are not remembered any more.
    #[must_use]
    pub fn forgotten(&self) -> u64 {
        self.lock().actions.forgotten()
    }

    /// Records an action and asks the chain: who handles it, or else the body to send on.
    fn ask(&self, mut action: Action) -> Result<Handled, Bytes> {
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

    /// The chain as it is now: it is asked outside the lock, so a reactor may use the reactors.
    fn record(&self, action: &Action) -> Vec<Arc<Reactor>> {
        let mut state = self.lock();
        state.actions.note(Arc::new(action.clone()), action.body.len());
        state.chain.clone()
    }

    /// The state; it is whole between any two statements, so a panic elsewhere does not spoil it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Reactors {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Reactors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chain: Vec<_> = self.lock().chain.iter().map(|reactor| reactor.requests.clone()).collect();
        f.debug_struct("Reactors").field("chain", &chain).finish_non_exhaustive()
    }
}

impl Reactor {
    fn new(requests: Requests, react: impl Fn(&Action) -> Reaction + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { requests, react: Box::new(react) })
    }
}
