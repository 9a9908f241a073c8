//! Every event that is recorded is accepted by the API server.

use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        core::v1::{Namespace, ObjectReference},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kubewright_runtime::{
    EventType,
    events::{EventConfig, NewEvent},
};
use proptest::prelude::*;
use tokio::runtime::Builder;

use super::fixture::{Fixture, config_map, settle};

#[tokio::test(start_paused = true)]
async fn references_have_the_api_version_and_kind_of_the_type() {
    let fixture = Fixture::started();
    let deployment = Deployment { metadata: config_map("web").metadata, ..Deployment::default() };
    fixture.recorder.event_about(&deployment, &config_map("a"), EventType::Normal, "Created", "Creating", "created");
    settle().await;
    let event = fixture.event().await;
    let reference = |api_version: &str, kind: &str, name: &str| ObjectReference {
        api_version: Some(api_version.to_owned()),
        kind: Some(kind.to_owned()),
        namespace: Some("default".to_owned()),
        name: Some(name.to_owned()),
        uid: Some(format!("uid-of-{name}")),
        ..ObjectReference::default()
    };
    assert_eq!(event.regarding, Some(reference("apps/v1", "Deployment", "web")));
    assert_eq!(event.related, Some(reference("v1", "ConfigMap", "a")));
    assert_eq!((event.type_.as_deref(), event.note.as_deref()), (Some("Normal"), Some("created")));
}

#[tokio::test(start_paused = true)]
async fn events_about_cluster_scoped_objects_are_in_the_default_namespace() {
    let fixture = Fixture::started();
    let metadata = ObjectMeta { name: Some("team".to_owned()), ..ObjectMeta::default() };
    let namespace = Namespace { metadata, ..Namespace::default() };
    fixture.recorder.event(&namespace, EventType::Normal, "Created", "Creating", "");
    settle().await;
    assert_eq!(fixture.event().await.metadata.namespace.as_deref(), Some("default"));
}

#[tokio::test(start_paused = true)]
async fn the_instance_can_be_configured() {
    let mut fixture = Fixture::with_config(EventConfig::default().instance("maps-7"));
    fixture.start();
    fixture.record("a", "full").await;
    assert_eq!(fixture.event().await.reporting_instance.as_deref(), Some("maps-7"));
}

/// Records an event on a new server and returns the number of events that it accepted.
fn accepted(event: NewEvent, instance: &str) -> usize {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut fixture = Fixture::with_config(EventConfig::default().instance(instance));
        fixture.start();
        fixture.recorder.record(event);
        settle().await;
        fixture.events().await.len()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_texts_are_accepted(
        name in "\\PC{0,40}|[a-z]{240,253}",
        words in ["\\PC{0,80}", "\\PC{0,80}", "\\PC{0,80}"],
        note in "\\PC{0,600}",
    ) {
        let [reason, action, instance] = words;
        let regarding = ObjectReference {
            name: Some(name),
            kind: Some("ConfigMap".to_owned()),
            namespace: Some("default".to_owned()),
            ..ObjectReference::default()
        };
        let event = NewEvent::new(regarding, EventType::Warning, reason, action, note);
        prop_assert_eq!(accepted(event, &instance), 1);
    }
}
