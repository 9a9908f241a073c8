//! When the API server last responded to a reflector, since when its requests fail, and the progress of its list, for
//! health checks.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::metrics::Gauge;

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
    /// The maximum number of objects that a list contained so far.
    listed: usize,
    /// When that number was reached, or the start.
    progressed: Instant,
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
    /// Starts the measurement for a reflector whose requests have this timeout. It ends when the guard is dropped. The
    /// gauge is 1 while requests fail.
    pub(super) fn start(&self, request_timeout: Duration, failing: Gauge) -> ActivityGuard {
        let limit = request_timeout.saturating_add(BOOKMARK_INTERVAL);
        let (last_response, progressed) = (Instant::now(), Instant::now());
        *self.0.lock() =
            Some(Running { last_response, failing_since: None, listed: 0, progressed, limit, is_paused: false });
        failing.set(0.0);
        ActivityGuard { activity: self.clone(), failing }
    }

    /// Returns a guard during whose lifetime the reflector is not considered silent.
    pub(crate) fn pause(&self) -> PauseGuard {
        self.set_paused(true);
        PauseGuard(self.clone())
    }

    /// Returns how long the server has not responded, if that exceeds the limit.
    pub(crate) fn silence(&self) -> Option<Silence> {
        let Running { last_response, limit, .. } = self.0.lock().filter(|running| !running.is_paused)?;
        let duration = last_response.elapsed();
        (duration > limit).then_some(Silence { duration, limit })
    }

    /// Returns how long lists and watches have failed without a success.
    pub(crate) fn failing(&self) -> Option<Duration> {
        Some(self.0.lock().as_ref()?.failing_since?.elapsed())
    }

    /// Returns when a list received more objects than any before, or the reflector started; `None` if it does not run.
    pub(crate) fn progressed(&self) -> Option<Instant> {
        Some(self.0.lock().as_ref()?.progressed)
    }

    fn set_paused(&self, is_paused: bool) {
        if let Some(running) = &mut *self.0.lock() {
            (running.last_response, running.is_paused) = (Instant::now(), is_paused);
        }
    }
}

/// Measures the responses to a running reflector until it is dropped.
pub(super) struct ActivityGuard {
    activity: Activity,
    failing: Gauge,
}

impl ActivityGuard {
    /// Records a response, or a part of one.
    pub(super) fn responded(&self) {
        if let Some(running) = &mut *self.activity.0.lock() {
            running.last_response = Instant::now();
        }
    }

    /// Records a list, a part of one, the start of a watch, or an event.
    pub(super) fn succeeded(&self) {
        if let Some(running) = &mut *self.activity.0.lock() {
            running.last_response = Instant::now();
            if running.failing_since.take().is_some() {
                self.failing.set(0.0);
            }
        }
    }

    /// Records the number of objects that the current list contains so far.
    pub(super) fn listed(&self, objects: usize) {
        if let Some(running) = &mut *self.activity.0.lock()
            && objects > running.listed
        {
            (running.listed, running.progressed) = (objects, Instant::now());
        }
    }

    /// Records a failed list or watch.
    pub(super) fn failed(&self) {
        if let Some(running) = &mut *self.activity.0.lock()
            && running.failing_since.is_none()
        {
            running.failing_since = Some(Instant::now());
            self.failing.set(1.0);
        }
    }
}

impl Drop for ActivityGuard {
    fn drop(&mut self) {
        *self.activity.0.lock() = None;
        self.failing.set(0.0);
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
    use crate::metrics::Gauge;

    const MINUTE: Duration = Duration::from_mins(1);

    #[tokio::test(start_paused = true)]
    async fn a_reflector_is_silent_after_the_request_timeout_and_the_bookmark_interval() {
        let activity = Activity::default();
        assert_eq!(activity.silence(), None);
        let guard = activity.start(10 * MINUTE, Gauge::default());
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
        let gauge = Gauge::default();
        let guard = activity.start(MINUTE, gauge.clone());
        for _ in 0..2 {
            assert_eq!((activity.failing(), gauge.get()), (None, 0.0));
            guard.failed();
            advance(MINUTE).await;
            guard.failed();
            guard.responded();
            assert_eq!((activity.failing(), gauge.get()), (Some(MINUTE), 1.0));
            guard.succeeded();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_progresses_if_it_receives_more_objects_than_any_before() {
        let activity = Activity::default();
        assert_eq!(activity.progressed(), None);
        let (start, guard) = (Instant::now(), activity.start(MINUTE, Gauge::default()));
        for (objects, progressed) in [(0, 0), (5, 2), (3, 2), (5, 2), (6, 5)] {
            advance(MINUTE).await;
            guard.listed(objects);
            assert_eq!(activity.progressed(), Some(start + progressed * MINUTE), "{objects}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_paused_reflector_is_not_silent() {
        let activity = Activity::default();
        let _guard = activity.start(MINUTE, Gauge::default());
        let pause = activity.pause();
        advance(5 * MINUTE).await;
        assert_eq!(activity.silence(), None);
        drop(pause);
        assert_eq!(activity.silence(), None);
        advance(3 * MINUTE).await;
        assert!(activity.silence().is_some());
    }
}
