//! The context that the pods of a node share: its name, address, runtime, power and events.

use std::{
    collections::HashSet,
    future::pending,
    net::Ipv4Addr,
    sync::atomic::{AtomicU32, Ordering},
};

use kubewright_runtime::object::ApiObject;
use tokio::sync::watch;

use super::runtime::Runtime;
use crate::{
    environment::{Environment, Recorder, on_node},
    model::pods,
};

/// The state of the machine of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Power {
    On,
    /// It runs, but cannot reach the API server.
    CutOff,
    Off,
}

/// What the pods of a node share.
pub(super) struct NodeContext {
    pub(super) name: String,
    pub(super) ip: String,
    pub(super) environment: Environment,
    events: Recorder,
    pub(super) runtime: Runtime,
    pub(super) power: watch::Receiver<Power>,
    number: u32,
    next_pod: AtomicU32,
}

impl NodeContext {
    pub(super) fn new(
        name: String,
        number: u32,
        runtime: Runtime,
        environment: &Environment,
        power: watch::Receiver<Power>,
    ) -> Self {
        let ip = match runtime {
            Runtime::Simulated(_) => Ipv4Addr::from(0xac12_0000 + number % 65_000 + 2).to_string(),
            Runtime::Processes(_) => "127.0.0.1".to_owned(),
        };
        let (environment, events) = (environment.clone(), environment.recorder("kubelet"));
        NodeContext { name, ip, environment, events, runtime, power, number, next_pod: AtomicU32::new(0) }
    }

    /// Records an event, unless the node cannot reach the API server.
    pub(super) fn normal<K: ApiObject>(&self, object: &K, reason: &str, note: impl Into<String>) {
        if self.is_connected() {
            self.events.normal(object, reason, note);
        }
    }

    /// Records a warning, unless the node cannot reach the API server.
    pub(super) fn warning<K: ApiObject>(&self, object: &K, reason: &str, note: impl Into<String>) {
        if self.is_connected() {
            self.events.warning(object, reason, note);
        }
    }

    fn is_connected(&self) -> bool {
        *self.power.borrow() == Power::On
    }

    /// Waits until the node can reach the API server.
    pub(super) async fn connected(&self) {
        if self.power.clone().wait_for(|power| *power == Power::On).await.is_err() {
            pending::<()>().await;
        }
    }

    /// Returns an address that no pod of the node has. Pods can have addresses from before a restart of the cluster.
    pub(super) fn next_pod_ip(&self) -> String {
        let pods = on_node(&self.environment.pods().store(), &self.name);
        let running = pods.iter().filter(|pod| !pods::has_finished(pod));
        let used: HashSet<_> = running.filter_map(|pod| pod.status.as_ref()?.pod_ip.clone()).collect();
        let next = || self.runtime.pod_ip(self.number, self.next_pod.fetch_add(1, Ordering::Relaxed));
        // At most as many addresses as pods are used.
        (0..used.len()).map(|_| next()).find(|ip| !used.contains(ip)).unwrap_or_else(next)
    }
}
