//! A timer for a deadline that moves with every event. Resetting the timer each time would lock the runtime's time
//! driver.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::{Poll, ready},
};

use tokio::time::{Instant, Sleep, sleep_until};

/// The timer, created with the first deadline. It can fire before the current deadline, and is reset then.
#[derive(Default)]
pub(super) struct DeadlineTimer(Option<Pin<Box<Sleep>>>);

impl DeadlineTimer {
    /// Runs a future until the deadline; `None` if the deadline passes first.
    pub(super) async fn timeout_at<F: Future>(&mut self, deadline: Option<Instant>, future: F) -> Option<F::Output> {
        let Some(deadline) = deadline else {
            return Some(future.await);
        };
        let mut future = pin!(future);
        let timer = self.0.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if deadline < timer.deadline() {
            timer.as_mut().reset(deadline);
        }
        poll_fn(|context| {
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                return Poll::Ready(Some(output));
            }
            loop {
                ready!(timer.as_mut().poll(context));
                if Instant::now() >= deadline {
                    return Poll::Ready(None);
                }
                timer.as_mut().reset(deadline);
            }
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::{pending, ready},
        time::Duration,
    };

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn deadlines_apply_whether_they_move_forward_or_back() {
        let (mut timer, start) = (DeadlineTimer::default(), Instant::now());
        let seconds = |seconds| Some(start + Duration::from_secs(seconds));
        assert_eq!(timer.timeout_at(seconds(10), ready(1)).await, Some(1));
        assert_eq!(timer.timeout_at(seconds(20), pending::<()>()).await, None);
        assert_eq!(start.elapsed().as_secs(), 20);
        assert_eq!(timer.timeout_at(seconds(90), ready(2)).await, Some(2));
        assert_eq!(timer.timeout_at(seconds(30), pending::<()>()).await, None);
        assert_eq!(start.elapsed().as_secs(), 30);
        assert_eq!(timer.timeout_at(None, ready(3)).await, Some(3));
    }

    #[tokio::test(start_paused = true)]
    async fn a_result_after_a_timer_reset_is_returned() {
        let mut timer = DeadlineTimer::default();
        let start = Instant::now();
        assert_eq!(timer.timeout_at(Some(start + Duration::from_secs(5)), ready(())).await, Some(()));
        let late = tokio::time::sleep(Duration::from_secs(8));
        assert!(timer.timeout_at(Some(start + Duration::from_secs(9)), late).await.is_some());
        assert_eq!(start.elapsed().as_secs(), 8);
    }
}
