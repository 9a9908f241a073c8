//! The writes of a controller: which caches must catch up before a key is reconciled again.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{
    gate::{AnyWriteGate, PendingWrite, Write},
    key_states::KeyStates,
    loop_guard::LoopGuard,
};
use crate::{
    object::{ApiObject, ObjectKey},
    store::{Store, WriteGate},
};

/// How long a key waits at most for the cache of a write. An informer with a selector never reports a write that the
/// selector excludes, so its cache catches up with the next bookmark only.
const MAX_WAIT: Duration = Duration::from_secs(10);

tokio::task_local! {
    /// The reconciliation that the current task runs.
    static CURRENT: Current;
}

struct Current {
    writes: Arc<OwnWrites>,
    key: ObjectKey,
}

/// Records the writes of the reconciliations of a controller to the kinds that it watches, as pending writes of their
/// keys.
///
/// Guarantees:
/// - a key is not reconciled before the caches contain the writes of its last reconciliations;
/// - other keys do not wait, and no key waits longer than 10 s for a write;
/// - writes outside a reconciliation, such as in a task that it spawns, delay no key.
pub(super) struct OwnWrites {
    /// The gates of the watched kinds. The first is that of the reconciled kind.
    gates: Vec<Arc<dyn AnyWriteGate>>,
    states: Arc<KeyStates>,
    loop_guard: LoopGuard,
}

/// Ends a reconciliation, also if it is cancelled or panics.
struct EndGuard<'a> {
    writes: &'a OwnWrites,
    key: &'a ObjectKey,
}

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        if let Some(rounds) = self.writes.states.end(self.key) {
            self.writes.loop_guard.report(self.key, rounds);
        }
    }
}

impl OwnWrites {
    pub(super) fn new(gates: Vec<Arc<dyn AnyWriteGate>>, states: Arc<KeyStates>, loop_guard: LoopGuard) -> Arc<Self> {
        Arc::new(OwnWrites { gates, states, loop_guard })
    }

    /// Returns the cache of a kind, if it is watched.
    pub(super) fn store<K: ApiObject>(&self) -> Option<Store<K>> {
        let mut gates = self.gates.iter().filter_map(|gate| gate.as_any().downcast_ref::<WriteGate<K>>());
        gates.next().map(|gate| gate.store().clone())
    }

    /// Runs the reconciliation of a key. Its writes are recorded.
    pub(super) async fn scope<F: Future>(self: &Arc<Self>, key: &ObjectKey, reconcile: F) -> F::Output {
        let _end = EndGuard { writes: self, key };
        if self.states.start(key) {
            self.loop_guard.count();
        }
        CURRENT.scope(Current { writes: Arc::clone(self), key: key.clone() }, reconcile).await
    }

    /// Records a successful write, if it is one of a reconciliation of this controller.
    pub(super) fn record(self: &Arc<Self>, write: &Write) {
        let current = |current: &Current| Arc::ptr_eq(&current.writes, self).then(|| current.key.clone());
        let Ok(Some(key)) = CURRENT.try_with(current) else { return };
        let gates = self.gates.iter().enumerate();
        for (position, gate) in gates.filter(|(_, gate)| gate.has_resource(&write.group, &write.plural)) {
            if let Some(version) = write.version.as_ref().filter(|_| position == 0 && write.key == key) {
                self.states.record_write(&key, version);
            }
            if gate.record(write) {
                let deadline = Instant::now() + MAX_WAIT;
                self.states.add_write(&key, PendingWrite::new(gate, write.key.clone(), Some(deadline)));
            }
        }
    }
}
