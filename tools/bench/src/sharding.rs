//! `bench sharding`: the capacity, memory and network traffic of one to five replicas that share the keys, on a real
//! API server.
//!
//! A reconciliation takes a fixed time without CPU, so that one machine has the capacity of several. The replicas are
//! processes, each behind a proxy that counts its bytes.

mod fleet;
mod journal;
mod network;
mod objects;
mod rows;

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result};
use envtest::ControlPlane;
use tokio::runtime::Runtime;

use self::{
    fleet::{Fleet, Settings},
    objects::Objects,
};
use crate::{environment, paths, stats::Samples};

/// The numbers of replicas.
const SHARDS: std::ops::RangeInclusive<usize> = 1..=5;
/// Selects objects in the API server (KEP-5866).
const FEATURE_GATE: &str = "--feature-gates=ShardedListAndWatch=true";

/// The options of the benchmark.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The number of ConfigMaps.
    #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..))]
    objects: u32,
    /// The number of ConfigMaps that are changed at once.
    #[arg(long, default_value_t = 4000, value_parser = clap::value_parser!(u32).range(1..))]
    changes: u32,
    /// How many milliseconds a reconciliation takes. A replica has five at a time.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    millis: u64,
    /// How many seconds the replicas are idle before their memory is measured.
    #[arg(long, default_value_t = 10)]
    idle: u64,
    /// The number of rounds, each with all numbers of replicas.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Disable the feature gate `ShardedListAndWatch`: the replicas filter what they receive.
    #[arg(long)]
    without_feature_gate: bool,
}

/// Samples by number of replicas and figure.
#[derive(Default)]
pub(crate) struct Figures(BTreeMap<(usize, &'static str), Samples>);

impl Figures {
    fn extend(&mut self, shards: usize, measured: Vec<(&'static str, f64)>) {
        for (figure, value) in measured {
            self.0.entry((shards, figure)).or_default().push(value);
        }
    }

    /// Returns the median of a figure, or NaN if it was not measured.
    fn median(&self, shards: usize, figure: &'static str) -> f64 {
        self.0.get(&(shards, figure)).map_or(f64::NAN, Samples::median)
    }
}

/// Runs the benchmark and prints the table.
pub(crate) fn run(options: &Options) -> Result<()> {
    fleet::build()?;
    let mut figures = Figures::default();
    Runtime::new()?.block_on(measure_all(options, &mut figures))?;
    environment::print();
    println!(
        "{} objects, {} changes, feature gate: {}\n",
        options.objects, options.changes, !options.without_feature_gate
    );
    rows::print(&figures, SHARDS);
    Ok(())
}

async fn measure_all(options: &Options, figures: &mut Figures) -> Result<()> {
    let assets = envtest::find()?.with_context(|| format!("no control plane; {}", envtest::HOW_TO_GET))?;
    let home = paths::home().join("sharding");
    std::fs::create_dir_all(&home).with_context(|| format!("cannot create {}", home.display()))?;
    let flags: &[&str] = if options.without_feature_gate { &[] } else { &[FEATURE_GATE] };
    let control_plane = ControlPlane::start_in_with(&assets, &home, flags)?;
    eprintln!("creating {} objects", options.objects);
    let objects = Objects::create(control_plane.kubeconfig(), options.objects as usize).await?;
    for round in 1..=options.rounds {
        for shards in SHARDS {
            eprintln!("round {round} of {}: {shards} replicas", options.rounds);
            let settings = Settings {
                kubeconfig: control_plane.kubeconfig(),
                server: objects.server(),
                directory: &home,
                changed: format!("{round}-{shards}"),
                time: Duration::from_millis(options.millis),
            };
            let measured = measure(&objects, &settings, shards, options).await;
            figures.extend(shards, measured.with_context(|| format!("cannot measure {shards} replicas"))?);
        }
    }
    Ok(control_plane.stop()?)
}

/// Starts the replicas, changes objects, and measures until all changes are reconciled.
async fn measure(
    objects: &Objects,
    settings: &Settings<'_>,
    shards: usize,
    options: &Options,
) -> Result<Vec<(&'static str, f64)>> {
    let mut fleet = Fleet::start(settings, shards).await?;
    let idle_memory = fleet.memory_after(Duration::from_secs(options.idle)).await?;
    let listed = fleet.received();
    let (names, began) = objects.change(&settings.changed, options.changes as usize).await?;
    let ended = fleet.wait_until_reconciled(&names).await?;
    let memory = fleet.memory_after(Duration::from_secs(options.idle)).await?;
    let changed = fleet.received() - listed;
    fleet.stop()?;
    Ok(vec![
        ("rate", names.len() as f64 / ended.saturating_sub(began).as_secs_f64()),
        ("idle_mb", idle_memory),
        ("settled_mb", memory),
        ("listed_mb", listed),
        ("changed_mb", changed),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_by_the_number_of_replicas() {
        let mut figures = Figures::default();
        figures.extend(2, vec![("rate", 90.0)]);
        figures.extend(2, vec![("rate", 110.0)]);
        assert_eq!(figures.median(2, "rate"), 100.0);
        assert!(figures.median(1, "rate").is_nan());
    }
}
