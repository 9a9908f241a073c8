//! `cargo xtask test`: all steps of CI, or the tests of the changed crates.

mod binaries;
mod changed;

use std::{process::ExitCode, time::Instant};

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
    /// The tests of an example workspace, given by its manifest.
    Example(&'static str),
}

/// The feature of the API server as a program, which no other crate enables.
const SERVE: &str = "logger-apiserver/serve";

/// The profile of this workspace for the examples, whose manifests have other settings: crates that both build are compiled once.
const PROFILE: [&str; 10] = [
    "profile.dev.debug=\"line-tables-only\"",
    "profile.dev.build-override.opt-level=1",
    "profile.dev.package.logger-codegen.opt-level=0",
    "profile.dev.package.logger-crd.opt-level=0",
    "profile.dev.package.prettyplease.opt-level=0",
    "profile.dev.package.proc-macro2.opt-level=0",
    "profile.dev.package.schemars.opt-level=0",
    "profile.dev.package.serde-saphyr.opt-level=0",
    "profile.dev.package.serde_json.opt-level=0",
    "profile.dev.package.syn.opt-level=0",
];

const STEPS: &[Step] = &[
    Step { name: "format", run: Run::Cargo(&["fmt", "--all", "--check"], &[]) },
    Step {
        name: "clippy",
        run: Run::Cargo(
            &["clippy", "--workspace", "--all-targets", "--features", SERVE, "--quiet", "--", "-D", "warnings"],
            &[],
        ),
    },
    Step {
        name: "docs",
        run: Run::Cargo(
            &["doc", "--workspace", "--features", SERVE, "--no-deps", "--quiet"],
            &[("RUSTDOCFLAGS", "-D warnings")],
        ),
    },
    Step { name: "drift", run: Run::Cargo(&["xtask", "codegen", "--check"], &[]) },
    Step { name: "tests", run: Run::Binaries },
    Step {
        name: "doctests",
        run: Run::Cargo(&["test", "--workspace", "--features", SERVE, "--doc", "--no-fail-fast", "--quiet"], &[]),
    },
    Step { name: "own-api", run: Run::Example("examples/own-api/Cargo.toml") },
    Step { name: "adopt", run: Run::Example("examples/adopt/Cargo.toml") },
];

/// The result of one step.
struct Outcome {
    name: &'static str,
    passed: bool,
    seconds: u64,
}

/// Runs the steps, and prints the result of each and the servers that were used.
pub(crate) fn run(options: &Options) -> ExitCode {
    if options.changed {
        return changed::run(options.base.as_deref());
    }
    let mut outcomes = Vec::new();
    let mut totals = None;
    for step in STEPS {
        let start = Instant::now();
        let passed = match &step.run {
            Run::Cargo(args, env) => {
                println!("\n==> {}: cargo {}", step.name, args.join(" "));
                cargo::command(*args).envs(env.iter().copied()).status().is_ok_and(|status| status.success())
            }
            Run::Example(manifest) => {
                println!("\n==> {}: cargo test --manifest-path {manifest}", step.name);
                let settings = PROFILE.iter().flat_map(|setting| ["--config", setting]);
                let mut test =
                    cargo::command(["test", "--quiet", "--manifest-path", manifest, "--target-dir", "target"]);
                test.args(settings).status().is_ok_and(|status| status.success())
            }
            Run::Binaries => {
                println!("\n==> {}: the test binaries of the workspace", step.name);
                let result = binaries::run(&["--workspace", "--features", SERVE], &[]);
                let passed = result.passed();
                totals = Some(result);
                passed
            }
        };
        outcomes.push(Outcome { name: step.name, passed, seconds: start.elapsed().as_secs() });
        if !passed && !options.keep_going {
            break;
        }
    }
    report(&outcomes, totals.as_ref())
}

fn report(outcomes: &[Outcome], totals: Option<&binaries::Totals>) -> ExitCode {
    println!();
    for Outcome { name, passed, seconds } in outcomes {
        println!("{name:<8} {} {seconds:>4} s", if *passed { "ok    " } else { "FAILED" });
    }
    println!("servers: the embedded API server; the real kube-apiserver {}", real_server());
    if let Some(totals) = totals {
        println!("{totals}");
    }
    if outcomes.iter().all(|outcome| outcome.passed) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the control plane of the end-to-end tests, as reported by `envtest path`.
fn real_server() -> String {
    let found = cargo::command(["run", "--quiet", "--package", "envtest", "--", "path"]).output();
    match found {
        Ok(found) if found.status.success() => format!("in {}", String::from_utf8_lossy(&found.stdout).trim()),
        _ => "was not found, its tests were skipped; install it with: cargo xtask envtest build".to_owned(),
    }
}
