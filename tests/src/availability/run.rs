//! A run: faults are injected and repaired, and the recovery from each is measured.

use std::{collections::BTreeMap, fmt::Write, time::Duration};

use tokio::time::Instant;

use super::{Error, Fault, Observation, Observer};

/// How long a Logger can take to recover. It covers the grace period of nodes, the toleration and the pace of
/// evictions, and the start of agents, on a busy host.
const RECOVERY: Duration = Duration::from_secs(180);

/// A cluster whose parts can fail.
pub trait Cluster {
    /// Injects a fault. Returns when that is done: a drain or a rollout is complete.
    fn inject(&mut self, fault: &Fault) -> impl Future<Output = Result<(), Error>>;

    /// Repairs a fault.
    fn repair(&mut self, fault: &Fault) -> impl Future<Output = Result<(), Error>>;
}

/// Injects faults into a cluster whose agents are observed.
///
/// Guarantees:
/// - the invariant is promised from the start, and suspended only during faults that are not covered;
/// - the Logger recovers from each fault within a bound;
/// - the run fails at the first violation, with the timeline.
#[derive(Debug)]
pub struct Run<'a, C> {
    cluster: &'a mut C,
    observer: &'a Observer,
    desired: usize,
    /// The faults that are not repaired yet.
    active: Vec<Fault>,
    /// The nodes that are lost, with their zones. The repair of a zone restores nodes that other faults have lost.
    lost: BTreeMap<String, String>,
    statistics: BTreeMap<&'static str, Statistics>,
}

/// What is measured for one kind of faults.
#[derive(Clone, Debug, Default)]
struct Statistics {
    count: usize,
    uncovered: usize,
    /// From the start of a fault until the Logger has recovered, if that was waited for.
    recoveries: Vec<Duration>,
}

impl<'a, C: Cluster> Run<'a, C> {
    /// Waits until the desired agents are ready, and promises the invariant.
    ///
    /// # Errors
    /// Fails if they are not ready in time.
    pub async fn start(cluster: &'a mut C, observer: &'a Observer, desired: usize) -> Result<Self, Error> {
        observer.wait_for("the agents are ready", RECOVERY, |observed| observed.ready() >= desired).await?;
        observer.promise(true);
        observer.note("the invariant is promised");
        Ok(Run { cluster, observer, desired, active: Vec::new(), lost: BTreeMap::new(), statistics: BTreeMap::new() })
    }

    /// Returns the faults that are not repaired yet.
    pub fn active(&self) -> &[Fault] {
        &self.active
    }

    /// Returns the current state of the nodes and agents. A fault never follows an outage that is not confirmed yet.
    ///
    /// # Errors
    /// Fails if the API server does not respond or no agent is ready in time.
    pub async fn observe(&self) -> Result<Observation, Error> {
        let is_usable = |observed: &Observation| observed.is_current && !observed.is_outage();
        self.observer.wait_for("the API server responds and an agent is ready", RECOVERY, is_usable).await
    }

    /// Injects a fault. During one that is not covered, the invariant is suspended until the Logger has recovered.
    ///
    /// # Errors
    /// Fails if the fault cannot be injected, if the Logger does not recover, or if the invariant is violated.
    pub async fn inject(&mut self, fault: Fault) -> Result<Injected, Error> {
        let observation = self.observe().await?;
        let is_covered = fault.is_covered(&observation, &self.lost(), self.desired);
        let statistics = self.statistics.entry(fault.kind()).or_default();
        statistics.count += 1;
        statistics.uncovered += usize::from(!is_covered);
        let suffix = if is_covered { "" } else { " (not covered: the invariant is suspended)" };
        self.observer.note(format!("FAULT: {fault}{suffix}"));
        self.observer.promise(is_covered);
        let injected = Injected { kind: fault.kind(), at: Instant::now() };
        self.cluster.inject(&fault).await.map_err(|error| self.describe(&fault, error))?;
        self.observer.note(format!("injected: {fault}"));
        if fault.loses_nodes() {
            let affected = observation.nodes.into_iter().filter(|node| fault.affects(&node.name, &node.zone));
            self.lost.extend(affected.map(|node| (node.name, node.zone)));
        }
        self.active.push(fault);
        if !is_covered {
            self.recover(&injected).await?;
        }
        self.observer.check()?;
        Ok(injected)
    }

    /// Waits until the Logger has recovered from a fault.
    ///
    /// # Errors
    /// Fails if it does not recover in time, or if the invariant is violated.
    pub async fn recover(&mut self, fault: &Injected) -> Result<(), Error> {
        let what = format!("the Logger has recovered from: {}", fault.kind);
        let lost = self.lost();
        let has_recovered = |observed: &Observation| observed.has_recovered(self.desired, &lost);
        let recovered = self.observer.wait_for(&what, RECOVERY, has_recovered).await;
        recovered.map_err(|error| format!("{error}\n{}", self.observer.timeline()))?;
        self.statistics.entry(fault.kind).or_default().recoveries.push(fault.at.elapsed());
        self.observer.note(format!("recovered from: {}", fault.kind));
        self.observer.promise(true);
        self.observer.check()
    }

