//! Replicas are added to a running fleet, and removed from it.

use std::sync::Arc;

use envtest::ControlPlane;
use fastrand::Rng;
use kubewright_runtime::sharding::{Slot, SlotSet};
use libtest_mimic::{Failed, Trial};
use tests::journal;

use super::{
    Suite,
    fleet::{Fleet, HAND_OVER},
};

const OBJECTS: usize = 200;
/// The largest and the last number of replicas.
const MANY: usize = 5;
const FEW: usize = 2;

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    let name = "scaling::a_replica_that_starts_or_ends_moves_only_its_slots";
    vec![suite.test(name, |control_plane| run(&control_plane.lock()))]
}

fn run(control_plane: &ControlPlane) -> Result<(), Failed> {
    let mut fleet = Fleet::new(control_plane, "scaling")?;
    fleet.add(1)?;
    fleet.wait_until_even()?;
    let (started, latency) = (journal::now(), fleet.observe_latency());
    let load = fleet.load(OBJECTS, Rng::new())?;
    for count in 2..=MANY {
        let before = fleet.slots();
        fleet.add(1)?;
        fleet.wait_until_even()?;
        assert_eq!(acquired(&before, &fleet.slots()), 0, "only replica {count} acquires slots");
    }
    for _ in FEW..MANY {
        let before = fleet.slots();
        fleet.remove(0)?;
        fleet.wait_until_even()?;
        assert_eq!(acquired(&before[1..], &fleet.slots()), before[0].len(), "only the slots of the replica move");
    }
    let desired = fleet.runtime.block_on(load.stop())?;
    fleet.wait_until_converged(&desired)?;
    let (within, latency) = (started..journal::now(), fleet.runtime.block_on(latency.end()));
    fleet.stop()?;
    fleet.assert_no_overlap();
    fleet.assert_owned(&within, &[], HAND_OVER, &latency);
    Ok(())
}

/// Returns the number of slots that replicas have acquired, and fails if one that has no more slots than before
/// released one.
fn acquired(before: &[SlotSet], after: &[SlotSet]) -> usize {
    let missing = |slots: &SlotSet, other: &SlotSet| slots.iter().filter(|slot: &Slot| !other.contains(*slot)).count();
    let moves = before.iter().zip(after).map(|(before, after)| (missing(after, before), missing(before, after)));
    let moves: Vec<_> = moves.collect();
    assert!(moves.iter().all(|(acquired, released)| *acquired == 0 || *released == 0), "{before:?}, {after:?}");
    moves.iter().map(|(acquired, _)| acquired).sum()
}
