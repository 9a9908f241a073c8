//! The leader's work: a task that is never polled after its deadline.

use std::{
    any::Any,
    fmt,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use futures::future::Either;
use tokio::{
    task::{JoinSet, futures::TaskLocalFuture},
    task_local,
    time::Instant,
};

task_local! {
    /// The fence of the leadership to which the current task belongs.
    static FENCE: Fence;
}

/// The deadline of work that needs a lease, which each renewal extends. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Fence {
    epoch: Instant,
    /// Nanoseconds since the epoch; zero if the fence is closed.
    deadline: Arc<AtomicU64>,
}

impl Fence {
    pub(crate) fn closed() -> Self {
        Fence { epoch: Instant::now(), deadline: Arc::new(AtomicU64::new(0)) }
    }

    /// Opens the fence until the deadline.
    pub(crate) fn open_until(&self, deadline: Instant) {
        let nanos = deadline.saturating_duration_since(self.epoch).as_nanos();
        self.deadline.store(u64::try_from(nanos).unwrap_or(u64::MAX), Ordering::Release);
    }

    pub(crate) fn close(&self) {
        self.deadline.store(0, Ordering::Release);
    }

    pub(crate) fn is_open(&self) -> bool {
        Instant::now() < self.deadline()
    }

    pub(crate) fn deadline(&self) -> Instant {
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
        let work = Fenced::new(work, Some(fence));
        tasks.spawn(async move { work.await.map_or(WorkEnd::Dropped, |()| WorkEnd::Completed) });
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

/// Restricts a future to the leadership in which this function is called, for tasks that the leader's work spawns.
///
/// The future is never polled after the time at which the work of the leader must have ended, even if the process was
/// paused: it is dropped, and the result is `None`. Outside the work of an elector it is not restricted.
///
/// The controllers of this crate restrict their tasks.
///
/// ```
/// use kubewright_runtime::leader_election::fenced;
/// use tokio::task::JoinSet;
///
/// fn spawn(tasks: &mut JoinSet<()>) {
///     let work = fenced(async { println!("working") });
///     tasks.spawn(async move { work.await.unwrap_or_default() });
/// }
/// ```
pub fn fenced<F: Future>(future: F) -> Fenced<F> {
    Fenced::new(future, FENCE.try_with(Fence::clone).ok())
}

/// Returns whether the leadership to which the current task belongs is over. A task that does several things in one
/// poll checks it before each of them. `false` outside the work of an elector.
pub(crate) fn is_leadership_over() -> bool {
    FENCE.try_with(|fence| !fence.is_open()).unwrap_or(false)
}

/// A future that is restricted to a leadership: that of [`fenced`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct Fenced<F: Future> {
    future: Option<Pin<Box<Scoped<F>>>>,
    fence: Option<Fence>,
}

/// A future in whose scope the fence is known, if there is one.
type Scoped<F> = Either<TaskLocalFuture<Fence, F>, F>;

impl<F: Future> Fenced<F> {
    /// Restricts a future to the times at which the fence is open; without one, it is not restricted.
    pub(crate) fn new(future: F, fence: Option<Fence>) -> Self {
        let scoped = match &fence {
            Some(fence) => Either::Left(FENCE.scope(fence.clone(), future)),
            None => Either::Right(future),
        };
        Fenced { future: Some(Box::pin(scoped)), fence }
    }
}

impl<F: Future> Future for Fenced<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<F::Output>> {
        let is_open = self.fence.as_ref().is_none_or(Fence::is_open);
        let Some(future) = self.future.as_mut().filter(|_| is_open) else {
            self.future = None;
            return Poll::Ready(None);
        };
        future.as_mut().poll(context).map(Some)
    }
}

impl<F: Future> fmt::Debug for Fenced<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fenced").field("fence", &self.fence).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        sync::oneshot,
        time::{advance, sleep},
    };

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

    #[tokio::test(start_paused = true)]
    async fn fenced_tasks_of_the_work_are_not_polled_after_the_fence_closed() {
        let fence = Fence::closed();
        fence.open_until(Instant::now() + SECOND);
        let (sender, receiver) = oneshot::channel();
        let nested = async { sender.send(tokio::spawn(fenced(sleep(SECOND / 2)))).unwrap() };
        let mut work = Work::spawn(async { tokio::spawn(fenced(nested)).await.unwrap().unwrap() }, fence);
        assert!(matches!(work.ended().await, WorkEnd::Completed));
        advance(3 * SECOND).await;
        assert_eq!(receiver.await.unwrap().await.unwrap(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn fenced_futures_complete_while_the_fence_is_open_and_without_one() {
        let fence = Fence::closed();
        fence.open_until(Instant::now() + 2 * SECOND);
        let mut work = Work::spawn(async { assert_eq!(fenced(sleep(SECOND)).await, Some(())) }, fence);
        assert!(matches!(work.ended().await, WorkEnd::Completed));
        assert_eq!(fenced(async { 7 }).await, Some(7));
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
