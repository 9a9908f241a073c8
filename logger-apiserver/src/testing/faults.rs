//! Fault injection: a server, or the connection to it, that fails on purpose.

mod body;
mod connections;
mod fault;
mod layer;
mod rules;
mod skew;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{sync::watch::Sender, time::Instant};

use crate::testing::{record::Record, request_info::RequestInfo, requests::Requests};

pub use fault::Fault;
pub use layer::{FaultLayer, FaultService};
pub use rules::Rule;

pub(crate) use body::{Bodies, whole};
pub(crate) use fault::expired_line;
pub(crate) use layer::answer;

use connections::{Connection, Connections, End};
use rules::Rules;

/// The default number of recorded requests.
const REMEMBERED: usize = 16_384;

/// Makes requests fail, and records them. A clone is another handle to the same faults.
///
/// It stands, as a [`tower::Layer`], between a client and any server: the embedded one or a cluster. Where it stands above
/// kube's own retries, as below, what it answers is not retried by them.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), kube::Error> {
/// use k8s_openapi::api::core::v1::Namespace;
/// use kube::{Api, api::ListParams};
/// use logger_apiserver::{ApiServer, Fault, Faults, Verb};
///
/// let faults = Faults::new();
/// let client = ApiServer::new().client_with(faults.layer());
/// // On a cluster: kube::client::ClientBuilder::try_from(config)?.with_layer(&faults.layer()).build()
/// let namespaces: Api<Namespace> = Api::all(client);
///
/// faults.once(Verb::List, Fault::too_many_requests(1));
/// assert!(namespaces.list(&ListParams::default()).await.is_err());
/// assert!(namespaces.list(&ListParams::default()).await.is_ok());
/// assert_eq!(faults.count(Verb::List), 2);
/// # Ok(())
/// # }
/// ```
///
/// It promises:
/// - a request meets the first rule that is for it and not used up, and no other;
/// - a request that meets no rule reaches the server and is answered by it, unchanged;
/// - all time is tokio's, so with its clock paused the same test has the same course every time;
/// - requests are recorded in order; only the latest are kept, and the number of dropped ones is reported;
/// - nothing is kept of a request that is over but its place among those.
#[derive(Clone)]
pub struct Faults(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Notified of every change of the state.
    changed: Sender<()>,
}

#[derive(Debug)]
struct State {
    rules: Rules,
    seen: Record<Seen>,
    connections: Connections,
}

/// A request that was sent.
#[derive(Debug, Clone)]
pub struct Seen {
    /// What it asked for.
    pub info: RequestInfo,
    /// When it came, by tokio's clock.
    pub at: Instant,
}

impl Faults {
    /// No faults yet; the latest 16,384 requests are remembered.
    #[must_use]
    pub fn new() -> Self {
        Self::remembering(REMEMBERED)
    }

    /// No faults yet; this many of the latest requests are remembered.
    #[must_use]
    pub fn remembering(limit: usize) -> Self {
        let state = State {
            rules: Rules::default(),
            seen: Record::new(limit, usize::MAX),
            connections: Connections::default(),
        };
        Self(Arc::new(Shared { state: Mutex::new(state), changed: Sender::new(()) }))
    }

    /// What to put between a client and a server. All layers of these faults share rules, record and connections.
    #[must_use]
    pub fn layer(&self) -> FaultLayer {
        FaultLayer(self.clone())
    }

    /// The next such request fails so.
    pub fn once(&self, requests: impl Into<Requests>, fault: Fault) -> Rule {
        self.next(1, requests, fault)
    }

    /// The next `count` such requests fail so.
    pub fn next(&self, count: usize, requests: impl Into<Requests>, fault: Fault) -> Rule {
        let rule = self.lock().rules.add(requests.into(), Some(count), move |_: &RequestInfo| Some(fault.clone()));
        self.rule(rule)
    }

    /// Such requests fail so until they are [healed](Self::heal).
    pub fn always(&self, requests: impl Into<Requests>, fault: Fault) -> Rule {
        self.decide(requests, move |_| Some(fault.clone()))
    }

