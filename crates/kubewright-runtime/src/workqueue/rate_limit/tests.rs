//! Tests of the rate limiters, with explicit times.

use super::*;

fn millis<K>(limiter: &impl RateLimiter<K>, key: &K, times: usize) -> Vec<u128> {
    let now = Instant::now();
    (0..times).map(|_| limiter.when(key, now).as_millis()).collect()
}

fn nz(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap()
}

#[test]
fn q11_exponential_delays_double_up_to_the_maximum_per_key() {
    let limiter = ExponentialBackoff::new(Duration::from_millis(1), Duration::from_secs(1));
    assert_eq!(millis(&limiter, &"a", 5), [1, 2, 4, 8, 16]);
    assert_eq!(millis(&limiter, &"b", 2), [1, 2]);
    assert_eq!((limiter.num_requeues(&"a"), limiter.num_requeues(&"b")), (5, 2));
    limiter.forget(&"a");
    assert_eq!((limiter.num_requeues(&"a"), millis(&limiter, &"a", 1)), (0, vec![1]));
    assert_eq!(limiter.num_requeues(&"b"), 2);
}

#[test]
fn q11_exponential_delays_do_not_overflow_at_any_number_of_failures() {
    let limiter = ExponentialBackoff::new(Duration::from_millis(1), Duration::from_secs(1000));
    let delays = millis(&limiter, &"a", 5000);
    assert!(delays.is_sorted() && delays.ends_with(&[1_000_000; 4000]), "{:?}", &delays[..40]);
    let limiter = ExponentialBackoff::new(Duration::MAX, Duration::MAX);
    assert!((0..100).all(|_| limiter.when(&"a", Instant::now()) == Duration::MAX));
    let limiter = ExponentialBackoff::new(Duration::from_secs(3600), Duration::from_secs(60));
    assert_eq!(millis(&limiter, &"a", 1), [60_000], "the maximum applies to the first delay");
}

#[test]
fn q13_the_longest_delay_wins_and_all_members_are_called_and_reset() {
    let constant = ExponentialBackoff::new(Duration::from_millis(5), Duration::from_millis(5));
    let exponential = ExponentialBackoff::new(Duration::from_millis(1), Duration::from_secs(1));
    let limiter: MaxOf<&str> = MaxOf::new([Box::new(constant) as Box<dyn RateLimiter<_>>, Box::new(exponential)]);
    assert_eq!(millis(&limiter, &"a", 5), [5, 5, 5, 8, 16]);
    assert_eq!(limiter.num_requeues(&"a"), 5, "the highest number, not the sum");
    limiter.forget(&"a");
    assert_eq!((limiter.num_requeues(&"a"), millis(&limiter, &"a", 1)), (0, vec![5]));
    assert_eq!(millis(&MaxOf::new([]), &"a", 2), [0, 0]);
}

#[test]
fn q15_the_default_is_the_longer_of_exponential_5_ms_to_1000_s_and_a_bucket_of_10_per_second_burst_100() {
    let limiter = default_rate_limiter();
    assert_eq!(millis(&limiter, &0, 20)[..5], [5, 10, 20, 40, 80]);
    let now = Instant::now();
    assert_eq!(limiter.when(&0, now), Duration::from_secs(1000));
    let others: Vec<_> = (1..100).map(|key| limiter.when(&key, now).as_millis()).collect();
    assert!(others[..79].iter().all(|delay| *delay == 5), "79 tokens are left: {others:?}");
    assert!(others[79] > 5 && others[80] >= 190 && others[98] >= 1900, "then one per 100 ms: {others:?}");
    assert_eq!(limiter.num_requeues(&0), 21);
}

#[test]
fn a_bucket_allows_its_burst_at_once_then_one_token_at_a_time_and_refills() {
    let bucket = TokenBucket::new(nz(10), nz(3));
    let start = Instant::now();
    let at = |millis| start + Duration::from_millis(millis);
    let delay = |millis| RateLimiter::<u8>::when(&bucket, &0, at(millis)).as_millis();
    assert_eq!([(); 6].map(|()| delay(0)), [0, 0, 0, 100, 200, 300]);
    assert_eq!(delay(250), 150, "tokens are reserved in order");
    assert_eq!(delay(10_000), 0);
    assert_eq!([(); 3].map(|()| delay(10_000)), [0, 0, 100], "at most the burst is refilled");
}

#[test]
fn a_bucket_uses_the_given_time_and_never_panics() {
    let bucket = TokenBucket::new(nz(1), nz(u32::MAX));
    let start = Instant::now();
    let delay = |at| RateLimiter::<u8>::when(&bucket, &0, at);
    assert_eq!(delay(start + LONG), Duration::ZERO);
    assert_eq!(delay(start), Duration::ZERO, "a clock that goes back is treated as stopped");
    let slow = TokenBucket::new(nz(1), nz(1));
    let delay = |at| RateLimiter::<u8>::when(&slow, &0, at);
    delay(start);
    assert_eq!(delay(start + LONG), Duration::ZERO);
}

const LONG: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
