//! Back-off after failures.

use std::{fmt::Debug, time::Duration};

use tokio::time::Instant;

/// Computes delays after failures.
pub trait Backoff: Debug + Send {
    /// Returns the delay after a failure at `now`.
    fn delay(&mut self, now: Instant) -> Duration;
}

/// An exponential back-off with jitter, which resets after a time without failures.
///
/// Guarantees:
/// - the first step is `initial`, each further one is `factor` times the previous one, and none exceeds `max`; a delay
///   is its step plus a random part of the jitter;
/// - after `reset_after` without a failure the next step is the first one again.
///
/// The default is that of client-go's reflector: 0.8 s, doubled up to 30 s, jittered up to twice as long, reset after
/// two minutes.
#[derive(Clone, Debug)]
pub struct ExponentialBackoff {
    initial: Duration,
    factor: f64,
    max: Duration,
    jitter: f64,
    reset_after: Duration,
    step: Option<Duration>,
    last: Option<Instant>,
    /// Created at first use, so that clones have independent jitter.
    random: Option<fastrand::Rng>,
}

impl ExponentialBackoff {
    /// Creates a back-off that doubles from the first to the longest step, without jitter.
    pub fn new(initial: Duration, max: Duration) -> Self {
        let reset_after = Duration::from_secs(120);
        ExponentialBackoff { initial, factor: 2.0, max, jitter: 0.0, reset_after, step: None, last: None, random: None }
    }

    /// Sets the factor between steps; at least 1.
    #[must_use]
    pub fn factor(mut self, factor: f64) -> Self {
        self.factor = if factor > 1.0 { factor } else { 1.0 };
        self
    }

    /// Sets the jitter, as a factor of the step by which a delay can be longer; at least 0.
    #[must_use]
    pub fn jitter(mut self, jitter: f64) -> Self {
        self.jitter = if jitter > 0.0 { jitter } else { 0.0 };
        self
    }

    /// Sets the time without a failure after which the first step is used again.
    #[must_use]
    pub fn reset_after(mut self, quiet: Duration) -> Self {
        self.reset_after = quiet;
        self
    }

    /// Seeds the jitter, for reproducible tests. Clones have the same jitter.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.random = Some(fastrand::Rng::with_seed(seed));
        self
    }
}

impl Default for ExponentialBackoff {
    fn default() -> Self {
        Self::new(Duration::from_millis(800), Duration::from_secs(30)).jitter(1.0)
    }
}

impl Backoff for ExponentialBackoff {
    fn delay(&mut self, now: Instant) -> Duration {
        let quiet = self.last.is_some_and(|last| now.saturating_duration_since(last) > self.reset_after);
        self.last = Some(now);
        let next = self.step.filter(|_| !quiet).map(|step| multiply(step, self.factor));
        let step = next.unwrap_or(self.initial).min(self.max);
        self.step = Some(step);
        let random = self.random.get_or_insert_with(fastrand::Rng::new).f64();
        step.saturating_add(multiply(step, self.jitter * random))
    }
}

/// Multiplies a duration, saturating at [`Duration::MAX`].
fn multiply(duration: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(duration.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(mut backoff: ExponentialBackoff, count: usize) -> Vec<u128> {
        let now = Instant::now();
        (0..count).map(|_| backoff.delay(now).as_millis()).collect()
    }

    #[test]
    fn r06_back_off_doubles_up_to_the_maximum() {
        let backoff = ExponentialBackoff::new(Duration::from_millis(10), Duration::from_millis(100));
        assert_eq!(delays(backoff, 6), [10, 20, 40, 80, 100, 100]);
    }

    #[test]
    fn r06_the_default_is_800_ms_to_30_s_with_up_to_twice_that_as_jitter() {
        let steps = [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000];
        for (delay, step) in delays(ExponentialBackoff::default(), steps.len()).into_iter().zip(steps) {
            assert!((step..=2 * step).contains(&delay), "{delay} for {step}");
        }
    }

    #[test]
    fn r06_the_same_seed_gives_the_same_jitter() {
        let seeded = |seed| delays(ExponentialBackoff::default().seed(seed), 8);
        assert_eq!(seeded(1), seeded(1));
        assert_ne!(seeded(1), seeded(2));
        let unseeded = ExponentialBackoff::default();
        assert_ne!(delays(unseeded.clone(), 8), delays(unseeded, 8), "the jitter of clones is independent");
    }

    #[test]
    fn r06_back_off_resets_after_two_minutes_without_failures() {
        let mut backoff = ExponentialBackoff::default().jitter(0.0);
        let start = Instant::now();
        let mut after = |secs| backoff.delay(start + Duration::from_secs(secs)).as_millis();
        assert_eq!([after(0), after(120), after(240), after(361)], [800, 1600, 3200, 800]);
    }

    #[test]
    fn r06_back_off_never_overflows() {
        let backoff = ExponentialBackoff::new(Duration::MAX, Duration::MAX).factor(f64::INFINITY).jitter(f64::NAN);
        assert!(delays(backoff, 3).iter().all(|delay| *delay == Duration::MAX.as_millis()));
    }
}
