//! Watches: the event log as a stream of JSON lines
//!
//! Promises: a watch sees every change after its version once and in order, or is told with a 410 that it missed some; it holds
//! no queue of events, only its place in the log; an object that enters its selector is ADDED, one that leaves it DELETED.

use std::{sync::Arc, time::Duration, vec};

use bytes::Bytes;
use futures::{
    FutureExt,
    stream::{self, Stream},
};
use serde::Serialize;
use serde_json::json;
use tokio::{
    sync::watch::Receiver,
    time::{Instant, timeout_at},
};

use crate::{
    Shared,
    call::{Call, State},
    kinds::Kind,
    object::{Object, Stored},
    read::{self, refuse_options},
    selector::Selector,
    status::{FieldError, Refusal, Result},
    store::Event,
};

/// A watch that was asked for.
#[derive(Debug)]
pub(crate) struct Watch {
    kind: Arc<Kind>,
    /// `plural.group`, as events name it.
    resource: String,
    namespace: Option<String>,
    selector: Selector,
    /// The version up to which everything is sent.
    since: u64,
    /// What is there already, still to be sent.
    initial: vec::IntoIter<Stored>,
    /// A bookmark is to end the initial events.
    mark_initial_end: bool,
    bookmarks: bool,
    deadline: Option<Instant>,
}

impl Watch {
    /// Reads a watch request; what exists now is taken down now.
    pub(crate) fn new(state: &State, call: &Call) -> Result<Self> {
        check_options(call)?;
        let selector = Selector::from_query(&call.query, &call.kind)?;
        let since = read::version(call).map_err(Refusal::internal)?.unwrap_or(0);
        let send_initial = call.query.flag("sendInitialEvents");
        let bookmarks = call.query.flag("allowWatchBookmarks");
        let mut watch = Self {
            kind: call.kind.clone(),
            resource: call.kind.resource(),
            namespace: call.namespace.clone(),
            selector,
            since,
            initial: Vec::new().into_iter(),
            mark_initial_end: send_initial && bookmarks,
            bookmarks,
            deadline: timeout(call)?.map(|timeout| Instant::now() + timeout),
        };
        if send_initial || since == 0 {
            watch.start_with_everything(state);
        }
        Ok(watch)
    }

    fn start_with_everything(&mut self, state: &State) {
        let mut objects = state.store.list(&self.resource, self.namespace.as_deref());
        objects.retain(|object| self.selector.matches(object));
        self.initial = objects.into_iter();
        self.since = state.store.version();
    }

    /// The lines to send, until the deadline, an error, or the end of the kind.
    pub(crate) fn stream(self, shared: Arc<Shared>) -> impl Stream<Item = Bytes> + Send + 'static {
        let changed = shared.subscribe();
        let watcher = Watcher { watch: self, shared, changed, ended: false };
        stream::unfold(watcher, |mut watcher| async move { Some((watcher.next().await?, watcher)) })
    }

    /// What an event is to this watch: with the selector, a change may be a coming or a going.
    fn seen(&self, event: &Event) -> Option<(&'static str, Stored)> {
        if *event.resource != *self.resource {
            return None;
        }
        let before = event.before.as_ref().filter(|object| self.selects(object));
        let after = event.after.as_ref().filter(|object| self.selects(object));
        match (before, after) {
            (None, Some(after)) => Some(("ADDED", after.clone())),
            (Some(_), Some(after)) => Some(("MODIFIED", after.clone())),
            (Some(before), None) => Some(("DELETED", Arc::new(before.at(event.version)))),
            (None, None) => None,
        }
    }

    fn selects(&self, object: &Object) -> bool {
        self.namespace.as_deref().is_none_or(|namespace| namespace == object.namespace())
            && self.selector.matches(object)
    }

    fn object_line(&self, type_: &str, object: &Object) -> Bytes {
        line(type_, &object.named(Some((&self.kind.api_version(), &self.kind.kind))))
    }

    fn bookmark_line(&self, ends_initial: bool) -> Bytes {
        let mut metadata = json!({ "resourceVersion": self.since.to_string() });
        if ends_initial {
            metadata["annotations"] = json!({ "k8s.io/initial-events-end": "true" });
        }
        line(
            "BOOKMARK",
            &json!({ "apiVersion": self.kind.api_version(), "kind": self.kind.kind, "metadata": metadata }),
        )
    }
}

