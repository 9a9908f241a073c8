//! Sets a condition, and records an event when it changes.

use kubewright::prelude::*;

use crate::kind::App;

pub fn controller(setup: &Setup) -> Controller {
    setup.controller("apps").reconcile(reconcile).build()
}

async fn reconcile(app: Arc<App>, ctx: ReconcileContext) -> Result<(), ReconcileError> {
    let is_pinned = app.spec.image.contains('@');
    let (reason, message) = if is_pinned { ("Digest", "the image is fixed") } else { ("Tag", "the image can change") };
    let pinned = new_condition(&app.metadata, "Pinned", is_pinned, reason, message);
    if ctx.update_status(&*app, |app| app.status.get_or_insert_default().conditions.set_condition(pinned)).await? {
        ctx.event(&*app, reason, message);
    }
    Ok(())
}
