//! End-to-end tests on a real etcd and kube-apiserver: every scenario, the corpora, kubectl, and the quickstart.
//!
//! Without a control plane the suite is skipped with one line that tells how to build one. With
//! `LOGGER_REQUIRE_CONTROL_PLANE=1`, as in CI, that is a failure.

mod cel;
mod connections;
mod controller_gen;
mod definitions;
mod kubectl;
mod proxy;
mod quickstart;
mod values;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use envtest::ControlPlane;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use libtest_mimic::{Arguments, Failed, Trial};
use tests::scenarios;

fn main() -> ExitCode {
    envtest::exit_code(run(&Arguments::from_args()))
}

/// Runs all trials on one control plane, which is stopped on return.
fn run(args: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let Some(assets) = envtest::find_or_skip("e2e")? else {
        return Ok(ExitCode::SUCCESS);
    };
    println!("e2e: on the real etcd and kube-apiserver in {}", assets.dir().display());
    let control_plane = Arc::new(ControlPlane::start(&assets)?);
    kubectl::install(&control_plane).map_err(|failed| failed.message().unwrap_or_default().to_owned())?;
    let trials = scenarios(&control_plane)
        .chain(controller_gen::trials(&control_plane))
        .chain(definitions::trials(&control_plane))
        .chain(kubectl::trials(&control_plane))
        .chain(connections::trials(&control_plane, &assets))
        .chain(quickstart::trials(&control_plane))
        .chain(cel::trials(&control_plane))
        .chain(values::trials(&control_plane));
    Ok(libtest_mimic::run(args, trials.collect()).exit_code())
}

/// Returns a trial for each scenario.
fn scenarios(control_plane: &Arc<ControlPlane>) -> impl Iterator<Item = Trial> + use<> {
    let control_plane = Arc::clone(control_plane);
    scenarios::ALL.iter().map(move |scenario| {
        let run = async |client| {
            (scenario.run)(client).await;
            Ok(())
        };
        client_trial(&control_plane, &format!("scenario::{}", scenario.name), run)
    })
}

async fn client(control_plane: &ControlPlane) -> Result<Client, Failed> {
    let kubeconfig = Kubeconfig::read_from(control_plane.kubeconfig())?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

/// Creates a trial that runs with a client of the control plane.
fn client_trial(
    control_plane: &Arc<ControlPlane>,
    name: &str,
    run: impl AsyncFnOnce(Client) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    trial(control_plane, name, move |control_plane| {
        tokio::runtime::Runtime::new()?.block_on(async { run(client(control_plane).await?).await })
    })
}

/// Creates a trial on the control plane.
fn trial(
    control_plane: &Arc<ControlPlane>,
    name: &str,
    run: impl FnOnce(&ControlPlane) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let control_plane = Arc::clone(control_plane);
    Trial::test(name, move || run(&control_plane))
}
