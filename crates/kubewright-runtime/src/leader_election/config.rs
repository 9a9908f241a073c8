//! Options of an elector, with their validation and client-go's defaults.

use std::{collections::BTreeMap, fs, time::Duration};

use super::state_machine::{JITTER_FACTOR, Policy};
use crate::metrics::Metrics;

/// The options of a [`LeaderElector`](super::LeaderElector).
///
/// The defaults are those of client-go and controller-runtime: a lease of 15 s that is renewed every 2 s, and
/// leadership that ends after 10 s without a renewal. The lease is released after a clean stop.
#[derive(Clone, Debug)]
pub struct LeaderElectionConfig {
    pub(crate) lease_name: String,
    pub(crate) namespace: Option<String>,
    pub(crate) identity: String,
    pub(crate) lease_duration: Duration,
    pub(crate) renew_deadline: Duration,
    pub(crate) retry_period: Duration,
    pub(crate) release_on_stop: bool,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) metrics: Option<Metrics>,
}

impl LeaderElectionConfig {
    /// Creates the options of an election by the Lease of this name. The identity must be unique among all processes
    /// that ever use the Lease, such as that of [`unique_identity`].
    pub fn new(lease_name: impl Into<String>, identity: impl Into<String>) -> Self {
        LeaderElectionConfig {
            lease_name: lease_name.into(),
            namespace: None,
            identity: identity.into(),
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
            release_on_stop: true,
            labels: BTreeMap::new(),
            metrics: None,
        }
    }

    /// Returns the name of the Lease.
    #[must_use]
    pub fn lease_name(&self) -> &str {
        &self.lease_name
    }

    /// Sets the namespace of the Lease; by default the default namespace of the client, which in a pod is the pod's.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Sets how long other candidates wait after the last renewal that they observed; 15 s by default. It is a multiple
    /// of one second, as the Lease stores it.
    #[must_use]
    pub fn lease_duration(mut self, duration: Duration) -> Self {
        self.lease_duration = duration;
        self
    }

    /// Sets how long the leader retries a failing renewal before it cancels its work; 10 s by default. The work then
    /// has the rest of the lease duration to end, which is at least half of the time between this and the lease
    /// duration.
    #[must_use]
    pub fn renew_deadline(mut self, deadline: Duration) -> Self {
        self.renew_deadline = deadline;
        self
    }

    /// Sets the time between renewals; 2 s by default. Candidates wait up to 2.2 times as long between attempts.
    #[must_use]
    pub fn retry_period(mut self, period: Duration) -> Self {
        self.retry_period = period;
        self
    }

    /// Sets whether the lease is released after the leader's work ended, so that another candidate need not wait for
    /// the lease duration; `true` by default.
    #[must_use]
    pub fn release_on_stop(mut self, release: bool) -> Self {
        self.release_on_stop = release;
        self
    }

    /// Adds a label to the Lease if the elector creates it.
    #[must_use]
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(key.into(), value.into());
        self
    }

    /// Sets the receiver of the metrics; none by default.
    #[must_use]
    pub fn metrics(mut self, metrics: Metrics) -> Self {
        self.metrics = Some(metrics);
        self
    }

    /// Returns the timeout of one request: half the renew deadline, at least one second, as in controller-runtime.
    pub(super) fn request_timeout(&self) -> Duration {
        (self.renew_deadline / 2).max(Duration::from_secs(1))
    }

    /// Validates the options and converts them to those of the state machine.
    pub(crate) fn policy(&self) -> Result<Policy, ConfigError> {
        let Self { lease_duration, renew_deadline, retry_period, .. } = *self;
        if self.lease_name.is_empty() {
            return Err(ConfigError::MissingLeaseName);
        }
        if self.identity.is_empty() {
            return Err(ConfigError::MissingIdentity);
        }
        for (option, value) in
            [("lease_duration", lease_duration), ("renew_deadline", renew_deadline), ("retry_period", retry_period)]
        {
            if value.is_zero() {
                return Err(ConfigError::Zero { option });
            }
        }
        if lease_duration <= renew_deadline {
            return Err(ConfigError::LeaseDurationTooShort { lease_duration, renew_deadline });
        }
        if renew_deadline.as_secs_f64() <= retry_period.as_secs_f64() * JITTER_FACTOR {
            return Err(ConfigError::RenewDeadlineTooShort { renew_deadline, retry_period });
        }
        let seconds = i32::try_from(lease_duration.as_secs()).ok().filter(|_| lease_duration.subsec_nanos() == 0);
        let lease_duration_seconds = seconds.ok_or(ConfigError::NotInSeconds { lease_duration })?;
        Ok(Policy {
            identity: self.identity.clone(),
            lease_duration,
            lease_duration_seconds,
            renew_deadline,
            retry_period,
            request_timeout: self.request_timeout(),
            abort_margin: (lease_duration / 20).min((lease_duration - renew_deadline) / 2),
        })
    }
}

