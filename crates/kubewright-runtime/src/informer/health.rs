//! The health of an informer: failed requests, panics of user code, and whether it has synced or ended.

use std::collections::BTreeMap;

use parking_lot::Mutex;
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
    requests: BTreeMap<usize, RequestError>,
    /// The last panic of user code, until the next event.
    panic: Option<String>,
    failure: Option<InformerFailed>,
}

#[derive(Debug)]
struct RequestError {
    text: String,
    is_forbidden: bool,
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

    /// Waits until the informer has synced, cannot anymore, or this number of reflectors is forbidden. Returns `false`
    /// if it cannot.
    pub(super) async fn wait_for_sync_or_forbidden(&self, reflectors: usize) -> bool {
        let mut stage = self.stage.subscribe();
        let is_over = |stage: &Stage| *stage != Stage::Pending || self.is_forbidden(reflectors);
        stage.wait_for(is_over).await.is_ok_and(|stage| *stage != Stage::Ended)
    }

    /// Returns whether the last requests of this number of reflectors were forbidden.
    pub(super) fn is_forbidden(&self, reflectors: usize) -> bool {
        let forbidden = self.problems.lock().requests.values().filter(|error| error.is_forbidden).count();
        forbidden > 0 && forbidden >= reflectors
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
        self.problems.lock().failure.get_or_insert(failure);
        self.advance(|_| true, Stage::Ended);
    }

    pub(super) fn failure(&self) -> Option<InformerFailed> {
        self.problems.lock().failure.clone()
    }

    pub(super) fn request_failed(&self, source: usize, text: String, is_forbidden: bool) {
        self.problems.lock().requests.insert(source, RequestError { text, is_forbidden });
        if is_forbidden {
            // Callers of `wait_for_sync_or_forbidden` check again.
            self.stage.send_modify(|_| {});
        }
    }

    pub(super) fn user_code_panicked(&self, panic: String) {
        self.problems.lock().panic = Some(panic);
    }

    /// Clears the errors before an event of a reflector.
    pub(super) fn event_received(&self, source: usize) {
        let mut problems = self.problems.lock();
        problems.requests.remove(&source);
        problems.panic = None;
    }

    /// Returns the failure, the errors of requests, the skipped objects or the last panic.
    pub(super) fn last_error_with(&self, skipped: impl FnOnce() -> Option<String>) -> Option<String> {
        let problems = self.problems.lock();
        if let Some(failure) = &problems.failure {
            return Some(failure.to_string());
        }
        let requests: Vec<_> = problems.requests.values().map(|error| error.text.as_str()).collect();
        let requests = Some(requests.join("; ")).filter(|errors| !errors.is_empty());
        requests.or_else(skipped).or_else(|| problems.panic.clone())
    }

    fn advance(&self, can_advance: impl Fn(Stage) -> bool, next: Stage) {
        self.stage.send_if_modified(|stage| can_advance(*stage) && std::mem::replace(stage, next) != next);
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
    fn an_informer_whose_reflectors_are_all_forbidden_is_not_waited_for() {
        let health = Health::default();
        let ended = || health.wait_for_sync_or_forbidden(2).now_or_never();
        health.request_failed(0, "forbidden".to_owned(), true);
        health.request_failed(1, "unavailable".to_owned(), false);
        assert_eq!((ended(), health.is_forbidden(2)), (None, false));
        health.request_failed(1, "forbidden".to_owned(), true);
        assert_eq!((ended(), health.is_forbidden(2)), (Some(true), true));
        health.event_received(0);
        assert_eq!((ended(), health.is_forbidden(2)), (None, false));
        health.mark_stopped();
        assert_eq!(ended(), Some(false));
    }

    #[test]
    fn an_event_clears_the_errors_of_its_reflector_only() {
        let health = Health::default();
        health.user_code_panicked("a panic".to_owned());
        assert_eq!(last_error(&health).as_deref(), Some("a panic"));
        health.request_failed(0, "zero".to_owned(), false);
        health.request_failed(1, "one".to_owned(), false);
        assert_eq!(last_error(&health).as_deref(), Some("zero; one"));
        health.event_received(0);
        assert_eq!(last_error(&health).as_deref(), Some("one"));
        health.event_received(1);
        assert_eq!(health.last_error_with(|| Some("skipped".to_owned())).as_deref(), Some("skipped"));
        assert_eq!(last_error(&health), None);
    }
}
