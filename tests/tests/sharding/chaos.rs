//! Chaos: five replicas are killed, terminated, paused and cut off at random, and the API server is slow or restarted,
//! while objects are created and changed.

use std::{
    ops::Range,
    sync::Arc,
    thread::sleep,
    time::{Duration, Instant},
};

use envtest::ControlPlane;
use fastrand::Rng;
use libtest_mimic::{Failed, Trial};
use tests::{journal, ownership::Fault, process::Signal};

use super::{
    Suite,
    fleet::{Fleet, Member, TAKEOVER},
};

const REPLICAS: usize = 5;
/// The number of objects and the time by default, and the number of objects if `SHARDING` is set.
const OBJECTS: usize = 200;
const TIME: Duration = Duration::from_secs(40);
const MANY_OBJECTS: usize = 2000;
/// The maximum time between the end of a fault and the next one, in milliseconds: in one half of the cases, all slots
/// have owners by then.
const PAUSE: u64 = 8000;

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    let name = "chaos::no_key_has_two_owners_or_none_for_long_and_each_change_is_reconciled";
    vec![suite.test(name, |control_plane| run(&mut control_plane.lock()))]
}

fn run(control_plane: &mut ControlPlane) -> Result<(), Failed> {
    let seed = std::env::var("SHARDING_SEED").map_or_else(|_| Ok(fastrand::u64(..)), |seed| seed.parse())?;
    println!("reproduce the faults with SHARDING_SEED={seed}");
    let (time, objects) = match tests::duration_of_env("SHARDING") {
        Some(time) => (time, MANY_OBJECTS),
        None => (TIME, OBJECTS),
    };
    let mut rng = Rng::with_seed(seed);
    let mut fleet = Fleet::new(control_plane, "chaos")?;
    fleet.add(REPLICAS)?;
    fleet.wait_until_even()?;
    let (started, latency) = (journal::now(), fleet.observe_latency());
    let load = fleet.load(objects, rng.fork())?;
    let mut chaos = Chaos { control_plane, fleet, rng, faults: Vec::new() };
    chaos.disrupt(time)?;
    let Chaos { mut fleet, faults, .. } = chaos;
    let desired = fleet.runtime.block_on(load.stop())?;
    fleet.wait_until_even()?;
    let within = started..journal::now();
    let latency = fleet.runtime.block_on(latency.end());
    fleet.wait_until_converged(&desired)?;
    fleet.stop()?;
    println!("faults: {}", faults.iter().map(|fault| fault.name).collect::<Vec<_>>().join(", "));
    let (replicas, reconciliations) = (fleet.ended.len(), fleet.reconciliations());
    println!("{replicas} replicas, {} objects, {reconciliations} reconciliations", desired.len());
    assert!(reconciliations >= desired.len(), "every object is reconciled");
    fleet.assert_no_overlap();
    fleet.assert_owned(&within, &faults, TAKEOVER, &latency);
    Ok(())
}

/// The replicas, and the faults.
struct Chaos<'a> {
    control_plane: &'a mut ControlPlane,
    fleet: Fleet,
    rng: Rng,
    faults: Vec<Fault>,
}

/// Injects a fault.
type Inject<'a> = fn(&mut Chaos<'a>) -> Result<(), Failed>;

impl<'a> Chaos<'a> {
    /// The faults. Each is injected in every round.
    const FAULTS: [Inject<'a>; 7] = [
        Self::kill,
        Self::terminate,
        Self::pause_long,
        Self::pause_shortly,
        Self::cut_off,
        Self::slow_down,
        Self::restart,
    ];

    /// Injects the faults in random order, for this time and until each has occurred.
    fn disrupt(&mut self, time: Duration) -> Result<(), Failed> {
        let end = Instant::now() + time;
        let mut is_complete = false;
        while !is_complete || Instant::now() < end {
            let mut round = Self::FAULTS;
            self.rng.shuffle(&mut round);
            for inject in round {
                if is_complete && Instant::now() >= end {
                    return Ok(());
                }
                inject(self)?;
                self.rest(0..PAUSE);
            }
            is_complete = true;
        }
        Ok(())
    }

    /// Waits for a random time, in milliseconds.
    fn rest(&mut self, milliseconds: Range<u64>) {
        sleep(Duration::from_millis(self.rng.u64(milliseconds)));
    }

    /// Records a fault that begins now, and does not prevent other replicas from taking over.
    fn record(&mut self, name: &'static str) {
        let now = journal::now();
        self.faults.push(Fault { name, time: now..now });
    }

    /// Records a fault of the API server that ends now.
    fn record_outage(&mut self, name: &'static str, began: Duration) {
        self.faults.push(Fault { name, time: began..journal::now() });
    }

    /// Begins a fault of a random replica.
    fn begin(&mut self, name: &'static str) -> usize {
        self.record(name);
        self.rng.usize(..REPLICAS)
    }

    fn member(&mut self, index: usize) -> &mut Member {
        &mut self.fleet.members[index]
    }

    fn kill(&mut self) -> Result<(), Failed> {
        let index = self.begin("kill");
        self.kill_replica(index)
    }

    fn kill_replica(&mut self, index: usize) -> Result<(), Failed> {
        self.member(index).replica.signal(Signal::KILL)?;
        let exit = self.fleet.replace(index)?;
        assert_eq!(exit.code, None, "{}", exit.errors);
        Ok(())
    }

    fn terminate(&mut self) -> Result<(), Failed> {
        let index = self.begin("termination");
        self.member(index).replica.signal(Signal::TERM)?;
        let exit = self.fleet.replace(index)?;
        assert_eq!(exit.code, Some(0), "{}", exit.errors);
        Ok(())
    }

    /// Pauses a replica for longer than its Lease. In one half of the cases, another one is killed meanwhile.
    fn pause_long(&mut self) -> Result<(), Failed> {
        let index = self.begin("long pause");
        self.member(index).replica.pause()?;
        self.rest(1000..4000);
        if self.rng.bool() {
            self.record("kill during a pause");
            self.kill_replica((index + 1) % REPLICAS)?;
        }
        self.rest(5000..7000);
        Ok(self.member(index).replica.resume()?)
    }

    /// Pauses a replica for less than the renew deadline.
    fn pause_shortly(&mut self) -> Result<(), Failed> {
        let index = self.begin("short pause");
        self.member(index).replica.pause()?;
        self.rest(50..1500);
        Ok(self.member(index).replica.resume()?)
    }

    /// Cuts a replica off from the API server. Its requests arrive afterwards.
    fn cut_off(&mut self) -> Result<(), Failed> {
        let index = self.begin("cut-off");
        self.member(index).proxy.stall();
        self.rest(1000..9000);
        let proxy = &self.fleet.members[index].proxy;
        self.fleet.runtime.block_on(proxy.heal());
        Ok(())
    }

    /// Delays all requests of all replicas.
    fn slow_down(&mut self) -> Result<(), Failed> {
        let began = journal::now();
        self.fleet.members.iter().for_each(|member| member.proxy.stall());
        self.rest(500..5000);
        for member in &self.fleet.members {
            self.fleet.runtime.block_on(member.proxy.heal());
        }
        self.record_outage("slow server", began);
        Ok(())
    }

    fn restart(&mut self) -> Result<(), Failed> {
        let began = journal::now();
        self.control_plane.restart_api_server()?;
        self.record_outage("restart", began);
        Ok(())
    }
}
