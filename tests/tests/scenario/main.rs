//! The Logger scenario on a cluster on this machine, with agents as processes that write files: the invariant during
//! random faults, placements and storages, bad input, and the check of the files itself; and the invariant on a real
//! control plane with kwok.
//!
//! By default random faults last a minute, and until each kind has occurred once. `INVARIANT=10m` (or `s`, `h`) selects
//! another time, after a fixed sequence of all faults. A seed determines the faults. It is printed, and taken from
//! `INVARIANT_SEED` if that is set.

mod bad_input;
mod fixture;
mod invariant;
mod kwok;
mod load;
mod loggers;
mod placements;
mod segments;

use std::{error::Error as StdError, process::ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};
use tests::availability::Error;
use tokio::runtime::Runtime;

fn main() -> ExitCode {
    // Each trial uses all cores, and measures times.
    envtest::exit_code(run(&Arguments { test_threads: Some(1), ..Arguments::from_args() }))
}

fn run(args: &Arguments) -> Result<ExitCode, Box<dyn StdError>> {
    let suite = kwok::suite()?;
    let trials =
        [invariant::trials(), placements::trials(), bad_input::trials(), segments::trials(), kwok::trials(&suite)];
    Ok(suite.run(args, trials.into_iter().flatten().collect()).exit_code())
}

/// Creates a trial.
fn trial<F>(name: &str, run: impl FnOnce() -> F + Send + 'static) -> Trial
where
    F: Future<Output = Result<(), Error>>,
{
    Trial::test(name, move || {
        let result = Runtime::new()?.block_on(run());
        result.map_err(Failed::from)
    })
}
