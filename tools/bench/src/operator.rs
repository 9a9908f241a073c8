//! `bench operator`: the same small operator on controller-runtime, on kube-runtime and on our manager.

mod cluster;
mod load;
mod observer;
pub(crate) mod programs;
mod requests;
mod rows;

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::{runtime::Runtime, time::sleep};

use self::{
    cluster::Cluster,
    load::{Change, Load},
    observer::Observer,
    programs::{Peer, Programs},
};
use crate::{environment, process::Process, stats::Samples};

/// How long a program can process the events of its last writes before its CPU time is read.
const REST: Duration = Duration::from_secs(2);

/// The options of the benchmark.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The number of Loggers, in 100 namespaces.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    objects: u32,
    /// The number of changes per second.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rate: u32,
    /// How many seconds the changes take.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=3600))]
    seconds: u32,
    /// How many seconds a program is idle before its memory is measured.
    #[arg(long, default_value_t = 10)]
    idle: u64,
    /// The number of alternations between the programs.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Enable the experimental read-your-writes consistency of controller-runtime's client.
    #[arg(long)]
    read_your_writes: bool,
    /// Print every sample as JSON instead of the table.
    #[arg(long)]
    json: bool,
}

/// Samples by program and figure.
#[derive(Default)]
pub(crate) struct Figures(BTreeMap<(Peer, &'static str), Samples>);

/// Runs the benchmark and prints the table.
pub(crate) fn run(options: &Options) -> Result<()> {
    let programs = Programs::build()?;
    let mut figures = Figures::default();
    for round in 1..=options.rounds {
        for peer in Peer::ALL {
            eprintln!("round {round} of {}: {}", options.rounds, peer.title());
            let measured = Runtime::new()?.block_on(measure(peer, &programs, options));
            figures.extend(peer, measured.with_context(|| format!("cannot measure {}", peer.title()))?);
        }
    }
    if options.json {
        println!("{:#}", figures.to_json());
        return Ok(());
    }
    environment::print();
    println!("{}\n", programs::versions());
    rows::print(&figures);
    Ok(())
}

/// Starts a control plane and a program, and measures the program.
async fn measure(peer: Peer, programs: &Programs, options: &Options) -> Result<Vec<(&'static str, f64)>> {
    let cluster = Cluster::start()?;
    let load = Load::start(cluster.kubeconfig(), options.objects).await?;
    let observer = Observer::start(load.client()).await?;
    let command = programs.command(peer, cluster.operator_kubeconfig(), options.read_your_writes);
    let (process, taken) = Process::start(command, &cluster.log(), peer.has_garbage_collector())?;
    let mut run = Run { load, observer, process, idle: Duration::from_secs(options.idle), figures: Vec::new() };
    run.add("start_ms", millis(taken));
    run.add("binary_mb", programs.size(peer)?);
    let idle = run.process.memory_after(run.idle).await?;
    run.add("idle_mb", idle);
    run.converge().await?;
    run.change(options).await?;
    let Run { process, mut figures, .. } = run;
    process.stop()?;
    figures.extend(requests::count(&cluster.audit_log()?)?);
    Ok(figures)
}

/// A running program under load.
struct Run {
    load: Load,
    observer: Observer,
    process: Process,
    idle: Duration,
    figures: Vec<(&'static str, f64)>,
}

impl Run {
    fn add(&mut self, figure: &'static str, value: f64) {
        self.figures.push((figure, value));
    }

    /// Creates the Loggers and waits until their status is observed.
    async fn converge(&mut self) -> Result<()> {
        let (start, before) = (Instant::now(), self.process.cpu_time()?);
        let created = self.load.create().await?;
        let observed = self.observer.wait(&created, || self.process.check()).await?;
        sleep(REST).await;
        let last = observed.iter().max().map_or(Duration::ZERO, |last| last.duration_since(start));
        self.add("converge_s", last.as_secs_f64());
        let taken = self.process.cpu_time()? - before;
        self.add("converge_cpu_s", taken);
        self.load.verify().await
    }

    /// Changes Loggers at a constant rate and waits until their status is observed.
    async fn change(&mut self, options: &Options) -> Result<()> {
        let before = self.process.cpu_time()?;
        let changes = self.load.change(options.rate, options.seconds).await?;
        let observed = self.observer.wait(&changes, || self.process.check()).await?;
        sleep(REST).await;
        let total = self.process.cpu_time()?;
        self.add("change_cpu_s", total - before);
        self.add("cpu_s", total);
        let latencies = latencies(&changes, &observed);
        self.add("p50_ms", latencies.percentile(50));
        self.add("p99_ms", latencies.percentile(99));
        self.load.verify().await?;
        let settled = self.process.memory_after(self.idle).await?;
        self.add("settled_mb", settled);
        let peak = self.process.peak_memory();
        self.add("peak_mb", peak);
        Ok(())
    }
}

/// Returns the milliseconds from each change to its observation.
fn latencies(changes: &[Change], observed: &[Instant]) -> Samples {
    // The response to a write can arrive after the event of the status.
    let latency = |(change, observed): (&Change, &Instant)| observed.saturating_duration_since(change.written);
    changes.iter().zip(observed).map(latency).map(millis).collect()
}

fn millis(taken: Duration) -> f64 {
    taken.as_secs_f64() * 1e3
}

impl Figures {
    /// Adds a sample of each figure.
    pub(crate) fn extend(&mut self, peer: Peer, measured: Vec<(&'static str, f64)>) {
        for (figure, value) in measured {
            self.0.entry((peer, figure)).or_default().push(value);
        }
    }

    /// Returns the samples of one figure, which are empty if it was not measured.
    pub(crate) fn get(&self, peer: Peer, figure: &'static str) -> Samples {
        self.0.get(&(peer, figure)).cloned().unwrap_or_default()
    }

    fn to_json(&self) -> Value {
        let entry = |((peer, figure), samples): (&(Peer, &str), &Samples)| {
            let (median, samples) = (samples.median(), samples.all());
            json!({ "program": peer.title(), "figure": figure, "median": median, "samples": samples })
        };
        self.0.iter().map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_by_program() {
        let mut figures = Figures::default();
        figures.extend(Peer::Go, vec![("cpu_s", 3.0)]);
        figures.extend(Peer::Go, vec![("cpu_s", 5.0)]);
        assert_eq!(figures.get(Peer::Go, "cpu_s").median(), 4.0);
        assert!(figures.get(Peer::Kube, "cpu_s").median().is_nan());
        assert_eq!(figures.to_json()[0]["samples"], json!([3.0, 5.0]));
    }

    #[test]
    fn a_status_that_is_observed_before_the_response_has_no_latency() {
        let now = Instant::now();
        let change = |written| Change { name: "a".to_owned(), generation: 2, written };
        let (later, changes) =
            (now + Duration::from_millis(20), [change(now), change(now + Duration::from_millis(30))]);
        assert_eq!(latencies(&changes, &[later, later]).all(), [20.0, 0.0]);
    }
}
