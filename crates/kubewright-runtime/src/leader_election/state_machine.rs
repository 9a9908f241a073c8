//! The state machine of an elector: client-go's rules for acquiring, renewing and releasing a Lease, without I/O.

#[cfg(test)]
mod tests;

use std::time::Duration;

use fastrand::Rng;
use k8s_openapi::{
    api::coordination::v1::Lease,
    apimachinery::pkg::apis::meta::v1::MicroTime,
    jiff::{SignedDuration, Timestamp},
};

use super::record::LeaderElectionRecord;

/// The factor of client-go by which a candidate's wait exceeds the retry period at most.
pub(super) const JITTER_FACTOR: f64 = 1.2;
/// A release retries conflicts after this part of the retry period.
const CONFLICT_RETRY_DIVISOR: u32 = 10;

/// A time on the monotonic clock of this process, since an arbitrary start.
pub(crate) type Time = Duration;

/// The options of the state machine.
#[derive(Clone, Debug)]
pub(crate) struct Policy {
    pub(crate) identity: String,
    pub(crate) lease_duration: Duration,
    /// The lease duration, as the Lease stores it.
    pub(crate) lease_duration_seconds: i32,
    pub(crate) renew_deadline: Duration,
    pub(crate) retry_period: Duration,
    pub(crate) request_timeout: Duration,
    /// How long before the end of the lease the leader's work is aborted.
    pub(crate) abort_margin: Duration,
}

/// The next step to execute.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// Send the request. If there is no response by the deadline, it failed.
    Send {
        request: Request,
        deadline: Time,
    },
    Wait {
        until: Time,
    },
    /// The leadership ended. No step follows.
    Lost(LossReason),
    /// The release ended, with whether the lease is free. No step follows.
    Released(bool),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Request {
    Get,
    Create(LeaderElectionRecord),
    /// Update this Lease, which has the resource version that was last observed.
    Update(Box<Lease>),
}

#[derive(Debug)]
pub(super) enum Response {
    Lease(Box<Lease>),
    NotFound,
    /// The Lease was changed or created by another client. The request had no effect.
    Conflict,
    /// An error, or no response: the request may have had its effect.
    Failed,
}

/// Why a leadership ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LossReason {
    /// No renewal succeeded within the renew deadline.
    RenewDeadlineExceeded,
    /// The Lease has another holder, or none.
    HolderChanged {
        /// The identity of the holder; empty if the lease is free.
        holder: String,
    },
}

/// Guarantees:
/// - a record of another holder is respected for its lease duration, counted from when this process first observed it;
/// - every update has the resource version of the record on which its decision is based;
/// - the lease counts from when the last successful request was sent;
/// - each renewal has the renew deadline from its first request, as in client-go, but ends early enough that the work
///   has half of the time between renew deadline and lease duration to end;
/// - a response that renews the lease before that counts, also if the request took long;
/// - at any time there is one request or one wait.
#[derive(Debug)]
pub(super) struct StateMachine {
    policy: Policy,
    random: Rng,
    role: Role,
    action: Action,
    in_flight: Option<InFlight>,
    observed: Option<Observed>,
    /// Whether this process may hold the lease: an acquisition without a response can have had its effect.
    may_hold: bool,
    /// When the last successful request of the leadership was sent.
    renewed: Time,
    /// When the first request of the current renewal was sent; `None` between renewals.
    renewal_started: Option<Time>,
    slow_paths: u64,
}

#[derive(Debug)]
enum Role {
    Candidate,
    Leader,
    Lost(LossReason),
    Releasing { deadline: Time },
    Released(bool),
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Attempt,
    Get,
    Create,
    Update,
    Wait(Time),
}

#[derive(Clone, Copy, Debug)]
struct InFlight {
    kind: Kind,
    sent: Time,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Get,
    /// A renewal without reading first.
    FastUpdate,
    Write,
}

/// The last observed Lease.
#[derive(Debug)]
struct Observed {
    lease: Lease,
    record: LeaderElectionRecord,
    /// When this record was observed first.
    since: Time,
}

impl StateMachine {
    pub(super) fn new(policy: Policy, random: Rng) -> Self {
        StateMachine {
            policy,
            random,
            role: Role::Candidate,
            action: Action::Attempt,
            in_flight: None,
            observed: None,
            may_hold: false,
            renewed: Time::ZERO,
            renewal_started: None,
            slow_paths: 0,
        }
    }

    /// Returns the next step. The wall clock is only written into the Lease.
    pub(super) fn next(&mut self, now: Time, wall: Timestamp) -> Step {
        self.check_deadline(now);
        match &self.role {
            Role::Lost(reason) => return Step::Lost(reason.clone()),
            Role::Released(is_free) => return Step::Released(*is_free),
            Role::Candidate | Role::Leader | Role::Releasing { .. } => {}
        }
        if let Action::Wait(until) = self.action {
            let until = self.until_deadline(until);
            if now < until {
                return Step::Wait { until };
            }
            self.action = Action::Attempt;
        }
        if self.is_leader() {
            self.renewal_started.get_or_insert(now);
        }
        let (kind, request) = self.request(wall);
        self.may_hold |= !matches!(kind, Kind::Get);
        self.in_flight = Some(InFlight { kind, sent: now });
        Step::Send { request, deadline: self.until_deadline(now + self.policy.request_timeout) }
    }

