//! The leader's work: a task that is never polled after its deadline.

use std::{
    any::Any,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use tokio::{task::JoinSet, time::Instant};

/// The deadline of the leader's work, which each renewal extends. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Fence {
    epoch: Instant,
    /// Nanoseconds since the epoch; zero if the fence is closed.
    deadline: Arc<AtomicU64>,
}

impl Fence {
    pub(super) fn closed() -> Self {
        Fence { epoch: Instant::now(), deadline: Arc::new(AtomicU64::new(0)) }
    }

    /// Opens the fence until the deadline.
    pub(super) fn open_until(&self, deadline: Instant) {
        let nanos = deadline.saturating_duration_since(self.epoch).as_nanos();
        self.deadline.store(u64::try_from(nanos).unwrap_or(u64::MAX), Ordering::Release);
    }

    pub(super) fn close(&self) {
        self.deadline.store(0, Ordering::Release);
    }

    pub(super) fn is_open(&self) -> bool {
        Instant::now() < self.deadline()
    }

    pub(super) fn deadline(&self) -> Instant {
        self.epoch + Duration::from_nanos(self.deadline.load(Ordering::Acquire))
    }
}

/// How the leader's work ended.
#[derive(Debug)]
pub(super) enum WorkEnd {
    Completed,
    /// It was dropped at its deadline, or aborted.
    Dropped,
    Panicked(Box<dyn Any + Send>),
}

/// The task of the leader's work. It is aborted on drop.
pub(super) struct Work(JoinSet<WorkEnd>);

impl Work {
    pub(super) fn spawn(work: impl Future<Output = ()> + Send + 'static, fence: Fence) -> Self {
        let mut tasks = JoinSet::new();
        tasks.spawn(Fenced { work: Some(Box::pin(work)), fence });
        Work(tasks)
    }

    /// Waits until the work has ended.
    pub(super) async fn ended(&mut self) -> WorkEnd {
        match self.0.join_next().await {
            Some(Ok(end)) => end,
            Some(Err(error)) => error.try_into_panic().map_or(WorkEnd::Dropped, WorkEnd::Panicked),
            None => WorkEnd::Dropped,
        }
    }

    /// Cancels the work at its next suspension point.
    pub(super) fn abort(&mut self) {
        self.0.abort_all();
    }
}

/// Polls the work only while the fence is open, and drops it afterwards: a process that was paused does not resume
/// work that is past its deadline.
struct Fenced {
    work: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    fence: Fence,
}

impl Future for Fenced {
    type Output = WorkEnd;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<WorkEnd> {
        let is_open = self.fence.is_open();
        let Some(work) = self.work.as_mut().filter(|_| is_open) else {
            self.work = None;
            return Poll::Ready(WorkEnd::Dropped);
        };
        work.as_mut().poll(context).map(|()| WorkEnd::Completed)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, sleep};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn work_completes_while_the_fence_is_open() {
        let fence = Fence::closed();
        assert!(!fence.is_open());
        fence.open_until(Instant::now() + 2 * SECOND);
        assert!(fence.is_open());
        let mut work = Work::spawn(sleep(SECOND), fence);
        assert!(matches!(work.ended().await, WorkEnd::Completed));
    }

    #[tokio::test(start_paused = true)]
    async fn work_is_not_polled_after_the_fence_closed() {
        let fence = Fence::closed();
        fence.open_until(Instant::now() + SECOND);
        let mut work = Work::spawn(sleep(SECOND / 2), fence.clone());
        tokio::task::yield_now().await;
        // As after a pause of the process: the timer of the work and its deadline have passed.
        advance(3 * SECOND).await;
        assert!(matches!(work.ended().await, WorkEnd::Dropped));
        fence.close();
        assert!(!fence.is_open());
    }

    #[tokio::test]
    async fn work_that_panics_is_reported() {
        let fence = Fence::closed();
        fence.open_until(Instant::now() + 60 * SECOND);
        let mut work = Work::spawn(async { panic!("failed") }, fence);
        let WorkEnd::Panicked(panic) = work.ended().await else { panic!("the work panicked") };
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"failed"));
    }
}
