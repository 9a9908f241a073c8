//! The program of the agent.

use std::{
    io::{self, ErrorKind, Write},
    path::Path,
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Result, anyhow, bail};
use clap::Parser;
use logger_agent::{
    Agent, AgentConfig,
    cli::{Cli, Command, LogFormat, RunOptions},
    file_system::Disk,
    verify,
};
use tokio::runtime;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

/// The exit code after an error. Findings of `verify` have the code 1.
const ERROR: u8 = 2;

/// The threads of the server. The journal has a thread for itself.
const THREADS: usize = 2;

fn main() -> ExitCode {
    let Cli { log_format, command } = Cli::parse();
    let result = match command {
        Command::Run(options) => run(log_format, &options).map(|()| ExitCode::SUCCESS),
        Command::Verify { directory } => check(&directory),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::from(ERROR)
    })
}

fn run(log_format: LogFormat, options: &RunOptions) -> Result<()> {
    log(log_format)?;
    let config = options.config()?;
    let runtime = runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
    runtime.block_on(serve(config))
}

async fn serve(config: AgentConfig) -> Result<()> {
    let (stop, signal) = (CancellationToken::new(), signal()?);
    let agent = Agent::start(config, Arc::new(Disk))?;
    // Tests and people with port 0 read the address. The output may be closed.
    let _ = writeln!(io::stdout(), "listening on {}", agent.local_address());
    let signalled = async {
        let name = tokio::select! {
            name = signal => name,
            () = stop.cancelled() => return,
        };
        tracing::info!(signal = name, "stopping");
        stop.cancel();
    };
    let stopped = async {
        let result = agent.run(stop.clone()).await;
        stop.cancel();
        result
    };
    let (result, ()) = tokio::join!(stopped, signalled);
    Ok(result?)
}

/// Waits for a signal that stops the process, and returns its name.
#[cfg(unix)]
fn signal() -> io::Result<impl Future<Output = &'static str>> {
    use tokio::signal::unix::{SignalKind, signal};

    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        }
    })
}

/// Waits for a signal that stops the process, and returns its name.
#[cfg(not(unix))]
fn signal() -> io::Result<impl Future<Output = &'static str>> {
    Ok(async {
        match tokio::signal::ctrl_c().await {
            Ok(()) => "Ctrl-C",
            Err(error) => {
                tracing::error!(%error, "cannot wait for Ctrl-C");
                std::future::pending().await
            }
        }
    })
}

/// Installs the log of the process.
fn log(format: LogFormat) -> Result<()> {
    let filter = match std::env::var(EnvFilter::DEFAULT_ENV) {
        Ok(directives) if !directives.is_empty() => EnvFilter::builder().parse(&directives),
        _ => EnvFilter::builder().parse("info"),
    };
    let filter = filter.map_err(|error| anyhow!("invalid log filter in RUST_LOG: {error}"))?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    let installed = match format {
        LogFormat::Text => lines.with_ansi(false).try_init(),
        LogFormat::Json => lines.json().try_init(),
    };
    installed.map_err(|error| anyhow!("cannot install the log: {error}"))
}

/// Checks a directory and prints its defects.
fn check(directory: &Path) -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    let mut printed: io::Result<()> = Ok(());
    let summary = verify::verify(&Disk, directory, &mut |finding| {
        if printed.is_ok() {
            printed = writeln!(out, "{finding}");
        }
    });
    let cannot_read = |error: io::Error| anyhow!("cannot read the directory `{}`: {error}", directory.display());
    let summary = summary.map_err(cannot_read)?;
    if summary.series.is_empty() {
        bail!(
            "no segments in `{}`: expected files such as `access_0-00000000000000000000.ndjson`",
            directory.display()
        );
    }
    match printed.and_then(|()| writeln!(out, "{summary}")) {
        // The reader has what it needs.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        printed => printed?,
    }
    Ok(if summary.findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