    /// Repairs the fault with this index in [`active`](Self::active).
    ///
    /// # Errors
    /// Fails if it cannot be repaired, or if the invariant is violated.
    pub async fn repair(&mut self, index: usize) -> Result<(), Error> {
        let fault = self.active.remove(index);
        self.cluster.repair(&fault).await.map_err(|error| self.describe(&fault, error))?;
        if fault.loses_nodes() {
            self.lost.retain(|node, zone| !fault.affects(node, zone));
        }
        self.observer.note(format!("repaired: {fault}"));
        self.observer.check()
    }

    /// Repairs all faults, and waits until the Logger has recovered.
    ///
    /// # Errors
    /// Fails as [`repair`](Self::repair) does, or if the Logger does not recover.
    pub async fn repair_all(&mut self) -> Result<(), Error> {
        while !self.active.is_empty() {
            self.repair(0).await?;
        }
        let desired = self.desired;
        let is_restored = |observed: &Observation| {
            observed.is_current && observed.ready() >= desired && observed.nodes.iter().all(|node| node.is_available)
        };
        let restored = self.observer.wait_for("all nodes and agents are ready", RECOVERY, is_restored).await;
        restored.map_err(|error| format!("{error}\n{}", self.observer.timeline()))?;
        self.observer.check()
    }

    /// Fails if most faults are not covered: the invariant was hardly checked.
    ///
    /// # Errors
    /// Fails with the numbers of faults.
    pub fn check_coverage(&self) -> Result<(), Error> {
        let sum = |number: fn(&Statistics) -> usize| self.statistics.values().map(number).sum::<usize>();
        let (count, uncovered) = (sum(|kind| kind.count), sum(|kind| kind.uncovered));
        match 2 * uncovered < count {
            true => Ok(()),
            false => Err(format!("the invariant was suspended during {uncovered} of {count} faults").into()),
        }
    }

    /// Returns the report: the minimum of ready agents, and the faults with their recovery times.
    pub fn report(&self) -> String {
        let figures = self.observer.figures();
        let minimum = figures.minimum.map_or("-".to_owned(), |minimum| minimum.to_string());
        let mut report = format!(
            "{} s, {} samples, minimum of ready agents: {minimum}\n",
            self.observer.elapsed().as_secs(),
            figures.samples
        );
        // Writing to a string cannot fail.
        let _ =
            writeln!(report, "{:<20} {:>6} {:>12} {:>22}", "fault", "count", "not covered", "recovery: median, max");
        for (kind, Statistics { count, uncovered, recoveries }) in &self.statistics {
            let _ = writeln!(report, "{kind:<20} {count:>6} {uncovered:>12} {:>22}", median_and_maximum(recoveries));
        }
        if !figures.outages.is_empty() {
            let outages = median_and_maximum(&figures.outages);
            let _ = writeln!(report, "{} outages of faults that are not covered: {outages}", figures.outages.len());
        }
        report
    }

    /// Returns the names of the nodes that are lost.
    fn lost(&self) -> Vec<String> {
        self.lost.keys().cloned().collect()
    }

    fn describe(&self, fault: &Fault, error: Error) -> Error {
        format!("{fault}: {error}\n{}", self.observer.timeline()).into()
    }
}

/// A fault that was injected.
#[derive(Clone, Copy, Debug)]
pub struct Injected {
    kind: &'static str,
    at: Instant,
}

fn median_and_maximum(durations: &[Duration]) -> String {
    let mut sorted = durations.to_vec();
    sorted.sort_unstable();
    let seconds = |duration: &Duration| format!("{:.1} s", duration.as_secs_f64());
    match (sorted.get(sorted.len() / 2), sorted.last()) {
        (Some(median), Some(maximum)) => format!("{}, {}", seconds(median), seconds(maximum)),
        _ => "-".to_owned(),
    }
}

/// Injects every kind of fault in a fixed order: the drain and the loss of each node in turn, the loss of each zone,
/// and those without nodes. Each is repaired after the Logger has recovered from it.
///
/// # Errors
/// Fails at the first violation.
pub async fn fixed_sequence<C: Cluster>(run: &mut Run<'_, C>) -> Result<(), Error> {
    let nodes = run.observe().await?.nodes;
    let names = || nodes.iter().map(|node| node.name.clone());
    let mut zones: Vec<_> = nodes.iter().map(|node| node.zone.clone()).collect();
    zones.dedup();
    let without_nodes = [Fault::RollOut, Fault::BadImage, Fault::KillOperator, Fault::RestartServer];
    let faults = names()
        .map(Fault::Drain)
        .chain(names().map(Fault::KillNode))
        .chain(names().take(1).map(Fault::CutOffNode))
        .chain(zones.iter().cloned().map(Fault::KillZone))
        .chain(zones.iter().take(1).cloned().map(Fault::CutOffZone))
        .chain(without_nodes);
    for fault in faults {
        let injected = run.inject(fault).await?;
        run.recover(&injected).await?;
        run.repair_all().await?;
    }
    Ok(())
}
