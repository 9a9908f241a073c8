//! `bench runtime`: client-go, kube-runtime and our runtime on one real API server with many objects.

mod cluster;
mod programs;
mod rows;

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use self::{
    cluster::Cluster,
    programs::{Peer, Programs},
};
use crate::{environment, program, stats::Samples};

/// The options of the benchmark.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The number of Loggers, in 100 namespaces.
    #[arg(long, default_value_t = 50_000)]
    objects: usize,
    /// The number of alternations between the programs.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Use an existing cluster, such as one of `cargo xtask envtest up`, and keep the Loggers for the next run; by
    /// default, start and load a control plane.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Print every sample as JSON instead of the table.
    #[arg(long)]
    json: bool,
}

/// Samples by variant, measurement and figure.
#[derive(Default)]
pub(crate) struct Figures(BTreeMap<(&'static str, String, String), Samples>);

/// A variant of the initial sync.
struct Variant {
    /// The table label.
    name: &'static str,
    peer: Peer,
    args: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
}

impl Variant {
    const fn new(name: &'static str, peer: Peer, args: &'static [&'static str]) -> Self {
        Variant { name, peer, args, variables: &[] }
    }
}

/// All variants. They are interleaved, so that other load on the machine affects all of them.
const VARIANTS: [Variant; 10] = [
    Variant::new("go", Peer::Go, &[]),
    Variant::new("kube", Peer::Kube, &[]),
    Variant::new("ours", Peer::Ours, &[]),
    Variant { name: "go list", peer: Peer::Go, args: &[], variables: &[("KUBE_FEATURE_WatchListClient", "false")] },
    Variant::new("kube streaming", Peer::Kube, &["streaming"]),
    Variant::new("ours streaming", Peer::Ours, &["streaming"]),
    Variant::new("kube without managedFields", Peer::Kube, &["without-managed-fields"]),
    Variant::new("ours with managedFields", Peer::Ours, &["managed-fields"]),
    Variant::new("ours on mimalloc", Peer::OursOnMimalloc, &[]),
    Variant::new("ours compact", Peer::Ours, &["compact"]),
];

/// The peers of all other measurements, with their table labels.
const PEERS: [(&str, Peer); 3] = [("go", Peer::Go), ("kube", Peer::Kube), ("ours", Peer::Ours)];

/// Runs the benchmark and prints the tables.
pub(crate) fn run(options: &Options) -> Result<()> {
    let programs = Programs::build()?;
    let cluster = Cluster::get(options.kubeconfig.as_deref())?;
    cluster.load(&programs, options.objects)?;
    let mut figures = Figures::default();
    for round in 1..=options.rounds {
        eprintln!("round {round} of {}", options.rounds);
        run_round(&programs, &cluster, &mut figures)?;
    }
    if options.json {
        println!("{:#}", figures.to_json());
        return Ok(());
    }
    environment::print();
    rows::print(&figures, options.objects);
    Ok(())
}

fn run_round(programs: &Programs, cluster: &Cluster, figures: &mut Figures) -> Result<()> {
    for variant in &VARIANTS {
        let mut command = programs.command(variant.peer, cluster);
        command.arg("sync").args(variant.args).envs(variant.variables.iter().copied());
        figures.read(variant.name, &program::output(&mut command)?)?;
    }
    let (object, page) = cluster.texts()?;
    for (name, peer) in PEERS {
        figures.read(name, &program::output(programs.command(peer, cluster).arg("lister"))?)?;
        figures.read(name, &program::output(&mut programs.queue(peer, cluster))?)?;
        figures.read(name, &program::output(programs.command(peer, cluster).arg("decode").arg(&object).arg(&page))?)?;
    }
    Ok(())
}

impl Figures {
    /// Parses the output of a program, which has one measurement per line.
    pub(crate) fn read(&mut self, variant: &'static str, printed: &str) -> Result<()> {
        for line in printed.lines() {
            let line: BTreeMap<String, Value> =
                serde_json::from_str(line).with_context(|| format!("{variant}: {line}"))?;
            let what = line.get("what").and_then(Value::as_str).unwrap_or_default();
            for (figure, value) in line.iter().filter_map(|(figure, value)| Some((figure, value.as_f64()?))) {
                self.0.entry((variant, what.to_owned(), figure.clone())).or_default().push(value);
            }
        }
        Ok(())
    }

    /// Returns the samples of one figure, which are empty if it was not measured.
    pub(crate) fn get(&self, variant: &'static str, what: &str, figure: &str) -> Samples {
        self.0.get(&(variant, what.to_owned(), figure.to_owned())).cloned().unwrap_or_default()
    }

    fn to_json(&self) -> Value {
        let entry = |((variant, what, figure), samples): (&(&str, String, String), &Samples)| {
            let (median, samples) = (samples.median(), samples.all());
            json!({ "variant": variant, "what": what, "figure": figure, "median": median, "samples": samples })
        };
        self.0.iter().map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_parsed_and_found_by_name() {
        let mut figures = Figures::default();
        figures.read("ours", "{\"what\":\"get\",\"ns\":3}\n{\"what\":\"get\",\"ns\":5}\n").unwrap();
        assert_eq!(figures.get("ours", "get", "ns").median(), 4.0);
        assert!(figures.get("go", "get", "ns").median().is_nan());
        assert!(figures.read("ours", "no JSON").is_err());
        assert_eq!(figures.to_json()[0]["samples"], serde_json::json!([3.0, 5.0]));
    }
}
