//! How long to wait after something went wrong.

use std::fmt::Debug;
use std::time::Duration;

use tokio::time::Instant;

/// Says how long to wait after a failure.
pub trait Backoff: Debug + Send {
    /// The time to wait after a failure that was noticed now.
    fn delay(&mut self, now: Instant) -> Duration;
}

/// Waits twice as long each time, and begins anew after some quiet time.
///
/// It promises:
/// - a wait is between the step and the step and its jitter; the first step is `initial`, each is `factor` times the one
///   before, and none is over `longest`;
/// - when nothing failed for `reset_after`, the next step is the first again.
///
/// The default is what client-go's reflector has: 0.8 s, doubled up to 30 s, each up to twice as long by chance, from the
/// start after two minutes.
#[derive(Clone, Debug)]
pub struct ExponentialBackoff {
    initial: Duration,
    factor: f64,
    longest: Duration,
    jitter: f64,
    reset_after: Duration,
    step: Option<Duration>,
    last: Option<Instant>,
    /// None is made until it is used: clones have chances of their own.
    random: Option<fastrand::Rng>,
}

impl ExponentialBackoff {
    /// Doubles from the first to the longest step, without jitter.
    pub fn new(initial: Duration, longest: Duration) -> Self {
        let reset_after = Duration::from_secs(120);
        ExponentialBackoff {
            initial,
            factor: 2.0,
            longest,
            jitter: 0.0,
            reset_after,
            step: None,
            last: None,
            random: None,
        }
    }

    /// The same, each step so many times the one before; below 1 counts as 1.
    #[must_use]
    pub fn factor(mut self, factor: f64) -> Self {
        self.factor = if factor > 1.0 { factor } else { 1.0 };
        self
    }

    /// The same, each wait longer by chance: by up to so many times its step. Below 0 counts as 0.
    #[must_use]
    pub fn jitter(mut self, jitter: f64) -> Self {
        self.jitter = if jitter > 0.0 { jitter } else { 0.0 };
        self
    }

    /// The same, from the first step again after this time without a failure.
    #[must_use]
    pub fn reset_after(mut self, quiet: Duration) -> Self {
        self.reset_after = quiet;
        self
    }

    /// The same, with chances that this number determines, as for a test: in clones, too.
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
        let next = self.step.filter(|_| !quiet).map(|step| times(step, self.factor));
        let step = next.unwrap_or(self.initial).min(self.longest);
        self.step = Some(step);
        let chance = self.random.get_or_insert_with(fastrand::Rng::new).f64();
        step.saturating_add(times(step, self.jitter * chance))
    }
}

/// No product is too long for a `Duration`.
fn times(duration: Duration, factor: f64) -> Duration {
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
    fn r06_back_off_doubles_up_to_its_longest_step() {
        let backoff = ExponentialBackoff::new(Duration::from_millis(10), Duration::from_millis(100));
        assert_eq!(delays(backoff, 6), [10, 20, 40, 80, 100, 100]);
    }

    #[test]
    fn r06_the_default_waits_from_800_ms_to_30_s_and_up_to_twice_that() {
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
        assert_ne!(delays(unseeded.clone(), 8), delays(unseeded, 8), "reflectors of one config do not march in step");
    }

    #[test]
    fn r06_back_off_starts_anew_after_two_quiet_minutes() {
        let mut backoff = ExponentialBackoff::default().jitter(0.0);
        let start = Instant::now();
        let mut after = |secs| backoff.delay(start + Duration::from_secs(secs)).as_millis();
        assert_eq!([after(0), after(120), after(240), after(361)], [800, 1600, 3200, 800]);
    }

    #[test]
    fn r06_no_number_of_failures_overflows() {
        let longest = ExponentialBackoff::new(Duration::MAX, Duration::MAX).factor(f64::INFINITY).jitter(f64::NAN);
        assert!(delays(longest, 3).iter().all(|delay| *delay == Duration::MAX.as_millis()));
    }
}
