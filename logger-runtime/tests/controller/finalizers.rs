//! kube's `finalizer` helper in a reconciler.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    runtime::{
        controller::Action as KubeAction,
        finalizer::{Event, finalizer},
    },
};
use logger_runtime::{
    Lister, ObjectKey,
    controller::{Action, Controller, ReconcileError},
};

use crate::fixture::{Fixture, Recorder, Running, recorder, with_state};

struct Context {
    api: Api<ConfigMap>,
    lister: Lister<ConfigMap>,
    recorder: Recorder<&'static str>,
}

async fn reconcile(context: Arc<Context>, key: ObjectKey) -> Result<Action, ReconcileError> {
    let Ok(object) = context.lister.namespace(key.namespace()).get(key.name()) else {
        context.recorder.record("gone");
        return Ok(Action::Done);
    };
    finalizer(&context.api, "example.com/keep", object, async |event| {
        context.recorder.record(match event {
            Event::Apply(_) => "applied",
            Event::Cleanup(_) => "cleaned up",
        });
        Ok::<_, logger_runtime::Error>(KubeAction::await_change())
    })
    .await?;
    Ok(Action::Done)
}

#[tokio::test(start_paused = true)]
async fn kubes_finalizer_helper_applies_and_cleans_up() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let context = Context { api: fixture.api(), lister: fixture.config_maps.lister(), recorder };
    let controller = Controller::for_informer("test", &fixture.config_maps).build(with_state(context, reconcile));
    let running = Running::new(controller);
    fixture.config_map("a").await;
    assert_eq!(records.next().await, "applied");
    fixture.delete::<ConfigMap>("a").await;
    assert_eq!(records.next().await, "cleaned up");
    assert_eq!(records.next().await, "gone");
    assert!(records.is_idle().await);
    running.stop().await.unwrap();
}