/// An option of an election that is missing or contradicts another one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The Lease has no name.
    #[error("invalid leader election: the name of the lease is empty; pass it to `LeaderElectionConfig::new`")]
    MissingLeaseName,
    /// The namespace of the Lease is empty.
    #[error("invalid leader election: the namespace of the lease is empty; set it with `namespace`")]
    MissingNamespace,
    /// The process has no identity.
    #[error("invalid leader election: the identity is empty; use `unique_identity()`, for example")]
    MissingIdentity,
    /// A duration is zero.
    #[error("invalid leader election: `{option}` is zero")]
    Zero {
        /// The name of the option.
        option: &'static str,
    },
    /// The lease could expire before its holder notices that it cannot renew it.
    #[error(
        "invalid leader election: `lease_duration` {lease_duration:?} does not exceed `renew_deadline` \
         {renew_deadline:?}"
    )]
    LeaseDurationTooShort {
        /// The lease duration.
        lease_duration: Duration,
        /// The renew deadline.
        renew_deadline: Duration,
    },
    /// A renewal could not be retried before the deadline.
    #[error(
        "invalid leader election: `renew_deadline` {renew_deadline:?} does not exceed 1.2 times `retry_period` \
         {retry_period:?}"
    )]
    RenewDeadlineTooShort {
        /// The renew deadline.
        renew_deadline: Duration,
        /// The retry period.
        retry_period: Duration,
    },
    /// The Lease cannot store the duration.
    #[error(
        "invalid leader election: `lease_duration` {lease_duration:?} is not a multiple of one second, or exceeds \
         {} s",
        i32::MAX
    )]
    NotInSeconds {
        /// The lease duration.
        lease_duration: Duration,
    },
}

/// Returns an identity for this process: the host name, which is the name of the pod in a cluster, and a random part.
/// Each call returns another one.
pub fn unique_identity() -> String {
    let from_kernel = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let host = from_kernel.or_else(|| std::env::var("HOSTNAME").ok()).unwrap_or_default();
    match host.trim() {
        "" => format!("{:032x}", fastrand::u128(..)),
        host => format!("{host}_{:032x}", fastrand::u128(..)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn config() -> LeaderElectionConfig {
        LeaderElectionConfig::new("lease", "a")
    }

    #[test]
    fn l01_the_defaults_are_those_of_client_go_and_valid() {
        let policy = config().policy().unwrap();
        assert_eq!((policy.lease_duration, policy.lease_duration_seconds), (15 * SECOND, 15));
        assert_eq!((policy.renew_deadline, policy.retry_period), (10 * SECOND, 2 * SECOND));
    }

    #[test]
    fn l01_names_and_durations_are_set() {
        let error = |config: LeaderElectionConfig| config.policy().unwrap_err();
        assert_eq!(error(LeaderElectionConfig::new("", "a")), ConfigError::MissingLeaseName);
        assert_eq!(error(LeaderElectionConfig::new("lease", "")), ConfigError::MissingIdentity);
        let zero = |option| ConfigError::Zero { option };
        assert_eq!(error(config().lease_duration(Duration::ZERO)), zero("lease_duration"));
        assert_eq!(error(config().renew_deadline(Duration::ZERO)), zero("renew_deadline"));
        assert_eq!(error(config().retry_period(Duration::ZERO)), zero("retry_period"));
    }

    #[test]
    fn l01_the_lease_duration_exceeds_the_renew_deadline() {
        let error = config().lease_duration(10 * SECOND).policy().unwrap_err();
        let expected = "invalid leader election: `lease_duration` 10s does not exceed `renew_deadline` 10s";
        assert_eq!(error.to_string(), expected);
        assert!(config().lease_duration(11 * SECOND).policy().is_ok());
    }

    #[test]
    fn l01_the_renew_deadline_exceeds_the_jittered_retry_period() {
        let error = config().renew_deadline(Duration::from_millis(2400)).policy().unwrap_err();
        let expected = "invalid leader election: `renew_deadline` 2.4s does not exceed 1.2 times `retry_period` 2s";
        assert_eq!(error.to_string(), expected);
        assert!(config().renew_deadline(Duration::from_millis(2401)).policy().is_ok());
    }

    #[test]
    fn l01_the_lease_duration_is_in_seconds() {
        let error = |duration| config().lease_duration(duration).policy().unwrap_err();
        assert!(matches!(error(Duration::from_millis(15_500)), ConfigError::NotInSeconds { .. }));
        assert!(matches!(error(Duration::from_secs(u64::MAX)), ConfigError::NotInSeconds { .. }));
    }

    #[test]
    fn l09_a_request_has_half_the_renew_deadline_and_at_least_a_second() {
        let timeout = |millis| config().renew_deadline(Duration::from_millis(millis)).request_timeout();
        assert_eq!([timeout(10_000), timeout(1000)], [5 * SECOND, SECOND]);
    }

    #[test]
    fn work_is_aborted_before_the_lease_expires_for_others() {
        let margin = |config: LeaderElectionConfig| config.policy().unwrap().abort_margin;
        assert_eq!(margin(config()), Duration::from_millis(750));
        let tight = config().lease_duration(11 * SECOND);
        assert_eq!(margin(tight), Duration::from_millis(500), "at most half of the time for a clean end");
    }

    #[test]
    fn identities_are_unique() {
        assert_ne!(unique_identity(), unique_identity());
    }
}
