//! Simulations of the replicas of a fleet: no key is reconciled by two of them at a time, none is without an owner for
//! long, and each change is reconciled.
//!
//! Each replica drives the state machine as the runner does. The rates of the clocks differ by up to 4 %, the
//! documented limit. Caches are filled and notified with delays. Each slot has one key, which changes at random.
//!
//! By default it runs hundreds of seeds; with `SHARDING_SIMULATION=10m` (or `s`, `h`) as many as fit into that time. A
//! failure prints its seed, which `SHARDING_SEED` repeats.

mod model;
mod replica;
mod server;

use std::time::Duration;

use super::slot::SlotSet;
use crate::simulation::{Model, Options, SECOND, World, seeds};
use model::{Shards, world};

/// The default number of seeds.
const SEEDS: u64 = 300;
/// The largest difference of a clock's rate from real time: the rates of two clocks differ by 4 %.
const DRIFT: f64 = 0.02;
/// How long faults occur.
const FAULTS: Duration = Duration::from_secs(90);
const OPTIONS: Options = Options { drift: DRIFT, faults_end: FAULTS, restarts: true };
/// The latest arrival of a delayed write, and the end of reconciliations, after the faults.
const SETTLED: Duration = Duration::from_secs(20);
/// How long the slots of a replica that crashed have no owner: the lease duration and the retry period on the slowest
/// clock, and the latency of the requests of all replicas.
const TAKEOVER: Duration = Duration::from_millis(15_000 + 2_000 + 400 + 2_000);
/// How long a slot has no owner when it is handed over: the longest reconciliation, the retry period on the slowest
/// clock, and the latency of the requests of all replicas.
const HAND_OVER: Duration = Duration::from_millis(3_000 + 2_100 + 2_000);

/// Runs the seeds in chaos, and checks the slots and the changes afterwards.
fn chaos(check: impl Fn(&World<Shards>) -> Result<(), String>) {
    let (mut runs, mut moves, mut losses) = (0_u64, 0, 0);
    for seed in seeds("SHARDING", SEEDS) {
        let mut world = world(seed, OPTIONS);
        let result = world.run_until(FAULTS + SETTLED + 2 * TAKEOVER).and_then(|()| check(&world));
        result.unwrap_or_else(|violation| panic!("reproduce with SHARDING_SEED={seed}: {violation}"));
        runs += 1;
        moves += world.model.moves;
        losses += world.model.losses;
    }
    println!("{runs} seeds, {moves} moves of slots, {losses} lost Leases");
    assert!(moves > 100 * runs && losses > runs / 2, "faults move slots");
}

#[test]
fn no_key_is_reconciled_by_two_replicas_at_a_time() {
    // The world checks it after each event.
    chaos(|_| Ok(()));
}

#[test]
fn each_change_is_reconciled_and_each_slot_has_one_owner_after_the_faults() {
    chaos(|world| {
        let (owned, missed) = (world.owned(), world.missed());
        match owned == SlotSet::ALL && missed.is_empty() {
            true => Ok(()),
            false => Err(format!("slots {owned:?} have an owner, and changes of {missed:?} are not reconciled")),
        }
    });
}

#[test]
fn the_simulation_detects_clocks_beyond_the_documented_limit() {
    let options = Options { drift: 0.2, ..OPTIONS };
    let is_violated = |seed| world(seed, options).run_until(FAULTS).is_err();
    assert!((0..500).any(is_violated));
}

#[test]
fn no_key_is_without_an_owner_longer_than_the_duration_and_one_retry() {
    for seed in 0..100 {
        let (mut world, replica) = stable_world(seed);
        let slots = world.owned_by(replica);
        world.kill(replica);
        let killed = world.now;
        let is_owned = world.run_until_owned(slots, killed + TAKEOVER).unwrap();
        assert!(
            is_owned,
            "seed {seed}: {slots:?} have no owner {TAKEOVER:?} after the crash, {:?} have",
            world.owned()
        );
    }
}

#[test]
fn a_stopped_replica_hands_its_slots_over() {
    for seed in 0..100 {
        let (mut world, replica) = stable_world(seed);
        let slots = world.owned_by(replica);
        Shards::stop(&mut world, replica, Duration::ZERO);
        let stopped = world.now;
        let is_owned = world.run_until_owned(slots, stopped + HAND_OVER).unwrap();
        assert!(
            is_owned,
            "seed {seed}: {slots:?} have no owner {HAND_OVER:?} after the stop, {:?} have",
            world.owned()
        );
    }
}

#[test]
fn the_load_is_even_and_a_crash_moves_only_the_slots_of_the_crashed_replica() {
    for seed in 0..50 {
        let (mut world, replica) = stable_world(seed);
        let count = world.processes.len();
        let lengths: Vec<_> = (0..count).map(|index| world.owned_by(index).len()).collect();
        assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 1, "seed {seed}: {lengths:?}");
        let (moves, slots) = (world.model.moves, world.owned_by(replica));
        world.kill(replica);
        world.run_until(world.now + 2 * TAKEOVER).unwrap();
        assert_eq!((world.owned(), world.model.moves - moves), (SlotSet::ALL, slots.len() as u64), "seed {seed}");
    }
}

/// Returns a simulation without faults in which each slot has an owner, at a random time, and a replica.
fn stable_world(seed: u64) -> (World<Shards>, usize) {
    let mut world = world(seed, Options { faults_end: Duration::ZERO, restarts: false, ..OPTIONS });
    let time = 60 * SECOND + Duration::from_millis(world.random.u64(..10_000));
    world.run_until(time).unwrap();
    assert_eq!(world.owned(), SlotSet::ALL, "seed {seed}");
    let replica = world.random.usize(..world.processes.len());
    (world, replica)
}
