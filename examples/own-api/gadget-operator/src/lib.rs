//! A controller in thirty lines, which sets every Gadget to ready.

use gadget_client::{Clientset, SharedInformerFactory, listers::gadgets_v1::GadgetLister};
use gadget_types::v1::GadgetStatus;
use kubewright_core::DeepCopy;
use kubewright_runtime::{CancellationToken, Controller, Error, ObjectKey, kube::api::PostParams};

/// Runs the controller until `stop` is cancelled.
pub async fn run(clientset: Clientset, stop: CancellationToken) -> anyhow::Result<()> {
    let factory = SharedInformerFactory::new(&clientset);
    let gadgets = factory.gadgets_v1().gadgets();
    let lister = gadgets.lister();
    let controller = Controller::new("gadgets", &gadgets)
        .build(move |key| set_ready(clientset.clone(), lister.clone(), key));
    factory.start();
    controller.run(stop).await?;
    factory.shutdown().await;
    Ok(())
}

async fn set_ready(clientset: Clientset, gadgets: GadgetLister, key: ObjectKey) -> Result<(), Error> {
    let Ok(gadget) = gadgets.namespace(key.namespace()).get(key.name()) else { return Ok(()) };
    if gadget.status.as_ref().is_some_and(|status| status.ready) {
        return Ok(());
    }
    let mut gadget = gadget.deep_copy();
    gadget.status = Some(GadgetStatus { ready: true });
    match clientset.gadgets_v1().gadgets(key.namespace()).update_status(&gadget, &PostParams::default()).await {
        Err(error) if !error.is_not_found() => Err(error), // requeued with back-off
        _ => Ok(()),
    }
}
