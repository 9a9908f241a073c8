//! Simulations of several electors on one lease: no two leaders work at a time, and another candidate takes over in
//! time.
//!
//! Each process drives the state machine as the elector does. The rates of the clocks differ by up to 4 %, the
//! documented limit.
//!
//! By default it runs thousands of seeds; with `ELECTION_SIMULATION=10m` (or `s`, `h`) as many as fit into that time. A
//! failure prints its seed, which `ELECTION_SEED` repeats.

mod model;

use std::time::Duration;

use crate::simulation::{Model, Options, SECOND, World, seeds};
use model::{Election, world};

/// The default number of seeds.
const SEEDS: u64 = 2000;
/// The largest difference of a clock's rate from real time: the rates of two clocks differ by 4 %.
const DRIFT: f64 = 0.02;
/// How long faults occur.
const FAULTS: Duration = Duration::from_secs(120);
const OPTIONS: Options = Options { drift: DRIFT, faults_end: FAULTS, restarts: true };
/// The latest arrival of a delayed write, and the end of the work of a stopped process, after the faults.
const SETTLED: Duration = Duration::from_secs(20);
/// Lease duration and retry period with jitter, on the slowest clock, and the latency of the requests.
const TAKEOVER: Duration = Duration::from_millis(15_000 + 4_400 + 400 + 300);
/// The retry period with jitter, on the slowest clock, and the latency of the requests.
const TAKEOVER_AFTER_RELEASE: Duration = Duration::from_millis(4_400 + 100 + 500);

#[test]
fn l08_no_two_leaders_work_at_a_time() {
    let (mut runs, mut terms, mut losses) = (0_u64, 0, 0);
    for seed in seeds("ELECTION", SEEDS) {
        let mut world = world(seed, OPTIONS);
        let result = world.run_until(FAULTS + SETTLED + TAKEOVER);
        result.unwrap_or_else(|violation| panic!("reproduce with ELECTION_SEED={seed}: {violation}"));
        let leaders = world.working();
        assert_eq!(leaders.len(), 1, "reproduce with ELECTION_SEED={seed}: leaders {leaders:?} after the faults");
        runs += 1;
        terms += world.model.terms;
        losses += world.model.losses;
    }
    println!("{runs} seeds, {terms} terms of leaders, {losses} lost");
    assert!(terms > 3 * runs && losses > runs / 2, "faults cause changes of the leader");
}

#[test]
fn l08_the_simulation_detects_clocks_beyond_the_documented_limit() {
    let options = Options { drift: 0.2, ..OPTIONS };
    let is_violated = |seed| world(seed, options).run_until(FAULTS).is_err();
    assert!((0..500).any(is_violated));
}

#[test]
fn another_candidate_takes_over_from_a_leader_that_crashed() {
    for seed in 0..300 {
        let (mut world, leader) = stable_world(seed);
        world.kill(leader);
        let killed = world.now;
        world.run_while(killed + TAKEOVER, |world| world.working().is_empty()).unwrap();
        assert_eq!(world.working().len(), 1, "seed {seed}: no leader {TAKEOVER:?} after the crash");
    }
}

#[test]
fn another_candidate_takes_over_after_a_release() {
    for seed in 0..300 {
        let (mut world, leader) = stable_world(seed);
        Election::stop(&mut world, leader, Duration::ZERO);
        world.run_until(world.now + SECOND / 1000).unwrap();
        assert!(world.working().is_empty(), "seed {seed}");
        let stopped = world.now;
        world.run_while(stopped + TAKEOVER_AFTER_RELEASE, |world| world.working().is_empty()).unwrap();
        assert_eq!(world.working().len(), 1, "seed {seed}: no leader {TAKEOVER_AFTER_RELEASE:?} after the release");
    }
}

/// Returns a simulation without faults that has a leader, at a random time.
fn stable_world(seed: u64) -> (World<Election>, usize) {
    let mut world = world(seed, Options { faults_end: Duration::ZERO, ..OPTIONS });
    let time = 60 * SECOND + Duration::from_millis(world.random.u64(..10_000));
    world.run_until(time).unwrap();
    let leaders = world.working();
    assert_eq!(leaders.len(), 1, "seed {seed}");
    (world, leaders[0])
}
