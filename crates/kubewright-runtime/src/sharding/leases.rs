//! The Leases of a fleet, as a replica last observed them: one for each member, and that of the slot table.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use k8s_openapi::api::coordination::v1::Lease;

use super::{
    slot::{SLOTS, SlotSet},
    table::{Fleet, Table, TableError},
};
use crate::leader_election::{LeaderElectionRecord, Time};

/// The annotation of a member that gives up its slots and acquires no others.
const LEAVING_ANNOTATION: &str = "kubewright-runtime/leaving";

/// The names of the Leases of a fleet.
#[derive(Clone, Debug)]
pub(super) struct LeaseNames(String);

/// Which Lease of a fleet it is.
enum Role {
    Member(u8),
    Table,
}

impl LeaseNames {
    pub(super) fn new(fleet: &str) -> Self {
        LeaseNames(fleet.to_owned())
    }

    /// Returns the name of the Lease of a member, by its index below [`SLOTS`].
    pub(super) fn member(&self, index: u8) -> String {
        format!("{}-member-{index:02}", self.0)
    }

    /// Returns the name of the Lease of the slot table.
    pub(super) fn table(&self) -> String {
        format!("{}-slots", self.0)
    }

    /// Returns all names.
    pub(super) fn all(&self) -> Vec<String> {
        [self.table()].into_iter().chain((0..SLOTS).map(|index| self.member(index))).collect()
    }

    fn role(&self, lease: &Lease) -> Option<Role> {
        let name = lease.metadata.name.as_deref()?;
        if name == self.table() {
            return Some(Role::Table);
        }
        (0..SLOTS).find(|index| name == self.member(*index)).map(Role::Member)
    }
}

/// The Lease of a member. It is free if its record has no holder.
#[derive(Debug)]
pub(super) struct Member {
    /// Without its spec.
    pub(super) lease: Lease,
    pub(super) record: LeaderElectionRecord,
    is_leaving: bool,
    /// When this state was observed first.
    since: Time,
}

/// The Lease of the slot table.
#[derive(Debug)]
struct ObservedTable {
    lease: Lease,
    table: Result<Table, TableError>,
    /// The slots of each holder; none if the table is invalid or that of an incompatible fleet.
    held: BTreeMap<String, SlotSet>,
}

/// The Leases of a fleet.
///
/// Times at which Leases expire are counted from when this process first observed their state. They are compared with
/// the time of the last successful list, as a Lease that was not read can have been renewed.
#[derive(Debug)]
pub(super) struct Leases {
    names: LeaseNames,
    fleet: Fleet,
    /// For holders without a Lease, and for records without a duration.
    lease_duration: Duration,
    members: BTreeMap<u8, Member>,
    table: Option<ObservedTable>,
    has_seen_table: bool,
    /// Since when there is no table.
    missing_since: Option<Time>,
    /// The holders of slots whose Lease was taken over by another replica, so that their work has ended.
    evicted: BTreeSet<String>,
    /// The holders of slots without a Lease, and since when they are observed.
    orphans: BTreeMap<String, Time>,
}

/// Why this replica cannot share the slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Incompatible {
    InvalidTable(TableError),
    /// Replicas of this fleet hold slots.
    OtherFleet(Fleet),
}

impl Leases {
    pub(super) fn new(names: LeaseNames, fleet: Fleet, lease_duration: Duration) -> Self {
        Leases {
            names,
            fleet,
            lease_duration,
            members: BTreeMap::new(),
            table: None,
            has_seen_table: false,
            missing_since: None,
            evicted: BTreeSet::new(),
            orphans: BTreeMap::new(),
        }
    }

    /// Replaces the observed Leases by those of a list.
    #[cfg(test)]
    fn list(&mut self, now: Time, leases: Vec<Lease>) {
        self.list_after(now, leases, false);
    }

    /// Replaces the observed Leases by those of a list. After a gap without lists, the durations of all Leases restart:
    /// if the API server was down, no replica could renew its Lease.
    pub(super) fn list_after(&mut self, now: Time, leases: Vec<Lease>, is_after_gap: bool) {
        let (mut members, mut table) = (BTreeMap::new(), None);
        for lease in leases {
            match self.names.role(&lease) {
                Some(Role::Member(index)) => drop(members.insert(index, lease)),
                Some(Role::Table) => table = Some(lease),
                None => {}
            }
        }
        self.members.retain(|index, _| members.contains_key(index));
        members.into_iter().for_each(|(index, lease)| self.set_member(now, index, lease));
        if is_after_gap {
            self.members.values_mut().for_each(|member| member.since = now);
        }
        match table {
            Some(lease) => self.set_table(lease),
            None => {
                self.table = None;
                self.missing_since.get_or_insert(now);
            }
        }
        self.update_holders(now);
    }

