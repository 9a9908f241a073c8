//! The loop guard: recognises reconciliations that only the writes of the controller itself caused.

use crate::{
    metrics::{Counter, Metric, Metrics},
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

/// Reports reconciliations that only the writes of the controller itself to the reconciled object caused.
///
/// Guarantees:
/// - a reconciliation with another cause is not counted: an event of another object or of another client's write, a
///   retry, a requested requeue;
/// - after 5 of them in a row that wrote the object again, a warning is logged, and then after 8, 16 and so on.
pub(super) struct LoopGuard {
    controller: String,
    counter: Counter,
}

/// What can cause the next reconciliation of a key.
#[derive(Default)]
pub(super) struct Causes {
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
    pub(super) fn new(controller: &str, metrics: &Metrics) -> Self {
        let counter = metrics.counter(SELF_TRIGGERED, &[("controller", controller)]);
        LoopGuard { controller: controller.to_owned(), counter }
    }

    /// Counts a self-triggered reconciliation.
    pub(super) fn count(&self) {
        self.counter.inc();
    }

    /// Logs a warning after this number of self-triggered reconciliations in a row.
    pub(super) fn report(&self, key: &ObjectKey, rounds: u32) {
        tracing::warn!(
            controller = self.controller,
            %key,
            rounds,
            "each reconciliation writes the object and causes the next one: write it only if something changes, and no \
             values that always differ, such as the current time"
        );
    }
}

impl Causes {
    /// Records a cause: an event with the version of the reconciled object after an update, `None` for any other cause.
    pub(super) fn record(&mut self, version: Option<&str>) {
        match version {
            Some(version) if self.events.len() < MAX_VERSIONS => self.events.push(ResourceVersion::new(version)),
            _ => self.other = true,
        }
    }

    /// Records a write to the reconciled object.
    pub(super) fn record_write(&mut self, version: &ResourceVersion) {
        // A write that changes nothing returns the version that the reconciler has seen.
        if self.written.len() < MAX_VERSIONS && !self.seen.contains(version) && !self.written.contains(version) {
            self.written.push(version.clone());
        }
    }

    /// Starts a reconciliation. Returns whether it is self-triggered.
    pub(super) fn start(&mut self) -> bool {
        self.seen = std::mem::take(&mut self.events);
        let written = std::mem::take(&mut self.written);
        let is_other = std::mem::take(&mut self.other);
        self.is_self_triggered =
            !is_other && !self.seen.is_empty() && self.seen.iter().all(|version| written.contains(version));
        self.is_self_triggered
    }

    /// Returns whether the reconciliation did not write the object.
    pub(super) fn is_converged(&self) -> bool {
        self.written.is_empty()
    }

    /// Ends a reconciliation that wrote the object. Returns the number of self-triggered ones in a row if it must be
    /// reported.
    pub(super) fn end(&mut self) -> Option<u32> {
        self.rounds = if self.is_self_triggered { self.rounds + 1 } else { 0 };
        let rounds = self.rounds;
        (rounds == MAX_ROUNDS || rounds > MAX_ROUNDS && rounds.is_power_of_two()).then_some(rounds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a reconciliation that writes these versions. Returns whether it is self-triggered, and the rounds.
    fn reconcile(causes: &mut Causes, writes: &[&str]) -> (bool, u32) {
        let is_self_triggered = causes.start();
        writes.iter().for_each(|version| causes.record_write(&ResourceVersion::new(version)));
        causes.end();
        (is_self_triggered, causes.rounds)
    }

    #[test]
    fn a_reconciliation_caused_by_its_own_write_is_self_triggered() {
        let mut causes = Causes::default();
        assert_eq!(reconcile(&mut causes, &["2"]), (false, 0));
        causes.record(Some("2"));
        assert!(causes.start());
        assert!(causes.is_converged());
    }

    #[test]
    fn rounds_that_write_again_are_counted_and_reported() {
        let mut causes = Causes::default();
        reconcile(&mut causes, &["1"]);
        let mut reported = Vec::new();
        for round in 1..=17_u32 {
            causes.record(Some(&round.to_string()));
            assert!(causes.start());
            causes.record_write(&ResourceVersion::new(&(round + 1).to_string()));
            reported.extend(causes.end());
            assert_eq!(causes.rounds, round);
        }
        assert_eq!(reported, [5, 8, 16]);
        causes.record(Some("18"));
        assert!(causes.start());
        causes.record_write(&ResourceVersion::new("18"));
        assert!(causes.is_converged(), "a write that changes nothing ends the loop");
    }

    #[test]
    fn other_causes_are_not_counted() {
        let mut causes = Causes::default();
        for cause in [None, Some("3")] {
            reconcile(&mut causes, &["2"]);
            causes.record(Some("2"));
            causes.record(cause);
            assert_eq!(reconcile(&mut causes, &["4"]), (false, 0), "{cause:?}");
        }
    }

    #[test]
    fn an_event_can_precede_the_response_of_its_write() {
        let mut causes = Causes::default();
        causes.start();
        causes.record(Some("2"));
        causes.record_write(&ResourceVersion::new("2"));
        causes.end();
        assert_eq!(reconcile(&mut causes, &["3"]), (true, 1));
    }
}
