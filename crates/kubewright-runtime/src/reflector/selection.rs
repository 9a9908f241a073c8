//! The selection of a sharded reflector: the slots whose objects it lists and watches.

use std::future::pending;

use tokio::sync::watch;

use crate::sharding::{Field, Participant, Shard, Sharding, SlotSet};

/// The slots of a sharding that this reflector lists and watches.
pub(super) struct Selection {
    field: Field,
    slots: watch::Receiver<Option<SlotSet>>,
    participant: Participant,
    /// The slots of the current list and watch; `None` before they are known.
    current: Option<SlotSet>,
    /// Whether the last event contained all objects of these slots.
    is_delivered: bool,
}

impl Selection {
    pub(super) fn new(sharding: &Sharding) -> Self {
        let ownership = sharding.ownership();
        Selection {
            field: sharding.field(),
            slots: ownership.cached(),
            participant: ownership.participate(),
            current: None,
            is_delivered: false,
        }
    }

    /// Reports that the subscriber has applied the last event.
    pub(super) fn applied(&mut self) {
        if let Some(slots) = self.current.filter(|_| self.is_delivered) {
            self.is_delivered = false;
            self.participant.set_synced(slots);
        }
    }

    /// Reports that the next event contains all objects of the slots.
    pub(super) fn delivered(&mut self) {
        self.is_delivered = true;
    }

    /// Returns the shard to list, if the slots changed.
    pub(super) fn update(&mut self) -> Option<Shard> {
        let slots = (*self.slots.borrow_and_update()).filter(|slots| self.current != Some(*slots))?;
        self.current = Some(slots);
        self.is_delivered = false;
        // The others are no longer up to date.
        self.participant.retain_synced(slots);
        Some(Shard::from_slots(self.field, slots))
    }

    /// Returns whether there are no objects to list.
    pub(super) fn is_empty(&self) -> bool {
        self.current.is_none_or(SlotSet::is_empty)
    }

    /// Waits until the slots change.
    pub(super) async fn changed(&mut self) {
        if self.slots.changed().await.is_err() {
            pending().await
        }
    }
}
