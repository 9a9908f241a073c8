//! The leader election record: what the spec of a Lease stores about its holder.

use std::time::Duration;

use k8s_openapi::{api::coordination::v1::LeaseSpec, apimachinery::pkg::apis::meta::v1::MicroTime};

/// The content of a Lease, with the fields of client-go's `LeaderElectionRecord`.
///
/// Unset fields of a spec are empty or zero, as in client-go. The times are for people: the elector compares no time
/// of a record with a clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeaderElectionRecord {
    /// The identity of the holder; empty if the lease is free.
    pub holder_identity: String,
    /// How long other candidates wait, from the time at which they observed the record.
    pub lease_duration_seconds: i32,
    /// When the holder acquired the lease, by its wall clock.
    pub acquire_time: Option<MicroTime>,
    /// When the holder last renewed the lease, by its wall clock.
    pub renew_time: Option<MicroTime>,
    /// The number of changes of the holder.
    pub leader_transitions: i32,
    /// The strategy of coordinated leader election, which the elector preserves.
    pub strategy: Option<String>,
    /// The preferred holder of coordinated leader election, which the elector preserves.
    pub preferred_holder: Option<String>,
}

impl LeaderElectionRecord {
    /// Returns the duration of the lease; `None` if the record has none.
    pub fn lease_duration(&self) -> Option<Duration> {
        let seconds = u64::try_from(self.lease_duration_seconds).ok().filter(|seconds| *seconds > 0)?;
        Some(Duration::from_secs(seconds))
    }
}

impl From<LeaseSpec> for LeaderElectionRecord {
    fn from(spec: LeaseSpec) -> Self {
        LeaderElectionRecord {
            holder_identity: spec.holder_identity.unwrap_or_default(),
            lease_duration_seconds: spec.lease_duration_seconds.unwrap_or_default(),
            acquire_time: spec.acquire_time,
            renew_time: spec.renew_time,
            leader_transitions: spec.lease_transitions.unwrap_or_default(),
            strategy: spec.strategy,
            preferred_holder: spec.preferred_holder,
        }
    }
}

impl From<LeaderElectionRecord> for LeaseSpec {
    fn from(record: LeaderElectionRecord) -> Self {
        LeaseSpec {
            holder_identity: Some(record.holder_identity),
            lease_duration_seconds: Some(record.lease_duration_seconds),
            acquire_time: record.acquire_time,
            renew_time: record.renew_time,
            lease_transitions: Some(record.leader_transitions),
            strategy: record.strategy,
            preferred_holder: record.preferred_holder,
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;

    use super::*;

    #[test]
    fn records_round_trip_through_specs() {
        let time = MicroTime(Timestamp::UNIX_EPOCH);
        let record = LeaderElectionRecord {
            holder_identity: "a".into(),
            lease_duration_seconds: 15,
            acquire_time: Some(time.clone()),
            renew_time: Some(time),
            leader_transitions: 3,
            strategy: Some("OldestEmulationVersion".into()),
            preferred_holder: Some("b".into()),
        };
        assert_eq!(LeaderElectionRecord::from(LeaseSpec::from(record.clone())), record);
        assert_eq!(record.lease_duration(), Some(Duration::from_secs(15)));
    }

    #[test]
    fn an_empty_spec_has_no_holder_and_no_duration() {
        let record = LeaderElectionRecord::from(LeaseSpec::default());
        assert_eq!(record, LeaderElectionRecord::default());
        assert_eq!(record.lease_duration(), None);
        let negative = LeaderElectionRecord { lease_duration_seconds: -1, ..record };
        assert_eq!(negative.lease_duration(), None);
    }

    #[test]
    fn a_released_lease_has_an_empty_holder() {
        let spec = LeaseSpec::from(LeaderElectionRecord { lease_duration_seconds: 1, ..Default::default() });
        assert_eq!(spec.holder_identity.as_deref(), Some(""), "client-go sends the empty holder, not a null");
    }
}
