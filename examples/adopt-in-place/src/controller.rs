//! The controller: applies the status of each Probe.

use std::{sync::Arc, time::Duration};

use kubewright_runtime::{
    Error,
    controller::{Action, ReconcileContext, Controller},
};

use crate::{
    client::{
        Clientset, SharedInformerFactory,
        applyconfigurations::probes_v1::{ProbeApply, ProbeStatusApply},
    },
    crd::Probe,
};

/// Methods of a kind are declared in its crate.
impl Probe {
    /// Whether the target responds. This example sends no requests: only names below `.invalid` do not respond.
    fn is_healthy(&self) -> bool {
        !self.spec.target.ends_with(".invalid")
    }
}

/// Creates the controller, which starts the informers of the factory.
pub fn controller(clientset: &Clientset, factory: &SharedInformerFactory) -> Controller {
    let probes = factory.probes_v1().probes();
    Controller::new("probes", &probes)
        .client(clientset.client())
        .start_factory(factory.factory())
        .reconcile(reconcile)
        .build()
}

async fn reconcile(probe: Arc<Probe>, ctx: ReconcileContext) -> Result<Action, Error> {
    let status = ProbeStatusApply::new().with_healthy(probe.is_healthy());
    let configuration = ProbeApply::new(ctx.key().name(), ctx.key().namespace()).with_status(status);
    ctx.apply_status(&configuration).await?;
    let interval = probe.spec.interval_seconds.unsigned_abs();
    Ok(Action::RequeueAfter(Duration::from_secs(interval.into())))
}
