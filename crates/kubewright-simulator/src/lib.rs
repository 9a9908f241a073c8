//! A Kubernetes cluster in one process, for tests of rollouts and failures: workload controllers, scheduler, node
//! lifecycle and kubelets on any API server.
//!
//! Objects, conditions, reasons and events are those of a real cluster. Containers are [simulated](Simulated), or they
//! are [processes](Processes) on this machine. With paused tokio time, minutes take milliseconds.
//!
//! ```
//! # use std::time::Duration;
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use kubewright_runtime::CancellationToken;
//! use kubewright_simulator::Cluster;
//!
//! let server = kubewright_apiserver::ApiServer::new();
//! let cluster = Cluster::builder(server.client()).zone("zone-a", 2).zone("zone-b", 1).build()?;
//! let stop = CancellationToken::new();
//! let running = tokio::spawn({
//!     let (cluster, stop) = (cluster.clone(), stop.clone());
//!     async move { cluster.run(stop).await }
//! });
//! cluster.restore("zone-a-1").await?; // Returns when the node is ready.
//! cluster.drain("zone-a-1", Duration::from_secs(60)).await?;
//! cluster.kill_zone("zone-b").await?;
//! stop.cancel();
//! running.await??;
//! # Ok(())
//! # }
//! ```
//!
//! The modules are layers. Each imports only from the lines above its own:
//!
//! | modules | contents |
//! |---|---|
//! | `model` | pure functions: rollouts, budgets, placement of pods, taints, the clock |
//! | `environment` | client, informers, event recorder |
//! | `controllers`, `scheduler`, `node_lifecycle`, `kubelet` | the components of a cluster |
//! | `cluster` | [`Cluster`] and its calls |
//!
//! # Not implemented
//!
//! - Adoption and release of pods and ReplicaSets by label; owners are only those that the controllers set.
//! - Scheduler: preemption, priorities, host ports, volumes, pod topology with namespace selectors by label, and the
//!   text about preemption in the message of an unschedulable pod.
//! - DaemonSets with `maxSurge`; StatefulSets with `maxUnavailable` and the deletion of claims.
//! - Jobs: `podFailurePolicy`, `successPolicy`, limits per index. CronJobs.
//! - EndpointSlices of IPv6 and topology hints. Services have no proxy: clients use the addresses of pods.
//! - Kubelets: sidecar containers, lifecycle hooks, readiness gates, gRPC and HTTPS probes, resource limits, evictions
//!   because of resources, `activeDeadlineSeconds` of pods, `terminationMessagePath`, exec by the API, and logs of
//!   simulated containers. Logs of processes have no timestamps. Processes have neither ConfigMaps and Secrets in their
//!   environment or volumes nor service accounts.
//! - Hashes in names differ from those of kube-controller-manager.

mod cluster;
mod controllers;
mod environment;
mod kubelet;
mod model;
mod node_lifecycle;
mod scheduler;

pub use cluster::{Cluster, ClusterBuilder, ClusterError, NodeConfig};
pub use kubelet::{Behavior, Processes, Runtime, Simulated};
