//! `bench runtime`: ours beside client-go and kube-runtime on one real API server, with many objects.

mod cluster;
mod programs;
mod rows;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::stats::Samples;
use crate::{conditions, program};
use cluster::Cluster;
use programs::{Peer, Programs};

/// How much, and where.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How many Loggers there are, in 100 namespaces
    #[arg(long, default_value_t = 50_000)]
    objects: usize,
    /// How often the programs take turns
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Use this cluster, such as one of `cargo xtask envtest up`, and leave it with its Loggers, so that the next run need not load them;
    /// without, a control plane is started and loaded
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Print every sample as JSON in place of the table
    #[arg(long)]
    json: bool,
}

/// What was measured: by the name of the way, of the measurement and of the figure.
#[derive(Default)]
pub(crate) struct Figures(BTreeMap<(&'static str, String, String), Samples>);

/// One way to do the first sync.
struct Way {
    /// As rows ask for it.
    name: &'static str,
    peer: Peer,
    args: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
}

impl Way {
    const fn new(name: &'static str, peer: Peer, args: &'static [&'static str]) -> Self {
        Way { name, peer, args, variables: &[] }
    }
}

/// All ways, interleaved: so what else the machine does weighs on each alike.
const WAYS: [Way; 9] = [
    Way::new("go", Peer::Go, &[]),
    Way::new("kube", Peer::Kube, &[]),
    Way::new("ours", Peer::Ours, &[]),
    Way { name: "go list", peer: Peer::Go, args: &[], variables: &[("KUBE_FEATURE_WatchListClient", "false")] },
    Way::new("kube streaming", Peer::Kube, &["streaming"]),
    Way::new("ours streaming", Peer::Ours, &["streaming"]),
    Way::new("kube stripped", Peer::Kube, &["stripped"]),
    Way::new("ours kept", Peer::Ours, &["kept"]),
    Way::new("ours mimalloc", Peer::OursOnMimalloc, &[]),
];

/// The peers that everything else is measured of, and what rows call them.
const PEERS: [(&str, Peer); 3] = [("go", Peer::Go), ("kube", Peer::Kube), ("ours", Peer::Ours)];

/// Measures, and prints the table.
pub(crate) fn run(options: &Options) -> Result<()> {
    let programs = Programs::build()?;
    let cluster = Cluster::get(options.kubeconfig.as_deref())?;
    cluster.load(&programs, options.objects)?;
    let mut figures = Figures::default();
    for round in 1..=options.rounds {
        eprintln!("round {round} of {}", options.rounds);
        take_turns(&programs, &cluster, &mut figures)?;
    }
    if options.json {
        println!("{:#}", figures.to_json());
        return Ok(());
    }
    conditions::print();
    rows::print(&figures, options.objects);
    Ok(())
}

fn take_turns(programs: &Programs, cluster: &Cluster, figures: &mut Figures) -> Result<()> {
    for way in &WAYS {
        let mut command = programs.command(way.peer, cluster);
        command.arg("sync").args(way.args).envs(way.variables.iter().copied());
        figures.read(way.name, &program::output(&mut command)?)?;
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
    /// Adds what a program printed: a measurement in each line.
    fn read(&mut self, way: &'static str, printed: &str) -> Result<()> {
        for line in printed.lines() {
            let line: BTreeMap<String, Value> = serde_json::from_str(line).with_context(|| format!("{way}: {line}"))?;
            let what = line.get("what").and_then(Value::as_str).unwrap_or_default();
            for (figure, value) in line.iter().filter_map(|(figure, value)| Some((figure, value.as_f64()?))) {
                self.0.entry((way, what.to_owned(), figure.clone())).or_default().push(value);
            }
        }
        Ok(())
    }

    /// The samples of one figure; none if it was not measured.
    fn of(&self, way: &'static str, what: &str, figure: &str) -> Samples {
        self.0.get(&(way, what.to_owned(), figure.to_owned())).cloned().unwrap_or_default()
    }

    fn to_json(&self) -> Value {
        let entry = |((way, what, figure), samples): (&(&str, String, String), &Samples)| serde_json::json!({ "way": way, "what": what, "figure": figure, "median": samples.median(), "samples": samples.all() });
        self.0.iter().map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_lines_and_found_by_name() {
        let mut figures = Figures::default();
        figures.read("ours", "{\"what\":\"get\",\"ns\":3}\n{\"what\":\"get\",\"ns\":5}\n").unwrap();
        assert_eq!(figures.of("ours", "get", "ns").median(), 4.0);
        assert!(figures.of("go", "get", "ns").median().is_nan());
        assert!(figures.read("ours", "no JSON").is_err());
        assert_eq!(figures.to_json()[0]["samples"], serde_json::json!([3.0, 5.0]));
    }
}
