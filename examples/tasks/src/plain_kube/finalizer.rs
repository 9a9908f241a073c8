//! Creates a bucket outside of the cluster for each App, and deletes it before the App.

use std::{future::ready, io, sync::Arc, time::Duration};

use futures::StreamExt;
use kube::{
    Api, Client, ResourceExt,
    runtime::{
        Controller,
        controller::Action,
        finalizer::{Error, Event, finalizer},
    },
};

use super::kind::App;
use crate::buckets::Buckets;

pub async fn run(client: Client, buckets: Buckets) {
    Controller::new(Api::<App>::all(client.clone()), Default::default())
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(5)), Arc::new((client, buckets)))
        .for_each(|_| ready(()))
        .await;
}

async fn reconcile(app: Arc<App>, context: Arc<(Client, Buckets)>) -> Result<Action, Error<io::Error>> {
    let (client, buckets) = &*context;
    let apps: Api<App> = Api::namespaced(client.clone(), &app.namespace().unwrap_or_default());
    finalizer(&apps, "example.com/bucket", app, async |event| {
        match event {
            Event::Apply(app) => buckets.create(&app.name_any()).await?,
            Event::Cleanup(app) => buckets.delete(&app.name_any()).await?,
        }
        Ok(Action::await_change())
    })
    .await
}
