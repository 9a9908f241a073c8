//! kubectl has the same output on the real kube-apiserver and on our program, command by command.
//!
//! The commands are in `scripts/<script>.yaml`; each script runs in a dedicated namespace and directory. Each command
//! runs on both servers, and its output on both streams and its exit code are compared, except for values that differ
//! between servers. Known differences are in `differences.yaml`, with their reasons. A known difference that no longer
//! exists is a failure.
//!
//! Without a control plane, and so without kubectl, the scripts are ignored, and one line describes how to build one.
//! With `KUBEWRIGHT_REQUIRE_CONTROL_PLANE=1`, as in CI, that is a failure.

mod compare;
mod differences;
mod masks;
mod script;
mod servers;
mod shell;

use std::{error::Error, process::ExitCode, sync::Arc, thread};

use envtest::{Assets, ControlPlane, Suite};
use libtest_mimic::{Arguments, Failed};

use differences::Differences;
use masks::Masks;
use script::Script;
use servers::{Program, Server};

fn main() -> ExitCode {
    envtest::exit_code(run(&Arguments::from_args()))
}

/// Both servers, which are stopped on drop.
struct Servers {
    real: Server,
    ours: Server,
    _control_plane: ControlPlane,
    _program: Program,
}

impl Servers {
    fn start(assets: &Assets) -> Result<Self, Box<dyn Error>> {
        let control_plane = ControlPlane::start(assets)?;
        let program = Program::start()?;
        let real = Server::new(assets, control_plane.kubeconfig())?;
        let ours = Server::new(assets, &program.kubeconfig())?;
        Ok(Self { real, ours, _control_plane: control_plane, _program: program })
    }
}

/// Runs all scripts on both servers, which are stopped on return.
fn run(args: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let scripts = script::read_all()?;
    let differences = Arc::new(Differences::read(&scripts)?);
    let suite = Suite::new("kubectl on both servers", Servers::start)?;
    println!("kubectl: {differences}");
    let trial = |script: Script| {
        let differences = Arc::clone(&differences);
        suite.test(script.name.clone(), move |servers| compare(&script, servers, &differences))
    };
    let trials = scripts.into_iter().map(trial).collect();
    Ok(suite.run(args, trials).exit_code())
}

/// Runs a script on both servers and compares the outputs.
fn compare(script: &Script, servers: &Servers, differences: &Differences) -> Result<(), Failed> {
    let (on_real, on_ours) = thread::scope(|scope| {
        let on_real = scope.spawn(|| servers.real.run(script));
        let on_ours = servers.ours.run(script);
        (on_real.join(), on_ours)
    });
    let on_real = on_real.map_err(|_| "the script could not be run on the real server")??;
    let found = compare::differences(script, &Masks::new(script)?, &on_real, &on_ours?);
    let errors = compare::errors(script, &found, differences);
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n").into()) }
}
