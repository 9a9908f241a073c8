//! A controller in thirty lines: it calls every Gadget ready.

use std::time::Duration;

use gadget_client::{Clientset, SharedInformerFactory};
use gadget_types::v1::GadgetStatus;
use logger_core::DeepCopy;
use logger_runtime::kube::api::PostParams;
use logger_runtime::{ObjectKey, WorkQueue};

/// Runs until the queue is shut down.
pub async fn run(clientset: Clientset, queue: WorkQueue<ObjectKey>) -> anyhow::Result<()> {
    let factory = SharedInformerFactory::new(&clientset);
    let gadgets = factory.gadgets_v1().gadgets();
    let events = queue.clone();
    gadgets.add_event_handler(move |event| events.add(ObjectKey::of(event.object().as_ref())))?;
    factory.start();
    factory.wait_for_sync(Duration::from_secs(30)).await?;
    while let Some(key) = queue.get().await {
        let Ok(gadget) = gadgets.lister().namespace(key.namespace()).get(key.name()) else { continue };
        if gadget.status.as_ref().is_some_and(|status| status.ready) {
            continue;
        }
        let mut gadget = gadget.deep_copy();
        gadget.status = Some(GadgetStatus { ready: true });
        let client = clientset.gadgets_v1().gadgets(key.namespace());
        match client.update_status(&gadget, &PostParams::default()).await {
            Err(error) if error.is_conflict() => queue.add_rate_limited(key.clone()),
            Err(error) if !error.is_not_found() => return Err(error.into()),
            _ => queue.forget(&key),
        }
    }
    factory.shutdown().await;
    Ok(())
}
