//! Replicas that share the keys of an operator, as processes on a real etcd and kube-apiserver: chaos, replicas that
//! are added and removed, and two programs with one name.
//!
//! By default the chaos lasts forty seconds, and until each fault has occurred. `SHARDING=10m` (or `s`, `h`) selects
//! another time, with more objects. A seed determines the faults. It is printed, and taken from `SHARDING_SEED` if that
//! is set.

mod chaos;
mod fleet;
mod latency;
mod programs;
mod scaling;

use std::{error::Error, process::ExitCode};

use envtest::ControlPlane;
use libtest_mimic::Arguments;
use parking_lot::Mutex;

/// A trial restarts the API server, so it has the control plane for itself.
type Suite = envtest::Suite<Mutex<ControlPlane>>;

fn main() -> ExitCode {
    // The trials measure times.
    envtest::exit_code(run(&Arguments { test_threads: Some(1), ..Arguments::from_args() }))
}

/// Runs all trials on one control plane, which is stopped on return.
fn run(args: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let suite = Suite::new("sharding", |assets| Ok(Mutex::new(ControlPlane::start(assets)?)))?;
    let trials = [chaos::trials(&suite), scaling::trials(&suite), programs::trials(&suite)];
    Ok(suite.run(args, trials.into_iter().flatten().collect()).exit_code())
}
