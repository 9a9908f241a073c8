//! `cargo xtask test`: all steps of CI, or the tests of the changed crates.

mod binaries;
mod changed;

use std::{
    fmt,
    process::{Command, ExitCode, Stdio},
    time::Instant,
};

use clap::builder::PossibleValuesParser;

use crate::cargo;

/// Options of `test`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Continue after a failed step, to report all failures.
    #[arg(long)]
    keep_going: bool,
    /// Run only this step; can be given several times.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(STEPS.iter().map(|step| step.name)))]
    step: Vec<String>,
    /// Run only the tests of the crates that changed since the merge base with main, and of their dependents, without a
    /// real control plane.
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

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Run::Cargo(args, _) => write!(f, "cargo {}", args.join(" ")),
            Run::Binaries => f.write_str("the test binaries of the workspace"),
            Run::Tool { package, args } => write!(f, "{package} {}", args.join(" ")),
        }
    }
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
    let server = real_server();
    let is_wanted = |step: &&Step| options.step.is_empty() || options.step.iter().any(|name| name == step.name);
    let steps: Vec<&Step> = STEPS.iter().filter(is_wanted).collect();
    print_plan(&steps, &server);
    let mut finished = Vec::new();
    let mut totals = None;
    let start = Instant::now();
    for step @ Step { name, .. } in steps.iter().copied() {
        let minutes = start.elapsed().as_secs() / 60;
        println!("\n==> {name} ({} of {}, {minutes} min): {}", finished.len() + 1, steps.len(), step.run);
        let step_start = Instant::now();
        let outcome = execute(&step.run, &mut totals);
        finished.push(Finished { name, outcome, seconds: step_start.elapsed().as_secs() });
        if outcome == Outcome::Failed && !options.keep_going {
            break;
        }
    }
    report(&finished, totals.as_ref(), &server)
}

/// Prints what runs, what is skipped and for want of which tool, and how long it takes.
fn print_plan(steps: &[&Step], server: &RealServer) {
    let names: Vec<_> = steps.iter().map(|step| step.name).collect();
    println!("{} steps: {}", names.len(), names.join(", "));
    for Step { name, run } in steps {
        if let Run::Tool { package, .. } = run
            && !is_installed(package)
        {
            println!("skipped: {name}; install it with: cargo install --locked {package}");
        }
    }
    println!("the real kube-apiserver {server}");
    if steps.len() == STEPS.len() {
        println!("with the control plane, about an hour on two cores");
    }
}

fn execute(run: &Run, totals: &mut Option<binaries::Totals>) -> Outcome {
    let succeeds = |command: &mut Command| command.status().is_ok_and(|status| status.success());
    match run {
        Run::Cargo(args, env) => succeeds(cargo::command(*args).envs(lean()).envs(env.iter().copied())).into(),
        Run::Tool { package, args } if is_installed(package) => {
            succeeds(Command::new(package).args(*args).current_dir(cargo::workspace_root())).into()
        }
        Run::Tool { package, .. } if std::env::var_os("KUBEWRIGHT_REQUIRE_TOOLS").is_some_and(|value| value == "1") => {
            eprintln!("error: {package} is not installed, and KUBEWRIGHT_REQUIRE_TOOLS is 1");
            Outcome::Failed
        }
        Run::Tool { package, .. } => Outcome::Skipped(package),
        Run::Binaries => {
            totals.insert(binaries::run(&["--workspace", "--features", FEATURES], &lean())).passed().into()
        }
    }
}

/// Returns the settings of cargo for a suite that compiles everything once: with debug information and incremental data
/// the target directory is four times as large. Settings of the environment take precedence.
fn lean() -> Vec<(&'static str, &'static str)> {
    let settings = [("CARGO_INCREMENTAL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "0")];
    settings.into_iter().filter(|(name, _)| std::env::var_os(name).is_none()).collect()
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

fn report(finished: &[Finished], totals: Option<&binaries::Totals>, server: &RealServer) -> ExitCode {
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
    println!("servers: the embedded API server; the real kube-apiserver {server}");
    if let Some(totals) = totals {
        println!("{totals}");
    }
    let passed = finished.iter().all(|step| step.outcome != Outcome::Failed);
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The control plane of the end-to-end tests and its components, as reported by `envtest path`.
struct RealServer {
    path: Option<String>,
    components: Option<String>,
}

fn real_server() -> RealServer {
    let path = |options: &[&str]| {
        let args = ["run", "--quiet", "--package", "envtest", "--", "path"];
        let found = cargo::command([&args, options].concat()).envs(lean()).output();
        let found = found.ok().filter(|found| found.status.success());
        found.map(|found| String::from_utf8_lossy(&found.stdout).trim().to_owned())
    };
    RealServer { path: path(&[]), components: path(&["--components"]) }
}

impl fmt::Display for RealServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.path, &self.components) {
            (None, _) => f.write_str("is not found, its tests are skipped; install it with: cargo xtask envtest build"),
            (Some(server), Some(components)) => write!(f, "is in {server}; its components are in {components}"),
            (Some(server), None) => write!(
                f,
                "is in {server}; its components are not found, their tests are skipped; install them with: cargo xtask \
                 envtest build components"
            ),
        }
    }
}
