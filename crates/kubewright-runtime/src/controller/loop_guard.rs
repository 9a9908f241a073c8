//! The loop guard: recognises reconciliations that only the writes of the controller itself caused.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

use crate::{
    metrics::{Counter, Metric, MetricsProvider},
    object::{ObjectKey, ResourceVersion},
};

const SELF_TRIGGERED: Metric = Metric {
    name: "controller_self_triggered_reconciles_total",
    help: "Total number of reconciliations per controller that only its own writes to the object caused.",
};

/// The number of such reconciliations in a row, each of which writes the object again, that is reported. A controller
/// that adds a finalizer, writes its status and converges has fewer.
const MAX_ROUNDS: u32 = 5;
/// The maximum number of events, and of writes, of a key that are compared.
const MAX_VERSIONS: usize = 16;

/// Recognises reconciliations that only the writes of the controller itself to the reconciled object caused.
///
/// Guarantees:
/// - a reconciliation with another cause is not counted: an event of another object or of another client's write, a
///   retry, a requested requeue;
/// - after 5 of them in a row that wrote the object again, a warning is logged, and then after 8, 16 and so on;
/// - only keys that are being processed, or whose last reconciliation wrote the object, use memory.
pub(super) struct LoopGuard {
    controller: String,
    counter: Arc<dyn Counter>,
    keys: Mutex<HashMap<ObjectKey, Causes>>,
}

/// What can cause the next reconciliation of a key.
#[derive(Default)]
struct Causes {
    /// The versions of the reconciled object in events since the start of the last reconciliation.
    events: Vec<ResourceVersion>,
    /// Whether there was another cause.
    other: bool,
    /// The versions that the reconciliations wrote and that no event has contained yet.
    written: Vec<ResourceVersion>,
    /// The versions whose events caused the current reconciliation.
    seen: Vec<ResourceVersion>,
    is_self_triggered: bool,
    rounds: u32,
}

impl LoopGuard {
    pub(super) fn new(controller: &str, metrics: &dyn MetricsProvider) -> Self {
        let counter = metrics.counter(SELF_TRIGGERED, &[("controller", controller)]);
        LoopGuard { controller: controller.to_owned(), counter, keys: Mutex::default() }
    }

    /// Records an event: with the version of the reconciled object after an update, `None` for any other cause.
    pub(super) fn record_cause(&self, key: &ObjectKey, version: Option<&str>) {
        let mut keys = self.keys.lock();
        let Some(causes) = keys.get_mut(key) else { return };
        match version {
            Some(version) if causes.events.len() < MAX_VERSIONS => causes.events.push(ResourceVersion::new(version)),
            _ => causes.other = true,
        }
    }

    /// Records a write to the reconciled object.
    pub(super) fn record_write(&self, key: &ObjectKey, version: &ResourceVersion) {
        let mut keys = self.keys.lock();
        let Some(causes) = keys.get_mut(key) else { return };
        // A write that changes nothing returns the version that the reconciler has seen.
        if causes.written.len() < MAX_VERSIONS && !causes.seen.contains(version) && !causes.written.contains(version) {
            causes.written.push(version.clone());
        }
    }

    /// Starts the reconciliation of a key.
    pub(super) fn start(&self, key: &ObjectKey) {
        let mut keys = self.keys.lock();
        let causes = keys.entry(key.clone()).or_default();
        causes.seen = std::mem::take(&mut causes.events);
        let written = std::mem::take(&mut causes.written);
        let is_other = std::mem::take(&mut causes.other);
        causes.is_self_triggered =
            !is_other && !causes.seen.is_empty() && causes.seen.iter().all(|version| written.contains(version));
        if causes.is_self_triggered {
            self.counter.add(1);
        }
    }

    /// Ends the reconciliation of a key.
    pub(super) fn end(&self, key: &ObjectKey) {
        let mut keys = self.keys.lock();
        let Some(causes) = keys.get_mut(key) else { return };
        if causes.written.is_empty() {
            keys.remove(key);
            return;
        }
        causes.rounds = if causes.is_self_triggered { causes.rounds + 1 } else { 0 };
        let rounds = causes.rounds;
        if rounds == MAX_ROUNDS || rounds > MAX_ROUNDS && rounds.is_power_of_two() {
            tracing::warn!(
                controller = self.controller,
                %key,
                rounds,
                "each reconciliation writes the object and causes the next one: write it only if something changes, and \
                 no values that always differ, such as the current time"
            );
        }
    }

    /// Removes a key that this process does not reconcile anymore.
    pub(super) fn forget(&self, key: &ObjectKey) {
        self.keys.lock().remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::NoopMetrics;

    fn guard() -> (LoopGuard, ObjectKey) {
        (LoopGuard::new("test", &NoopMetrics), ObjectKey::cluster("a"))
    }

    /// Runs a reconciliation that writes these versions. Returns whether it is self-triggered, and the rounds.
    fn reconcile(guard: &LoopGuard, key: &ObjectKey, writes: &[&str]) -> (bool, u32) {
        guard.start(key);
        for version in writes {
            guard.record_write(key, &ResourceVersion::new(version));
        }
        let is_self_triggered = guard.keys.lock()[key].is_self_triggered;
        guard.end(key);
        (is_self_triggered, guard.keys.lock().get(key).map_or(0, |causes| causes.rounds))
    }

    #[test]
    fn a_reconciliation_caused_by_its_own_write_is_self_triggered() {
        let (guard, key) = guard();
        assert_eq!(reconcile(&guard, &key, &["2"]), (false, 0));
        guard.record_cause(&key, Some("2"));
        assert_eq!(reconcile(&guard, &key, &[]), (true, 0));
        assert!(guard.keys.lock().is_empty(), "it converged");
    }

    #[test]
    fn rounds_that_write_again_are_counted() {
        let (guard, key) = guard();
        reconcile(&guard, &key, &["1"]);
        for round in 1..=9_u32 {
            guard.record_cause(&key, Some(&round.to_string()));
            assert_eq!(reconcile(&guard, &key, &[&(round + 1).to_string()]), (true, round));
        }
        guard.record_cause(&key, Some("10"));
        assert_eq!(reconcile(&guard, &key, &["10"]), (true, 0), "a write that changes nothing ends the loop");
    }

    #[test]
    fn other_causes_are_not_counted() {
        let (guard, key) = guard();
        for cause in [None, Some("3")] {
            reconcile(&guard, &key, &["2"]);
            guard.record_cause(&key, Some("2"));
            guard.record_cause(&key, cause);
            assert_eq!(reconcile(&guard, &key, &["4"]), (false, 0), "{cause:?}");
        }
    }

    #[test]
    fn an_event_can_precede_the_response_of_its_write() {
        let (guard, key) = guard();
        guard.start(&key);
        guard.record_cause(&key, Some("2"));
        guard.record_write(&key, &ResourceVersion::new("2"));
        guard.end(&key);
        assert_eq!(reconcile(&guard, &key, &["3"]), (true, 1));
    }

    #[test]
    fn keys_that_write_nothing_use_no_memory() {
        let (guard, key) = guard();
        guard.record_cause(&key, Some("1"));
        assert_eq!(reconcile(&guard, &key, &[]), (false, 0));
        assert!(guard.keys.lock().is_empty());
    }
}
