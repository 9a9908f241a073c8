//! The simulated election: electors on one lease, and the work of the leader.

use std::{ops::Range, time::Duration};

use fastrand::Rng;

use crate::{
    leader_election::{
        config::LeaderElectionConfig,
        lease_store::LeaseStore,
        state_machine::{LossReason, Request, Response, StateMachine, Step, Time},
    },
    simulation::{Model, Options, SECOND, World},
};

/// The longest work of a process that is stopped.
const MAX_WORK: Duration = Duration::from_secs(15);

#[derive(Default)]
pub(super) struct Election {
    /// The number of leaderships, and of those that were lost.
    pub(super) terms: u64,
    pub(super) losses: u64,
    store: LeaseStore,
}

pub(super) struct Elector {
    machine: StateMachine,
    work: Option<Work>,
    is_stopping: bool,
}

/// The leader's work.
struct Work {
    /// When it is aborted, on the monotonic clock of the process. It is not polled afterwards.
    deadline: Time,
    /// Whether the leadership is lost.
    is_lost: bool,
}

pub(super) struct WorkEnds;

/// Creates a world of several electors.
pub(super) fn world(seed: u64, options: Options) -> World<Election> {
    World::new(seed, options, 2..5, Election::default())
}

impl World<Election> {
    /// Returns the processes whose work runs, or would run after a pause.
    pub(super) fn working(&self) -> Vec<usize> {
        let is_working = |index: &usize| {
            let process = &self.processes[*index];
            let work = process.state.as_ref().and_then(|elector| elector.work.as_ref());
            work.is_some_and(|work| process.clocks.monotonic(self.now) < work.deadline)
        };
        (0..self.processes.len()).filter(is_working).collect()
    }

    /// Cancels the work of a lost leadership. It ends by itself, or is aborted at its deadline.
    fn lost(&mut self, index: usize, reason: &LossReason) {
        self.model.losses += 1;
        let needed = self.up_to(8 * SECOND);
        let clocks = self.processes[index].clocks;
        let work = self.running(index).and_then(|(elector, _)| elector.work.as_mut());
        let Some(work) = work else { return self.kill(index) };
        work.is_lost = true;
        let deadline = clocks.real(work.deadline);
        let delay = match reason {
            LossReason::HolderChanged { .. } => Duration::ZERO,
            LossReason::RenewDeadlineExceeded => deadline.saturating_sub(self.now).min(needed),
        };
        self.schedule_event(delay, index, WorkEnds);
    }

    fn release(&mut self, index: usize) {
        if let Some((elector, now)) = self.running(index) {
            elector.machine.release(now);
            Election::drive(self, index);
        }
    }
}

impl Model for Election {
    type Process = Elector;
    type Request = Request;
    type Response = Response;
    type Event = WorkEnds;

    const FAILED: Response = Response::Failed;
    const CUTS: Range<u32> = 4..8;

    fn start(identity: String, random: Rng) -> Elector {
        let policy = LeaderElectionConfig::new("lease", identity).policy().unwrap();
        Elector { machine: StateMachine::new(policy, random), work: None, is_stopping: false }
    }

    fn drive(world: &mut World<Self>, index: usize) {
        match world.next_step(index, |elector, now, wall| elector.machine.next(now, wall)) {
            None => {}
            Some(Step::Wait { until }) => world.wake_at(index, until),
            Some(Step::Send { request, deadline }) => world.send(index, request, deadline),
            Some(Step::Lost(reason)) => world.lost(index, &reason),
            Some(Step::Released(_)) => world.kill(index),
        }
    }

    fn serve(&mut self, request: Request) -> Response {
        self.store.apply(&request)
    }

    /// Handles a response: the work starts, or its deadline is extended.
    fn respond(world: &mut World<Self>, index: usize, response: Response) {
        let Some((elector, now)) = world.running(index) else { return };
        elector.machine.response(now, response);
        if !elector.machine.is_leader() {
            return;
        }
        let deadline = elector.machine.work_deadline();
        match &mut elector.work {
            Some(work) => work.deadline = deadline,
            None => {
                elector.work = Some(Work { deadline, is_lost: false });
                world.model.terms += 1;
                let working = world.working();
                if working.len() > 1 {
                    world.violation = Some(format!("processes {working:?} work at {:?}", world.now));
                }
            }
        }
    }

    fn handle(world: &mut World<Self>, index: usize, _: WorkEnds) {
        let work = world.running(index).and_then(|(elector, _)| elector.work.take());
        match work {
            None => {}
            Some(Work { is_lost: true, .. }) => world.kill(index),
            Some(Work { is_lost: false, .. }) => world.release(index),
        }
    }

    /// Stops a process: its work is cancelled, and the lease is released when it has ended.
    fn stop(world: &mut World<Self>, index: usize, work_duration: Duration) {
        let process = &mut world.processes[index];
        let elector = process.state.as_mut().filter(|elector| !elector.is_stopping && !process.is_paused);
        let Some(elector) = elector else { return };
        elector.is_stopping = true;
        match elector.work {
            Some(_) => world.schedule_event(work_duration.min(MAX_WORK), index, WorkEnds),
            None => world.release(index),
        }
    }
}
