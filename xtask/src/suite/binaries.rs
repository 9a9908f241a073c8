//! Runs the test binaries of the workspace, several at a time: suites that wait for a control plane do not delay the
//! others.

use std::{
    collections::VecDeque,
    ffi::{OsStr, OsString},
    fmt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Instant,
};

use parking_lot::Mutex;
use serde_json::Value;

use crate::cargo;

/// The number of binaries that run at a time. Most suites wait for servers most of the time.
const CONCURRENCY: usize = 3;

/// The number of lines about the failures of a binary that the summary repeats.
const FAILURE_LINES: usize = 60;

/// The suites that take longest. They start first, so that none of them runs alone at the end.
const LONGEST: [&str; 14] = [
    "workloads",
    "tutorial",
    "projects",
    "scenario",
    "kubectl",
    "conformance",
    "e2e",
    "scaffold",
    "ui",
    "replicas",
    "import",
    "runtime",
    "differential",
    "server",
];

/// The tests of all binaries.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    passed: u64,
    failed: u64,
    ignored: u64,
    /// The binaries that failed, each with the tests that failed and their output.
    failures: Vec<(String, String)>,
}

impl Totals {
    /// Returns whether every binary succeeded and there was a test.
    pub(crate) fn passed(&self) -> bool {
        self.failures.is_empty() && self.passed > 0
    }

    fn add(&mut self, result: &Finished) {
        // A test of a harness prints further results before that of the binary.
        if let Some(line) = result.output.lines().rev().find_map(|line| line.strip_prefix("test result: ")) {
            let count = |label: &str| {
                let part = line.split(';').find(|part| part.trim_end().ends_with(label));
                part.and_then(|part| part.split_whitespace().rev().nth(1)?.parse::<u64>().ok()).unwrap_or_default()
            };
            self.passed += count(" passed");
            self.failed += count(" failed");
            self.ignored += count(" ignored");
        }
        if !result.succeeded {
            self.failures.push((result.name.clone(), failures(&result.output)));
        }
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, failures) in &self.failures {
            writeln!(f, "failed: {name}\n{failures}")?;
        }
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.ignored)
    }
}

/// Returns the last lines of the output of a failed binary: they describe the failures, and the end of a log is what
/// remains when a log is shortened.
fn failures(output: &str) -> String {
    let start = output.rfind("\nfailures:\n\n----").or_else(|| output.find("\nfailures:\n")).unwrap_or_default();
    let lines: Vec<&str> = output[start..].trim().lines().collect();
    lines[lines.len().saturating_sub(FAILURE_LINES)..].join("\n")
}

/// A test binary.
struct Binary {
    /// `package::target`.
    name: String,
    target: String,
    executable: PathBuf,
    package_directory: PathBuf,
}

/// A test binary that ended.
struct Finished {
    name: String,
    succeeded: bool,
    output: String,
    seconds: f64,
}

