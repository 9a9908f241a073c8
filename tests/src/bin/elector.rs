//! A process that competes for a Lease, and appends its identity to a file while it is the leader.
//!
//! Arguments: kubeconfig, namespace, identity, file. It stops when its standard input is closed. The exit code is 1 if
//! the leadership is lost.

use std::{
    error::Error,
    fs::File,
    io::{Read, Write},
    process::ExitCode,
    time::Duration,
};

use kubewright_runtime::{
    CancellationToken,
    leader_election::{LeaderElectionConfig, LeaderElector, lease_client},
};

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kubeconfig, namespace, identity, file] = args.as_slice() else {
        return Err("usage: elector KUBECONFIG NAMESPACE IDENTITY FILE".into());
    };
    let config = tests::config(kubeconfig.as_ref()).await?;
    let options = LeaderElectionConfig::new("election", identity)
        .namespace(namespace)
        .lease_duration(Duration::from_secs(5))
        .renew_deadline(Duration::from_secs(4))
        .retry_period(Duration::from_millis(300));
    let elector = LeaderElector::new(lease_client(config)?, options)?;
    let file = File::options().append(true).create(true).open(file)?;
    let line = format!("{identity}\n");
    elector.run(stop_with_stdin(), move |leading| work(leading, file, line)).await?;
    Ok(())
}

/// Returns a token that is cancelled when the standard input is closed.
fn stop_with_stdin() -> CancellationToken {
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    std::thread::spawn(move || {
        drop(std::io::stdin().read_to_end(&mut Vec::new()));
        stopped.cancel();
    });
    stop
}

/// Appends a line every few milliseconds. An append is atomic.
async fn work(leading: CancellationToken, mut file: File, line: String) {
    while !leading.is_cancelled() {
        file.write_all(line.as_bytes()).expect("the file can be written");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
