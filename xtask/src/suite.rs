//! `cargo xtask test`: all steps of CI, or the tests of the changed crates.

mod binaries;
mod changed;

use std::{
    process::{Command, ExitCode, Stdio},
    time::Instant,
};

use crate::cargo;

/// Options of `test`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Continue after a failed step, to report all failures.
    #[arg(long)]
    keep_going: bool,
    /// Run only the tests of the crates that changed since the merge base with main, and of their dependents, without a real
    /// control plane.
    #[arg(long)]
    changed: bool,
    /// The revision to compare with, in place of the merge base.
    #[arg(long, value_name = "REV", requires = "changed")]
    base: Option<String>,
}

/// One step: its name, and what it runs.
struct Step {
    name: &'static str,
    run: Run,
}

enum Run {
    /// A cargo command with environment variables.
    Cargo(&'static [&'static str], &'static [(&'static str, &'static str)]),
    /// The test binaries of the workspace, several at a time.
    Binaries,
    /// A program with its arguments, that `cargo install` installs from the package. Without it the step is skipped, or
    /// fails if `KUBEWRIGHT_REQUIRE_TOOLS` is 1.
    Tool { package: &'static str, args: &'static [&'static str] },
}

/// The features that no other crate enables: the API server as a program, the export of traces, and compact caches.
pub(crate) const FEATURES: &str = "kubewright-apiserver/program,kubewright/compact,kubewright/otlp,tests/compact";

const STEPS: &[Step] = &[
    // Of all features and platforms, which the offline commands of later steps need.
    Step { name: "fetch", run: Run::Cargo(&["fetch", "--locked", "--quiet"], &[]) },
    Step { name: "format", run: Run::Cargo(&["fmt", "--all", "--check"], &[]) },
    Step {
        name: "clippy",
        run: Run::Cargo(
            &["clippy", "--workspace", "--all-targets", "--features", FEATURES, "--quiet", "--", "-D", "warnings"],
            &[],
        ),
    },
    Step {
        name: "docs",
        run: Run::Cargo(
            &["doc", "--workspace", "--features", FEATURES, "--no-deps", "--quiet"],
            &[("RUSTDOCFLAGS", "-D warnings")],
        ),
    },
    // The other steps enable the optional features, which users need not do.
    Step { name: "defaults", run: Run::Cargo(&["clippy", "--workspace", "--quiet", "--", "-D", "warnings"], &[]) },
    Step { name: "drift", run: Run::Cargo(&["xtask", "codegen", "--check"], &[]) },
    Step { name: "manifests", run: Run::Cargo(&["xtask", "manifests", "--check"], &[]) },
    Step { name: "chart", run: Run::Cargo(&["xtask", "chart", "--check"], &[]) },
    Step { name: "bundle", run: Run::Cargo(&["xtask", "bundle", "--check"], &[]) },
    Step { name: "tests", run: Run::Binaries },
    Step {
        name: "doctests",
        run: Run::Cargo(&["test", "--workspace", "--features", FEATURES, "--doc", "--no-fail-fast", "--quiet"], &[]),
    },
    Step {
        name: "own-api",
        run: Run::Cargo(
            &["test", "--quiet", "--manifest-path", "examples/own-api/Cargo.toml", "--target-dir", "target"],
            &[],
        ),
    },
    Step {
        name: "adopt",
        run: Run::Cargo(
            &["test", "--quiet", "--manifest-path", "examples/adopt/Cargo.toml", "--target-dir", "target"],
            &[],
        ),
    },
    Step {
        name: "adopt-in-place",
        run: Run::Cargo(
            &[
                "test",
                "--quiet",
                "--workspace",
                "--features",
                "probe-operator/fake",
                "--manifest-path",
                "examples/adopt-in-place/Cargo.toml",
                "--target-dir",
                "target",
            ],
            &[],
        ),
    },
    Step {
        name: "licences",
        run: Run::Tool {
            package: "cargo-deny",
            args: &["--offline", "--log-level", "error", "check", "licenses", "bans", "sources"],
        },
    },
    Step { name: "book", run: Run::Tool { package: "mdbook", args: &["build"] } },
];

/// The outcome of one step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    /// The package of the tool that is not installed.
    Skipped(&'static str),
}

impl From<bool> for Outcome {
    fn from(passed: bool) -> Self {
        if passed { Outcome::Passed } else { Outcome::Failed }
    }
}

/// One line of the report.
struct Finished {
    name: &'static str,
    outcome: Outcome,
    seconds: u64,
}

/// Runs the steps, and prints the result of each and the servers that were used.
pub(crate) fn run(options: &Options) -> ExitCode {
    if options.changed {
        return changed::run(options.base.as_deref());
    }
    let mut finished = Vec::new();
    let mut totals = None;
    for Step { name, run } in STEPS {
        let start = Instant::now();
        let outcome = execute(name, run, &mut totals);
        finished.push(Finished { name, outcome, seconds: start.elapsed().as_secs() });
        if outcome == Outcome::Failed && !options.keep_going {
            break;
        }
    }
    report(&finished, totals.as_ref())
}

fn execute(name: &str, run: &Run, totals: &mut Option<binaries::Totals>) -> Outcome {
    let succeeds = |command: &mut Command| command.status().is_ok_and(|status| status.success());
    match run {
        Run::Cargo(args, env) => {
            println!("\n==> {name}: cargo {}", args.join(" "));
            succeeds(cargo::command(*args).envs(env.iter().copied())).into()
        }
        Run::Tool { package, args } => {
            println!("\n==> {name}: {package} {}", args.join(" "));
            let tool = || {
                let mut tool = Command::new(package);
                tool.current_dir(cargo::workspace_root());
                tool
            };
            match tool().arg("--version").stdout(Stdio::null()).status() {
                Ok(_) => succeeds(tool().args(*args)).into(),
                Err(_) if std::env::var_os("KUBEWRIGHT_REQUIRE_TOOLS").is_some_and(|value| value == "1") => {
                    eprintln!("error: {package} is not installed, and KUBEWRIGHT_REQUIRE_TOOLS is 1");
                    Outcome::Failed
                }
                Err(_) => Outcome::Skipped(package),
            }
        }
        Run::Binaries => {
            println!("\n==> {name}: the test binaries of the workspace");
            totals.insert(binaries::run(&["--workspace", "--features", FEATURES], &[])).passed().into()
        }
    }
}

fn report(finished: &[Finished], totals: Option<&binaries::Totals>) -> ExitCode {
    println!();
    for Finished { name, outcome, seconds } in finished {
        match outcome {
            Outcome::Passed => println!("{name:<8} ok      {seconds:>4} s"),
            Outcome::Failed => println!("{name:<8} FAILED  {seconds:>4} s"),
            Outcome::Skipped(package) => {
                println!("{name:<8} SKIPPED: install it with: cargo install --locked {package}")
            }
        }
    }
    println!("servers: the embedded API server; the real kube-apiserver {}", real_server());
    if let Some(totals) = totals {
        println!("{totals}");
    }
    let passed = finished.iter().all(|step| step.outcome != Outcome::Failed);
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the control plane of the end-to-end tests and its components, as reported by `envtest path`.
fn real_server() -> String {
    let path = |options: &[&str]| {
        let args = ["run", "--quiet", "--package", "envtest", "--", "path"];
        let found = cargo::command(args.iter().chain(options)).output();
        let found = found.ok().filter(|found| found.status.success());
        found.map(|found| String::from_utf8_lossy(&found.stdout).trim().to_owned())
    };
    let Some(server) = path(&[]) else {
        return "was not found, its tests were skipped; install it with: cargo xtask envtest build".to_owned();
    };
    match path(&["--components"]) {
        Some(components) => format!("in {server}; its components in {components}"),
        None => format!(
            "in {server}; its components were not found, their tests were skipped; install them with: cargo xtask \
             envtest build components"
        ),
    }
}
