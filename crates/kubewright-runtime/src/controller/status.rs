//! The status of a controller, for health checks: the keys that are being processed, and the state of its caches.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::time::Instant;

use super::watch::Subscription;
use crate::{informer::WatchSilent, object::ObjectKey};

/// The status of a controller. Clones share it, and it outlives the controller.
#[derive(Clone)]
pub struct ControllerStatus {
    name: String,
    reconciliation_timeout: Duration,
    processing: Arc<Processing>,
    watches: Arc<[Box<dyn Subscription>]>,
}

/// A reconciliation that still runs after its timeout, although it was cancelled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "controller `{controller}`: the reconciliation of `{key}` has been running for {} s, and its timeout is {} s; does \
     it block its thread?",
    running.as_secs(),
    timeout.as_secs()
)]
pub struct ReconcileStuck {
    /// The name of the controller.
    pub controller: String,
    /// The key that is being processed.
    pub key: ObjectKey,
    /// How long the reconciliation has been running.
    pub running: Duration,
    /// The timeout of a reconciliation.
    pub timeout: Duration,
}

impl ControllerStatus {
    pub(super) fn new(
        name: String,
        reconciliation_timeout: Duration,
        processing: Arc<Processing>,
        watches: Arc<[Box<dyn Subscription>]>,
    ) -> Self {
        ControllerStatus { name, reconciliation_timeout, processing, watches }
    }

    /// Returns whether the controller is [running](super::Controller::run).
    pub fn is_running(&self) -> bool {
        self.processing.is_running.load(Ordering::Acquire)
    }

    /// Returns an error if a reconciliation has been running for longer than its timeout and this tolerance, for a
    /// liveness check.
    ///
    /// # Errors
    /// Fails if a reconciliation exceeds its timeout. A timeout cancels a reconciliation at its next suspension point,
    /// so this one has none: it blocks its thread, or the runtime does not poll it.
    pub fn check(&self, tolerance: Duration) -> Result<(), ReconcileStuck> {
        let Some((key, started)) = self.processing.oldest() else { return Ok(()) };
        let (running, timeout) = (started.elapsed(), self.reconciliation_timeout);
        match running > timeout.saturating_add(tolerance) {
            true => Err(ReconcileStuck { controller: self.name.clone(), key, running, timeout }),
            false => Ok(()),
        }
    }

    /// Returns an error if the API server has not responded to a watched informer for too long, for a liveness check.
    /// See [`SharedInformer::check_watches`](crate::SharedInformer::check_watches).
    ///
    /// # Errors
    /// Fails if a list or watch had no response for longer than its limit. The error is that of the longest silence.
    pub fn check_watches(&self) -> Result<(), WatchSilent> {
        let silences = self.watches.iter().filter_map(|watch| watch.check_watch().err());
        silences.max_by_key(|silence| silence.silent).map_or(Ok(()), Err)
    }

    /// Returns whether the objects of any watched informer are up to date. See [`why_outdated`](Self::why_outdated).
    pub fn is_any_up_to_date(&self, tolerance: Duration) -> bool {
        self.watches.iter().any(|watch| watch.why_outdated(tolerance).is_none())
    }

    /// Returns why the objects of the watched informers may be outdated, with the last error of their requests: they
    /// have not synced, or their lists and watches have failed for longer than this. Empty if all are up to date.
    pub fn why_outdated(&self, tolerance: Duration) -> Vec<String> {
        let mut reasons: Vec<_> = self.watches.iter().filter_map(|watch| watch.why_outdated(tolerance)).collect();
        reasons.sort();
        reasons.dedup();
        reasons
    }
}

impl fmt::Debug for ControllerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerStatus")
            .field("name", &self.name)
            .field("processing", &self.processing)
            .finish_non_exhaustive()
    }
}

/// The keys that are being processed, and since when.
#[derive(Debug, Default)]
pub(super) struct Processing {
    keys: Mutex<BTreeMap<ObjectKey, Instant>>,
    is_running: AtomicBool,
}

impl Processing {
    /// Marks the controller as running until the guard is dropped.
    pub(super) fn running(&self) -> RunningGuard<'_> {
        self.is_running.store(true, Ordering::Release);
        RunningGuard(self)
    }

    /// Records a key as being processed until the guard is dropped.
    pub(super) fn start<'a>(&'a self, key: &'a ObjectKey) -> ProcessingGuard<'a> {
        self.keys.lock().insert(key.clone(), Instant::now());
        ProcessingGuard { processing: self, key }
    }

    pub(super) fn keys(&self) -> Vec<ObjectKey> {
        self.keys.lock().keys().cloned().collect()
    }

    fn oldest(&self) -> Option<(ObjectKey, Instant)> {
        self.keys.lock().iter().min_by_key(|(_, started)| **started).map(|(key, started)| (key.clone(), *started))
    }
}

pub(super) struct RunningGuard<'a>(&'a Processing);

impl Drop for RunningGuard<'_> {
    fn drop(&mut self) {
        self.0.is_running.store(false, Ordering::Release);
    }
}

pub(super) struct ProcessingGuard<'a> {
    processing: &'a Processing,
    key: &'a ObjectKey,
}

impl Drop for ProcessingGuard<'_> {
    fn drop(&mut self) {
        self.processing.keys.lock().remove(self.key);
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_reconciliation_past_its_timeout_and_the_tolerance_is_stuck() {
        let (second, processing) = (Duration::from_secs(1), Arc::<Processing>::default());
        let status =
            ControllerStatus::new("web".to_owned(), 60 * second, Arc::clone(&processing), Arc::from(Vec::new()));
        let (a, b) = (ObjectKey::namespaced("default", "a"), ObjectKey::namespaced("default", "b"));
        let guard = processing.start(&b);
        advance(50 * second).await;
        let _young = processing.start(&a);
        advance(20 * second).await;
        assert_eq!(status.check(10 * second), Ok(()));
        advance(second).await;
        let expected = "controller `web`: the reconciliation of `default/b` has been running for 71 s, and its timeout \
                        is 60 s; does it block its thread?";
        assert_eq!(status.check(10 * second).unwrap_err().to_string(), expected);
        drop(guard);
        assert_eq!(status.check(10 * second), Ok(()), "the younger one is within its timeout");
    }

    #[test]
    fn a_controller_is_running_until_its_guard_is_dropped() {
        let processing = Arc::<Processing>::default();
        let status = ControllerStatus::new("web".to_owned(), Duration::MAX, Arc::clone(&processing), Arc::from(vec![]));
        assert!(!status.is_running());
        let guard = processing.running();
        assert!(status.is_running());
        drop(guard);
        assert!(!status.is_running());
    }
}
