//! Rules of the state machine, on a store of one Lease and a virtual clock.

use super::*;
use crate::leader_election::{config::LeaderElectionConfig, lease_store::LeaseStore};

const SECOND: Duration = Duration::from_secs(1);

/// An elector with its clock. Requests take no time.
struct Elector {
    machine: StateMachine,
    now: Time,
    /// The number of sent requests by type: get, create, update.
    requests: [usize; 3],
}

impl Elector {
    fn new(identity: &str) -> Self {
        let policy = LeaderElectionConfig::new("lease", identity).policy().unwrap();
        Elector { machine: StateMachine::new(policy, Rng::with_seed(1)), now: Time::ZERO, requests: [0; 3] }
    }

    /// Executes requests until the machine waits or ends, and returns that step.
    fn settle(&mut self, store: &mut LeaseStore) -> Step {
        self.settle_with(|request| store.apply(request))
    }

    fn settle_with(&mut self, mut send: impl FnMut(&Request) -> Response) -> Step {
        loop {
            match self.machine.next(self.now, wall(self.now)) {
                Step::Send { request, .. } => {
                    let kind = match request {
                        Request::Get => 0,
                        Request::Create(_) => 1,
                        Request::Update(_) => 2,
                    };
                    self.requests[kind] += 1;
                    let response = send(&request);
                    self.machine.response(self.now, response);
                }
                step => return step,
            }
        }
    }

    /// Executes all steps up to a time.
    fn run_until(&mut self, end: Time, store: &mut LeaseStore) {
        while let Step::Wait { until } = self.settle(store) {
            if until > end {
                break;
            }
            self.now = until;
        }
        self.now = end;
    }
}

fn wall(now: Time) -> Timestamp {
    Timestamp::from_microsecond(now.as_micros().try_into().unwrap()).unwrap()
}

fn time(now: Time) -> Option<MicroTime> {
    Some(MicroTime(wall(now)))
}

/// Returns the record of a holder that acquired and renewed the lease at a time.
fn record(holder: &str, at: Time) -> LeaderElectionRecord {
    LeaderElectionRecord {
        holder_identity: holder.into(),
        lease_duration_seconds: 15,
        acquire_time: time(at),
        renew_time: time(at),
        leader_transitions: 1,
        ..LeaderElectionRecord::default()
    }
}

#[test]
fn l02_expiry_counts_from_the_first_observation_of_the_record() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    // By the wall clock of this process, the record expired long ago.
    store.set(record("b", Time::ZERO));
    elector.now = 10_000 * SECOND;
    let start = elector.now;
    elector.run_until(start + 14 * SECOND, &mut store);
    assert_eq!(store.record().holder_identity, "b");
    elector.run_until(start + 15 * SECOND, &mut store);
    assert!(elector.machine.is_leader(), "the next attempt is at the expiry");
}

#[test]
fn l02_a_changed_record_extends_the_wait() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    store.set(record("b", Time::ZERO));
    elector.run_until(10 * SECOND, &mut store);
    store.set(record("b", SECOND));
    elector.run_until(25 * SECOND, &mut store);
    assert!(!elector.machine.is_leader());
    elector.run_until(30 * SECOND, &mut store);
    assert!(elector.machine.is_leader());
}

#[test]
fn l02_the_duration_is_that_of_the_record() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    store.set(LeaderElectionRecord { lease_duration_seconds: 60, ..record("b", Time::ZERO) });
    elector.run_until(59 * SECOND, &mut store);
    assert!(!elector.machine.is_leader());
    elector.run_until(60 * SECOND, &mut store);
    assert!(elector.machine.is_leader());
}

#[test]
fn l02_a_record_without_a_duration_has_that_of_the_candidate() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    store.set(LeaderElectionRecord { lease_duration_seconds: 0, ..record("b", Time::ZERO) });
    elector.run_until(14 * SECOND, &mut store);
    assert!(!elector.machine.is_leader());
    elector.run_until(15 * SECOND, &mut store);
    assert!(elector.machine.is_leader());
}

