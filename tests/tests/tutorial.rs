//! Runs the page *Tutorial* of the book on a real control plane whose nodes kwok runs, and compares the lines of its
//! operator with the numbers of the book.
//!
//! Without a control plane and its components the test is ignored, and one line describes how to build them. With
//! `KUBEWRIGHT_REQUIRE_CONTROL_PLANE=1`, as in CI, that is a failure.

use std::{error::Error, fs, path::PathBuf, process::ExitCode};

use envtest::Cluster;
use kube::Client;
use libtest_mimic::{Arguments, Failed};
use tests::{page::Walkthrough, user_project::UserProject};
use tokio::runtime::Runtime;

const PAGE: &str = include_str!("../../docs/tutorial.md");
const BENCHMARKS: &str = include_str!("../../docs/benchmarks.md");

/// The files whose lines are counted.
const KIND: &str = "memcached-operator-types/src/cache_v1alpha1/memcached.rs";
const CONTROLLER: &str = "memcached-operator/src/controllers/memcached.rs";
const TEST: &str = "memcached-operator/tests/memcached.rs";

/// The options of the operator outside of the cluster, which shares the ports of this machine.
const FREE_PORTS: [(&str, &str); 2] =
    [("HEALTH_PROBE_BIND_ADDRESS", "127.0.0.1:0"), ("METRICS_BIND_ADDRESS", "127.0.0.1:0")];

/// A cluster, and a kubectl of its version.
struct Environment {
    cluster: Cluster,
    kubectl: PathBuf,
}

fn main() -> ExitCode {
    envtest::exit_code(run(&Arguments::from_args()))
}

fn run(args: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let suite = envtest::Suite::with_components("tutorial", |assets, components| {
        Ok(Environment { cluster: Cluster::start(assets, components)?, kubectl: assets.kubectl() })
    })?;
    let trials = vec![suite.test("every_step_works", every_step_works)];
    Ok(suite.run(args, trials).exit_code())
}

fn every_step_works(environment: &Environment) -> Result<(), Failed> {
    let kubeconfig = environment.cluster.control_plane().kubeconfig();
    Runtime::new()?.block_on(async {
        let client = Client::try_from(tests::config(kubeconfig).await?)?;
        tests::node(&client, "tutorial").await;
        Ok::<_, Failed>(())
    })?;
    let project = UserProject::create("tutorial", "memcached-operator", env!("CARGO_TARGET_TMPDIR"));
    let parent = project.path.parent().ok_or("the project has a parent")?.to_owned();
    fs::create_dir(&project.path)?;
    let programs = [("kubectl", &*environment.kubectl), ("cargo-kubewright", &tests::program("cargo-kubewright"))];
    let project =
        project.with_programs(&programs).with_env("KUBECACHEDIR", parent.join("cache")).with_author("Tutorial");
    Walkthrough::new(&project).cluster(kubeconfig).background_env(&FREE_PORTS).follow(PAGE);
    compare_lines(&project)?;
    Ok(fs::remove_dir_all(&parent)?)
}

/// Compares the lines that the page adds to the created files with the tables of the book.
fn compare_lines(project: &UserProject) -> Result<(), Failed> {
    let operator = project.run(&format!("git diff HEAD -- {KIND} {CONTROLLER}"));
    let test = project.run(&format!("git diff HEAD -- {TEST}"));
    for (label, lines) in [
        ("Kind and controller", added(&operator).count()),
        ("Kind and controller, without blank lines and comments", added(&operator).filter(is_code).count()),
        ("Test of the controller", added(&test).count()),
    ] {
        let row = format!("| {label} | {lines} |");
        for (name, page) in [("tutorial.md", PAGE), ("benchmarks.md", BENCHMARKS)] {
            if !page.contains(&row) {
                return Err(format!("{name} does not contain the row `{row}`").into());
            }
        }
    }
    Ok(())
}

/// Returns the lines that a diff of git adds.
fn added(diff: &str) -> impl Iterator<Item = &str> {
    diff.lines().filter(|line| !line.starts_with("+++")).filter_map(|line| line.strip_prefix('+'))
}

fn is_code(line: &&str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with("//")
}