    /// Replaces one Lease by the response of a write.
    pub(super) fn written(&mut self, now: Time, lease: Lease) {
        match self.names.role(&lease) {
            Some(Role::Member(index)) => self.set_member(now, index, lease),
            Some(Role::Table) => self.set_table(lease),
            None => {}
        }
        self.update_holders(now);
    }

    fn set_member(&mut self, now: Time, index: u8, mut lease: Lease) {
        let record = LeaderElectionRecord::from(lease.spec.take().unwrap_or_default());
        let is_leaving = has_leaving_annotation(&lease);
        match self.members.get_mut(&index) {
            Some(known) if known.record == record && known.is_leaving == is_leaving => known.lease = lease,
            known => {
                let holder = known.map(|known| known.record.holder_identity.clone()).unwrap_or_default();
                if !holder.is_empty() && holder != record.holder_identity {
                    self.evicted.insert(holder);
                }
                self.members.insert(index, Member { lease, record, is_leaving, since: now });
            }
        }
    }

    fn set_table(&mut self, lease: Lease) {
        let mut table = Table::read(&lease, &self.fleet);
        let slots = match &table {
            Ok(table) if table.fleet.is_compatible(&self.fleet) => table.slots(),
            _ => Ok(BTreeMap::new()),
        };
        let held = slots.unwrap_or_else(|error| {
            table = Err(error);
            BTreeMap::new()
        });
        self.table = Some(ObservedTable { lease, table, held });
        (self.has_seen_table, self.missing_since) = (true, None);
    }

    /// Updates which holders of slots have no Lease.
    fn update_holders(&mut self, now: Time) {
        let holders: BTreeSet<String> = self.holders().map(str::to_owned).collect();
        let members: BTreeSet<String> = self.holders_of_members().map(str::to_owned).collect();
        let is_without_lease = |holder: &String| holders.contains(holder) && !members.contains(holder);
        self.evicted.retain(is_without_lease);
        let (evicted, orphans) = (&self.evicted, &mut self.orphans);
        orphans.retain(|holder, _| is_without_lease(holder) && !evicted.contains(holder));
        for holder in holders.iter().filter(|holder| is_without_lease(holder) && !evicted.contains(*holder)) {
            orphans.entry(holder.clone()).or_insert(now);
        }
    }

    /// Returns the holders in the table.
    fn holders(&self) -> impl Iterator<Item = &str> {
        self.table.iter().flat_map(|table| table.table.iter().flat_map(Table::holders))
    }

    /// Returns the holders of all Leases of members.
    fn holders_of_members(&self) -> impl Iterator<Item = &str> {
        self.members.values().map(|member| member.record.holder_identity.as_str()).filter(|holder| !holder.is_empty())
    }

    /// Returns the holder of the Lease of a member; empty if it is free or does not exist.
    pub(super) fn holder(&self, index: u8) -> &str {
        self.members.get(&index).map_or("", |member| &member.record.holder_identity)
    }

    pub(super) fn member(&self, index: u8) -> Option<&Member> {
        self.members.get(&index)
    }

    /// Returns the index of a free Lease of a member; `None` if all are held.
    pub(super) fn free_index(&self) -> Option<u8> {
        let is_free = |index: &u8| self.holder(*index).is_empty();
        let existing = (0..SLOTS).filter(|index| self.members.contains_key(index)).find(is_free);
        existing.or_else(|| (0..SLOTS).find(is_free))
    }

    /// Returns the replicas to which slots are assigned: those that are not leaving, and whose Lease had not expired at
    /// the last list. With a limit, they must also have renewed it within this time before the list.
    pub(super) fn live(&self, listed: Time, limit: Option<Duration>) -> impl Iterator<Item = &str> {
        let is_live = move |member: &&Member| {
            let expiry = limit.map_or_else(|| self.expiry(member), |limit| member.since + limit);
            !member.record.holder_identity.is_empty() && !member.is_leaving && listed < expiry
        };
        self.members.values().filter(is_live).map(|member| member.record.holder_identity.as_str())
    }

    /// Returns the index of the Lease of a member that had expired at the last list, other than that of `me`.
    pub(super) fn expired(&self, listed: Time, me: &str) -> Option<u8> {
        let is_expired = |member: &Member| {
            let holder = member.record.holder_identity.as_str();
            !holder.is_empty() && holder != me && listed >= self.expiry(member)
        };
        self.members.iter().find(|(_, member)| is_expired(member)).map(|(index, _)| *index)
    }

    /// Returns the first time after the last list at which a Lease expires, or slots of a holder without one become
    /// free.
    pub(super) fn next_expiry(&self, listed: Time) -> Option<Time> {
        let held = self.members.values().filter(|member| !member.record.holder_identity.is_empty());
        let expiries = held.map(|member| self.expiry(member));
        let orphans = self.orphans.values().chain(&self.missing_since).map(|since| *since + self.lease_duration);
        expiries.chain(orphans).filter(|expiry| *expiry > listed).min()
    }

