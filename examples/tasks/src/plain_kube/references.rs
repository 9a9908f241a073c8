//! Watches the Secrets and ConfigMaps to which Apps refer, and annotates those that exist.

use std::{fmt::Debug, future::ready, sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::{
    NamespaceResourceScope,
    api::core::v1::{ConfigMap, Secret},
};
use kube::{
    Api, Client, Error, Resource, ResourceExt,
    api::{Patch, PatchParams},
    runtime::{
        Controller,
        controller::Action,
        reflector::{ObjectRef, Store},
    },
};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::kind::App;

pub async fn run(client: Client) {
    let apps = Controller::new(Api::<App>::all(client.clone()), Default::default());
    let (by_secret, by_config) = (apps.store(), apps.store());
    apps.watches(Api::<Secret>::all(client.clone()), Default::default(), move |secret| {
        users(&by_secret, &secret, |app| app.spec.secret.as_ref())
    })
    .watches(Api::<ConfigMap>::all(client.clone()), Default::default(), move |config| {
        users(&by_config, &config, |app| app.spec.config.as_ref())
    })
    .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(5)), Arc::new(client))
    .for_each(|_| ready(()))
    .await;
}

fn users<K: Resource>(apps: &Store<App>, object: &K, name: fn(&App) -> Option<&String>) -> Vec<ObjectRef<App>> {
    let apps = apps.state().into_iter().filter(|app| app.namespace() == object.namespace());
    apps.filter(|app| name(app) == object.meta().name.as_ref()).map(|app| ObjectRef::from_obj(&*app)).collect()
}

async fn reconcile(app: Arc<App>, client: Arc<Client>) -> Result<Action, Error> {
    annotate::<Secret>(&client, &app, app.spec.secret.as_deref()).await?;
    annotate::<ConfigMap>(&client, &app, app.spec.config.as_deref()).await?;
    Ok(Action::await_change())
}

async fn annotate<K>(client: &Client, app: &App, name: Option<&str>) -> Result<(), Error>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()> + Clone + Debug + DeserializeOwned,
{
    let Some(name) = name else { return Ok(()) };
    let api: Api<K> = Api::namespaced(client.clone(), &app.namespace().unwrap_or_default());
    let used_by = json!({"metadata": {"annotations": {"tasks.example.com/used-by": app.name_any()}}});
    match api.patch(name, &PatchParams::default(), &Patch::Merge(used_by)).await {
        Err(Error::Api(status)) if status.is_not_found() => Ok(()),
        patched => patched.map(drop),
    }
}
