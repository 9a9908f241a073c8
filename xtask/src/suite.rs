//! `cargo xtask test`: everything CI runs, one step after the other.

use std::process::ExitCode;
use std::time::Instant;

use crate::cargo;

/// What to run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Go on after a step that failed, to see all that is wrong.
    #[arg(long)]
    keep_going: bool,
}

/// A step: what it is called, and its cargo command with the environment it needs.
struct Step {
    name: &'static str,
    args: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
}

/// The API server as a program, which no other crate asks for.
const SERVE: &str = "logger-apiserver/serve";

/// The tests of an example workspace, with the profile of this workspace: crates that both build are compiled once.
const fn example(manifest: &'static str) -> [&'static str; 23] {
    const CONFIG: &str = "--config";
    [
        "test",
        "--manifest-path",
        manifest,
        "--target-dir",
        "target",
        CONFIG,
        "profile.dev.build-override.opt-level=1",
        CONFIG,
        "profile.dev.package.logger-codegen.opt-level=0",
        CONFIG,
        "profile.dev.package.logger-crd.opt-level=0",
        CONFIG,
        "profile.dev.package.prettyplease.opt-level=0",
        CONFIG,
        "profile.dev.package.proc-macro2.opt-level=0",
        CONFIG,
        "profile.dev.package.schemars.opt-level=0",
        CONFIG,
        "profile.dev.package.serde-saphyr.opt-level=0",
        CONFIG,
        "profile.dev.package.serde_json.opt-level=0",
        CONFIG,
        "profile.dev.package.syn.opt-level=0",
    ]
}

const STEPS: &[Step] = &[
    Step { name: "format", args: &["fmt", "--all", "--check"], env: &[] },
    Step {
        name: "clippy",
        args: &["clippy", "--workspace", "--all-targets", "--features", SERVE, "--quiet", "--", "-D", "warnings"],
        env: &[],
    },
    Step {
        name: "docs",
        args: &["doc", "--workspace", "--features", SERVE, "--no-deps", "--quiet"],
        env: &[("RUSTDOCFLAGS", "-D warnings")],
    },
    Step { name: "drift", args: &["xtask", "codegen", "--check"], env: &[] },
    Step { name: "example", args: &example("examples/own-api/Cargo.toml"), env: &[] },
    Step { name: "adoption", args: &example("examples/adopt/Cargo.toml"), env: &[] },
    Step { name: "tests", args: &["test", "--workspace", "--features", SERVE, "--no-fail-fast"], env: &[] },
];

/// Runs every step, and says at the end what ran and on which server.
pub(crate) fn run(options: &Options) -> ExitCode {
    let mut done = Vec::new();
    for step in STEPS {
        println!("\n==> {}: cargo {}", step.name, step.args.join(" "));
        let start = Instant::now();
        let passed = cargo::command(step.args).envs(step.env.iter().copied()).status().is_ok_and(|s| s.success());
        done.push((step.name, passed, start.elapsed().as_secs()));
        if !passed && !options.keep_going {
            break;
        }
    }
    println!();
    for (name, passed, seconds) in &done {
        println!("{name:<8} {} {seconds:>4} s", if *passed { "ok    " } else { "FAILED" });
    }
    println!("servers: the embedded API server; the real kube-apiserver {}", real_server());
    if done.iter().all(|(_, passed, _)| *passed) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Which control plane the end-to-end tests ran on, as `envtest path` tells.
fn real_server() -> String {
    let found = cargo::command(["run", "--quiet", "--package", "envtest", "--", "path"]).output();
    match found {
        Ok(found) if found.status.success() => format!("in {}", String::from_utf8_lossy(&found.stdout).trim()),
        _ => "was NOT there, its tests were skipped; get it with: cargo xtask envtest build".to_owned(),
    }
}
