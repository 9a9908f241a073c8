//! The replicas of an operator as processes on a real etcd and kube-apiserver: a rolling update under load, and starts
//! that fail.
//!
//! By default the load lasts half a minute. `ROLLING=10m` (or `s`, `h`) selects another time, with more objects. A seed
//! determines the signals. It is printed, and taken from `ROLLING_SEED` if that is set.

mod load;
mod observer;
mod replica;
mod rolling;
mod start;

use std::{error::Error, process::ExitCode};

use envtest::ControlPlane;
use libtest_mimic::Arguments;

type Suite = envtest::Suite<ControlPlane>;

fn main() -> ExitCode {
    envtest::exit_code(run(&Arguments::from_args()))
}

/// Runs all trials on one control plane, which is stopped on return.
fn run(args: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let suite = Suite::new("replicas", |assets| Ok(ControlPlane::start(assets)?))?;
    let trials = rolling::trials(&suite).into_iter().chain(start::trials(&suite)).collect();
    Ok(suite.run(args, trials).exit_code())
}