/// A watch in progress.
struct Watcher {
    watch: Watch,
    shared: Arc<Shared>,
    changed: Receiver<u64>,
    ended: bool,
}

/// What the log has for a watch.
enum Step {
    Send(&'static str, Stored),
    TooOld(Refusal),
    KindGone,
    UpToDate,
}

impl Watcher {
    async fn next(&mut self) -> Option<Bytes> {
        while !self.ended {
            if let Some(object) = self.watch.initial.next() {
                return Some(self.watch.object_line("ADDED", &object));
            }
            if std::mem::take(&mut self.watch.mark_initial_end) {
                return Some(self.watch.bookmark_line(true));
            }
            if self.watch.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                self.ended = true;
                return self.watch.bookmarks.then(|| self.watch.bookmark_line(false));
            }
            // Seen before the log is read: a change from here on wakes the wait below.
            self.changed.mark_unchanged();
            match self.step() {
                Step::Send(type_, object) => return Some(self.watch.object_line(type_, &object)),
                Step::TooOld(refusal) => {
                    self.ended = true;
                    return refusal.into_status().map(|status| line("ERROR", &status));
                }
                Step::KindGone => return None,
                Step::UpToDate => self.wait().await,
            }
        }
        None
    }

    /// Goes on to the next event of interest, or to the end of the log.
    fn step(&mut self) -> Step {
        let watch = &mut self.watch;
        let state = self.shared.lock();
        let oldest = state.store.oldest();
        if watch.since < oldest {
            return Step::TooOld(Refusal::too_old(watch.since, oldest));
        }
        if let Some((version, (type_, object))) = state.store.next_event(watch.since, |event| watch.seen(event)) {
            watch.since = version;
            return Step::Send(type_, object);
        }
        if !state.kinds.serves(&watch.kind) {
            return Step::KindGone;
        }
        // A version from the future is waited for, not gone back from.
        watch.since = watch.since.max(state.store.version());
        Step::UpToDate
    }

    /// Waits for a change or the deadline.
    async fn wait(&mut self) {
        // The sender lives in `shared`, so a change can only come or not come.
        let changed = self.changed.changed().map(|_| ());
        match self.watch.deadline {
            Some(deadline) => timeout_at(deadline, changed).await.unwrap_or_default(),
            None => changed.await,
        }
    }
}

fn check_options(call: &Call) -> Result<()> {
    const FIELD: &str = "resourceVersionMatch";
    let not_older_than = call.query.get(FIELD) == Some("NotOlderThan");
    let send_initial = call.query.flag("sendInitialEvents");
    let mut errors = Vec::new();
    if send_initial && !not_older_than {
        let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        errors.push(FieldError::forbidden(FIELD, why));
    }
    if !send_initial && call.query.get(FIELD).is_some() {
        let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
        errors.push(FieldError::forbidden(FIELD, why));
    }
    refuse_options(&errors)
}

fn timeout(call: &Call) -> Result<Option<Duration>> {
    let Some(text) = call.query.get("timeoutSeconds") else {
        return Ok(None);
    };
    let seconds: u64 = text
        .parse()
        .map_err(|_| Refusal::bad_request(format!("strconv.ParseInt: parsing {text:?}: invalid syntax")))?;
    Ok(Some(Duration::from_secs(seconds)).filter(|timeout| !timeout.is_zero()))
}

/// One event as it is sent.
fn line(type_: &str, object: &impl Serialize) -> Bytes {
    #[derive(Serialize)]
    struct Line<'a, T> {
        #[serde(rename = "type")]
        type_: &'a str,
        object: &'a T,
    }
    let mut bytes = serde_json::to_vec(&Line { type_, object }).expect("objects have string keys and serialise");
    bytes.push(b'\n');
    bytes.into()
}
