//! promtool validates the alerts that the program prints, and runs their unit tests.
//!
//! Without promtool the tests are ignored, and one line describes how to get it. With `KUBEWRIGHT_REQUIRE_TOOLS=1` that
//! is a failure.

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use envtest::HOW_TO_GET_PROMTOOL;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use tempfile::TempDir;

/// The unit tests, which name their rules `rules.yaml`.
const UNIT_TESTS: &str = include_str!("alerts.yaml");

fn main() -> ExitCode {
    envtest::exit_code(run(&Arguments::from_args()))
}

fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let promtool = envtest::find_promtool()?;
    if promtool.is_none() {
        if env::var_os("KUBEWRIGHT_REQUIRE_TOOLS").is_some_and(|value| value == "1") {
            return Err(
                format!("promtool: KUBEWRIGHT_REQUIRE_TOOLS is 1, but there is none; {HOW_TO_GET_PROMTOOL}").into()
            );
        }
        if !arguments.list {
            eprintln!("SKIPPED promtool (3 tests): there is none; {HOW_TO_GET_PROMTOOL}");
        }
    }
    let trial = |name: &str, run: fn(&Path) -> Result<(), Failed>| {
        let promtool = promtool.clone();
        Trial::ignorable_test(name, move || match promtool {
            Some(promtool) => run(&promtool).map(|()| Completion::Completed),
            None => Ok(Completion::ignored_with("no promtool")),
        })
    };
    let trials = vec![
        trial("the_alerts_are_valid", alerts_are_valid),
        trial("each_alert_fires_when_it_should_and_only_then", unit_tests_succeed),
        trial("an_alert_that_fires_at_another_time_is_an_error", wrong_unit_test_fails),
    ];
    Ok(libtest_mimic::run(arguments, trials).exit_code())
}

fn alerts_are_valid(promtool: &Path) -> Result<(), Failed> {
    let (directory, rules) = rules()?;
    let checked = execute(Command::new(promtool).args(["check", "rules", "--lint=all", "--lint-fatal"]).arg(rules));
    drop(directory);
    checked.map(drop)
}

fn unit_tests_succeed(promtool: &Path) -> Result<(), Failed> {
    execute_unit_tests(promtool, UNIT_TESTS).map(drop)
}

fn wrong_unit_test_fails(promtool: &Path) -> Result<(), Failed> {
    let wrong = UNIT_TESTS.replace("eval_time: 15m", "eval_time: 14m");
    assert_ne!(wrong, UNIT_TESTS);
    let error = execute_unit_tests(promtool, &wrong).err().ok_or("the unit tests succeed")?;
    let message = error.message().unwrap_or_default();
    assert!(message.contains("LoggerSingleReplica"), "{message}");
    Ok(())
}

fn execute_unit_tests(promtool: &Path, tests: &str) -> Result<String, Failed> {
    let (directory, _rules) = rules()?;
    let path = directory.path().join("tests.yaml");
    fs::write(&path, tests)?;
    execute(Command::new(promtool).args(["test", "rules"]).arg(path))
}

/// Writes the groups that the program prints to a file in a directory, and returns both.
fn rules() -> Result<(TempDir, PathBuf), Failed> {
    let groups = execute(Command::new(env!("CARGO_BIN_EXE_logger-operator")).arg("alert-groups"))?;
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("rules.yaml");
    fs::write(&path, groups)?;
    Ok((directory, path))
}

/// Returns what a command prints to stdout. Fails with all of its output if it fails.
fn execute(command: &mut Command) -> Result<String, Failed> {
    let output = command.output()?;
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match output.status.success() {
        true => Ok(stdout.into_owned()),
        false => Err(format!("{command:?}: {}\n{stdout}{stderr}", output.status).into()),
    }
}