    /// Handles the response of the last request, or its absence.
    pub(super) fn response(&mut self, now: Time, response: Response) {
        let Some(InFlight { kind, sent }) = self.in_flight.take() else { return };
        self.check_deadline(now);
        match (kind, response) {
            (Kind::Get, Response::Lease(lease)) => {
                self.observe(now, *lease);
                self.lease_read(now);
            }
            (Kind::Get, Response::NotFound) => self.lease_missing(now),
            (Kind::FastUpdate | Kind::Write, Response::Lease(lease)) => {
                self.observe(now, *lease);
                self.lease_written(now, sent);
            }
            (Kind::FastUpdate, _) => self.action = Action::Get,
            (Kind::Write, Response::Conflict) => self.conflict(now),
            (Kind::Get | Kind::Write, _) => self.retry(now),
        }
    }

    /// Starts the release of the lease. A request that is in flight is abandoned.
    pub(super) fn release(&mut self, now: Time) {
        self.in_flight = None;
        self.action = Action::Get;
        self.role = match self.may_hold {
            true => Role::Releasing { deadline: now + self.policy.renew_deadline },
            false => Role::Released(true),
        };
    }

    pub(super) fn is_leader(&self) -> bool {
        matches!(self.role, Role::Leader)
    }

    /// Returns when the leader's work must have ended, if there is no further renewal.
    pub(super) fn work_deadline(&self) -> Time {
        match self.role {
            Role::Lost(LossReason::HolderChanged { .. }) => Time::ZERO,
            _ => self.lease_end() - self.policy.abort_margin,
        }
    }

    /// Returns the earliest time at which another candidate can take over, by this process's clock.
    pub(super) fn lease_end(&self) -> Time {
        self.renewed + self.policy.lease_duration
    }

    /// Returns the last observed holder; empty if the lease was free.
    pub(super) fn holder(&self) -> Option<&str> {
        self.observed.as_ref().map(|observed| observed.record.holder_identity.as_str())
    }

    /// Returns how often the leader had to read the Lease before a renewal.
    pub(super) fn slow_paths(&self) -> u64 {
        self.slow_paths
    }

    /// Ends a leadership or a release whose deadline has passed.
    fn check_deadline(&mut self, now: Time) {
        match self.role {
            Role::Leader if now >= self.renewal_end() => {
                self.role = Role::Lost(LossReason::RenewDeadlineExceeded);
            }
            Role::Releasing { deadline } if now >= deadline => self.role = Role::Released(false),
            _ => {}
        }
    }

    /// Limits a time to the deadline of the leadership or of the release.
    fn until_deadline(&self, time: Time) -> Time {
        match self.role {
            Role::Leader => time.min(self.renewal_end()),
            Role::Releasing { deadline } => time.min(deadline),
            _ => time,
        }
    }

    /// Returns when the leadership ends if the current renewal, or the next one, has not succeeded.
    fn renewal_end(&self) -> Time {
        let Policy { lease_duration, renew_deadline, .. } = self.policy;
        let latest = self.lease_end() - (lease_duration - renew_deadline) / 2;
        self.renewal_started.map_or(latest, |started| latest.min(started + renew_deadline))
    }

    fn request(&self, wall: Timestamp) -> (Kind, Request) {
        match (self.action, &self.observed) {
            (Action::Create, _) => (Kind::Write, Request::Create(self.desired_record(wall))),
            (Action::Update, Some(observed)) => (Kind::Write, self.update(observed, wall)),
            (Action::Attempt, Some(observed)) if self.is_leader() => (Kind::FastUpdate, self.update(observed, wall)),
            _ => (Kind::Get, Request::Get),
        }
    }

    fn update(&self, observed: &Observed, wall: Timestamp) -> Request {
        let mut lease = observed.lease.clone();
        lease.spec = Some(self.desired_record(wall).into());
        Request::Update(Box::new(lease))
    }

    /// Returns the record to write: an acquisition, a renewal or a release.
    fn desired_record(&self, wall: Timestamp) -> LeaderElectionRecord {
        let observed = self.observed.as_ref().map(|observed| observed.record.clone());
        let is_new = observed.is_none();
        let old = observed.unwrap_or_default();
        let time = next_time(old.renew_time.as_ref(), wall);
        let mut record = LeaderElectionRecord {
            holder_identity: self.policy.identity.clone(),
            lease_duration_seconds: self.policy.lease_duration_seconds,
            acquire_time: Some(time.clone()),
            renew_time: Some(time),
            leader_transitions: old.leader_transitions.max(0),
            strategy: old.strategy,
            preferred_holder: old.preferred_holder,
        };
        if matches!(self.role, Role::Releasing { .. }) {
            record.holder_identity = String::new();
            record.lease_duration_seconds = 1;
        } else if old.holder_identity == self.policy.identity {
            record.acquire_time = old.acquire_time;
        } else if !is_new {
            record.leader_transitions = record.leader_transitions.saturating_add(1);
        }
        record
    }

