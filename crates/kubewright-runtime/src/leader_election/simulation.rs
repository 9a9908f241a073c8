//! Simulations of several electors on one lease: no two leaders work at a time, and another candidate takes over in
//! time.
//!
//! Each process drives the state machine as the elector does, with its own clocks: wall clocks differ by up to an hour,
//! and the rates of the monotonic clocks by up to 4 %, the documented limit. Processes are paused, stopped, killed and
//! cut off; requests and responses are delayed and lost, and delayed writes are applied long after their timeout. A
//! paused process continues with its old state, and its clocks have advanced.
//!
//! By default it runs thousands of seeds; with `ELECTION_SIMULATION=10m` (or `s`, `h`) as many as fit into that time. A
//! failure prints its seed, which `ELECTION_SEED` repeats.

mod network;
mod process;
mod world;

use std::time::{Duration, Instant};

#[cfg(feature = "informers")]
pub(crate) use network::Conditions;
#[cfg(feature = "informers")]
pub(crate) use process::Clocks;
use world::{Options, World};

const SECOND: Duration = Duration::from_secs(1);
/// The default number of seeds.
const SEEDS: u64 = 2000;
/// The largest difference of a clock's rate from real time: the rates of two clocks differ by 4 %.
const DRIFT: f64 = 0.02;
/// How long faults occur.
const FAULTS: Duration = Duration::from_secs(120);
/// The latest arrival of a delayed write, and the end of the work of a stopped process, after the faults.
const SETTLED: Duration = Duration::from_secs(20);
/// Lease duration and retry period with jitter, on the slowest clock, and the latency of the requests.
const TAKEOVER: Duration = Duration::from_millis(15_000 + 4_400 + 400 + 300);
/// The retry period with jitter, on the slowest clock, and the latency of the requests.
const TAKEOVER_AFTER_RELEASE: Duration = Duration::from_millis(4_400 + 100 + 500);

/// Returns the seeds to run: this number, as many as fit into the time of the variable `NAME_SIMULATION`, or that of
/// `NAME_SEED`.
pub(crate) fn seeds(name: &str, count: u64) -> impl Iterator<Item = u64> {
    let first = std::env::var(format!("{name}_SEED")).ok().map(|seed| seed.parse().unwrap());
    let time = std::env::var(format!("{name}_SIMULATION")).ok().map(|time| parse_duration(&time));
    let started = Instant::now();
    let begin = first.unwrap_or(if time.is_some() { fastrand::u64(..u64::MAX / 2) } else { 0 });
    (0_u64..).zip(begin..).map_while(move |(number, seed)| {
        let has_more = match (first, time) {
            (Some(_), _) => number == 0,
            (None, Some(time)) => started.elapsed() < time,
            (None, None) => number < count,
        };
        has_more.then_some(seed)
    })
}

fn parse_duration(text: &str) -> Duration {
    let unit = |unit, seconds| Some(Duration::from_secs(text.strip_suffix(unit)?.parse::<u64>().ok()? * seconds));
    let duration = unit('s', 1).or_else(|| unit('m', 60)).or_else(|| unit('h', 3600));
    duration.expect("the time of a simulation is a number of `s`, `m` or `h`")
}

#[test]
fn l08_no_two_leaders_work_at_a_time() {
    let (mut runs, mut terms, mut losses) = (0_u64, 0, 0);
    for seed in seeds("ELECTION", SEEDS) {
        let mut world = World::new(seed, Options { drift: DRIFT, faults_end: FAULTS });
        let result = world.run_until(FAULTS + SETTLED + TAKEOVER);
        result.unwrap_or_else(|violation| panic!("reproduce with ELECTION_SEED={seed}: {violation}"));
        let leaders = world.working();
        assert_eq!(leaders.len(), 1, "reproduce with ELECTION_SEED={seed}: leaders {leaders:?} after the faults");
        runs += 1;
        terms += world.terms;
        losses += world.losses;
    }
    println!("{runs} seeds, {terms} terms of leaders, {losses} lost");
    assert!(terms > 3 * runs && losses > runs / 2, "faults cause changes of the leader");
}

#[test]
fn l08_the_simulation_detects_clocks_beyond_the_documented_limit() {
    let options = Options { drift: 0.2, faults_end: FAULTS };
    let is_violated = |seed| World::new(seed, options).run_until(FAULTS).is_err();
    assert!((0..500).any(is_violated));
}

#[test]
fn another_candidate_takes_over_from_a_leader_that_crashed() {
    for seed in 0..300 {
        let (mut world, leader) = stable_world(seed);
        world.kill(leader);
        let killed = world.now;
        world.run_until_leader(killed + TAKEOVER).unwrap();
        assert_eq!(world.working().len(), 1, "seed {seed}: no leader {TAKEOVER:?} after the crash");
    }
}

#[test]
fn another_candidate_takes_over_after_a_release() {
    for seed in 0..300 {
        let (mut world, leader) = stable_world(seed);
        world.stop(leader, Duration::ZERO);
        world.run_until(world.now + SECOND / 1000).unwrap();
        assert!(world.working().is_empty(), "seed {seed}");
        let stopped = world.now;
        world.run_until_leader(stopped + TAKEOVER_AFTER_RELEASE).unwrap();
        assert_eq!(world.working().len(), 1, "seed {seed}: no leader {TAKEOVER_AFTER_RELEASE:?} after the release");
    }
}

/// Returns a simulation without faults that has a leader, at a random time.
fn stable_world(seed: u64) -> (World, usize) {
    let mut world = World::new(seed, Options { drift: DRIFT, faults_end: Duration::ZERO });
    let time = 60 * SECOND + Duration::from_millis(world.random.u64(..10_000));
    world.run_until(time).unwrap();
    let leaders = world.working();
    assert_eq!(leaders.len(), 1, "seed {seed}");
    (world, leaders[0])
}