#[test]
fn l03_a_held_lease_is_respected_and_a_free_one_acquired() {
    for (holder, is_leader, transitions) in [("b", false, 1), ("", true, 2), ("a", true, 1)] {
        let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
        store.set(record(holder, Time::ZERO));
        elector.now = SECOND;
        elector.settle(&mut store);
        assert_eq!(elector.machine.is_leader(), is_leader, "held by {holder:?}");
        assert_eq!(store.record().leader_transitions, transitions, "held by {holder:?}");
    }
}

#[test]
fn l03_the_acquire_time_changes_with_the_holder_only() {
    for (holder, acquired) in [("", SECOND), ("a", Time::ZERO)] {
        let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
        store.set(record(holder, Time::ZERO));
        elector.now = SECOND;
        elector.settle(&mut store);
        let found = store.record();
        assert_eq!((found.acquire_time, found.renew_time), (time(acquired), time(SECOND)), "held by {holder:?}");
        elector.run_until(5 * SECOND, &mut store);
        let found = store.record();
        assert_eq!((found.acquire_time, found.renew_time), (time(acquired), time(5 * SECOND)));
    }
}

#[test]
fn l03_a_missing_lease_is_created() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    assert_eq!(elector.settle(&mut store), Step::Wait { until: 2 * SECOND });
    let expected = LeaderElectionRecord { leader_transitions: 0, ..record("a", Time::ZERO) };
    assert_eq!((store.record(), elector.requests), (expected, [1, 1, 0]));
    assert!(elector.machine.is_leader());
}

#[test]
fn l03_a_deleted_lease_is_not_acquired_before_it_would_have_expired() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    store.set(record("b", Time::ZERO));
    elector.settle(&mut store);
    store.lease = None;
    elector.run_until(14 * SECOND, &mut store);
    assert!(store.lease.is_none());
    elector.run_until(15 * SECOND, &mut store);
    assert_eq!((store.record().holder_identity.as_str(), store.record().leader_transitions), ("a", 2));
}

#[test]
fn l03_fields_of_other_clients_are_preserved() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    store.set(LeaderElectionRecord { strategy: Some("strategy".into()), ..record("", Time::ZERO) });
    store.lease.as_mut().unwrap().metadata.labels = Some([("key".into(), "value".into())].into());
    elector.run_until(SECOND, &mut store);
    assert_eq!(store.record().strategy.as_deref(), Some("strategy"));
    assert!(store.lease.unwrap().metadata.labels.is_some());
}

#[test]
fn l04_the_leader_updates_without_reading() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    elector.run_until(5 * SECOND, &mut store);
    assert_eq!(elector.requests, [1, 1, 2], "get, create, update, update");
    assert_eq!(elector.machine.slow_paths(), 0);
}

#[test]
fn l04_a_failed_update_is_followed_by_a_read_and_an_update() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    elector.settle(&mut store);
    // Another client changes the Lease, but not its holder.
    store.set(record("a", Time::ZERO));
    elector.run_until(3 * SECOND, &mut store);
    assert_eq!(elector.requests, [2, 1, 2]);
    assert_eq!((elector.machine.slow_paths(), elector.machine.is_leader()), (1, true));
}

#[test]
fn l04_a_renewal_whose_response_is_lost_is_repeated() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    elector.settle(&mut store);
    elector.now = 2 * SECOND;
    let mut is_first = true;
    elector.settle_with(|request| {
        let response = store.apply(request);
        if std::mem::take(&mut is_first) { Response::Failed } else { response }
    });
    assert!(elector.machine.is_leader());
    assert_eq!(elector.machine.lease_end(), 17 * SECOND, "the repeated renewal counts");
}

