//! Sets a condition, and records an event when it changes.

use std::{future::ready, sync::Arc, time::Duration};

use futures::StreamExt;
use kube::{
    Api, Client, Error, Resource,
    runtime::{
        Controller,
        controller::Action,
        events::{Event, EventType, Recorder},
    },
};

use super::kind::{App, set_condition};

pub async fn run(client: Client) {
    let recorder = Recorder::new(client.clone(), "apps".into());
    Controller::new(Api::<App>::all(client.clone()), Default::default())
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(5)), Arc::new((client, recorder)))
        .for_each(|_| ready(()))
        .await;
}

async fn reconcile(app: Arc<App>, context: Arc<(Client, Recorder)>) -> Result<Action, Error> {
    let (client, recorder) = &*context;
    let is_pinned = app.spec.image.contains('@');
    let (reason, message) = if is_pinned { ("Digest", "the image is fixed") } else { ("Tag", "the image can change") };
    if set_condition(client, &app, "Pinned", is_pinned, reason, message).await? {
        let event = Event {
            type_: EventType::Normal,
            reason: reason.to_owned(),
            note: Some(message.to_owned()),
            action: "Reconcile".to_owned(),
            secondary: None,
        };
        recorder.publish(&event, &app.object_ref(&())).await?;
    }
    Ok(Action::await_change())
}
