//! Waits for states of objects: each is an observed fact, or an error with what was observed instead.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result, bail};
use futures::StreamExt;
use kubewright_core::verbs;
use kubewright_runtime::{
    InformerFactory,
    client::ScopedObject,
    informer::{Delivery, HandlerOptions},
    kube::ResourceExt,
};
use tokio::time::{Instant, sleep, timeout};

/// The interval between two reads of what has no events.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Waits for states of objects in the caches of informers, each for a limited time.
pub(crate) struct Observer {
    factory: InformerFactory,
    limit: Duration,
}

impl Observer {
    pub(crate) fn new(factory: &InformerFactory, limit: Duration) -> Self {
        Observer { factory: factory.clone(), limit }
    }

    /// Waits until the objects of a kind, sorted by name, meet a condition, and returns its value.
    pub(crate) async fn wait_for<K, T>(
        &self,
        what: &str,
        describe: impl Fn(&K) -> String,
        mut condition: impl FnMut(&[Arc<K>]) -> Option<T>,
    ) -> Result<T>
    where
        K: ScopedObject + verbs::List + verbs::Watch,
    {
        let informer = self.factory.informer::<K>();
        let options = HandlerOptions::new().delivery(Delivery::EVERY_EVENT);
        let (mut events, store) = (informer.events_with(options)?, informer.store());
        self.factory.start();
        let sorted = || {
            let mut objects = store.list();
            objects.sort_by_key(|object| object.name_any());
            objects
        };
        let met = async {
            informer.wait_for_sync().await?;
            loop {
                if let Some(value) = condition(&sorted()) {
                    return anyhow::Ok(value);
                }
                events.next().await.context("the watch ended")?;
            }
        };
        match timeout(self.limit, met).await {
            Ok(outcome) => outcome.with_context(|| format!("cannot observe that {what}")),
            Err(_) => {
                let observed: Vec<_> = sorted().iter().map(|object| describe(object)).collect();
                self.not_observed(what, &observed)
            }
        }
    }

    /// Reads repeatedly until a condition is met, and returns its value. The condition is `Err` with what was read.
    pub(crate) async fn poll<T>(
        &self,
        what: &str,
        mut read: impl AsyncFnMut() -> Result<Result<T, String>>,
    ) -> Result<T> {
        let deadline = Instant::now() + self.limit;
        loop {
            match read().await? {
                Ok(value) => return Ok(value),
                Err(observed) if Instant::now() >= deadline => return self.not_observed(what, &[observed]),
                Err(_) => sleep(POLL_INTERVAL).await,
            }
        }
    }

    /// Returns the error of a state that is not reached.
    pub(crate) fn not_observed<T>(&self, what: &str, observed: &[String]) -> Result<T> {
        let observed = if observed.is_empty() { "nothing".to_owned() } else { observed.join("; ") };
        bail!("not observed within {:?}: {what}. Observed: {observed}", self.limit)
    }

    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }
}
