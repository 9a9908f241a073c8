//! The slots whose keys this process can process, and those of which a key is being processed.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    slot::{SLOTS, Slot, SlotSet},
    state_machine::Local,
};
use crate::leader_election::{Fence, Fenced};

/// How long cancelled reconciliations can take to end. Those that do not are blocking their thread.
const ABORT_TIMEOUT: Duration = Duration::from_secs(1);

/// What the caches and the controllers of a process share with the runner of its sharding.
///
/// Guarantees:
/// - a key is processed only while its slot is active, and only until its deadline: it is never polled afterwards, even
///   if the process was paused;
/// - a slot that is no longer active has been drained when none of its keys is being processed, and none can be.
pub(crate) struct Ownership {
    state: Mutex<State>,
    fence: Fence,
    /// The slots whose objects must be in the caches; `None` before they are known.
    cached: watch::Sender<Option<SlotSet>>,
    /// Notified when the local state changed, so that slots can be acquired or released.
    changed: Notify,
}

struct State {
    active: SlotSet,
    active_until: Instant,
    /// The number of keys of each slot that are being processed.
    running: [u32; SLOTS as usize],
    /// Cancelled when processing must end at once.
    term: CancellationToken,
    /// The synced slots of each participant.
    participants: BTreeMap<u64, SlotSet>,
    /// The number of participants that were added.
    added: u64,
    handlers: Vec<Weak<dyn StartHandler>>,
}

/// Is notified of slots whose keys can be processed from now on, so that it processes all of them once.
pub(crate) trait StartHandler: Send + Sync {
    /// Handles slots that became active.
    fn slots_started(&self, slots: SlotSet);
}

/// What the state machine of this replica decided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Published {
    pub(super) active: SlotSet,
    pub(super) active_until: Instant,
    /// When processing must have ended; `None` without a Lease.
    pub(super) work_deadline: Option<Instant>,
    pub(super) cached: Option<SlotSet>,
}

/// Whether a key can be processed.
pub(crate) enum Admission {
    /// It is being processed until the guard is dropped.
    Admitted(SlotGuard),
    /// Its slot is active, but the Lease was not renewed in time.
    Suspended,
    NotOwned,
}

impl Ownership {
    pub(super) fn new() -> Self {
        let state = State {
            active: SlotSet::EMPTY,
            active_until: Instant::now(),
            running: [0; SLOTS as usize],
            term: CancellationToken::new(),
            participants: BTreeMap::new(),
            added: 0,
            handlers: Vec::new(),
        };
        Ownership {
            state: Mutex::new(state),
            fence: Fence::closed(),
            cached: watch::Sender::new(None),
            changed: Notify::new(),
        }
    }

    /// Returns whether the keys of a slot are processed by this process.
    pub(crate) fn is_active(&self, slot: Slot) -> bool {
        self.state.lock().active.contains(slot)
    }

    pub(super) fn active(&self) -> SlotSet {
        self.state.lock().active
    }

    /// Starts the processing of a key of this slot, if it can be processed.
    pub(crate) fn admit(self: &Arc<Self>, slot: Slot) -> Admission {
        let mut state = self.state.lock();
        if !state.active.contains(slot) {
            return Admission::NotOwned;
        }
        if Instant::now() >= state.active_until {
            return Admission::Suspended;
        }
        state.running[usize::from(slot.index())] += 1;
        let term = state.term.clone();
        Admission::Admitted(SlotGuard { ownership: Arc::clone(self), slot, term })
    }

    /// Adds a cache or controller, which must have synced a slot before it is acquired.
    pub(crate) fn participate(self: &Arc<Self>) -> Participant {
        let mut state = self.state.lock();
        let id = state.added;
        state.added += 1;
        state.participants.insert(id, SlotSet::EMPTY);
        Participant { ownership: Arc::clone(self), id }
    }

    /// Adds a handler. It is removed when it is dropped.
    pub(crate) fn add_start_handler(&self, handler: Weak<dyn StartHandler>) {
        let mut state = self.state.lock();
        state.handlers.retain(|handler| handler.strong_count() > 0);
        state.handlers.push(handler);
    }

    /// Returns a channel with the slots whose objects must be in the caches; `None` before they are known.
    pub(crate) fn cached(&self) -> watch::Receiver<Option<SlotSet>> {
        self.cached.subscribe()
    }

    pub(super) fn local(&self) -> Local {
        let state = self.state.lock();
        let synced = state.participants.values().fold(SlotSet::ALL, |all, synced| all.intersection(*synced));
        Local { synced, active: state.active, running: state.running() }
    }

