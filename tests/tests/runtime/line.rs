//! The embedded API server behind a line that a test can listen to, cut, and put answers into.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kube::Client;
use logger_apiserver::{ApiServer, Fault, Faults, RequestInfo, Requests, Verb};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

/// Longer than anything takes: the clock is paused, so it passes only when nothing else can happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// An API server and the line to it. Cloning gives another handle on the same line.
#[derive(Clone)]
pub(crate) struct Line {
    server: ApiServer,
    faults: Faults,
}

/// A request that came over the line.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// The plural.
    pub(crate) resource: String,
    pub(crate) at: Instant,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    List,
    Watch,
    /// Any other read, and every write.
    Other,
}

/// What is put in place of the server's answer.
#[derive(Clone)]
pub(crate) enum Answer {
    /// This code and body.
    Text(u16, String),
    /// The beginning of a body, then the connection breaks.
    Torn(&'static str),
    /// Nothing, ever.
    Never,
    /// No connection.
    Refused,
    /// The server's own, once the gate is open.
    After(watch::Receiver<bool>),
    /// What this fault says.
    Fault(Fault),
}

impl Line {
    /// A server with every generated CRD.
    pub(crate) async fn new() -> Self {
        let line = Line::bare();
        tests::install_crds(&line.direct()).await;
        line
    }

    /// A server with no CRD.
    pub(crate) fn bare() -> Self {
        Line { server: ApiServer::new(), faults: Faults::new() }
    }

    /// A client at the end of the line.
    pub(crate) fn client(&self) -> Client {
        self.server.client_with(self.faults.layer())
    }

    /// A client beside the line: the world that goes on when the line is down.
    pub(crate) fn direct(&self) -> Client {
        self.server.client()
    }

    /// Answers the next such request so.
    pub(crate) fn once(&self, asked: Asked, answer: Answer) {
        let is_used_up = AtomicBool::new(false);
        let fault = answer.fault();
        self.faults.decide(Requests::all(), move |request| {
            (Asked::by(request) == asked && !is_used_up.swap(true, Ordering::SeqCst)).then(|| fault.clone())
        });
    }

    /// Answers such requests so until [healed](Self::heal).
    pub(crate) fn always(&self, asked: Asked, answer: Answer) {
        let fault = answer.fault();
        self.faults.decide(Requests::all(), move |request| (Asked::by(request) == asked).then(|| fault.clone()));
    }

    /// Lets the server answer again.
    pub(crate) fn heal(&self) {
        self.faults.heal();
    }

    /// Ends every watch that is open.
    pub(crate) fn cut(&self) {
        self.faults.end(Verb::Watch);
    }

    /// How many such requests came.
    pub(crate) fn count(&self, asked: Asked) -> usize {
        self.seen(asked).len()
    }

    /// The requests of this sort that came.
    pub(crate) fn seen(&self, asked: Asked) -> Vec<Seen> {
        let seen = self.faults.seen(Requests::all()).into_iter().filter(|seen| Asked::by(&seen.info) == asked);
        seen.map(|seen| Seen { resource: seen.info.resource, at: seen.at }).collect()
    }

    /// How many requests hang.
    pub(crate) fn hanging(&self) -> usize {
        self.faults.waiting(Requests::all())
    }

    /// Waits until this many such requests came.
    pub(crate) async fn until(&self, asked: Asked, count: usize) {
        let enough = self.faults.wait_for(|_| self.count(asked) >= count);
        let came = timeout(PATIENCE, enough).await;
        came.unwrap_or_else(|_| panic!("{asked:?} was asked {} times, not {count}", self.count(asked)));
    }
}

impl Asked {
    fn by(request: &RequestInfo) -> Self {
        match request.verb {
            Verb::List => Asked::List,
            Verb::Watch => Asked::Watch,
            _ => Asked::Other,
        }
    }
}

impl Answer {
    /// A refusal as the API server words it.
    pub(crate) fn status(code: u16, reason: &str, message: &str) -> Self {
        Answer::Fault(Fault::status(code, reason, message))
    }

    /// A watch that begins, and says at once that its version is too old.
    pub(crate) fn expired_event() -> Self {
        Answer::Fault(Fault::expired_event())
    }

    /// A watch that does not begin, because its version is too old.
    pub(crate) fn expired() -> Self {
        Answer::Fault(Fault::expired())
    }

    fn fault(self) -> Fault {
        match self {
            Answer::Text(code, text) => Fault::answer(code, text),
            Answer::Torn(text) => Fault::torn(text),
            Answer::Never => Fault::hang(),
            Answer::Refused => Fault::refused(),
            Answer::After(gate) => Fault::gate(gate),
            Answer::Fault(fault) => fault,
        }
    }
}