#[test]
fn leadership_ends_at_the_renew_deadline_after_the_first_request_of_the_renewal() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    elector.run_until(3 * SECOND, &mut store);
    loop {
        match elector.settle_with(|_| Response::Failed) {
            Step::Wait { until } => elector.now = until,
            step => {
                assert_eq!(step, Step::Lost(LossReason::RenewDeadlineExceeded));
                break;
            }
        }
    }
    assert_eq!(elector.now, 14 * SECOND, "renewed at 2 s, and not at 4 s");
    assert_eq!(elector.machine.work_deadline(), Duration::from_millis(16_250));
}

/// Runs an elector for ten minutes, or until it loses the leadership, on a server with this latency.
fn lead_with_latency(latency: Duration) -> (Elector, Step) {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    while elector.now < 600 * SECOND {
        match elector.machine.next(elector.now, wall(elector.now)) {
            Step::Send { request, deadline } => {
                let is_late = elector.now + latency > deadline;
                elector.now = deadline.min(elector.now + latency);
                let response = if is_late { Response::Failed } else { store.apply(&request) };
                elector.machine.response(elector.now, response);
            }
            Step::Wait { until } => elector.now = until,
            step => return (elector, step),
        }
    }
    let step = elector.machine.next(elector.now, wall(elector.now));
    (elector, step)
}

#[test]
fn a_response_within_the_timeout_of_a_request_renews_the_lease_however_long_it_took() {
    for latency in [3_000, 4_000, 4_900] {
        let (elector, step) = lead_with_latency(Duration::from_millis(latency));
        assert!(elector.machine.is_leader(), "{latency} ms: {step:?} at {:?}", elector.now);
    }
    let (elector, step) = lead_with_latency(6 * SECOND);
    assert!(!elector.machine.is_leader(), "{step:?}: slower than the timeout of a request");
}

#[test]
fn the_work_has_time_to_end_if_the_renewal_starts_late() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    elector.settle(&mut store);
    // The process was paused.
    elector.now = 9 * SECOND;
    while let Step::Wait { until } = elector.settle_with(|_| Response::Failed) {
        elector.now = until;
    }
    assert_eq!(elector.now, Duration::from_millis(12_500), "half of the 5 s between renew deadline and lease duration");
}

#[test]
fn a_response_after_the_renew_deadline_does_not_extend_the_leadership() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    elector.settle(&mut store);
    elector.now = 2 * SECOND;
    let Step::Send { request, deadline } = elector.machine.next(elector.now, wall(elector.now)) else { panic!() };
    assert_eq!(deadline, 7 * SECOND);
    let response = store.apply(&request);
    // The process was paused.
    elector.now = 100 * SECOND;
    elector.machine.response(elector.now, response);
    assert_eq!(elector.settle(&mut store), Step::Lost(LossReason::RenewDeadlineExceeded));
}

#[test]
fn an_acquisition_whose_response_is_too_late_is_renewed_first() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    assert!(matches!(elector.machine.next(Time::ZERO, wall(Time::ZERO)), Step::Send { request: Request::Get, .. }));
    elector.machine.response(Time::ZERO, Response::NotFound);
    let Step::Send { request, .. } = elector.machine.next(Time::ZERO, wall(Time::ZERO)) else { panic!() };
    let response = store.apply(&request);
    elector.now = 60 * SECOND;
    elector.machine.response(elector.now, response);
    assert!(!elector.machine.is_leader());
    elector.settle(&mut store);
    assert!(elector.machine.is_leader());
    assert_eq!(elector.machine.lease_end(), 75 * SECOND);
}

#[test]
fn leadership_ends_at_once_if_the_holder_changed() {
    for holder in ["b", ""] {
        let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
        elector.settle(&mut store);
        store.set(record(holder, Time::ZERO));
        elector.now = 2 * SECOND;
        let reason = LossReason::HolderChanged { holder: holder.into() };
        assert_eq!(elector.settle(&mut store), Step::Lost(reason));
        assert_eq!(elector.machine.work_deadline(), Time::ZERO);
    }
}

