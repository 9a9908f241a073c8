//! End to end on a real etcd and kube-apiserver: every scenario, kubectl, and the quickstart.
//!
//! Without a control plane it is skipped with one line that says how to get one; with
//! `LOGGER_REQUIRE_CONTROL_PLANE=1`, as in CI, that is a failure.

mod cel;
mod controller_gen;
mod definitions;
mod kubectl;
mod lines;
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

/// One control plane for all trials. It is stopped when this returns, which a test binary's own `main` could not do.
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
        .chain(lines::trials(&control_plane, &assets))
        .chain(quickstart::trials(&control_plane))
        .chain(cel::trials(&control_plane))
        .chain(values::trials(&control_plane));
    Ok(libtest_mimic::run(args, trials.collect()).exit_code())
}

/// The scenarios of both servers, on this one.
fn scenarios(control_plane: &Arc<ControlPlane>) -> impl Iterator<Item = Trial> + use<> {
    let control_plane = Arc::clone(control_plane);
    scenarios::ALL.iter().map(move |scenario| {
        let control_plane = Arc::clone(&control_plane);
        Trial::test(format!("scenario::{}", scenario.name), move || {
            let runtime = tokio::runtime::Runtime::new()?;
            runtime.block_on(async {
                (scenario.run)(client(&control_plane).await?).await;
                Ok(())
            })
        })
    })
}

async fn client(control_plane: &ControlPlane) -> Result<Client, Failed> {
    let kubeconfig = Kubeconfig::read_from(control_plane.kubeconfig())?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

/// A trial on the control plane.
fn trial(
    control_plane: &Arc<ControlPlane>,
    name: &str,
    run: impl FnOnce(&ControlPlane) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let control_plane = Arc::clone(control_plane);
    Trial::test(name, move || run(&control_plane))
}