    /// Of such requests this decides each time which fault they meet; with none, the next rule has its turn.
    pub fn decide(
        &self,
        requests: impl Into<Requests>,
        decide: impl Fn(&RequestInfo) -> Option<Fault> + Send + Sync + 'static,
    ) -> Rule {
        let rule = self.lock().rules.add(requests.into(), None, decide);
        self.rule(rule)
    }

    /// Ends every rule. Requests that hang go on hanging, as on a real line: [`cut`](Self::cut) them.
    pub fn heal(&self) {
        self.lock().rules.clear();
    }

    /// Breaks the connection of every such request that is not over: those that wait get a reset for an answer, bodies
    /// that go on (watches) break with one. Says how many there were.
    pub fn cut(&self, requests: impl Into<Requests>) -> usize {
        self.end_open(&requests.into(), End::Reset)
    }

    /// Ends the body of every such answer that goes on, as a server does at a watch's timeout. Says how many there were.
    pub fn end(&self, requests: impl Into<Requests>) -> usize {
        self.end_open(&requests.into(), End::Clean)
    }

    /// Ends every such watch with an event that its version is too old (410 `Expired`). Says how many there were.
    pub fn expire(&self, requests: impl Into<Requests>) -> usize {
        self.end_open(&requests.into(), End::Expired)
    }

    /// How many such requests wait for the beginning of their answer.
    #[must_use]
    pub fn waiting(&self, requests: impl Into<Requests>) -> usize {
        self.lock().connections.count(&requests.into(), false)
    }

    /// How many such requests have an answer that goes on, as watches do.
    #[must_use]
    pub fn open(&self, requests: impl Into<Requests>) -> usize {
        self.lock().connections.count(&requests.into(), true)
    }

    /// How many such requests were sent, of those that are remembered.
    #[must_use]
    pub fn count(&self, requests: impl Into<Requests>) -> usize {
        self.lock().seen(&requests.into()).count()
    }

    /// The requests of this sort that were sent, in order, of those that are remembered.
    #[must_use]
    pub fn seen(&self, requests: impl Into<Requests>) -> Vec<Seen> {
        self.lock().seen(&requests.into()).cloned().collect()
    }

    /// How many requests were sent that are not remembered any more.
    #[must_use]
    pub fn forgotten(&self) -> u64 {
        self.lock().seen.forgotten()
    }

    /// Clears the recorded requests; counts restart.
    pub fn forget(&self) {
        self.lock().seen.clear();
    }

    /// Waits until this many such requests were sent, counted as [`count`](Self::count) does. It waits for ever if they are not.
    pub async fn until(&self, requests: impl Into<Requests>, count: usize) {
        let requests = requests.into();
        self.wait_for(|faults| faults.count(&requests) >= count).await;
    }

    /// Waits until this is so; it is asked again whenever a request comes, is answered or is over.
    pub async fn wait_for(&self, mut is_so: impl FnMut(&Self) -> bool) {
        let mut changed = self.0.changed.subscribe();
        while !is_so(self) {
            // The sender lives as long as `self`, so a change can only come or not come.
            let _ = changed.changed().await;
        }
    }

    /// Notes a request and says what it meets.
    fn arrive(&self, info: RequestInfo) -> (Connection, Option<Fault>) {
        let mut state = self.lock();
        state.seen.note(Seen { info: info.clone(), at: Instant::now() }, 0);
        let rules = state.rules.clone();
        let (id, ending) = state.connections.begin(info.clone());
        drop(state);
        self.0.changed.send_replace(());
        // Not under the lock: a rule that decides may look at the faults.
        (Connection::new(self.clone(), id, ending), rules.fault(&info))
    }

    fn end_open(&self, requests: &Requests, end: End) -> usize {
        self.lock().connections.end(requests, end)
    }

    fn rule(&self, id: u64) -> Rule {
        Rule::new(self.clone(), id)
    }

    /// The state; it is whole between any two statements, so a panic elsewhere does not spoil it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn seen(&self, requests: &Requests) -> impl Iterator<Item = &Seen> {
        self.seen.iter().filter(|seen| requests.contain(&seen.info))
    }
}

impl Default for Faults {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Faults").field("rules", &state.rules).field("connections", &state.connections).finish()
    }
}
