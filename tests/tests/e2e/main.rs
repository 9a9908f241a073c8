//! End-to-end tests on a real etcd and kube-apiserver: every scenario, the corpora, kubectl, the manifests, the chart,
//! the bundle, webhooks and their certificates, the permissions of the operator, the quickstart, the demo and the
//! operator in one file.
//!
//! Without a control plane the tests are ignored, and one line describes how to build one. With
//! `KUBEWRIGHT_REQUIRE_CONTROL_PLANE=1`, as in CI, that is a failure.

mod cel;
mod certificates;
mod chart;
mod cold_start;
mod connections;
mod controller_gen;
mod definitions;
mod demo;
mod election;
mod external;
mod kubectl;
mod manifests;
mod migration;
mod olm;
mod one_file;
mod permissions;
mod proxy;
mod quickstart;
mod values;
mod webhook_manifests;
mod webhooks;

use std::{error::Error, process::ExitCode, sync::Arc};

use envtest::{Assets, ControlPlane};
use kube::Client;
use libtest_mimic::{Arguments, Failed, Trial};
use tests::scenarios;

use webhooks::ClientCredentials;

fn main() -> ExitCode {
    envtest::exit_code(run(&Arguments::from_args()))
}

/// The control plane that the trials share, with the generated CRDs.
struct Environment {
    assets: Assets,
    control_plane: ControlPlane,
    /// With which the API server calls admission webhooks.
    clients: ClientCredentials,
}

impl Environment {
    fn start(assets: &Assets) -> Result<Self, Box<dyn Error>> {
        let clients = ClientCredentials::create()?;
        let control_plane = ControlPlane::start_with(assets, &[&clients.flag()])?;
        kubectl::install(&control_plane).map_err(|failed| failed.message().unwrap_or_default().to_owned())?;
        Ok(Self { assets: assets.clone(), control_plane, clients })
    }
}

type Suite = envtest::Suite<Environment>;

/// Runs all trials on one control plane, which is stopped on return.
fn run(args: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let suite = Suite::new("e2e", Environment::start)?;
    if let Some(assets) = suite.assets() {
        println!("e2e: on the real etcd and kube-apiserver in {}", assets.dir().display());
    }
    let trials = scenarios(&suite)
        .chain(controller_gen::trials(&suite))
        .chain(definitions::trials(&suite))
        .chain(kubectl::trials(&suite))
        .chain(manifests::trials(&suite))
        .chain(chart::trials(&suite, args)?)
        .chain(olm::trials(&suite, args)?)
        .chain(permissions::trials(&suite))
        .chain(connections::trials(&suite))
        .chain(election::trials(&suite))
        .chain(certificates::trials(&suite))
        .chain(cold_start::trials(&suite))
        .chain(webhook_manifests::trials(&suite))
        .chain(demo::trials(&suite))
        .chain(one_file::trials(&suite))
        .chain(quickstart::trials(&suite))
        .chain(cel::trials(&suite))
        .chain(migration::trials(&suite))
        .chain(values::trials(&suite))
        .chain(webhooks::trials(&suite));
    let trials = trials.collect();
    Ok(suite.run(args, trials).exit_code())
}

/// Returns a trial for each scenario.
fn scenarios(suite: &Arc<Suite>) -> impl Iterator<Item = Trial> {
    scenarios::ALL.iter().map(move |scenario| {
        let run = async |client| {
            (scenario.run)(client).await;
            Ok(())
        };
        client_trial(suite, &format!("scenario::{}", scenario.name), run)
    })
}

async fn client(control_plane: &ControlPlane) -> Result<Client, Failed> {
    Ok(Client::try_from(tests::config(control_plane.kubeconfig()).await?)?)
}

/// Creates a trial that runs with a client of the control plane.
fn client_trial(
    suite: &Arc<Suite>,
    name: &str,
    run: impl AsyncFnOnce(Client) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    trial(suite, name, move |control_plane| {
        tokio::runtime::Runtime::new()?.block_on(async { run(client(control_plane).await?).await })
    })
}

/// Creates a trial on the control plane.
fn trial(
    suite: &Arc<Suite>,
    name: &str,
    run: impl FnOnce(&ControlPlane) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    suite.test(name, move |environment| run(&environment.control_plane))
}
