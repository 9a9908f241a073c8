//! The state machine of one replica: membership, and the slots that it acquires and releases, without I/O.

mod slots;
mod writes;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, time::Duration};

use fastrand::Rng;
use k8s_openapi::{api::coordination::v1::Lease, jiff::Timestamp};

use super::{
    leases::{LeaseNames, Leases},
    slot::SlotSet,
    table::Fleet,
};
use crate::leader_election;
pub(super) use crate::leader_election::Time;
pub(super) use slots::Waiting;

/// A conflict is retried after up to this part of the retry period.
const CONFLICT_RETRY_DIVISOR: u32 = 10;
/// The part of the retry period by which rounds of replicas differ at random, so that they do not coincide.
const JITTER: f64 = 0.1;

/// The options of the state machine.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    /// The identity, and the times of the Leases.
    pub(super) lease: leader_election::Policy,
    pub(super) names: LeaseNames,
    /// The labels of Leases that are created.
    pub(super) labels: BTreeMap<String, String>,
    pub(super) fleet: Fleet,
}

/// The state of this process that the state machine does not control.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Local {
    /// The slots whose objects are in the caches of this process.
    pub(super) synced: SlotSet,
    /// The slots whose keys can be processed, as it was last published.
    pub(super) active: SlotSet,
    /// The slots of which a key is being processed.
    pub(super) running: SlotSet,
}

impl Local {
    /// Returns the slots of which a key is being processed or can be.
    fn busy(self) -> SlotSet {
        self.active.union(self.running)
    }
}

/// The next step to execute.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// Send the request. If there is no response by the deadline, it failed.
    Send { request: Request, deadline: Time },
    /// Wait until this time, or until the local state changes.
    Wait { until: Time },
    /// The replica has left, with whether its slots and its Lease are free. No step follows.
    Left(bool),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Request {
    /// List the Leases of the fleet.
    List,
    Create(Box<Lease>),
    /// Update this Lease, which has the resource version that was last observed.
    Update(Box<Lease>),
}

#[derive(Clone, Debug)]
pub(super) enum Response {
    Leases(Vec<Lease>),
    Lease(Box<Lease>),
    /// The Lease was changed, created or deleted by another client. The request had no effect.
    Conflict,
    /// An error, or no response: the request may have had its effect.
    Failed,
}

/// Guarantees:
/// - the Lease of another replica is respected for its duration, counted from when this process first observed it, and
///   is taken over before the slots of that replica are acquired. So a replica whose renewal succeeds holds all slots
///   that it held before;
/// - after an outage of the API server, all replicas have time to renew their Leases;
/// - every write has the resource version on which its decision is based;
/// - a slot can be worked on only after a write that contains it succeeded, so that delayed writes have no effect
///   afterwards, and until the renew deadline after the last successful renewal and list were sent;
/// - a slot is released only when it was not active, and none of its keys was being processed, when the write was sent;
/// - a replica joins a fleet that holds slots when the objects of the slots that it will get are in its caches;
/// - at any time there is one request or one wait.
#[derive(Debug)]
pub(super) struct StateMachine {
    policy: Policy,
    random: Rng,
    leases: Leases,
    membership: Membership,
    departure: Departure,
    /// The number of memberships that ended, so that the holders of former ones are not confused with this one.
    memberships: u32,
    /// The holder in the Leases: the identity and the number of the membership.
    holder: String,
    local: Local,
    action: Action,
    in_flight: Option<InFlight>,
    /// Whether the observed Leases are those of the last response, so that a write has a chance.
    is_current: bool,
    /// When the current round of renewal and list started.
    round: Time,
    is_renewed: bool,
    /// When the last successful list was sent.
    listed: Option<Time>,
    /// The slots to have, in this membership.
    desired: SlotSet,
    /// The desired slots that the last successful write of this replica contained.
    confirmed: SlotSet,
    losses: u64,
}