    /// Waits until the local state changes. A change before the call counts.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Publishes decisions. Returns whether the active slots changed.
    pub(super) fn publish(&self, published: Published) -> bool {
        let Published { active, active_until, work_deadline, cached } = published;
        let (old, handlers) = {
            let mut state = self.state.lock();
            match work_deadline {
                Some(deadline) => self.fence.open_until(deadline),
                None => {
                    self.fence.close();
                    state.abort();
                }
            }
            let old = std::mem::replace(&mut state.active, active);
            state.active_until = active_until;
            (old, state.handlers.clone())
        };
        // Objects of slots that are no longer active can only be removed from the caches after this.
        self.cached.send_if_modified(|current| std::mem::replace(current, cached) != cached);
        let started = active.difference(old);
        if !started.is_empty() {
            let handlers = handlers.iter().filter_map(Weak::upgrade);
            handlers.for_each(|handler| handler.slots_started(started));
        }
        active != old
    }

    /// Ends all processing: the runner does not run anymore.
    pub(super) fn end(&self) {
        let (active, cached) = (SlotSet::EMPTY, *self.cached.borrow());
        self.publish(Published { active, active_until: Instant::now(), work_deadline: None, cached });
    }

    /// Waits until keys have been processed for longer than they can take to end after their deadline, and returns
    /// their slots. They block their thread.
    pub(super) async fn blocked(&self) -> SlotSet {
        let mut was_late = false;
        loop {
            sleep(ABORT_TIMEOUT).await;
            let running = self.state.lock().running();
            let is_late = !running.is_empty() && !self.fence.is_open();
            if is_late && was_late {
                return running;
            }
            was_late = is_late;
        }
    }
}

impl State {
    fn running(&self) -> SlotSet {
        Slot::all().filter(|slot| self.running[usize::from(slot.index())] > 0).collect()
    }

    /// Cancels the keys that are being processed.
    fn abort(&mut self) {
        if !self.running().is_empty() {
            std::mem::take(&mut self.term).cancel();
        }
    }
}

/// A key that is being processed. Its slot is not released before this is dropped.
pub(crate) struct SlotGuard {
    ownership: Arc<Ownership>,
    slot: Slot,
    term: CancellationToken,
}

impl SlotGuard {
    /// Runs the processing; `None` if it must end before it completes. It is dropped then.
    pub(crate) async fn run<F: Future>(&self, processing: F) -> Option<F::Output> {
        let fence = &self.ownership.fence;
        tokio::select! {
            biased;
            () = self.expired() => None,
            output = Fenced::new(processing, Some(fence.clone())) => output,
        }
    }

    /// Waits until processing must have ended. Renewals extend that time.
    async fn expired(&self) {
        let fence = &self.ownership.fence;
        while fence.is_open() {
            tokio::select! {
                () = self.term.cancelled() => return,
                () = sleep_until(fence.deadline()) => {}
            }
        }
    }
}

impl Drop for SlotGuard {
    fn drop(&mut self) {
        let mut state = self.ownership.state.lock();
        let running = &mut state.running[usize::from(self.slot.index())];
        *running = running.saturating_sub(1);
        let is_drained = *running == 0 && !state.active.contains(self.slot);
        drop(state);
        if is_drained {
            self.ownership.changed.notify_one();
        }
    }
}

/// A cache or a controller. Dropping it removes it.
pub(crate) struct Participant {
    ownership: Arc<Ownership>,
    id: u64,
}

impl Participant {
    /// Sets the slots whose keys can be processed, as far as it is concerned.
    pub(crate) fn set_synced(&self, slots: SlotSet) {
        self.ownership.state.lock().participants.insert(self.id, slots);
        self.ownership.changed.notify_one();
    }

    /// Removes slots from those that are synced.
    pub(crate) fn retain_synced(&self, slots: SlotSet) {
        if let Some(synced) = self.ownership.state.lock().participants.get_mut(&self.id) {
            *synced = synced.intersection(slots);
        }
    }
}

