//! The writes of the state machine: which Lease is written next, and its content.

use std::collections::BTreeMap;

use k8s_openapi::{api::coordination::v1::Lease, jiff::Timestamp};

use super::{
    super::{leases::set_leaving, slot::SlotSet, table::Table},
    Departure, Kind, Membership, Request, StateMachine,
};
use crate::leader_election::{LeaderElectionRecord, next_time};

impl StateMachine {
    /// Returns the next write that is due; `None` if there is none.
    pub(super) fn write(&self, wall: Timestamp) -> Option<(Kind, Request)> {
        if let Some(index) = self.leases.expired(self.listed(), &self.holder) {
            return Some((Kind::Evict, self.member_request(index, "", wall)));
        }
        let is_staying = self.departure == Departure::Staying && self.incompatible().is_none();
        if is_staying && self.leases.can_create_table(self.listed()) {
            return Some((Kind::Table, self.table_request(&BTreeMap::new(), wall)));
        }
        match self.membership {
            Membership::Member { .. } if is_staying => self.slots_write(wall),
            Membership::Member { index, .. } => self.slots_write(wall).or_else(|| self.leave_write(index, wall)),
            Membership::Outside => self.join_write(self.leases.free_index().filter(|_| is_staying)?, wall),
            // The same Lease, so that a delayed acquisition has no effect beside this one.
            Membership::Joining { index, .. } => self.join_write(Some(index).filter(|_| is_staying)?, wall),
        }
    }

    /// Renews the Lease; `None` if this replica is no member.
    pub(super) fn renewal(&self, wall: Timestamp) -> Option<Request> {
        match self.membership {
            Membership::Member { index, .. } => Some(self.member_request(index, &self.holder, wall)),
            _ => None,
        }
    }

    /// Acquires the Lease of a member, when the work of the former membership has ended and the slots that this replica
    /// will get are cached.
    fn join_write(&self, index: u8, wall: Timestamp) -> Option<(Kind, Request)> {
        let can_join = self.leases.table_lease().is_some() && self.local.busy().is_empty();
        let is_synced = || self.is_first() || self.assigned(None).is_subset(self.local.synced);
        (can_join && is_synced()).then(|| (Kind::Join { index }, self.member_request(index, &self.holder, wall)))
    }

    /// Acquires the desired slots that are free and cached, and releases those that are not desired and drained.
    fn slots_write(&self, wall: Timestamp) -> Option<(Kind, Request)> {
        self.leases.table_lease()?;
        let mut held = self.leases.held_now(self.listed());
        let held_slots = held.remove(&self.holder).unwrap_or_default();
        let others = held.values().fold(SlotSet::EMPTY, |all, slots| all.union(*slots));
        let free = SlotSet::ALL.difference(others);
        let acquired = self.desired.intersection(free).intersection(self.local.synced).difference(self.confirmed);
        let released = held_slots.difference(self.desired).difference(self.local.busy());
        if acquired.is_empty() && released.is_empty() {
            return None;
        }
        held.insert(self.holder.clone(), held_slots.difference(released).union(acquired));
        Some((Kind::Table, self.table_request(&held, wall)))
    }

    /// Releases the Lease of this replica, when it holds no slots.
    fn leave_write(&self, index: u8, wall: Timestamp) -> Option<(Kind, Request)> {
        let is_drained = self.leases.held_by(&self.holder).union(self.local.busy()).is_empty();
        is_drained.then(|| (Kind::Leave, self.member_request(index, "", wall)))
    }

    /// Writes the Lease of a member: an acquisition, a renewal, or with an empty holder a release.
    fn member_request(&self, index: u8, holder: &str, wall: Timestamp) -> Request {
        let known = self.leases.member(index);
        let old = known.map(|member| member.record.clone()).unwrap_or_default();
        let (time, is_renewal) = (next_time(old.renew_time.as_ref(), wall), old.holder_identity == holder);
        let is_transition = known.is_some() && !is_renewal && !holder.is_empty();
        let policy = &self.policy.lease;
        let record = LeaderElectionRecord {
            holder_identity: holder.to_owned(),
            lease_duration_seconds: if holder.is_empty() { 1 } else { policy.lease_duration_seconds },
            acquire_time: if is_renewal { old.acquire_time } else { Some(time.clone()) },
            renew_time: Some(time),
            leader_transitions: old.leader_transitions.max(0).saturating_add(i32::from(is_transition)),
            strategy: old.strategy,
            preferred_holder: old.preferred_holder,
        };
        let create = || self.new_lease(self.policy.names.member(index));
        let mut lease = known.map_or_else(create, |member| member.lease.clone());
        lease.spec = Some(record.into());
        set_leaving(&mut lease, holder == self.holder && self.departure != Departure::Staying);
        match known {
            Some(_) => Request::Update(Box::new(lease)),
            None => Request::Create(Box::new(lease)),
        }
    }

    /// Writes the table. Its time differs from the observed one, so that every write has a new resource version.
    fn table_request(&self, held: &BTreeMap<String, SlotSet>, wall: Timestamp) -> Request {
        let known = self.leases.table_lease();
        let mut lease = known.cloned().unwrap_or_else(|| self.new_lease(self.policy.names.table()));
        Table::new(self.policy.fleet.clone(), held).write(&mut lease);
        let spec = lease.spec.get_or_insert_default();
        let time = next_time(spec.renew_time.as_ref(), wall);
        spec.renew_time = Some(time);
        match known {
            Some(_) => Request::Update(Box::new(lease)),
            None => Request::Create(Box::new(lease)),
        }
    }

    fn new_lease(&self, name: String) -> Lease {
        let mut lease = Lease::default();
        lease.metadata.name = Some(name);
        lease.metadata.labels = Some(self.policy.labels.clone()).filter(|labels| !labels.is_empty());
        lease
    }
}
