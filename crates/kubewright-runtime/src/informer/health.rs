//! The health of an informer: failed requests, panics of user code, and whether it has synced or ended.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

use super::config::InformerFailed;

/// The stages of an informer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// The initial objects are not stored yet.
    #[default]
    Pending,
    Synced,
    /// It failed, or was stopped before it had synced.
    Ended,
}

/// The stage and the problems of an informer.
#[derive(Debug, Default)]
pub(super) struct Health {
    stage: watch::Sender<Stage>,
    problems: Mutex<Problems>,
}

#[derive(Debug, Default)]
struct Problems {
    /// The last error of the requests of each reflector, until its next event.
    requests: BTreeMap<usize, String>,
    /// The last panic of user code, until the next event.
    panic: Option<String>,
    failure: Option<InformerFailed>,
}

impl Health {
    pub(super) fn has_synced(&self) -> bool {
        *self.stage.borrow() == Stage::Synced
    }

    /// Waits until the informer has synced; `false` if it cannot anymore.
    pub(super) async fn wait_for_sync(&self) -> bool {
        let mut stage = self.stage.subscribe();
        // The sender is owned by `self`, so waiting cannot fail.
        stage.wait_for(|stage| *stage != Stage::Pending).await.is_ok_and(|stage| *stage == Stage::Synced)
    }

    pub(super) fn mark_synced(&self) {
        self.advance(|stage| stage == Stage::Pending, Stage::Synced);
    }

    /// Marks the informer as stopped. If it has synced, its objects can still be read.
    pub(super) fn mark_stopped(&self) {
        self.advance(|stage| stage == Stage::Pending, Stage::Ended);
    }

    /// Marks the informer as failed. The first failure is stored.
    pub(super) fn fail(&self, failure: InformerFailed) {
        tracing::error!(error = %failure, "an informer failed");
        self.problems().failure.get_or_insert(failure);
        self.advance(|_| true, Stage::Ended);
    }

    pub(super) fn failure(&self) -> Option<InformerFailed> {
        self.problems().failure.clone()
    }

    pub(super) fn request_failed(&self, source: usize, error: String) {
        self.problems().requests.insert(source, error);
    }

    pub(super) fn user_code_panicked(&self, panic: String) {
        self.problems().panic = Some(panic);
    }

    /// Clears the errors before an event of a reflector.
    pub(super) fn event_received(&self, source: usize) {
        let mut problems = self.problems();
        problems.requests.remove(&source);
        problems.panic = None;
    }

    /// Returns the failure, the errors of requests, the skipped objects or the last panic.
    pub(super) fn last_error_with(&self, skipped: impl FnOnce() -> Option<String>) -> Option<String> {
        let problems = self.problems();
        if let Some(failure) = &problems.failure {
            return Some(failure.to_string());
        }
        let requests: Vec<_> = problems.requests.values().map(String::as_str).collect();
        let requests = Some(requests.join("; ")).filter(|errors| !errors.is_empty());
        requests.or_else(skipped).or_else(|| problems.panic.clone())
    }

    fn advance(&self, can_advance: impl Fn(Stage) -> bool, next: Stage) {
        self.stage.send_if_modified(|stage| can_advance(*stage) && std::mem::replace(stage, next) != next);
    }

    /// Ignores poisoning: no panic can leave the problems inconsistent.
    fn problems(&self) -> MutexGuard<'_, Problems> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn last_error(health: &Health) -> Option<String> {
        health.last_error_with(|| None)
    }

    fn failure(reason: &str) -> InformerFailed {
        InformerFailed { resource: "configmaps".to_owned(), name: "web".to_owned(), reason: reason.to_owned() }
    }

    #[test]
    fn a_failed_informer_has_not_synced_and_a_stopped_one_has() {
        let health = Health::default();
        assert!(health.wait_for_sync().now_or_never().is_none());
        health.mark_synced();
        health.mark_stopped();
        assert!(health.has_synced() && health.wait_for_sync().now_or_never() == Some(true));
        health.fail(failure("first"));
        health.fail(failure("second"));
        assert!(!health.has_synced() && health.wait_for_sync().now_or_never() == Some(false));
        let error = "the informer of configmaps `web` failed: first; its objects are no longer updated";
        assert_eq!((last_error(&health).as_deref(), health.failure()), (Some(error), Some(failure("first"))));
    }

    #[test]
    fn a_stop_before_the_sync_ends_the_wait() {
        let health = Health::default();
        health.mark_stopped();
        health.mark_synced();
        assert_eq!(health.wait_for_sync().now_or_never(), Some(false));
    }

    #[test]
    fn an_event_clears_the_errors_of_its_reflector_only() {
        let health = Health::default();
        health.user_code_panicked("a panic".to_owned());
        assert_eq!(last_error(&health).as_deref(), Some("a panic"));
        health.request_failed(0, "zero".to_owned());
        health.request_failed(1, "one".to_owned());
        assert_eq!(last_error(&health).as_deref(), Some("zero; one"));
        health.event_received(0);
        assert_eq!(last_error(&health).as_deref(), Some("one"));
        health.event_received(1);
        assert_eq!(health.last_error_with(|| Some("skipped".to_owned())).as_deref(), Some("skipped"));
        assert_eq!(last_error(&health), None);
    }
}
