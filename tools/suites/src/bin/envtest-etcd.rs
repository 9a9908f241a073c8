//! The health check of etcd, for envtest: the in-memory API server needs no etcd.

use std::{env, net::TcpListener, process::ExitCode};

use anyhow::{Context, Result};
use suites::etcd::{HELP, client_address, serve};

fn main() -> ExitCode {
    match run(&env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<()> {
    if args.iter().any(|arg| arg == "--help") {
        print!("{HELP}");
        return Ok(());
    }
    let address = client_address(args)?;
    let listener = TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"))?;
    match serve(&listener).context("cannot accept connections")? {}
}
