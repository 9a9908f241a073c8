//! Scenarios of workloads on a cluster: rollouts, failures and drains. Each runs on the simulator, and on a real
//! control plane whose nodes kwok runs. The outcome is data: the final objects, the transitions of their conditions,
//! and the reasons of events. If two outcomes differ without a reason in [`Differences`], the simulator is wrong.
//!
//! A scenario has a namespace and three nodes in two zones to itself, so that scenarios can run concurrently.

mod cluster;
mod daemon_sets;
mod deployments;
mod differences;
mod failures;
mod jobs;
mod objects;
mod observer;
mod outcome;
mod stateful_sets;

use futures::future::LocalBoxFuture;
use kube::Client;
use kubewright_apiserver::ApiServer;
use kubewright_runtime::CancellationToken;

pub use cluster::Cluster;
use cluster::Nodes;
pub use differences::Differences;
pub use outcome::{Outcome, Place};

/// A scenario.
pub struct Scenario {
    /// The module and the function of the scenario, `failures::node_loss`.
    pub name: &'static str,
    run: for<'a> fn(&'a mut Cluster) -> LocalBoxFuture<'a, ()>,
}

impl Scenario {
    /// Runs the scenario on a simulator with an in-memory API server. It panics if an expectation fails.
    ///
    /// The runtime should have a paused clock.
    pub async fn simulate(&self) -> Outcome {
        let client = ApiServer::new().client();
        let simulator = kubewright_simulator::Cluster::builder(client.clone()).build().expect("there are no nodes");
        let stop = CancellationToken::new();
        let scenario = async {
            let outcome = self.execute(client, Nodes::Simulated(simulator.clone())).await;
            stop.cancel();
            outcome
        };
        let (ended, outcome) = tokio::join!(simulator.run(stop.clone()), scenario);
        ended.expect("no part of the simulator fails");
        outcome
    }

    /// Runs the scenario on a cluster whose nodes kwok runs, with the stages of `envtest`. It panics if an expectation
    /// fails.
    pub async fn run_with_kwok(&self, client: Client) -> Outcome {
        self.execute(client, Nodes::Kwok).await
    }

    async fn execute(&self, client: Client, nodes: Nodes) -> Outcome {
        let function = self.name.rsplit("::").next().unwrap_or(self.name);
        let mut cluster = Cluster::start(client, &function.replace('_', "-"), nodes).await;
        (self.run)(&mut cluster).await;
        cluster.outcome().await
    }
}

macro_rules! scenarios {
    ($($module:ident::$name:ident),* $(,)?) => {
        /// Every scenario.
        pub static ALL: &[Scenario] = &[$(
            Scenario {
                name: concat!(stringify!($module), "::", stringify!($name)),
                run: |cluster| Box::pin($module::$name(cluster)),
            },
        )*];
    };
}

scenarios! {
    deployments::roll_out,
    deployments::scale,
    deployments::bad_image,
    failures::drain,
    failures::budget_blocks_drain,
    failures::node_loss,
    failures::zone_loss,
    stateful_sets::order,
    daemon_sets::new_node,
    jobs::completions,
}
