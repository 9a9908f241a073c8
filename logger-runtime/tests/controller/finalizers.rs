//! kube's `finalizer` in a reconciler.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::runtime::controller::Action as KubeAction;
use kube::runtime::finalizer::{Event, finalizer};
use logger_runtime::controller::{Action, Controller, ReconcileError};
use logger_runtime::{Lister, ObjectKey};

use crate::stage::{Diary, Running, Stage, diary, shared};

struct Keeper {
    api: Api<ConfigMap>,
    lister: Lister<ConfigMap>,
    diary: Diary<&'static str>,
}

async fn reconcile(keeper: Arc<Keeper>, key: ObjectKey) -> Result<Action, ReconcileError> {
    let Ok(object) = keeper.lister.namespace(key.namespace()).get(key.name()) else {
        keeper.diary.note("gone");
        return Ok(Action::Done);
    };
    finalizer(&keeper.api, "example.com/keep", object, async |event| {
        keeper.diary.note(match event {
            Event::Apply(_) => "applied",
            Event::Cleanup(_) => "cleaned up",
        });
        Ok::<_, logger_runtime::Error>(KubeAction::await_change())
    })
    .await?;
    Ok(Action::Done)
}

#[tokio::test(start_paused = true)]
async fn kubes_finalizer_sees_an_object_through_to_its_end() {
    let stage = Stage::started();
    let (diary, mut reader) = diary();
    let keeper = Keeper { api: stage.api(), lister: stage.config_maps.lister(), diary };
    let controller = Controller::for_informer("test", &stage.config_maps).build(shared(keeper, reconcile));
    let running = Running::new(controller);
    stage.config_map("a").await;
    assert_eq!(reader.next().await, "applied");
    stage.delete::<ConfigMap>("a").await;
    assert_eq!(reader.next().await, "cleaned up");
    assert_eq!(reader.next().await, "gone");
    assert!(reader.is_silent().await);
    running.stop().await.unwrap();
}