    fn expiry(&self, member: &Member) -> Time {
        member.since + member.record.lease_duration().unwrap_or(self.lease_duration)
    }

    /// Returns whether the work of a holder has ended: another replica took over its Lease, or it had none for a lease
    /// duration.
    fn is_gone(&self, holder: &str, listed: Time) -> bool {
        let is_expired = |since: &Time| listed >= *since + self.lease_duration;
        self.evicted.contains(holder) || self.orphans.get(holder).is_some_and(is_expired)
    }

    /// Returns the Lease of the table; `None` if there is none.
    pub(super) fn table_lease(&self) -> Option<&Lease> {
        self.table.as_ref().map(|table| &table.lease)
    }

    /// Returns whether the table can be created: there is no replica, or there has been no table for a lease duration,
    /// so that the work of its holders has ended.
    pub(super) fn can_create_table(&self, listed: Time) -> bool {
        let Some(since) = self.missing_since else { return false };
        let is_first = !self.has_seen_table && self.holders_of_members().next().is_none();
        is_first || listed >= since + self.lease_duration
    }

    /// Returns whether there is no table, and it cannot be created yet.
    pub(super) fn is_table_missed(&self, listed: Time) -> bool {
        self.missing_since.is_some() && !self.can_create_table(listed)
    }

    /// Returns the slots of each holder.
    pub(super) fn held(&self) -> Option<&BTreeMap<String, SlotSet>> {
        self.table.as_ref().map(|table| &table.held)
    }

    /// Returns the slots of a holder.
    pub(super) fn held_by(&self, holder: &str) -> SlotSet {
        self.held().and_then(|held| held.get(holder)).copied().unwrap_or_default()
    }

    /// Returns the slots of each holder whose work can run.
    pub(super) fn held_now(&self, listed: Time) -> BTreeMap<String, SlotSet> {
        let held = self.held().into_iter().flatten();
        let held = held.filter(|(holder, _)| !self.is_gone(holder, listed));
        held.map(|(holder, slots)| (holder.clone(), *slots)).collect()
    }

    /// Returns why this replica cannot share the slots; `None` if it can.
    pub(super) fn incompatible(&self, listed: Time) -> Option<Incompatible> {
        match &self.table.as_ref()?.table {
            Err(error) => Some(Incompatible::InvalidTable(error.clone())),
            Ok(table) if table.fleet.is_compatible(&self.fleet) => None,
            Ok(table) => {
                let is_used = table.holders().any(|holder| !self.is_gone(holder, listed));
                is_used.then(|| Incompatible::OtherFleet(table.fleet.clone()))
            }
        }
    }
}

fn has_leaving_annotation(lease: &Lease) -> bool {
    lease.metadata.annotations.as_ref().is_some_and(|annotations| annotations.contains_key(LEAVING_ANNOTATION))
}

