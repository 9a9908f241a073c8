//! The invariant: an agent is ready while there is a node for one, and acknowledged records are in files.
//!
//! [`tests::availability`] defines the first part, and which faults the Logger survives without an interruption. The
//! second part: a record that an agent acknowledged is in exactly one file, from the acknowledgement on and until the
//! end of its Pod. The files of a Pod are in an `emptyDir`, which its node removes with the Pod; they are read to their
//! ends before.

use std::{sync::Arc, time::Duration};

use fastrand::Rng;
use libtest_mimic::Trial;
use tests::availability::{Error, Fault, Observation, Observer, Run, fixed_sequence};
use tokio::time::{Instant, sleep};

use super::{fixture::Scenario, load::Load, trial};

/// How long faults are injected at random by default, at least.
const TIME: Duration = Duration::from_secs(60);
/// The maximum pause between two faults, in milliseconds.
const PAUSE: u64 = 3000;
/// The number of agents.
const AGENTS: usize = 2;
/// The kinds of faults that one round injects.
const KINDS: usize = 9;

pub(super) fn trials() -> Vec<Trial> {
    vec![trial("invariant::an_agent_is_ready_and_acknowledged_records_are_in_files", run)]
}

async fn run() -> Result<(), Error> {
    let seed = std::env::var("INVARIANT_SEED").map_or_else(|_| Ok(fastrand::u64(..)), |seed| seed.parse())?;
    println!("reproduce the faults with INVARIANT_SEED={seed}");
    let time = tests::duration_of_env("INVARIANT");
    let mut rng = Rng::with_seed(seed);
    let mut scenario = Scenario::start(rng.fork()).await?;
    let client = scenario.fixture.client().clone();
    let observer = Arc::new(Observer::start(&client, scenario.logger.target(true)));
    let (service, root) = (scenario.logger.names.child().to_owned(), scenario.fixture.cluster.directory().to_owned());
    let load = Load::start(&client, &service, &root, &observer, rng.fork());
    let mut run = Run::start(&mut scenario, &observer, AGENTS).await?;
    if time.is_some() {
        fixed_sequence(&mut run).await?;
    }
    random_faults(&mut run, &mut rng, time.unwrap_or(TIME)).await?;
    run.repair_all().await?;
    let (report, records) = (run.report(), load.stop().await?);
    println!("{report}{records}");
    observer.check()?;
    run.check_coverage()?;
    // Only heartbeats are written now, by the agents of one revision.
    scenario.fixture.loggers.wait_for_rollout(&scenario.logger.names).await?;
    scenario.fixture.wait_for_files(AGENTS).await?;
    scenario.fixture.verify(|_| true).await?;
    scenario.fixture.stop().await
}

/// Injects faults for this time, and until each kind has occurred.
async fn random_faults(run: &mut Run<'_, Scenario>, rng: &mut Rng, time: Duration) -> Result<(), Error> {
    let end = Instant::now() + time;
    let mut is_complete = false;
    while !is_complete || Instant::now() < end {
        let mut kinds: Vec<usize> = (0..KINDS).collect();
        rng.shuffle(&mut kinds);
        for kind in kinds {
            if is_complete && Instant::now() >= end {
                return Ok(());
            }
            step(run, rng, kind).await?;
        }
        is_complete = true;
    }
    Ok(())
}

/// Injects a fault of this kind. Lost nodes remain lost during later faults; other faults are repaired after a pause.
async fn step(run: &mut Run<'_, Scenario>, rng: &mut Rng, kind: usize) -> Result<(), Error> {
    let fault = loop {
        let observation = run.observe().await?;
        match select(&observation, run.active(), rng, kind) {
            Some(fault) => break fault,
            // The last repair is not observed yet.
            None if run.active().is_empty() => sleep(Duration::from_millis(PAUSE)).await,
            // Too few nodes are left.
            None => run.repair(0).await?,
        }
    };
    let is_lasting = fault.loses_nodes();
    let injected = run.inject(fault).await?;
    // Without this wait, the next fault overlaps.
    if rng.bool() {
        run.recover(&injected).await?;
    }
    sleep(Duration::from_millis(rng.u64(..PAUSE))).await;
    if !is_lasting {
        run.repair(run.active().len() - 1).await?;
    } else if run.active().len() > 1 || rng.bool() {
        run.repair(rng.usize(..run.active().len())).await?;
    }
    Ok(())
}

/// Selects a fault that leaves a node; `None` if there is none of this kind.
fn select(observation: &Observation, active: &[Fault], rng: &mut Rng, kind: usize) -> Option<Fault> {
    let is_affected =
        |node: &str, zone: &str| active.iter().any(|fault| fault.affects(node, zone) && fault.loses_nodes());
    let nodes: Vec<_> =
        observation.nodes.iter().filter(|node| node.is_available && !is_affected(&node.name, &node.zone)).collect();
    let left = |fault: &Fault| nodes.iter().filter(|node| !fault.affects(&node.name, &node.zone)).count();
    let mut node = |fault: fn(String) -> Fault| rng.choice(&nodes).map(|node| fault(node.name.clone()));
    let (fault, minimum) = match kind {
        0 => (node(Fault::Drain), 1),
        1 => (node(Fault::KillNode), 1),
        2 => (node(Fault::CutOffNode), 1),
        3 => (rng.choice(&nodes).map(|node| Fault::KillZone(node.zone.clone())), 1),
        4 => (rng.choice(&nodes).map(|node| Fault::CutOffZone(node.zone.clone())), 1),
        // The agents of a revision share no node.
        5 => (Some(Fault::RollOut), AGENTS),
        6 => (Some(Fault::BadImage), 1),
        7 => (Some(Fault::KillOperator), 1),
        _ => (Some(Fault::RestartServer), 1),
    };
    fault.filter(|fault| left(fault) >= minimum)
}
