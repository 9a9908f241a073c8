//! Watches the Secrets and ConfigMaps to which Apps refer, and annotates those that exist.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kubewright::{prelude::*, serde_json::json};

use crate::kind::App;

pub fn controller(setup: &Setup) -> Controller {
    setup
        .controller("apps")
        .watches_by(&setup.informer::<Secret>(), |app: &App| app.spec.secret.as_deref())
        .watches_by(&setup.informer::<ConfigMap>(), |app: &App| app.spec.config.as_deref())
        .allow(Allow::<Secret>::verbs([Verb::Patch]))
        .allow(Allow::<ConfigMap>::verbs([Verb::Patch]))
        .reconcile(reconcile)
        .build()
}

async fn reconcile(app: Arc<App>, ctx: ReconcileContext) -> Result<(), ReconcileError> {
    let used_by = json!({"metadata": {"annotations": {"tasks.example.com/used-by": app.name_any()}}});
    if let Some(secret) = &app.spec.secret {
        ctx.patch_if_exists::<Secret>(secret, &used_by).await?;
    }
    if let Some(config) = &app.spec.config {
        ctx.patch_if_exists::<ConfigMap>(config, &used_by).await?;
    }
    Ok(())
}
