//! Maps the events of a watch to keys. A mapping that panics is retried, so that no key is lost.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, timeout_at},
};

use super::{predicate::Predicate, target::Target, trigger::Change};
use crate::{
    error::{UserCodePanicked, catch_panic},
    informer::{Event, PanicReporter},
    object::{ApiObject, ObjectKey},
    workqueue::LOW_PRIORITY,
};

/// The maximum number of objects per watch whose mapping is retried. Beyond it, the oldest is dropped and reported.
const MAX_RETRIES: usize = 1024;
/// The delay of the first retry, which doubles with each.
const MIN_RETRY_DELAY: Duration = Duration::from_secs(1);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(300);

/// Adds the keys that an object is mapped to.
pub(super) type KeyMapping<K> = Box<dyn Fn(&K, &mut Vec<ObjectKey>) + Send + Sync>;

/// Adds the keys of the events of a watch to a queue.
///
/// Guarantees:
/// - an event for which the predicate panics matches;
/// - an object for which the mapping panics is mapped again after 1 s, 2 s and up to 5 minutes, until the mapping
///   returns. Its keys are then processed. At most 1024 objects wait for that;
/// - each panic is reported by the informer of the watch.
pub(super) struct EventMapper<K> {
    pub(super) predicate: Option<Predicate<K>>,
    pub(super) keys: KeyMapping<K>,
    /// The kind of the objects, for the spans of reconciliations.
    pub(super) kind: Arc<str>,
    pub(super) target: Target,
    /// Whether the events are those of the reconciled objects themselves.
    pub(super) is_reconciled_kind: bool,
    pub(super) report: PanicReporter,
    pub(super) retries: Retries<K>,
}

/// The objects whose mapping panicked.
pub(super) struct Retries<K> {
    waiting: Mutex<VecDeque<Retry<K>>>,
    changed: Notify,
}

struct Retry<K> {
    object: Arc<K>,
    priority: i32,
    at: Instant,
    delay: Duration,
}

impl<K: ApiObject> EventMapper<K> {
    /// Adds the keys of an event, including the keys that only the old object is mapped to.
    pub(super) fn handle(&self, event: &Event<K>) {
        if !self.matches(event) {
            return;
        }
        if let Event::Deleted { object, .. } = event
            && self.is_reconciled_kind
        {
            self.target.object_deleted(&**object);
        }
        let (mut found, change) = (Vec::new(), change(event));
        let priority = priority(change);
        if let Event::Updated { old, .. } = event {
            self.map(old, priority, MIN_RETRY_DELAY, &mut found);
        }
        self.map(event.object(), priority, MIN_RETRY_DELAY, &mut found);
        let version = match event {
            Event::Updated { new, .. } if self.is_reconciled_kind => new.meta().resource_version.as_deref(),
            _ => None,
        };
        self.add(found, change, priority, version);
    }

    /// Retries the mappings that panicked, without end.
    pub(super) async fn retry(&self) {
        loop {
            let Retry { object, priority, delay, .. } = self.retries.next().await;
            let mut found = Vec::new();
            self.map(&object, priority, delay.saturating_mul(2).min(MAX_RETRY_DELAY), &mut found);
            self.add(found, Change::Remapped, priority, None);
        }
    }

    fn matches(&self, event: &Event<K>) -> bool {
        let Some(predicate) = &self.predicate else { return true };
        catch_panic(|| predicate.matches(event)).unwrap_or_else(|panic| {
            let key = ObjectKey::from_object(&**event.object());
            (self.report)(&UserCodePanicked::new("the predicate of a controller", Some(key), panic));
            true
        })
    }

