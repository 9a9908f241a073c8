//! The assignment of slots to replicas: rendezvous hashing with bounded load.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    shard::fnv1a,
    slot::{SLOTS, Slot, SlotSet},
};

/// Returns the slots of each member, given the slots that replicas hold now.
///
/// Guarantees:
/// - each slot has one member, if there are members;
/// - the numbers of slots differ by at most one;
/// - a member keeps what it holds, up to its number of slots, so that a leaving member moves only its slots, and a
///   joining one only as many as it gets;
/// - other slots, and those that a member gives up, are selected by the highest random weight of member and slot;
/// - members that give up and acquire the assigned slots in any order do not change the assignment.
pub(super) fn assign<'a>(
    members: impl IntoIterator<Item = &'a str>,
    held: &BTreeMap<String, SlotSet>,
) -> BTreeMap<&'a str, SlotSet> {
    let mut shares = shares(members, held);
    let kept = shares.iter().fold(SlotSet::EMPTY, |kept, share| kept.union(share.slots));
    for slot in SlotSet::ALL.difference(kept).iter() {
        let candidates = shares.iter_mut().filter(|share| share.slots.len() < share.quota);
        if let Some(share) = candidates.max_by_key(|share| weight(share.hash, slot)) {
            share.slots.insert(slot);
        }
    }
    shares.into_iter().map(|share| (share.member, share.slots)).collect()
}

/// The share of a member.
struct Share<'a> {
    member: &'a str,
    hash: u64,
    /// The number of its slots.
    quota: usize,
    slots: SlotSet,
}

/// Returns the members with the slots that they keep. Those that hold more slots than the others get the remainder.
fn shares<'a>(members: impl IntoIterator<Item = &'a str>, held: &BTreeMap<String, SlotSet>) -> Vec<Share<'a>> {
    let members: BTreeSet<&str> = members.into_iter().collect();
    let count = members.len().max(1);
    let (base, remainder) = (usize::from(SLOTS) / count, usize::from(SLOTS) % count);
    let share = |member| Share { member, hash: fnv1a(member), quota: base, slots: held_by(member, held) };
    let mut shares: Vec<_> = members.into_iter().map(share).collect();
    // The sort is stable, and the members are in the order of their names.
    shares.sort_by_key(|share| share.slots.len() <= base);
    shares.iter_mut().take(remainder).for_each(|share| share.quota += 1);
    shares.iter_mut().for_each(Share::limit);
    shares
}

impl Share<'_> {
    /// Gives up the slots with the lowest weights beyond the quota.
    fn limit(&mut self) {
        if self.slots.len() <= self.quota {
            return;
        }
        let mut slots: Vec<_> = self.slots.iter().collect();
        slots.sort_by_key(|slot| Reverse(weight(self.hash, *slot)));
        self.slots = slots.into_iter().take(self.quota).collect();
    }
}

fn held_by(member: &str, held: &BTreeMap<String, SlotSet>) -> SlotSet {
    held.get(member).copied().unwrap_or_default()
}

/// Returns the weight of a member for a slot. FNV-1a alone does not distribute the high bits of similar texts.
fn weight(member_hash: u64, slot: Slot) -> u64 {
    mix(member_hash ^ mix(u64::from(slot.index()) + 1))
}

/// Distributes the bits of a value, as the finalizer of SplitMix64.
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::subsequence};

    use super::*;

    type Held = BTreeMap<String, SlotSet>;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("replica-{number}")).collect()
    }

    fn assigned(members: &[String], held: &Held) -> Held {
        let assigned = assign(members.iter().map(String::as_str), held);
        assigned.into_iter().map(|(member, slots)| (member.to_owned(), slots)).collect()
    }

    fn moved(before: &Held, after: &Held) -> usize {
        before.iter().map(|(member, slots)| slots.difference(held_by(member, after)).len()).sum()
    }

    /// Each slot is held by one of the members, or by none.
    fn any_holders() -> impl Strategy<Value = (Vec<String>, Held)> {
        (1..=12_usize).prop_flat_map(|count| {
            let holders = prop::collection::vec(prop::option::of(0..count), usize::from(SLOTS));
            (subsequence(names(count), 1..=count), holders.prop_map(|holders| held(&holders)))
        })
    }

    fn held(holders: &[Option<usize>]) -> Held {
        let mut held = Held::new();
        for (slot, holder) in Slot::all().zip(holders) {
            if let Some(holder) = holder {
                held.entry(format!("replica-{holder}")).or_default().insert(slot);
            }
        }
        held
    }

    #[test]
    fn a_single_member_has_all_slots_and_no_member_has_none() {
        assert_eq!(assigned(&names(1), &Held::new())["replica-0"], SlotSet::ALL);
        assert!(assigned(&[], &Held::new()).is_empty());
    }

    #[test]
    fn a_leaving_member_moves_only_its_slots() {
        let before = assigned(&names(5), &Held::new());
        let after = assigned(&names(4), &before);
        assert_eq!(moved(&before, &after), before["replica-4"].len());
    }

    #[test]
    fn a_joining_member_moves_only_the_slots_that_it_gets() {
        let before = assigned(&names(4), &Held::new());
        let after = assigned(&names(5), &before);
        assert_eq!((after["replica-4"].len(), moved(&before, &after)), (12, 12));
    }

    #[test]
    fn more_members_than_slots_are_not_an_error() {
        let assigned = assigned(&names(70), &Held::new());
        assert_eq!(assigned.values().filter(|slots| slots.len() == 1).count(), 64);
    }

    proptest! {
        #[test]
        fn each_slot_has_one_member_and_the_load_is_even((members, held) in any_holders()) {
            let assigned = assigned(&members, &held);
            let all = assigned.values().fold(SlotSet::EMPTY, |all, slots| all.union(*slots));
            let lengths: Vec<_> = assigned.values().map(|slots| slots.len()).collect();
            prop_assert_eq!(all, SlotSet::ALL);
            prop_assert_eq!(lengths.iter().sum::<usize>(), 64);
            prop_assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 1);
        }

        #[test]
        fn moves_in_any_order_do_not_change_the_assignment((members, mut held) in any_holders(), seed: u64) {
            let (mut random, target) = (fastrand::Rng::with_seed(seed), assigned(&members, &held));
            let mut slots: Vec<_> = Slot::all().collect();
            random.shuffle(&mut slots);
            // A slot is given up, and later acquired.
            let moves = slots.iter().chain(&slots);
            for slot in moves {
                let holder = held.iter().find(|(_, held)| held.contains(*slot)).map(|(holder, _)| holder.clone());
                match holder {
                    Some(holder) if held_by(&holder, &target).contains(*slot) => {}
                    Some(holder) => held.entry(holder).or_default().remove(*slot),
                    None => {
                        let owner = target.iter().find(|(_, slots)| slots.contains(*slot)).unwrap().0;
                        held.entry(owner.clone()).or_default().insert(*slot);
                    }
                }
                prop_assert_eq!(&assigned(&members, &held), &target);
            }
        }
    }
}
