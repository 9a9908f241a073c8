//! The scenarios of workloads on the simulator, and on a real control plane with kube-controller-manager,
//! kube-scheduler and kwok, where they must have the same outcomes; and the aggregation of roles on both.
//!
//! Without these components the tests on the control plane are ignored, and one line describes how to build them. With
//! `KUBEWRIGHT_REQUIRE_CONTROL_PLANE=1`, as in CI, that is a failure.

mod roles;

use std::{
    error::Error,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    process::ExitCode,
    sync::Arc,
};

use envtest::Cluster;
use kube::Client;
use libtest_mimic::{Arguments, Failed, Trial};
use tests::workloads::{ALL, Differences, Outcome, Scenario};
use tokio::runtime::Builder;

type Suite = envtest::Suite<Cluster>;

fn main() -> ExitCode {
    envtest::exit_code(run(&Arguments::from_args()))
}

/// Runs all trials. Those on the control plane share it; it is stopped on return.
fn run(args: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let suite = Suite::with_components("workloads", |assets, components| Ok(Cluster::start(assets, components)?))?;
    let is_real = suite.assets().is_some();
    let differences = Arc::new(Differences::default());
    let simulated = ALL.iter().map(|scenario| {
        let run = move || simulate(scenario).map(drop);
        Trial::test(format!("simulator::{}", scenario.name), run)
    });
    let real = ALL.iter().map(|scenario| {
        let differences = Arc::clone(&differences);
        suite.test(format!("control_plane::{}", scenario.name), move |cluster| compare(scenario, cluster, &differences))
    });
    let trials: Vec<Trial> = simulated.chain(real).chain(roles::trials(&suite)).collect();
    let count = trials.len();
    let conclusion = suite.run(args, trials);
    let unseen = differences.unseen();
    // Only if all scenarios were compared.
    if is_real && conclusion.num_passed == u64::try_from(count)? && !unseen.is_empty() {
        return Err(format!("known differences that no longer exist: {}", unseen.join("; ")).into());
    }
    Ok(conclusion.exit_code())
}

fn simulate(scenario: &Scenario) -> Result<Outcome, Failed> {
    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build()?;
    Ok(runtime.block_on(scenario.simulate()))
}

/// Runs a scenario on the control plane and on the simulator, and compares the outcomes.
fn compare(scenario: &Scenario, cluster: &Cluster, differences: &Differences) -> Result<(), Failed> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let real = || {
        runtime.block_on(async {
            let config = tests::config(cluster.control_plane().kubeconfig()).await?;
            Ok::<_, Failed>(scenario.run_with_kwok(Client::try_from(config)?).await)
        })
    };
    let real = catch_unwind(AssertUnwindSafe(real)).unwrap_or_else(|panic| {
        eprintln!("{}\n{}", scenario.name, cluster.logs());
        resume_unwind(panic)
    });
    let unexplained = simulate(scenario)?.unexplained(&real?, differences);
    match unexplained.is_empty() {
        true => Ok(()),
        false => Err(format!("{} differences without a reason:\n{}", unexplained.len(), unexplained.join("\n")).into()),
    }
}