#[test]
fn l05_a_release_empties_the_holder_and_sets_the_duration_to_one_second() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    elector.run_until(3 * SECOND, &mut store);
    elector.requests = [0; 3];
    elector.machine.release(elector.now);
    assert_eq!(elector.settle(&mut store), Step::Released(true));
    let expected = LeaderElectionRecord { lease_duration_seconds: 1, leader_transitions: 0, ..record("", 3 * SECOND) };
    assert_eq!((store.record(), elector.requests), (expected, [1, 0, 1]), "it reads first");
}

#[test]
fn l05_a_release_retries_conflicts() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    elector.settle(&mut store);
    elector.machine.release(elector.now);
    let mut is_first = true;
    let step = elector.settle_with(|request| match request {
        Request::Update(_) if std::mem::take(&mut is_first) => Response::Conflict,
        request => store.apply(request),
    });
    assert_eq!(step, Step::Wait { until: Duration::from_millis(200) });
    elector.now = Duration::from_millis(200);
    assert_eq!(elector.settle(&mut store), Step::Released(true));
    assert_eq!(store.record().holder_identity, "");
}

#[test]
fn l05_a_release_leaves_the_lease_of_another_holder() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    elector.settle(&mut store);
    store.set(record("b", SECOND));
    elector.machine.release(elector.now);
    assert_eq!(elector.settle(&mut store), Step::Released(true));
    assert_eq!(store.record().holder_identity, "b");
}

#[test]
fn l05_a_release_ends_at_the_renew_deadline() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    elector.settle(&mut store);
    elector.machine.release(elector.now);
    while let Step::Wait { until } = elector.settle_with(|_| Response::Failed) {
        elector.now = until;
    }
    assert_eq!(elector.now, 10 * SECOND);
    assert_eq!(elector.settle(&mut store), Step::Released(false));
}

#[test]
fn l05_a_candidate_releases_only_if_it_may_hold_the_lease() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    store.set(record("b", Time::ZERO));
    elector.settle(&mut store);
    elector.machine.release(elector.now);
    elector.requests = [0; 3];
    assert_eq!(elector.settle(&mut store), Step::Released(true));
    assert_eq!(elector.requests, [0; 3], "it sent no acquisition");

    // The acquisition is stored, but its response is lost.
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    elector.settle_with(|request| match request {
        Request::Get => store.apply(request),
        request => {
            store.apply(request);
            Response::Failed
        }
    });
    elector.machine.release(elector.now);
    assert_eq!(elector.settle(&mut store), Step::Released(true));
    assert_eq!(store.record().holder_identity, "");
}

#[test]
fn candidates_wait_between_one_and_2_2_retry_periods() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    store.set(LeaderElectionRecord { lease_duration_seconds: i32::MAX, ..record("b", Time::ZERO) });
    let mut waits = Vec::new();
    for _ in 0..1000 {
        let Step::Wait { until } = elector.settle(&mut store) else { panic!() };
        waits.push(until - elector.now);
        elector.now = until;
    }
    let (min, max) = (waits.iter().min().unwrap(), waits.iter().max().unwrap());
    assert!(*min >= 2 * SECOND && *min < Duration::from_millis(2100), "{min:?}");
    assert!(*max <= Duration::from_millis(4400) && *max > Duration::from_millis(4300), "{max:?}");
}

#[test]
fn a_renewal_changes_the_record_even_if_the_wall_clock_was_set_back() {
    let (mut elector, mut store) = (Elector::new("a"), LeaseStore::default());
    elector.settle(&mut store);
    let before = store.record();
    elector.now = 2 * SECOND;
    let Step::Send { request, .. } = elector.machine.next(elector.now, wall(Time::ZERO)) else { panic!() };
    store.apply(&request);
    assert_ne!(store.record(), before);
}
