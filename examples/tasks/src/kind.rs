//! A kind with a status and conditions, and its controller.

use kubewright::prelude::*;

#[derive(Clone, Debug, ApiObject)]
#[genclient]
#[k8s(subresource(status))]
pub struct App {
    pub metadata: ObjectMeta,
    pub spec: AppSpec,
    pub status: Option<AppStatus>,
}

#[derive(Clone, Debug, Deserialize, Serialize, ApiType)]
pub struct AppSpec {
    pub image: String,
    pub secret: Option<String>,
    pub config: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, ApiType)]
pub struct AppStatus {
    pub conditions: Option<Vec<Condition>>,
}

kubewright::group_version! { group = "tasks.example.com", version = "v1", kinds = [App] }

pub fn controller(setup: &Setup) -> Controller {
    setup.controller("apps").reconcile(reconcile).build()
}

async fn reconcile(app: Arc<App>, ctx: ReconcileContext) -> Result<(), ReconcileError> {
    let accepted = new_condition(&app.metadata, "Accepted", !app.spec.image.is_empty(), "Checked", "checked the image");
    ctx.update_status(&*app, |app| app.status.get_or_insert_default().conditions.set_condition(accepted)).await?;
    Ok(())
}
