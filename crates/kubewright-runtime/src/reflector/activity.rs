//! When the API server last responded to a reflector, and since when its requests fail, for health checks.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// About how often Kubernetes sends bookmarks.
const BOOKMARK_INTERVAL: Duration = Duration::from_mins(1);

/// The responses to a reflector. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activity(Arc<Mutex<Option<Running>>>);

#[derive(Clone, Copy, Debug)]
struct Running {
    last_response: Instant,
    /// The first failure since the last success.
    failing_since: Option<Instant>,
    limit: Duration,
    /// Whether the reflector waits for something other than the server.
    is_paused: bool,
}

/// A watch without a response for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Silence {
    /// The time since the last response.
    pub(crate) duration: Duration,
    /// The timeout of the requests plus the interval of bookmarks.
    pub(crate) limit: Duration,
}

impl Activity {
    /// Starts the measurement for a reflector whose requests have this timeout. It ends when the guard is dropped.
    pub(super) fn start(&self, request_timeout: Duration) -> ActivityGuard {
        let limit = request_timeout.saturating_add(BOOKMARK_INTERVAL);
        *self.lock() = Some(Running { last_response: Instant::now(), failing_since: None, limit, is_paused: false });
        ActivityGuard(self.clone())
    }

    /// Returns a guard during whose lifetime the reflector is not considered silent.
    pub(crate) fn pause(&self) -> PauseGuard {
        self.set_paused(true);
        PauseGuard(self.clone())
    }

    /// Returns how long the server has not responded, if that exceeds the limit.
    pub(crate) fn silence(&self) -> Option<Silence> {
        let Running { last_response, limit, .. } = self.lock().filter(|running| !running.is_paused)?;
        let duration = last_response.elapsed();
        (duration > limit).then_some(Silence { duration, limit })
    }

    /// Returns how long lists and watches have failed without a success.
    pub(crate) fn failing(&self) -> Option<Duration> {
        Some(self.lock().as_ref()?.failing_since?.elapsed())
    }

    fn set_paused(&self, is_paused: bool) {
        if let Some(running) = &mut *self.lock() {
            (running.last_response, running.is_paused) = (Instant::now(), is_paused);
        }
    }

    /// Ignores poisoning: no panic can leave the value inconsistent.
    fn lock(&self) -> MutexGuard<'_, Option<Running>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Measures the responses to a running reflector until it is dropped.
pub(super) struct ActivityGuard(Activity);

impl ActivityGuard {
    /// Records a response, or a part of one.
    pub(super) fn responded(&self) {
        if let Some(running) = &mut *self.0.lock() {
            running.last_response = Instant::now();
        }
    }

    /// Records a list, a part of one, the start of a watch, or an event.
    pub(super) fn succeeded(&self) {
        if let Some(running) = &mut *self.0.lock() {
            (running.last_response, running.failing_since) = (Instant::now(), None);
        }
    }

    /// Records a failed list or watch.
    pub(super) fn failed(&self) {
        if let Some(running) = &mut *self.0.lock() {
            running.failing_since.get_or_insert_with(Instant::now);
        }
    }
}

impl Drop for ActivityGuard {
    fn drop(&mut self) {
        *self.0.lock() = None;
    }
}

/// Continues the measurement on drop.
pub(crate) struct PauseGuard(Activity);

impl Drop for PauseGuard {
    fn drop(&mut self) {
        self.0.set_paused(false);
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    #[tokio::test(start_paused = true)]
    async fn a_reflector_is_silent_after_the_request_timeout_and_the_bookmark_interval() {
        let activity = Activity::default();
        assert_eq!(activity.silence(), None);
        let guard = activity.start(10 * MINUTE);
        advance(11 * MINUTE).await;
        assert_eq!(activity.silence(), None);
        advance(MINUTE).await;
        assert_eq!(activity.silence(), Some(Silence { duration: 12 * MINUTE, limit: 11 * MINUTE }));
        guard.responded();
        assert_eq!(activity.silence(), None);
        advance(12 * MINUTE).await;
        drop(guard);
        assert_eq!(activity.silence(), None, "it does not run");
    }

    #[tokio::test(start_paused = true)]
    async fn requests_fail_from_the_first_failure_to_the_next_success() {
        let activity = Activity::default();
        let guard = activity.start(MINUTE);
        for _ in 0..2 {
            assert_eq!(activity.failing(), None);
            guard.failed();
            advance(MINUTE).await;
            guard.failed();
            guard.responded();
            assert_eq!(activity.failing(), Some(MINUTE));
            guard.succeeded();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_paused_reflector_is_not_silent() {
        let activity = Activity::default();
        let _guard = activity.start(MINUTE);
        let pause = activity.pause();
        advance(5 * MINUTE).await;
        assert_eq!(activity.silence(), None);
        drop(pause);
        assert_eq!(activity.silence(), None);
        advance(3 * MINUTE).await;
        assert!(activity.silence().is_some());
    }
}
