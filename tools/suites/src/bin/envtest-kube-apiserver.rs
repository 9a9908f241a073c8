//! The in-memory API server with the command line of kube-apiserver, for envtest.

use std::{
    env,
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Command, ExitCode},
};

use anyhow::{Context, Result, anyhow};
use suites::kube_apiserver::{Invocation, help, translate};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("Error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    match translate(&env::args().skip(1).collect::<Vec<_>>())? {
        Invocation::Help => {
            print!("{}", help());
            Ok(())
        }
        Invocation::Serve(args) => {
            let program = program()?;
            // Replaces this process, so that signals of envtest reach the server.
            let error = Command::new(&program).args(args).exec();
            Err(anyhow!(error).context(format!("cannot run {}", program.display())))
        }
    }
}

/// Returns the path of the server, which cargo builds beside this program. envtest passes no environment to servers.
fn program() -> Result<PathBuf> {
    let this = env::current_exe().and_then(|path| path.canonicalize()).context("cannot find this program")?;
    Ok(this.with_file_name("kubewright-apiserver"))
}