impl Drop for Participant {
    fn drop(&mut self) {
        self.ownership.state.lock().participants.remove(&self.id);
        self.ownership.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::{task::JoinSet, time::advance};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn slots(text: &str) -> SlotSet {
        text.parse().unwrap()
    }

    fn slot(index: u8) -> Slot {
        SlotSet::ALL.iter().nth(usize::from(index)).unwrap()
    }

    /// Publishes active slots with deadlines after 10 s and 14 s.
    fn publish(ownership: &Ownership, active: &str) -> bool {
        let now = Instant::now();
        let (active, cached) = (slots(active), Some(SlotSet::ALL));
        let (active_until, work_deadline) = (now + 10 * SECOND, Some(now + 14 * SECOND));
        ownership.publish(Published { active, active_until, work_deadline, cached })
    }

    fn admitted(ownership: &Arc<Ownership>, index: u8) -> SlotGuard {
        match ownership.admit(slot(index)) {
            Admission::Admitted(guard) => guard,
            Admission::Suspended | Admission::NotOwned => panic!("slot {index} is not active"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn keys_are_admitted_while_their_slot_is_active_and_the_lease_is_renewed() {
        let ownership = Arc::new(Ownership::new());
        assert!(matches!(ownership.admit(slot(1)), Admission::NotOwned));
        assert!(publish(&ownership, "1-3") && !publish(&ownership, "1-3"));
        assert!(ownership.is_active(slot(1)) && !ownership.is_active(slot(4)));
        let guard = admitted(&ownership, 1);
        assert_eq!(guard.run(async { 7 }).await, Some(7));
        advance(10 * SECOND).await;
        assert!(matches!(ownership.admit(slot(1)), Admission::Suspended));
        assert_eq!(guard.run(async { 7 }).await, Some(7), "running keys can complete");
        publish(&ownership, "2-3");
        assert!(matches!(ownership.admit(slot(1)), Admission::NotOwned));
        drop(admitted(&ownership, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slot_is_drained_when_its_last_key_is_done() {
        let ownership = Arc::new(Ownership::new());
        publish(&ownership, "1-3");
        let guards = (admitted(&ownership, 1), admitted(&ownership, 1), admitted(&ownership, 2));
        publish(&ownership, "2");
        let (running, active) = (slots("1-2"), slots("2"));
        let local = ownership.local();
        assert_eq!((local.running, local.active), (running, active));
        drop(guards.0);
        assert_eq!(ownership.local().running, running);
        drop(guards.1);
        ownership.changed().await;
        assert_eq!(ownership.local().running, slots("2"));
    }

    #[tokio::test(start_paused = true)]
    async fn keys_end_at_the_deadline_which_renewals_extend() {
        let ownership = Arc::new(Ownership::new());
        publish(&ownership, "1");
        let (guard, started) = (admitted(&ownership, 1), Instant::now());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { guard.run(pending::<()>()).await });
        advance(8 * SECOND).await;
        publish(&ownership, "1");
        assert_eq!(tasks.join_next().await.unwrap().unwrap(), None);
        assert_eq!(started.elapsed().as_secs(), 22);
        assert!(ownership.local().running.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn keys_end_at_once_if_the_lease_is_lost() {
        let ownership = Arc::new(Ownership::new());
        publish(&ownership, "1");
        let (guard, started) = (admitted(&ownership, 1), Instant::now());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { guard.run(pending::<()>()).await });
        tokio::task::yield_now().await;
        ownership.end();
        assert_eq!(tasks.join_next().await.unwrap().unwrap(), None);
        assert_eq!(started.elapsed(), Duration::ZERO);
        publish(&ownership, "1");
        assert_eq!(admitted(&ownership, 1).run(async { 7 }).await, Some(7), "a later membership is not affected");
    }

    #[tokio::test(start_paused = true)]
    async fn keys_that_block_their_thread_are_reported() {
        let ownership = Arc::new(Ownership::new());
        publish(&ownership, "5");
        // The guard stands for a task that is not polled.
        let _guard = admitted(&ownership, 5);
        let started = Instant::now();
        assert_eq!(ownership.blocked().await, slots("5"));
        assert!(started.elapsed() >= 15 * SECOND && started.elapsed() <= 17 * SECOND, "{:?}", started.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_slot_is_synced_when_all_participants_have_synced_it() {
        let ownership = Arc::new(Ownership::new());
        assert_eq!(ownership.local().synced, SlotSet::ALL);
        let (a, b) = (ownership.participate(), ownership.participate());
        a.set_synced(slots("0-9"));
        assert_eq!(ownership.local().synced, SlotSet::EMPTY);
        b.set_synced(slots("5-12"));
        assert_eq!(ownership.local().synced, slots("5-9"));
        a.retain_synced(slots("0-7"));
        assert_eq!(ownership.local().synced, slots("5-7"));
        drop(a);
        assert_eq!(ownership.local().synced, slots("5-12"));
    }

    #[derive(Default)]
    struct Started(Mutex<Vec<SlotSet>>);

    impl StartHandler for Started {
        fn slots_started(&self, slots: SlotSet) {
            self.0.lock().push(slots);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn handlers_are_notified_of_slots_that_become_active() {
        let (ownership, started) = (Ownership::new(), Arc::new(Started::default()));
        let handler: Arc<dyn StartHandler> = Arc::<Started>::clone(&started);
        ownership.add_start_handler(Arc::downgrade(&handler));
        for active in ["1-2", "2-4", "2-4", "", "4"] {
            publish(&ownership, active);
        }
        assert_eq!(*started.0.lock(), [slots("1-2"), slots("3-4"), slots("4")]);
    }
}