/// Whether this replica has a Lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Membership {
    Outside,
    /// An acquisition without a response can have had its effect.
    Joining {
        index: u8,
        /// When the first attempt was sent.
        since: Time,
    },
    Member {
        index: u8,
        /// When the acquisition was sent.
        joined: Time,
        /// When the last successful renewal was sent.
        renewed: Time,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Departure {
    Staying,
    /// Slots are released, and none are acquired.
    Leaving,
    /// The same, until the deadline.
    Ending {
        deadline: Time,
    },
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Round,
    Renew,
    List,
    Decide,
    Wait { until: Time, then: After },
}

/// The action after a wait.
#[derive(Clone, Copy, Debug)]
enum After {
    Round,
    List,
}

#[derive(Clone, Copy, Debug)]
struct InFlight {
    kind: Kind,
    sent: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    List,
    Renew,
    Join { index: u8 },
    Leave,
    Evict,
    Table,
}

impl StateMachine {
    pub(super) fn new(policy: Policy, random: Rng) -> Self {
        let leases = Leases::new(policy.names.clone(), policy.fleet.clone(), policy.lease.lease_duration);
        StateMachine {
            holder: policy.lease.identity.clone(),
            policy,
            random,
            leases,
            membership: Membership::Outside,
            departure: Departure::Staying,
            memberships: 0,
            local: Local::default(),
            action: Action::Round,
            in_flight: None,
            is_current: false,
            round: Time::ZERO,
            is_renewed: false,
            listed: None,
            desired: SlotSet::EMPTY,
            confirmed: SlotSet::EMPTY,
            losses: 0,
        }
    }

    /// Returns the next step. The wall clock is only written into Leases.
    pub(super) fn next(&mut self, now: Time, wall: Timestamp, local: Local) -> Step {
        self.local = local;
        self.update();
        if let Some(left) = self.left(now) {
            return Step::Left(left);
        }
        loop {
            match self.action {
                Action::Round => {
                    (self.round, self.is_renewed) = (now, false);
                    self.action = if self.is_member() { Action::Renew } else { Action::List };
                }
                Action::Renew => return self.send_renewal(now, wall),
                Action::List => return self.send(now, Kind::List, Request::List),
                Action::Decide => match self.write(wall) {
                    Some((kind, request)) => return self.send(now, kind, request),
                    None => self.action = Action::Wait { until: self.next_round(now), then: After::Round },
                },
                Action::Wait { until, then } if now >= until => {
                    self.action = match then {
                        After::Round => Action::Round,
                        After::List => Action::List,
                    };
                }
                Action::Wait { until, .. } => {
                    // The local state can have changed.
                    let write = if self.is_current { self.write(wall) } else { None };
                    return match write {
                        Some((kind, request)) => self.send(now, kind, request),
                        None => Step::Wait { until },
                    };
                }
            }
        }
    }

    fn send_renewal(&mut self, now: Time, wall: Timestamp) -> Step {
        match self.renewal(wall) {
            Some(request) => self.send(now, Kind::Renew, request),
            None => self.send(now, Kind::List, Request::List),
        }
    }

    fn send(&mut self, now: Time, kind: Kind, request: Request) -> Step {
        if let Kind::Join { index } = kind {
            let since = match self.membership {
                Membership::Joining { since, .. } => since,
                _ => now,
            };
            self.membership = Membership::Joining { index, since };
        }
        self.in_flight = Some(InFlight { kind, sent: now });
        Step::Send { request, deadline: now + self.policy.lease.request_timeout }
    }

    /// Handles the response of the last request, or its absence.
    pub(super) fn response(&mut self, now: Time, response: Response) {
        let Some(InFlight { kind, sent }) = self.in_flight.take() else { return };
        match response {
            Response::Leases(leases) => {
                let limit = self.policy.lease.renew_deadline;
                let is_after_gap = self.listed.is_some_and(|listed| sent > listed + limit);
                self.leases.list_after(now, leases, is_after_gap);
                (self.listed, self.is_current) = (Some(sent), true);
                self.observed();
                let must_renew = self.is_member() && !self.is_renewed;
                self.action = if must_renew { Action::Renew } else { Action::Decide };
            }
            Response::Lease(lease) => {
                self.leases.written(now, *lease);
                self.written(kind, sent);
                self.observed();
            }
            Response::Conflict => {
                let delay = self.conflict_delay();
                self.retry_after(now, delay, After::List);
            }
            Response::Failed => self.retry_after(now, self.policy.lease.retry_period, After::Round),
        }
    }

    fn retry_after(&mut self, now: Time, delay: Duration, then: After) {
        self.is_current = false;
        self.action = Action::Wait { until: now + delay, then };
    }

    /// Handles a successful write.
    fn written(&mut self, kind: Kind, sent: Time) {
        self.action = Action::Decide;
        match (kind, self.membership) {
            (Kind::Renew, Membership::Member { index, joined, .. }) => {
                self.membership = Membership::Member { index, joined, renewed: sent };
                self.is_renewed = true;
                if self.listed.is_none_or(|listed| listed < self.round) {
                    self.action = Action::List;
                }
            }
            (Kind::Join { index }, _) => {
                self.membership = Membership::Member { index, joined: sent, renewed: sent };
                self.is_renewed = true;
            }
            (Kind::Leave, _) => self.end_membership(),
            // The write contains all slots of this replica.
            (Kind::Table, _) => self.confirmed = self.desired.intersection(self.local.synced),
            _ => {}
        }
    }

    /// Handles changes of the observed Leases.
    fn observed(&mut self) {
        match self.membership {
            Membership::Outside => {}
            Membership::Joining { index, since } => {
                let holder = self.leases.holder(index);
                if holder == self.holder {
                    self.membership = Membership::Member { index, joined: since, renewed: since };
                } else if !holder.is_empty() || self.departure != Departure::Staying {
                    self.end_membership();
                }
            }
            Membership::Member { index, .. } => {
                if self.leases.holder(index) != self.holder {
                    self.losses += 1;
                    self.end_membership();
                }
            }
        }
        self.update();
    }

    /// Ends a membership, or an attempt that another replica forestalled. The next one has another holder: Leases and
    /// slots of the former one can still be changed by delayed requests.
    fn end_membership(&mut self) {
        self.membership = Membership::Outside;
        self.memberships += 1;
        self.holder = format!("{}_{}", self.policy.lease.identity, self.memberships);
        self.confirmed = SlotSet::EMPTY;
    }

    /// Starts to release all slots. The replica remains a member until they are released.
    pub(super) fn leave(&mut self) {
        if self.departure == Departure::Staying {
            self.departure = Departure::Leaving;
            // The others are notified at once.
            self.action = Action::Round;
        }
    }

    /// Ends the membership: when all slots are released, or at a deadline.
    pub(super) fn end(&mut self, now: Time) {
        self.leave();
        if !matches!(self.departure, Departure::Ending { .. }) {
            self.departure = Departure::Ending { deadline: now + self.policy.lease.renew_deadline };
        }
    }

    /// Returns whether the replica has left, and with which result.
    fn left(&mut self, now: Time) -> Option<bool> {
        let Departure::Ending { deadline } = self.departure else { return None };
        match self.membership {
            Membership::Outside => Some(true),
            _ => (now >= deadline).then_some(false),
        }
    }

    /// Returns whether this replica has a Lease.
    pub(super) fn is_member(&self) -> bool {
        matches!(self.membership, Membership::Member { .. })
    }

    /// Returns how often the Lease of this replica was lost.
    pub(super) fn losses(&self) -> u64 {
        self.losses
    }

    /// Returns the number of observed members, with this one.
    pub(super) fn members(&self) -> usize {
        self.leases.live(self.listed(), None).count()
    }

    fn listed(&self) -> Time {
        self.listed.unwrap_or_default()
    }

    /// Returns when the next round starts: after the retry period, or when a Lease expires.
    fn next_round(&mut self, now: Time) -> Time {
        let period = self.policy.lease.retry_period.mul_f64(1.0 - JITTER * self.random.f64());
        let next = self.round + period;
        let expiry = self.leases.next_expiry(self.listed());
        expiry.map_or(next, |expiry| expiry.min(next)).max(now)
    }

    fn conflict_delay(&mut self) -> Duration {
        (self.policy.lease.retry_period / CONFLICT_RETRY_DIVISOR).mul_f64(self.random.f64())
    }
}
