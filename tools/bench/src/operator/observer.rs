//! Observes the status of all Loggers with one watch, as a client of the API server does.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use futures::{StreamExt, stream::BoxStream};
use http::Request;
use kube::{Client, core::WatchEvent};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;
use tokio::{task::JoinHandle, time::sleep};

use super::load::{Change, LOGGERS};

/// How long a program may take to reconcile all changes.
const TIMEOUT: Duration = Duration::from_mins(15);
const POLL: Duration = Duration::from_millis(50);
/// Exceeds the duration of a measurement.
const WATCH_SECONDS: u32 = 24 * 3600;

type Events = BoxStream<'static, kube::Result<WatchEvent<ObservedLogger>>>;

/// The part of a Logger that is observed.
#[derive(Clone, Deserialize)]
pub(super) struct ObservedLogger {
    pub(super) metadata: ObservedMetadata,
    #[serde(default)]
    status: ObservedStatus,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObservedMetadata {
    pub(super) name: String,
    pub(super) generation: i64,
    resource_version: String,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ObservedStatus {
    observed_generation: i64,
}

/// When each observed generation of a Logger was received first, in ascending order.
#[derive(Default)]
struct History(HashMap<String, Vec<(i64, Instant)>>);

/// A watch of all Loggers, which ends when this is dropped. When the API server closes it, which it does if a client
/// receives events slowly, it is continued from the last event.
pub(super) struct Observer {
    history: Arc<Mutex<History>>,
    watch: JoinHandle<Result<Infallible>>,
}

impl Observer {
    /// Starts a watch of later changes.
    pub(super) async fn start(client: &Client) -> Result<Observer> {
        let list: Value = client.request(Request::get(format!("{LOGGERS}?limit=1")).body(Vec::new())?).await?;
        let version = list["metadata"]["resourceVersion"].as_str().context("the list has no resourceVersion")?;
        let history = Arc::default();
        let events = watch(client, version).await?;
        let watch = tokio::spawn(record(client.clone(), version.to_owned(), events, Arc::clone(&history)));
        Ok(Observer { history, watch })
    }

    /// Waits until all changes are observed, or the check fails. Returns when each was observed.
    pub(super) async fn wait(
        &mut self,
        changes: &[Change],
        mut check: impl FnMut() -> Result<()>,
    ) -> Result<Vec<Instant>> {
        let start = Instant::now();
        loop {
            let observed = self.history.lock().observed(changes);
            if let Some(observed) = observed {
                return Ok(observed);
            }
            check()?;
            if self.watch.is_finished() {
                match (&mut self.watch).await?? {}
            }
            ensure!(start.elapsed() < TIMEOUT, "not all Loggers are reconciled within {} s", TIMEOUT.as_secs());
            sleep(POLL).await;
        }
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.watch.abort();
    }
}

/// Watches the changes after this version.
async fn watch(client: &Client, version: &str) -> Result<Events> {
    let path = format!("{LOGGERS}?watch=true&resourceVersion={version}&timeoutSeconds={WATCH_SECONDS}");
    Ok(client.request_events::<ObservedLogger>(Request::get(path).body(Vec::new())?).await?.boxed())
}

async fn record(
    client: Client,
    mut version: String,
    mut events: Events,
    history: Arc<Mutex<History>>,
) -> Result<Infallible> {
    loop {
        while let Some(event) = events.next().await {
            let received = Instant::now();
            match event? {
                WatchEvent::Added(logger) | WatchEvent::Modified(logger) => {
                    version.clone_from(&logger.metadata.resource_version);
                    history.lock().record(logger, received);
                }
                WatchEvent::Error(status) => bail!("the watch of the load generator failed: {}", status.message),
                WatchEvent::Deleted(_) | WatchEvent::Bookmark(_) => {}
            }
        }
        sleep(POLL).await;
        events = watch(&client, &version).await?;
    }
}

impl History {
    fn record(&mut self, logger: ObservedLogger, received: Instant) {
        let generations = self.0.entry(logger.metadata.name).or_default();
        let observed = logger.status.observed_generation;
        if observed > generations.last().map_or(0, |(last, _)| *last) {
            generations.push((observed, received));
        }
    }

    /// Returns when each change was observed; `None` if one was not.
    fn observed(&self, changes: &[Change]) -> Option<Vec<Instant>> {
        let observed = |change: &Change| {
            let generations = self.0.get(&change.name)?;
            let position = generations.partition_point(|(generation, _)| *generation < change.generation);
            generations.get(position).map(|(_, received)| *received)
        };
        changes.iter().map(observed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logger(observed: i64) -> ObservedLogger {
        let json = format!(
            r#"{{"metadata":{{"name":"a","generation":9,"resourceVersion":"1"}},"status":{{"observedGeneration":{observed}}}}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn a_later_generation_includes_earlier_ones() {
        let (mut history, now) = (History::default(), Instant::now());
        let at = |millis| now + Duration::from_millis(millis);
        for (observed, received) in [(0, at(0)), (1, at(1)), (1, at(2)), (4, at(3))] {
            history.record(logger(observed), received);
        }
        let change = |generation| Change { name: "a".to_owned(), generation, written: now };
        assert_eq!(history.observed(&[1, 2, 4].map(change)), Some(vec![at(1), at(3), at(3)]));
        assert_eq!(history.observed(&[1, 5].map(change)), None);
        let other = Change { name: "b".to_owned(), generation: 1, written: now };
        assert_eq!(history.observed(&[other]), None);
    }

    #[test]
    fn a_logger_without_a_status_is_not_observed() {
        let logger: ObservedLogger =
            serde_json::from_str(r#"{"metadata":{"name":"a","generation":1,"resourceVersion":"1"}}"#).unwrap();
        assert_eq!(logger.status.observed_generation, 0);
    }
}
