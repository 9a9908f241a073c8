//! What agents record: their files on this machine, or their metrics through the API server of a cluster.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context, Result};
use demo::LocalCluster;
use kubewright_runtime::kube::{self, Client};
use logger_agent::interface::{PORT, metric::RECORDS, path::METRICS};
use tokio::{process::Command, time::timeout};

use crate::observer::Observer;

/// How long `logger-agent verify` can take.
const VERIFY_TIMEOUT: Duration = Duration::from_secs(30);

/// Where the records of agents are read.
pub(crate) enum Records<'a> {
    /// The sizes of files.
    Files(&'a LocalCluster),
    /// The metrics of agents, as counters of records.
    Metrics { client: &'a Client, namespace: &'a str },
}

/// Why the records of an agent cannot be read in this cluster.
pub(crate) struct Unavailable(pub(crate) String);

impl Records<'_> {
    /// Returns what a number of records is.
    pub(crate) fn unit(&self) -> &'static str {
        match self {
            Records::Files(_) => "bytes",
            Records::Metrics { .. } => "records",
        }
    }

    /// Waits until each of these agents has recorded something since now. Returns the numbers before and after.
    pub(crate) async fn wait_until_grown(
        &self,
        observer: &Observer,
        agents: &[String],
    ) -> Result<Result<Vec<(String, u64, u64)>, Unavailable>> {
        let before = match self.read(agents).await {
            Ok(before) => before,
            Err(unavailable) => return Ok(Err(unavailable)),
        };
        let what = format!("the records of {} grow", agents.join(" and "));
        let grown = observer.poll(&what, async || {
            let now = match self.read(agents).await {
                Ok(now) => now,
                Err(Unavailable(reason)) => return Ok(Err(reason)),
            };
            let number = |numbers: &BTreeMap<String, u64>, agent: &str| numbers.get(agent).copied().unwrap_or_default();
            let numbers = agents.iter().map(|agent| (agent.clone(), number(&before, agent), number(&now, agent)));
            let numbers: Vec<_> = numbers.collect();
            Ok(match numbers.iter().all(|(_, before, now)| now > before) {
                true => Ok(numbers),
                false => Err(format!("{now:?} {}", self.unit())),
            })
        });
        grown.await.map(Ok)
    }

    async fn read(&self, agents: &[String]) -> Result<BTreeMap<String, u64>, Unavailable> {
        let mut numbers = BTreeMap::new();
        for agent in agents {
            let number = match self {
                Records::Files(cluster) => size(&files_of(cluster, agent)),
                Records::Metrics { client, namespace } => records(client, namespace, agent).await?,
            };
            numbers.insert(agent.clone(), number);
        }
        Ok(numbers)
    }
}

/// Returns the directories with the files of an agent.
fn files_of(cluster: &LocalCluster, agent: &str) -> Vec<PathBuf> {
    // The directory of a Pod is named `NAMESPACE_NAME_UID`.
    let part = format!("_{agent}_");
    let mut directories = cluster.data_directories();
    directories.retain(|directory| directory.to_string_lossy().contains(&part));
    directories
}

/// Returns the size of the segments in directories. Files that are removed meanwhile have none.
fn size(directories: &[PathBuf]) -> u64 {
    let entries = directories.iter().filter_map(|directory| fs::read_dir(directory).ok()).flatten().flatten();
    let segments = entries.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "ndjson"));
    segments.filter_map(|segment| segment.metadata().ok()).map(|metadata| metadata.len()).sum()
}

/// Reads the number of records from the metrics of an agent, through the proxy of the API server.
async fn records(client: &Client, namespace: &str, agent: &str) -> Result<u64, Unavailable> {
    let path = format!("/api/v1/namespaces/{namespace}/pods/{agent}:{PORT}/proxy{METRICS}");
    let request = http::Request::get(path).body(Vec::new()).map_err(kube::Error::HttpError);
    let text = match request {
        Ok(request) => client.request_text(request).await,
        Err(error) => Err(error),
    };
    text.map(|text| sum(&text, RECORDS)).map_err(|error| Unavailable(error.to_string()))
}

/// Returns the sum of the series of a counter in the text format of Prometheus.
fn sum(text: &str, metric: &str) -> u64 {
    let of_metric = |line: &&str| line.strip_prefix(metric).is_some_and(|rest| rest.starts_with(['{', ' ']));
    let values = text.lines().filter(of_metric).filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
    values.sum()
}

/// Runs `logger-agent verify`. Returns its output if it found no defect, and `Err` with its output if it did.
pub(crate) async fn verify(agent: &Path, directory: &Path) -> Result<Result<String, String>> {
    let output = Command::new(agent).arg("verify").arg(directory).stdin(Stdio::null()).kill_on_drop(true).output();
    let context = || format!("cannot run `{} verify {}`", agent.display(), directory.display());
    let output = timeout(VERIFY_TIMEOUT, output).await.with_context(context)?.with_context(context)?;
    let text = String::from_utf8_lossy(&output.stdout).trim().replace('\n', "; ");
    Ok(match output.status.success() {
        true => Ok(text),
        false => Err(format!("{}: {text} {}", output.status, String::from_utf8_lossy(&output.stderr).trim())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_of_a_counter_are_summed() {
        let text = "# TYPE logger_agent_records_total counter\nlogger_agent_records_total{source=\"audit\"} 2\n\
                    logger_agent_records_total{source=\"heartbeat\"} 40\nlogger_agent_records_total_created 7\n";
        assert_eq!(sum(text, RECORDS), 42);
    }
}