/// Sets whether the member of a Lease is leaving.
pub(super) fn set_leaving(lease: &mut Lease, is_leaving: bool) {
    let annotations = lease.metadata.annotations.get_or_insert_default();
    match is_leaving {
        true => drop(annotations.insert(LEAVING_ANNOTATION.to_owned(), "true".to_owned())),
        false => drop(annotations.remove(LEAVING_ANNOTATION)),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::shard::Field, *};

    const SECOND: Duration = Duration::from_secs(1);

    fn leases() -> Leases {
        let fleet = Fleet::new(Field::Uid, BTreeSet::from(["a".to_owned()]));
        Leases::new(LeaseNames::new("web"), fleet, 15 * SECOND)
    }

    fn member(index: u8, holder: &str, transitions: i32) -> Lease {
        let record = LeaderElectionRecord {
            holder_identity: holder.to_owned(),
            lease_duration_seconds: 15,
            leader_transitions: transitions,
            ..LeaderElectionRecord::default()
        };
        let mut lease = Lease { spec: Some(record.into()), ..Lease::default() };
        lease.metadata.name = Some(LeaseNames::new("web").member(index));
        lease
    }

    fn table(held: &[(&str, &str)]) -> Lease {
        let held = held.iter().map(|(holder, slots)| ((*holder).to_owned(), slots.parse().unwrap())).collect();
        let mut lease = Lease::default();
        lease.metadata.name = Some(LeaseNames::new("web").table());
        Table::new(leases().fleet, &held).write(&mut lease);
        lease
    }

    #[test]
    fn each_lease_has_a_name() {
        let names = LeaseNames::new("web").all();
        assert_eq!((names.len(), names[0].as_str(), names[64].as_str()), (65, "web-slots", "web-member-63"));
    }

    #[test]
    fn a_lease_expires_its_duration_after_its_state_was_observed_first() {
        let mut leases = leases();
        leases.list(10 * SECOND, vec![member(3, "x", 0)]);
        leases.list(20 * SECOND, vec![member(3, "x", 0)]);
        assert_eq!(leases.expired(24 * SECOND, ""), None);
        assert_eq!((leases.expired(25 * SECOND, ""), leases.expired(25 * SECOND, "x")), (Some(3), None));
        assert_eq!(leases.next_expiry(20 * SECOND), Some(25 * SECOND));
        assert_eq!(leases.live(24 * SECOND, None).count(), 1);
        assert_eq!(leases.live(20 * SECOND, Some(10 * SECOND)).count(), 0, "it is suspected");
        leases.list(26 * SECOND, vec![member(3, "x", 1)]);
        assert_eq!(leases.expired(40 * SECOND, ""), None, "it was renewed");
    }

    #[test]
    fn the_durations_restart_after_an_outage() {
        let mut leases = leases();
        leases.list_after(10 * SECOND, vec![member(3, "x", 0)], false);
        leases.list_after(60 * SECOND, vec![member(3, "x", 0)], true);
        assert_eq!((leases.expired(74 * SECOND, ""), leases.expired(75 * SECOND, "")), (None, Some(3)));
    }

    #[test]
    fn slots_of_an_evicted_holder_are_free_at_once_and_others_without_a_lease_after_the_duration() {
        let mut leases = leases();
        let held = table(&[("x", "0-3"), ("y", "4")]);
        leases.list(SECOND, vec![member(0, "x", 0), member(1, "y", 0), held.clone()]);
        assert_eq!(leases.held_now(SECOND).len(), 2);
        leases.list(2 * SECOND, vec![member(0, "", 0), held.clone()]);
        assert_eq!(leases.held_now(16 * SECOND).into_keys().collect::<Vec<_>>(), ["y"]);
        assert_eq!(leases.next_expiry(2 * SECOND), Some(17 * SECOND));
        assert!(leases.held_now(17 * SECOND).is_empty());
        leases.list(18 * SECOND, vec![member(0, "", 0), member(1, "y", 0), held]);
        assert_eq!(leases.held_now(40 * SECOND).into_keys().collect::<Vec<_>>(), ["y"], "it has a Lease again");
    }

    #[test]
    fn a_member_uses_an_existing_lease_before_a_new_one() {
        let mut leases = leases();
        assert_eq!(leases.free_index(), Some(0));
        leases.list(SECOND, vec![member(0, "x", 0), member(5, "", 0)]);
        assert_eq!(leases.free_index(), Some(5));
        leases.list(SECOND, vec![member(0, "x", 0), member(5, "y", 0)]);
        assert_eq!(leases.free_index(), Some(1));
        leases.list(SECOND, (0..SLOTS).map(|index| member(index, "x", 0)).collect());
        assert_eq!(leases.free_index(), None);
    }

    #[test]
    fn a_deleted_table_is_created_again_when_the_work_of_its_holders_has_ended() {
        let mut leases = leases();
        leases.list(SECOND, Vec::new());
        assert!(leases.can_create_table(SECOND), "there is no replica");
        leases.written(SECOND, table(&[("x", "0-3")]));
        assert!(!leases.can_create_table(SECOND));
        leases.list(2 * SECOND, vec![member(0, "x", 0)]);
        assert_eq!((leases.can_create_table(16 * SECOND), leases.can_create_table(17 * SECOND)), (false, true));
    }

    #[test]
    fn another_fleet_is_incompatible_while_it_holds_slots() {
        let mut leases = leases();
        let other = Fleet::new(Field::Namespace, BTreeSet::from(["a".to_owned()]));
        let mut lease = table(&[]);
        let held = BTreeMap::from([("x".to_owned(), SlotSet::ALL)]);
        Table::new(other.clone(), &held).write(&mut lease);
        leases.list(SECOND, vec![member(0, "x", 0), lease.clone()]);
        assert_eq!(leases.incompatible(100 * SECOND), Some(Incompatible::OtherFleet(other)));
        leases.list(2 * SECOND, vec![member(0, "", 0), lease]);
        assert_eq!(leases.incompatible(2 * SECOND), None);
        leases.written(3 * SECOND, table(&[("x", "0-3")]));
        assert_eq!((leases.incompatible(3 * SECOND), leases.held_by("x").len()), (None, 4));
    }

    #[test]
    fn leaving_members_get_no_slots() {
        let (mut leases, mut lease) = (leases(), member(0, "x", 0));
        set_leaving(&mut lease, true);
        leases.list(SECOND, vec![lease.clone()]);
        assert_eq!(leases.live(SECOND, None).count(), 0);
        set_leaving(&mut lease, false);
        leases.list(SECOND, vec![lease]);
        assert_eq!(leases.live(SECOND, None).count(), 1);
    }
}
