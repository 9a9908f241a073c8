//! Fault injection: errors of the server and of the connection to it.

mod body;
mod connections;
mod fault;
mod layer;
mod rules;

use std::{fmt, sync::Arc};

use parking_lot::Mutex;
use tokio::{sync::watch::Sender, time::Instant};

use crate::{
    testing::{layer::InterceptLayer, record::Record, requests::Requests},
    wire::request_info::RequestInfo,
};

pub use fault::Fault;
pub use layer::{FaultLayer, FaultService};
pub use rules::Rule;

pub(crate) use layer::respond;

use connections::{Connection, Connections, End};
use rules::Rules;

/// The default number of recorded requests.
const RECORD_LIMIT: usize = 16_384;

/// Injects faults into requests and records them. A clone is another handle to the same faults.
///
/// The [layer](Self::layer) goes between a client and any server: the embedded one or a cluster. Where it is above
/// kube's retry layer, as below, kube does not retry the injected errors.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), kube::Error> {
/// use k8s_openapi::api::core::v1::Namespace;
/// use kube::{Api, api::ListParams};
/// use kubewright_apiserver::{ApiServer, Fault, Faults, Verb};
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
/// Guarantees:
/// - The first rule that matches a request and is not used up applies, and no other.
/// - Requests that no rule matches, and their responses, pass through unchanged.
/// - All times are from tokio's clock, so a test with a paused clock is deterministic.
/// - Requests are recorded in order. Only the latest are retained, and the number of dropped ones is reported.
/// - A completed request uses no memory other than its record.
#[derive(Clone)]
pub struct Faults(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Notified of each change of the state.
    changed: Sender<()>,
}

#[derive(Debug)]
struct State {
    rules: Rules,
    seen: Record<Seen>,
    connections: Connections,
}

/// A recorded request.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The attributes of the request: verb, resource, namespace, name and options.
    pub info: RequestInfo,
    /// The time of arrival, from tokio's clock.
    pub at: Instant,
}

impl Faults {
    /// Creates faults without rules, and a record of the latest 16,384 requests.
    #[must_use]
    pub fn new() -> Self {
        Self::remembering(RECORD_LIMIT)
    }

    /// Creates faults without rules, and a record of this many of the latest requests.
    #[must_use]
    pub fn remembering(limit: usize) -> Self {
        let state = State {
            rules: Rules::default(),
            seen: Record::new(limit, usize::MAX),
            connections: Connections::default(),
        };
        Self(Arc::new(Shared { state: Mutex::new(state), changed: Sender::new(()) }))
    }

    /// Returns the [`tower::Layer`] to put between a client and a server. All layers of these faults share rules,
    /// record and connections.
    #[must_use]
    pub fn layer(&self) -> FaultLayer {
        InterceptLayer::new(self.clone())
    }

    /// Applies the fault to the next matching request.
    pub fn once(&self, requests: impl Into<Requests>, fault: Fault) -> Rule {
        self.next(1, requests, fault)
    }

    /// Applies the fault to the next `count` matching requests.
    pub fn next(&self, count: usize, requests: impl Into<Requests>, fault: Fault) -> Rule {
        let rule =
            self.0.state.lock().rules.add(requests.into(), Some(count), move |_: &RequestInfo| Some(fault.clone()));
        self.rule(rule)
    }

    /// Applies the fault to all matching requests until the rules are [removed](Self::heal).
    pub fn always(&self, requests: impl Into<Requests>, fault: Fault) -> Rule {
        self.decide(requests, move |_| Some(fault.clone()))
    }

    /// Calls `decide` for each matching request to choose the fault. If it returns `None`, the next rule is tried.
    pub fn decide(
        &self,
        requests: impl Into<Requests>,
        decide: impl Fn(&RequestInfo) -> Option<Fault> + Send + Sync + 'static,
    ) -> Rule {
        let rule = self.0.state.lock().rules.add(requests.into(), None, decide);
        self.rule(rule)
    }

    /// Removes all rules. Requests that hang remain so, as on a real connection: [`cut`](Self::cut) them.
    pub fn heal(&self) {
        self.0.state.lock().rules.clear();
    }

    /// Resets the connections of all matching requests in flight: pending requests and response bodies that are still
    /// open, as those of watches, fail. Returns the number of connections.
    pub fn cut(&self, requests: impl Into<Requests>) -> usize {
        self.end_open(&requests.into(), End::Reset)
    }

    /// Ends all matching response bodies that are still open, as a server does when a watch times out. Returns their
    /// number.
    pub fn end(&self, requests: impl Into<Requests>) -> usize {
        self.end_open(&requests.into(), End::Clean)
    }

    /// Ends all matching watches with an `ERROR` event: the resource version is too old (410 `Expired`). Returns their
    /// number.
    pub fn expire(&self, requests: impl Into<Requests>) -> usize {
        self.end_open(&requests.into(), End::Expired)
    }

    /// Returns the number of matching requests without a response so far.
    #[must_use]
    pub fn waiting(&self, requests: impl Into<Requests>) -> usize {
        self.0.state.lock().connections.count(&requests.into(), false)
    }

    /// Returns the number of matching requests whose response body is still open, as that of a watch.
    #[must_use]
    pub fn open(&self, requests: impl Into<Requests>) -> usize {
        self.0.state.lock().connections.count(&requests.into(), true)
    }

    /// Returns the number of matching requests in the record.
    #[must_use]
    pub fn count(&self, requests: impl Into<Requests>) -> usize {
        self.0.state.lock().seen(&requests.into()).count()
    }

    /// Returns the matching requests in the record, in order.
    #[must_use]
    pub fn seen(&self, requests: impl Into<Requests>) -> Vec<Seen> {
        self.0.state.lock().seen(&requests.into()).cloned().collect()
    }

    /// Returns the number of requests that were dropped from the record.
    #[must_use]
    pub fn forgotten(&self) -> u64 {
        self.0.state.lock().seen.dropped()
    }

    /// Clears the record; counts restart.
    pub fn forget(&self) {
        self.0.state.lock().seen.clear();
    }

    /// Waits until [`count`](Self::count) returns at least this number. There is no timeout.
    pub async fn until(&self, requests: impl Into<Requests>, count: usize) {
        let requests = requests.into();
        self.wait_for(|faults| faults.count(&requests) >= count).await;
    }

    /// Waits until the condition is true. It is evaluated whenever a request arrives, gets its response or completes.
    pub async fn wait_for(&self, mut condition: impl FnMut(&Self) -> bool) {
        let mut changed = self.0.changed.subscribe();
        while !condition(self) {
            // The sender lives as long as `self`, so there is no error.
            let _ = changed.changed().await;
        }
    }

    /// Records a request and returns its connection and the fault that applies to it.
    fn begin(&self, info: RequestInfo) -> (Connection, Option<Fault>) {
        let mut state = self.0.state.lock();
        state.seen.push(Seen { info: info.clone(), at: Instant::now() }, 0);
        let rules = state.rules.clone();
        let (id, end) = state.connections.begin(info.clone());
        drop(state);
        self.0.changed.send_replace(());
        // Not under the lock: the callback of a rule may use the faults.
        (Connection::new(self.clone(), id, end), rules.fault(&info))
    }

    fn end_open(&self, requests: &Requests, end: End) -> usize {
        self.0.state.lock().connections.end(requests, end)
    }

    fn rule(&self, id: u64) -> Rule {
        Rule::new(self.clone(), id)
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
        let state = self.0.state.lock();
        f.debug_struct("Faults").field("rules", &state.rules).field("connections", &state.connections).finish()
    }
}