    /// Adds the keys of an object, or schedules a retry after the delay.
    fn map(&self, object: &Arc<K>, priority: i32, delay: Duration, found: &mut Vec<ObjectKey>) {
        let mut keys = Vec::new();
        let mapped = catch_panic(|| (self.keys)(&**object, &mut keys));
        // Keys that were found before the panic are complete.
        found.append(&mut keys);
        let Err(panic) = mapped else { return };
        let panicked = |message| {
            let key = ObjectKey::from_object(&**object);
            UserCodePanicked::new("the key mapping of a controller", Some(key), message)
        };
        (self.report)(&panicked(panic));
        let retry = Retry { object: Arc::clone(object), priority, at: Instant::now() + delay, delay };
        if let Some(dropped) = self.retries.push(retry) {
            let object = ObjectKey::from_object(&*dropped.object);
            tracing::error!(%object, "too many objects whose key mapping panics; its keys are not processed");
        }
    }

    fn add(&self, found: Vec<ObjectKey>, change: Change, priority: i32, version: Option<&str>) {
        self.target.add(found, &self.kind, change, priority, version);
    }
}

impl<K> Default for Retries<K> {
    fn default() -> Self {
        Retries { waiting: Mutex::default(), changed: Notify::new() }
    }
}

impl<K> Retries<K> {
    /// Adds a retry, unless the object waits for one. Returns the oldest retry if there are too many.
    fn push(&self, retry: Retry<K>) -> Option<Retry<K>> {
        let mut waiting = self.waiting.lock();
        if waiting.iter().any(|known| Arc::ptr_eq(&known.object, &retry.object)) {
            return None;
        }
        waiting.push_back(retry);
        self.changed.notify_one();
        if waiting.len() > MAX_RETRIES { waiting.pop_front() } else { None }
    }

    /// Waits for the next retry that is due.
    async fn next(&self) -> Retry<K> {
        loop {
            let changed = self.changed.notified();
            match self.pop_due(Instant::now()) {
                Ok(retry) => return retry,
                Err(None) => changed.await,
                Err(Some(next)) => drop(timeout_at(next, changed).await),
            }
        }
    }

    /// Removes a retry that is due, or returns the time of the next one.
    fn pop_due(&self, now: Instant) -> Result<Retry<K>, Option<Instant>> {
        let mut waiting = self.waiting.lock();
        let due = waiting.iter().position(|retry| retry.at <= now);
        due.and_then(|due| waiting.remove(due)).ok_or_else(|| waiting.iter().map(|retry| retry.at).min())
    }
}

fn change<K: ApiObject>(event: &Event<K>) -> Change {
    let is_resync = |old: &K, new: &K| old.meta().resource_version == new.meta().resource_version;
    match event {
        Event::Added { initial: true, .. } => Change::Initial,
        Event::Added { .. } => Change::Added,
        Event::Updated { old, new } if is_resync(old, new) => Change::Resynced,
        Event::Updated { .. } => Change::Updated,
        Event::Deleted { .. } => Change::Deleted,
    }
}

/// Returns the priority of a change. Initial objects and resyncs have a low one, as in controller-runtime.
fn priority(change: Change) -> i32 {
    match change {
        Change::Initial | Change::Resynced => LOW_PRIORITY,
        Change::Added | Change::Updated | Change::Deleted | Change::Remapped => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retry(object: Arc<usize>, at: Instant) -> Retry<usize> {
        Retry { object, priority: 0, at, delay: MIN_RETRY_DELAY }
    }

    #[tokio::test(start_paused = true)]
    async fn retries_wait_until_they_are_due_and_are_bounded() {
        let (retries, now) = (Retries::default(), Instant::now());
        let object = Arc::new(0);
        assert!(retries.push(retry(Arc::clone(&object), now + MIN_RETRY_DELAY)).is_none());
        assert!(retries.push(retry(object, now)).is_none(), "the object waits already");
        assert_eq!(*retries.next().await.object, 0);
        assert_eq!(now.elapsed().as_secs(), MIN_RETRY_DELAY.as_secs());
        for number in 1..=MAX_RETRIES {
            assert!(retries.push(retry(Arc::new(number), now)).is_none());
        }
        assert_eq!(retries.push(retry(Arc::new(0), now)).map(|dropped| *dropped.object), Some(1));
    }
}