    fn observe(&mut self, now: Time, mut lease: Lease) {
        let record = LeaderElectionRecord::from(lease.spec.take().unwrap_or_default());
        match &mut self.observed {
            Some(observed) if observed.record == record => observed.lease = lease,
            observed => *observed = Some(Observed { lease, record, since: now }),
        }
    }

    /// Decides on an existing Lease.
    fn lease_read(&mut self, now: Time) {
        let Some(observed) = &self.observed else { return };
        let holder = &observed.record.holder_identity;
        let is_own = *holder == self.policy.identity;
        let is_free = holder.is_empty() || now >= self.expiry(observed);
        self.may_hold = is_own;
        match &self.role {
            Role::Leader if is_own => {
                self.slow_paths += 1;
                self.action = Action::Update;
            }
            Role::Leader => self.role = Role::Lost(LossReason::HolderChanged { holder: holder.clone() }),
            Role::Releasing { .. } if !is_own => self.role = Role::Released(true),
            Role::Candidate if !is_own && !is_free => self.wait_for_expiry(now),
            _ => self.action = Action::Update,
        }
    }

    /// Decides without a Lease. A candidate respects the last holder of a Lease that was deleted: its work can still
    /// run.
    fn lease_missing(&mut self, now: Time) {
        let is_held = |observed: &Observed| {
            let holder = &observed.record.holder_identity;
            !holder.is_empty() && *holder != self.policy.identity && now < self.expiry(observed)
        };
        let is_held = self.observed.as_ref().is_some_and(is_held);
        self.may_hold = self.is_leader();
        match &self.role {
            Role::Candidate if is_held => self.wait_for_expiry(now),
            Role::Releasing { .. } => self.role = Role::Released(true),
            role => {
                self.slow_paths += u64::from(matches!(role, Role::Leader));
                self.action = Action::Create;
            }
        }
    }

    /// Handles the Lease that a successful write returned. A response that is too late for leadership is ignored: the
    /// next attempt finds the own record.
    fn lease_written(&mut self, now: Time, sent: Time) {
        let is_own = self.holder() == Some(self.policy.identity.as_str());
        let is_late = now >= sent + self.policy.renew_deadline;
        match &self.role {
            Role::Releasing { .. } => {
                self.may_hold = false;
                self.role = Role::Released(true);
            }
            Role::Leader if !is_own => self.lease_read(now),
            Role::Candidate if !is_own => self.retry(now),
            Role::Candidate if is_late => self.action = Action::Get,
            Role::Candidate | Role::Leader => {
                self.role = Role::Leader;
                (self.renewed, self.renewal_started) = (sent, None);
                self.action = Action::Wait(now + self.policy.retry_period);
            }
            Role::Lost(_) | Role::Released(_) => {}
        }
    }

    /// Another client wrote first. A release reads the Lease again at once: it may still be its own.
    fn conflict(&mut self, now: Time) {
        match self.role {
            Role::Releasing { .. } => {
                self.action = Action::Wait(now + self.policy.retry_period / CONFLICT_RETRY_DIVISOR);
            }
            _ => self.retry(now),
        }
    }

    fn retry(&mut self, now: Time) {
        let wait = match self.role {
            Role::Candidate => self.jittered_retry_period(),
            _ => self.policy.retry_period,
        };
        self.action = Action::Wait(now + wait);
    }

    /// Waits for the next attempt, which is not later than the expiry of the observed record.
    fn wait_for_expiry(&mut self, now: Time) {
        let next = now + self.jittered_retry_period();
        let expiry = self.observed.as_ref().map(|observed| self.expiry(observed));
        self.action = Action::Wait(expiry.map_or(next, |expiry| expiry.min(next)));
    }

    /// Returns when the record of another holder expires. A record without a duration gets that of this process.
    fn expiry(&self, observed: &Observed) -> Time {
        observed.since + observed.record.lease_duration().unwrap_or(self.policy.lease_duration)
    }

    fn jittered_retry_period(&mut self) -> Duration {
        self.policy.retry_period.mul_f64(1.0 + JITTER_FACTOR * self.random.f64())
    }
}

/// Returns the time to write into a Lease. It differs from the observed one even if the wall clock was set back to it:
/// other clients recognise a renewal by a change of the record.
pub(crate) fn next_time(observed: Option<&MicroTime>, wall: Timestamp) -> MicroTime {
    let wall = Timestamp::from_microsecond(wall.as_microsecond()).unwrap_or(wall);
    if observed.is_some_and(|observed| observed.0.as_microsecond() == wall.as_microsecond()) {
        return MicroTime(wall.checked_add(SignedDuration::from_micros(1)).unwrap_or(Timestamp::UNIX_EPOCH));
    }
    MicroTime(wall)
}
