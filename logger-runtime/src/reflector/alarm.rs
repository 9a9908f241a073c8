//! A limit that moves with every event, on a timer that does not: setting one for each event would wake the runtime's clock each time.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Poll, ready};

use tokio::time::{Instant, Sleep, sleep_until};

/// The timer, once there was a limit. It may stand before the limit, and is moved when it gets there.
#[derive(Default)]
pub(super) struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    /// What comes of it until then, if there is an end to waiting.
    pub(super) async fn within<F: Future>(&mut self, deadline: Option<Instant>, future: F) -> Option<F::Output> {
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
    use std::future::{pending, ready};
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn limits_hold_whether_they_move_on_or_back() {
        let (mut alarm, start) = (Alarm::default(), Instant::now());
        let seconds = |seconds| Some(start + Duration::from_secs(seconds));
        assert_eq!(alarm.within(seconds(10), ready(1)).await, Some(1));
        assert_eq!(alarm.within(seconds(20), pending::<()>()).await, None);
        assert_eq!(start.elapsed().as_secs(), 20);
        assert_eq!(alarm.within(seconds(90), ready(2)).await, Some(2));
        assert_eq!(alarm.within(seconds(30), pending::<()>()).await, None);
        assert_eq!(start.elapsed().as_secs(), 30);
        assert_eq!(alarm.within(None, ready(3)).await, Some(3));
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_after_the_timer_moved_is_heard() {
        let mut alarm = Alarm::default();
        let start = Instant::now();
        assert_eq!(alarm.within(Some(start + Duration::from_secs(5)), ready(())).await, Some(()));
        let late = tokio::time::sleep(Duration::from_secs(8));
        assert!(alarm.within(Some(start + Duration::from_secs(9)), late).await.is_some());
        assert_eq!(start.elapsed().as_secs(), 8);
    }
}
