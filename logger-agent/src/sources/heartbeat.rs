//! Heartbeats: a record at each interval, which distinguishes silence from the end of the agent.

use std::{sync::Arc, time::Duration};

use serde_json::{json, value::to_raw_value};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::{
    journal::{Acknowledgement, AppendError, Journal, Journals},
    metrics::{Dropped, Metrics},
    record::{Draft, Source},
};

/// Records a heartbeat at each interval, and one at the start.
#[derive(Debug)]
pub struct Heartbeat {
    journals: Journals,
    metrics: Arc<Metrics>,
    interval: Duration,
}

impl Heartbeat {
    /// Creates the heartbeats of journals.
    #[must_use]
    pub fn new(journals: Journals, metrics: Arc<Metrics>, interval: Duration) -> Self {
        // The timer does not support 0.
        Heartbeat { journals, metrics, interval: interval.max(Duration::from_millis(1)) }
    }

    /// Records heartbeats until cancelled. A heartbeat that is not durable is logged and counted.
    pub async fn run(self, cancelled: CancellationToken) {
        let mut ticks = interval(self.interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let beats = async {
            loop {
                ticks.tick().await;
                let audit = async {
                    if let Some(audit) = self.journals.used_audit() {
                        self.beat(audit).await;
                    }
                };
                tokio::join!(self.beat(self.journals.main()), audit);
            }
        };
        tokio::select! {
            biased;
            () = cancelled.cancelled() => {}
            () = beats => {}
        }
    }

    async fn beat(&self, journal: &Journal) {
        match self.append(journal).await {
            Ok(()) => {}
            Err(error) => {
                tracing::warn!(%error, "a heartbeat is not durable");
                if error == AppendError::Full {
                    self.metrics.add_dropped(Dropped::QueueFull, 1);
                }
            }
        }
    }

    async fn append(&self, journal: &Journal) -> Result<(), AppendError> {
        let body = json!({
            "interval": self.interval.as_secs_f64(),
            "records": self.metrics.record_count(),
            "dropped": self.metrics.dropped_count(),
        });
        let body = to_raw_value(&body).map_err(|error| AppendError::Write(error.to_string()))?;
        let draft = Draft::new(Source::Heartbeat, None, &body);
        let reservation = journal.reserve_heartbeat(draft.body().len())?;
        journal.append(vec![draft], Acknowledgement::Durable, reservation).await?;
        Ok(())
    }
}