/// Builds the test binaries that cargo selects with these arguments, and runs them. Both have these environment
/// variables. Prints the output of each when it ends.
pub(crate) fn run(selection: &[&str], env: &[(&str, &str)]) -> Totals {
    let mut totals = Totals::default();
    let Some(mut binaries) = build(selection, env) else {
        totals.failures.push(("the build".to_owned(), String::new()));
        return totals;
    };
    let position = |binary: &Binary| LONGEST.iter().position(|name| *name == binary.target).unwrap_or(LONGEST.len());
    binaries.sort_by_key(position);
    let library_path = library_path();
    let queue = Mutex::new(VecDeque::from(binaries));
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..CONCURRENCY {
            let (queue, library_path, sender) = (&queue, &library_path, sender.clone());
            scope.spawn(move || {
                loop {
                    let next = queue.lock().pop_front();
                    let Some(binary) = next else { break };
                    if sender.send(execute(&binary, library_path, env)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for result in receiver {
            println!("\n--> {} ({:.1} s)\n{}", result.name, result.seconds, result.output.trim());
            totals.add(&result);
        }
    });
    totals
}

fn execute(binary: &Binary, library_path: &OsStr, env: &[(&str, &str)]) -> Finished {
    let start = Instant::now();
    let package = binary.name.split("::").next().unwrap_or_default();
    let output = Command::new(&binary.executable)
        .current_dir(&binary.package_directory)
        .env("CARGO", std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .env("CARGO_MANIFEST_DIR", &binary.package_directory)
        .env("CARGO_PKG_NAME", package)
        .env("LD_LIBRARY_PATH", library_path)
        .envs(compiler_wrapper())
        .envs(env.iter().copied())
        .stdin(Stdio::null())
        .output();
    let (succeeded, output) = match output {
        Ok(output) => {
            let text = [output.stdout, output.stderr].concat();
            (output.status.success(), String::from_utf8_lossy(&text).into_owned())
        }
        Err(error) => (false, format!("cannot run {}: {error}", binary.executable.display())),
    };
    Finished { name: binary.name.clone(), succeeded, output, seconds: start.elapsed().as_secs_f64() }
}

/// Returns the variable with which tests compile projects at a low priority, unless it is set: the suites beside them
/// have a control plane, whose leases and timeouts are those of a cluster.
fn compiler_wrapper() -> Option<(&'static str, &'static str)> {
    (cfg!(unix) && std::env::var_os("RUSTC_WRAPPER").is_none()).then_some(("RUSTC_WRAPPER", "nice"))
}

/// Returns the directories of the shared libraries of the compiler, which the tests of procedural macros load.
fn library_path() -> OsString {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let printed = |what: &str| {
        let output = Command::new(&rustc).args(["--print", what]).current_dir(cargo::workspace_root()).output();
        output.map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())).unwrap_or_default()
    };
    let inherited = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let directories = [printed("target-libdir"), printed("sysroot").join("lib")];
    std::env::join_paths(directories.into_iter().chain(std::env::split_paths(&inherited))).unwrap_or(inherited)
}

/// Builds the binaries; `None` if that fails.
fn build(selection: &[&str], env: &[(&str, &str)]) -> Option<Vec<Binary>> {
    let mut command = cargo::command(["test", "--no-run", "--message-format", "json-render-diagnostics"]);
    let output = command.args(selection).envs(env.iter().copied()).stderr(Stdio::inherit()).output().ok()?;
    if !output.status.success() {
        return None;
    }
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(messages.lines().filter_map(|line| binary(&serde_json::from_str(line).ok()?)).collect())
}

/// Reads a message of cargo about a test binary.
fn binary(message: &Value) -> Option<Binary> {
    let is_test = message["profile"]["test"].as_bool()?;
    let executable = Path::new(message["executable"].as_str().filter(|_| is_test)?).to_owned();
    let package_directory = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let target = message["target"]["name"].as_str()?.to_owned();
    let package = package_directory.file_name()?.to_string_lossy().into_owned();
    Some(Binary { name: format!("{package}::{target}"), target, executable, package_directory })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(output: &str, succeeded: bool) -> Finished {
        Finished { name: "a::b".to_owned(), succeeded, output: output.to_owned(), seconds: 0.0 }
    }

    #[test]
    fn totals_add_up_the_results_of_the_binaries() {
        let mut totals = Totals::default();
        totals.add(&finished("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out", true));
        let failures = "failures:\n\n---- one ----\nexpected 1\n\nfailures:\n    one";
        let result = "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out";
        totals.add(&finished(&format!("running 3 tests\n\n{failures}\n\n{result}"), false));
        assert_eq!(totals.to_string(), format!("failed: a::b\n{failures}\n\n{result}\n5 passed, 1 failed, 1 skipped"));
        assert!(!totals.passed());
    }

    #[test]
    fn a_run_without_tests_does_not_pass() {
        assert!(!Totals::default().passed());
    }
}
