//! `bench derive`: the compile time of the types and the client of many kinds, compared with kube's derive and Go's
//! compiler.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Result;

use crate::{
    environment, files,
    go::{self, Module},
    kinds::{self, Derives, Group, go_edited},
    paths,
    program::{output, timed},
    project::{Project, cargo_in, target_dir},
    stats::Timings,
    table::Table,
};

/// The options of the benchmark.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The number of kinds, each with four types.
    #[arg(long, default_value_t = 100)]
    kinds: usize,
    /// The number of compilations of each.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

/// The derives and the packages that use them.
const CRATES: [(Derives, &str); 4] = [
    (Derives::Baseline, "with-serde-and-schemars"),
    (Derives::Roots, "with-root-objects"),
    (Derives::Kube, "with-kube"),
    (Derives::Ours, "with-ours"),
];

const WORKSPACE: &str = r#"[workspace]
resolver = "3"
members = ["with-*"]
"#;
const PACKAGE: &str = r#"[package]
name = "NAME"
edition = "2024"

[lib]
path = "kinds.rs"

[dependencies]
k8s-openapi = { version = "0.29", features = ["schemars"] }
schemars = "1"
serde = { version = "1", features = ["derive"] }
"#;
const KUBE: &str = r#"kube = { version = "5", default-features = false, features = ["derive"] }
serde_json = "1"
"#;

/// Runs the benchmark and prints a table of the derives and one of the clients.
pub(crate) fn run(options: &Options) -> Result<()> {
    let tools = go::build_tools()?;
    environment::print();
    derives(options)?;
    let rust = rust_client(options)?;
    let go = go_client(options, &tools)?;
    let mut table = timings_table(format!("client of {} kinds", options.kinds).as_str());
    rust.iter().chain(&go).for_each(|(name, timings)| table.row(timings_row(name, timings)));
    println!("{table}");
    Ok(())
}

/// Compiles the types crates alternately.
fn derives(options: &Options) -> Result<()> {
    let directory = write_crates(options.kinds)?;
    eprintln!("building the dependencies of the types");
    output(&mut compile(&directory, &["build", "--workspace"]))?;
    let mut all = CRATES.map(|_| Timings::default());
    for round in 1..=options.rounds {
        eprintln!("types: round {round} of {}", options.rounds);
        for ((_, name), timings) in CRATES.iter().zip(&mut all) {
            touch(&directory.join(name).join("kinds.rs"))?;
            timings.push(timed(&mut compile(&directory, &["build", "--package", name]))?);
        }
    }
    let title = format!("types of {} kinds", options.kinds);
    let [baseline, _, kube, _] = &all;
    let (baseline, kube) = (baseline.cpu_time.median(), kube.cpu_time.median());
    let mut table = Table::new([
        title.as_str(),
        "s, median",
        "s, min",
        "CPU s",
        "CPU to kube",
        "CPU above the baseline, to kube",
        "expanded lines per kind",
    ]);
    for ((_, name), timings) in CRATES.iter().zip(&all) {
        let [median, least, cpu_time] = figures(timings);
        let cpu = timings.cpu_time.median();
        let lines = expanded_lines(&directory, name)? / options.kinds;
        let (total, above) = (cpu / kube, (cpu - baseline) / (kube - baseline));
        table.row([
            (*name).to_owned(),
            median,
            least,
            cpu_time,
            format!("{total:.2}"),
            format!("{above:.2}"),
            lines.to_string(),
        ]);
    }
    println!("{table}");
    Ok(())
}

/// Writes a workspace with a types crate for each set of derives.
fn write_crates(count: usize) -> Result<PathBuf> {
    let directory = paths::home().join(format!("rust/derive-{count}"));
    files::recreate_directory(&directory)?;
    files::write(&directory.join("Cargo.toml"), WORKSPACE)?;
    files::write(&directory.join("Cargo.lock"), crate::project::CARGO_LOCK)?;
    files::write(&directory.join(".cargo/config.toml"), crate::project::CARGO_CONFIG)?;
    for (derives, name) in CRATES {
        let core = paths::workspace_root().join("crates/kubewright-core");
        let dependency = match derives {
            Derives::Baseline | Derives::Roots => String::new(),
            Derives::Kube => KUBE.to_owned(),
            Derives::Ours => format!("kubewright-core = {{ path = {:?} }}\n", core.display().to_string()),
        };
        files::write(&directory.join(name).join("Cargo.toml"), &(PACKAGE.replace("NAME", name) + &dependency))?;
        files::write(&directory.join(name).join("kinds.rs"), &kinds::rust(derives, count))?;
    }
    Ok(directory)
}

