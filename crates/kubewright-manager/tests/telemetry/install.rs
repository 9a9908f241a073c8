//! The installation of the subscriber, in a process of the test binary.

use std::{
    env,
    process::{Command, Output},
};

use kubewright_manager::Telemetry;
use serde_json::Value;

/// Selects the format of the process.
const FORMAT: &str = "TELEMETRY_TEST_FORMAT";
/// The name of the test, which the process runs.
const TEST: &str = "install::the_environment_and_a_flag_configure_the_log_of_the_process";

/// Installs a subscriber, as the `main` function of a program does.
fn log(format: &str) {
    match Telemetry::new().log_format(format.parse().unwrap()).install() {
        Ok(_guard) => {
            tracing::debug!("debugging");
            tracing::info!("working");
            let second = Telemetry::new().install().unwrap_err();
            tracing::info!(%second);
        }
        Err(error) => eprintln!("{error}"),
    }
}

/// Runs a process with these values of the flag and of the environment variable.
fn run(format: &str, filter: &str) -> String {
    let mut command = Command::new(env::current_exe().unwrap());
    let command = command.args(["--exact", TEST, "--nocapture"]).env(FORMAT, format).env("RUST_LOG", filter);
    let Output { status, stderr, .. } = command.output().unwrap();
    let text = String::from_utf8(stderr).unwrap();
    assert!(status.success(), "{text}");
    text
}

#[test]
fn the_environment_and_a_flag_configure_the_log_of_the_process() {
    if let Ok(format) = env::var(FORMAT) {
        return log(&format);
    }
    let json = run("json", "debug");
    let lines: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.iter().filter(|line| line["msg"] == "debugging").count(), 1, "{json}");
    let second = lines.iter().find_map(|line| line["second"].as_str()).unwrap();
    assert!(second.ends_with("install one subscriber, and no logger"), "{second}");

    let text = run("text", "");
    assert!(text.contains(" INFO telemetry::install: working\n") && !text.contains("debugging"), "{text}");

    let error = run("text", "operator=loud");
    assert!(error.starts_with("invalid log filter `operator=loud`: "), "{error}");
}
