//! kubectl says the same of the real kube-apiserver and of our program, line by line.
//!
//! What people type is in `scripts/<script>.yaml`, in a namespace and a directory of its own. Each line is run against both
//! servers, and what kubectl says, on both streams and by its exit code, is compared but for what no two servers have in common.
//! Where they are known to differ is in `differences.yaml`, with the reason: a line that does not differ there is a failure, too.
//!
//! Without a control plane, and so without kubectl, it is skipped with one line that says how to get one;
//! `LOGGER_REQUIRE_CONTROL_PLANE=1`, as in CI, makes that a failure.

mod compare;
mod desk;
mod differences;
mod masks;
mod script;
mod servers;

use std::{error::Error, process::ExitCode, sync::Arc, thread};

use envtest::ControlPlane;
use libtest_mimic::{Arguments, Failed, Trial};

use differences::Differences;
use masks::Masks;
use script::Script;
use servers::{Program, Server};

fn main() -> ExitCode {
    envtest::exit_code(run(&Arguments::from_args()))
}

/// Both servers for all scripts. They are stopped when this returns.
fn run(args: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let scripts = script::read_all()?;
    let differences = Arc::new(Differences::read(&scripts)?);
    let Some(assets) = envtest::find_or_skip("kubectl on both servers")? else {
        return Ok(ExitCode::SUCCESS);
    };
    let control_plane = ControlPlane::start(&assets)?;
    let program = Program::start()?;
    let real = Arc::new(Server::new(&assets, control_plane.kubeconfig())?);
    let ours = Arc::new(Server::new(&assets, &program.kubeconfig())?);
    println!("kubectl: {differences}");
    let trial = |script: Script| {
        let (real, ours, differences) = (Arc::clone(&real), Arc::clone(&ours), Arc::clone(&differences));
        Trial::test(script.name.clone(), move || held(&script, &real, &ours, &differences))
    };
    let trials = scripts.into_iter().map(trial).collect();
    Ok(libtest_mimic::run(args, trials).exit_code())
}

/// What is said to each line is the same on both servers, unless it is known not to be.
fn held(script: &Script, real: &Server, ours: &Server, differences: &Differences) -> Result<(), Failed> {
    let (on_real, on_ours) = thread::scope(|scope| {
        let on_real = scope.spawn(|| real.run(script));
        let on_ours = ours.run(script);
        (on_real.join(), on_ours)
    });
    let on_real = on_real.map_err(|_| "the script could not be run on the real server")??;
    let found = compare::differing(script, &Masks::of(script)?, &on_real, &on_ours?);
    match compare::judge(script, &found, differences) {
        told if told.is_empty() => Ok(()),
        told => Err(told.join("\n").into()),
    }
}