/// Returns a cargo command on two cores without incremental compilation.
fn compile(directory: &Path, args: &[&str]) -> Command {
    let mut command = cargo_in(directory, args);
    command.args(["--jobs", "2"]).env("CARGO_INCREMENTAL", "0");
    command
}

/// Rewrites a file so that cargo recompiles it.
fn touch(path: &Path) -> Result<()> {
    files::write(path, &files::read(path)?)
}

/// Returns the number of lines after macro expansion. Uses a separate target directory, since the variable that makes a
/// stable compiler print them causes build scripts to run again.
fn expanded_lines(directory: &Path, package: &str) -> Result<usize> {
    let mut command = cargo_in(directory, ["rustc", "--profile", "check", "--package", package]);
    command.args(["--", "-Zunpretty=expanded"]);
    command.env("RUSTC_BOOTSTRAP", "1").env("CARGO_TARGET_DIR", target_dir().join("expanded"));
    Ok(output(&mut command)?.lines().count())
}

/// Measures `cargo check` and `cargo build` of the generated client, with the types built already.
fn rust_client(options: &Options) -> Result<Vec<(String, Timings)>> {
    eprintln!("building the dependencies of our client");
    let groups = Group::all(options.kinds, 1);
    let project = Project::write(paths::home().join(format!("rust/client-{}", options.kinds)), &groups)?;
    output(&mut project.cargo(["xtask", "codegen"]))?;
    let [client, _] = project.generated();
    let (files, lines) = files::count(std::slice::from_ref(&client))?;
    let mut all = Vec::new();
    for verb in ["check", "build"] {
        let args = [verb, "--package", "bench-client"];
        output(&mut compile(project.directory(), &args))?;
        let mut timings = Timings::default();
        for _ in 0..options.rounds {
            touch(&client.join("lib.rs"))?;
            timings.push(timed(&mut compile(project.directory(), &args))?);
        }
        all.push((format!("cargo {verb}, client changed ({files} files, {lines} lines)"), timings));
    }
    Ok(all)
}

/// Measures `go build` without a cache, and with a cache of everything but the kinds and their client.
fn go_client(options: &Options, tools: &go::Tools) -> Result<Vec<(String, Timings)>> {
    eprintln!("building the Go client");
    let groups = Group::all(options.kinds, 1);
    let module = Module::write(paths::home().join(format!("go/client-{}", options.kinds)), &groups)?;
    for step in &go::STEPS {
        output(&mut tools.command(step, &module))?;
    }
    let (files, lines) = files::count(&[module.directory().join("client")])?;
    let cache = paths::home().join("go-cache");
    let build = || {
        let mut command = module.go(["build", "-p", "2", "./..."]);
        command.env("GOCACHE", &cache);
        command
    };
    let (mut cold, mut warm) = (Timings::default(), Timings::default());
    files::recreate_directory(&cache)?;
    cold.push(timed(&mut build())?);
    let types = files::read(&module.types())?;
    for round in 1..=options.rounds {
        files::write(&module.types(), &go_edited(&types, round))?;
        warm.push(timed(&mut build())?);
    }
    Ok(vec![
        (format!("go build, nothing cached ({files} files, {lines} lines)"), cold),
        ("go build, types changed, dependencies cached".to_owned(), warm),
    ])
}

fn timings_table(title: &str) -> Table<4> {
    Table::new([title, "s, median", "s, min", "CPU s"])
}

fn timings_row(name: &str, timings: &Timings) -> [String; 4] {
    let [median, least, cpu_time] = figures(timings);
    [name.to_owned(), median, least, cpu_time]
}

fn figures(timings: &Timings) -> [String; 3] {
    [timings.elapsed.median(), timings.elapsed.min(), timings.cpu_time.median()].map(|seconds| format!("{seconds:.2}"))
}
