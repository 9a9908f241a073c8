//! The controllers of kube-controller-manager that run workloads.

mod children;
mod daemon_set;
mod deployment;
mod endpoint_slice;
mod job;
mod pod_disruption_budget;
mod replica_set;
mod revisions;
mod stateful_set;

use kubewright_runtime::Controller;

use crate::environment::Environment;

/// Returns all controllers. Their queues are filled from now on.
pub(crate) fn all(environment: &Environment) -> Vec<Controller> {
    vec![
        deployment::controller(environment),
        replica_set::controller(environment),
        stateful_set::controller(environment),
        daemon_set::controller(environment),
        job::controller(environment),
        pod_disruption_budget::controller(environment),
        endpoint_slice::controller(environment),
    ]
}
