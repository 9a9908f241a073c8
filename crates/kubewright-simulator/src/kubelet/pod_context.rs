//! The context that the containers of a pod share: the pod, its node, its records and its stop.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::Pod;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

use super::{
    node_context::NodeContext,
    records::{Record, Records, Slot},
};

/// What the containers of a pod share.
pub(super) struct PodContext {
    pub(super) node: Arc<NodeContext>,
    pub(super) pod: Arc<Pod>,
    pub(super) pod_ip: String,
    pub(super) records: watch::Sender<Records>,
    /// The time at which the containers are killed, once the pod is stopped.
    pub(super) stop: watch::Receiver<Option<Instant>>,
}

impl PodContext {
    /// Changes the record of a container, and publishes it.
    pub(super) fn update(&self, slot: Slot, change: impl FnOnce(&mut Record)) {
        self.records.send_modify(|records| {
            if let Some(record) = records.get_mut(slot) {
                change(record);
            }
        });
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stop.borrow().is_some()
    }

    /// Waits until the pod is stopped, and returns when its containers are killed.
    pub(super) async fn stopping(&self) -> Instant {
        let mut stop = self.stop.clone();
        let deadline = stop.wait_for(Option::is_some).await.ok().and_then(|deadline| *deadline);
        deadline.unwrap_or_else(Instant::now)
    }

    /// Waits, unless the pod is stopped. Returns whether it continues.
    pub(super) async fn delay(&self, delay: Duration) -> bool {
        tokio::select! {
            biased;
            _ = self.stopping() => false,
            () = sleep(delay) => true,
        }
    }
}
