//! The scenarios on the servers that need no control plane, and every kind of the verb matrix. Each scenario and each
//! kind is a trial, so that it is reported by itself and runs in parallel with the others.

mod embedded;
mod matrix;
mod program;

use std::process::ExitCode;

use kube::Client;
use libtest_mimic::{Arguments, Failed, Trial};
use tests::scenarios::Scenario;

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let trials = embedded::trials().chain(program::trials()).chain(matrix::trials());
    libtest_mimic::run(&args, trials.collect()).exit_code()
}

/// Creates the trial of a scenario. `connect` returns a client of the server and is called in the trial's runtime. It
/// lives as long as the scenario runs, and with it the server that it holds.
fn scenario(server: &str, scenario: &'static Scenario, connect: impl AsyncFn() -> Client + Send + 'static) -> Trial {
    let name = format!("{server}::{}", scenario.name);
    Trial::test(name, move || block_on(async { (scenario.run)(connect().await).await }))
}

/// Runs a future to completion on a dedicated runtime.
fn block_on(future: impl Future<Output = ()>) -> Result<(), Failed> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(future);
    Ok(())
}
