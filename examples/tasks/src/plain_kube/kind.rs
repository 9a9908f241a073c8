//! A kind with a status and conditions, and its controller.

use std::{future::ready, sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::{
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
    jiff::Timestamp,
};
use kube::{
    Api, Client, CustomResource, Error, KubeSchema, Resource, ResourceExt,
    api::{Patch, PatchParams},
    runtime::{Controller, controller::Action},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Clone, Debug, CustomResource, Deserialize, KubeSchema, Serialize)]
#[kube(group = "tasks.example.com", version = "v1", kind = "App", namespaced, status = "AppStatus")]
pub struct AppSpec {
    pub image: String,
    pub secret: Option<String>,
    pub config: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, KubeSchema, Serialize)]
pub struct AppStatus {
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

pub async fn run(client: Client) {
    Controller::new(Api::<App>::all(client.clone()), Default::default())
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(5)), Arc::new(client))
        .for_each(|_| ready(()))
        .await;
}

async fn reconcile(app: Arc<App>, client: Arc<Client>) -> Result<Action, Error> {
    set_condition(&client, &app, "Accepted", !app.spec.image.is_empty(), "Checked", "checked the image").await?;
    Ok(Action::await_change())
}

/// Sets a condition of the status. Returns whether it changed.
pub async fn set_condition(
    client: &Client,
    app: &App,
    type_: &str,
    holds: bool,
    reason: &str,
    message: &str,
) -> Result<bool, Error> {
    let status = if holds { "True" } else { "False" };
    let conditions = app.status.as_ref().map_or(&[][..], |status| &status.conditions);
    let reported = conditions.iter().find(|reported| reported.type_ == type_);
    let since = reported.filter(|reported| reported.status == status).map(|reported| &reported.last_transition_time);
    let condition = Condition {
        last_transition_time: since.cloned().unwrap_or_else(|| Time(Timestamp::now())),
        message: message.to_owned(),
        observed_generation: app.metadata.generation,
        reason: reason.to_owned(),
        status: status.to_owned(),
        type_: type_.to_owned(),
    };
    if reported == Some(&condition) {
        return Ok(false);
    }
    let (version, kind) = (App::api_version(&()), App::kind(&()));
    let status = json!({"apiVersion": version, "kind": kind, "status": {"conditions": [condition]}});
    let apps: Api<App> = Api::namespaced(client.clone(), &app.namespace().unwrap_or_default());
    // Each condition has a field manager, so that the apply of one does not remove another.
    apps.patch_status(&app.name_any(), &PatchParams::apply(type_).force(), &Patch::Apply(status)).await?;
    Ok(true)
}
