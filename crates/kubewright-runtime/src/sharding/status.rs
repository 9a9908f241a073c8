//! The status of a replica for health checks: whether its runner is overdue, and why it has no Lease.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::leader_election::LeaseOverdue;

/// The status of a running replica.
#[derive(Debug)]
pub(super) struct Status {
    name: String,
    progress: Mutex<Option<Progress>>,
}

#[derive(Clone, Debug)]
struct Progress {
    /// When the runner must have made progress.
    due: Instant,
    /// Why it has no Lease, and since when it has none.
    waiting: Option<(String, Instant)>,
}

impl Status {
    pub(super) fn new(name: &str) -> Self {
        Status { name: name.to_owned(), progress: Mutex::new(None) }
    }

    /// Reports a step: when the next one is due, and why the replica has no Lease.
    pub(super) fn set(&self, due: Instant, waiting: Option<String>) {
        let mut progress = self.progress.lock();
        let since = progress.as_ref().and_then(|progress| progress.waiting.as_ref().map(|(_, since)| *since));
        let waiting = waiting.map(|reason| (reason, since.unwrap_or_else(Instant::now)));
        *progress = Some(Progress { due, waiting });
    }

    /// Reports that the runner does not run.
    pub(super) fn end(&self) {
        *self.progress.lock() = None;
    }

    pub(super) fn why_waiting(&self, tolerance: Duration) -> Option<String> {
        let progress = self.progress.lock();
        let (reason, since) = progress.as_ref()?.waiting.as_ref()?;
        let waited = since.elapsed();
        (waited > tolerance).then(|| format!("sharding `{}` waits for {} s: {reason}", self.name, waited.as_secs()))
    }

    pub(super) fn check(&self, tolerance: Duration) -> Result<(), LeaseOverdue> {
        let Some(Progress { due, waiting }) = self.progress.lock().clone() else { return Ok(()) };
        let overdue = Instant::now().saturating_duration_since(due);
        match overdue > tolerance {
            true => Err(LeaseOverdue { lease: self.name.clone(), is_leader: waiting.is_none(), overdue }),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_replica_waits_from_the_first_reason_until_it_has_a_lease() {
        let status = Status::new("web");
        assert_eq!(status.why_waiting(Duration::ZERO), None);
        status.set(Instant::now(), Some("first".to_owned()));
        advance(20 * SECOND).await;
        status.set(Instant::now(), Some("second".to_owned()));
        advance(SECOND).await;
        assert_eq!(status.why_waiting(20 * SECOND).as_deref(), Some("sharding `web` waits for 21 s: second"));
        assert_eq!(status.why_waiting(21 * SECOND), None);
        status.set(Instant::now(), None);
        assert_eq!(status.why_waiting(Duration::ZERO), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_runner_without_progress_is_overdue() {
        let status = Status::new("web");
        status.set(Instant::now() + 15 * SECOND, None);
        advance(35 * SECOND).await;
        assert_eq!(status.check(20 * SECOND), Ok(()));
        advance(SECOND).await;
        let expected = "leader election is overdue: lease `web` was not renewed for 21s past its lease duration";
        assert_eq!(status.check(20 * SECOND).unwrap_err().to_string(), expected);
        status.end();
        assert_eq!(status.check(Duration::ZERO), Ok(()));
    }
}
