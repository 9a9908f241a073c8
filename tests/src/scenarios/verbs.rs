//! Every verb of the generated Logger client.

use futures::{StreamExt, pin_mut};
use kube::{
    Client,
    api::{DeleteParams, GetParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
};
use logger_client::{Clientset, typed::example_v2::LoggerClient};
use logger_types::v2::{LoggerState, LoggerStatus};
use serde_json::json;

use crate::{logger, namespace};

async fn loggers(client: &Client, test: &str) -> LoggerClient {
    let namespace = namespace(client, test).await;
    Clientset::new(client.clone()).example_v2().loggers(&namespace)
}

fn post() -> PostParams {
    PostParams::default()
}

pub(super) async fn create_returns_the_stored_object(client: Client) {
    let loggers = loggers(&client, "create").await;
    let mut desired = logger("audit");
    desired.status = Some(LoggerStatus { state: Some(LoggerState::Available), ..LoggerStatus::default() });
    let created = loggers.create(&desired, &post()).await.unwrap();
    assert_eq!(created.spec, desired.spec);
    assert_eq!(created.status, None, "create ignores the status");
    assert_eq!(created.metadata.namespace.as_deref(), Some("create"));
    assert_eq!(created.metadata.generation, Some(1));
    assert!(created.metadata.uid.is_some() && created.metadata.resource_version.is_some());
    assert_eq!(loggers.get("audit").await.unwrap(), created);
    assert_eq!(loggers.get_opt("other").await.unwrap(), None);
    let no_older = GetParams { resource_version: created.metadata.resource_version.clone() };
    assert_eq!(loggers.get_with("audit", &no_older).await.unwrap().metadata.uid, created.metadata.uid);

    let error = loggers.create(&desired, &post()).await.unwrap_err();
    assert!(error.is_already_exists(), "{error}");
}

pub(super) async fn update_replaces_the_spec_and_update_status_the_status(client: Client) {
    let loggers = loggers(&client, "update").await;
    let mut logger = loggers.create(&logger("audit"), &post()).await.unwrap();

    logger.spec.interval = "5s".to_owned();
    logger.status = Some(LoggerStatus { state: Some(LoggerState::Available), ..LoggerStatus::default() });
    let mut updated = loggers.update(&logger, &post()).await.unwrap();
    assert_eq!((updated.spec.interval.as_str(), updated.metadata.generation), ("5s", Some(2)));
    assert_eq!(updated.status, None, "an update does not change the status");

    updated.spec.interval = "99s".to_owned();
    updated.status = logger.status.clone();
    let reported = loggers.update_status(&updated, &post()).await.unwrap();
    assert_eq!(reported.status, logger.status);
    assert_eq!(
        (reported.spec.interval.as_str(), reported.metadata.generation),
        ("5s", Some(2)),
        "a status update does not change the spec"
    );
}

pub(super) async fn stale_updates_conflict(client: Client) {
    let loggers = loggers(&client, "conflict").await;
    let mut first = loggers.create(&logger("audit"), &post()).await.unwrap();
    let mut second = first.clone();
    first.spec.interval = "1s".to_owned();
    loggers.update(&first, &post()).await.unwrap();
    second.spec.interval = "2s".to_owned();
    let stale = loggers.update(&second, &post()).await.unwrap_err();
    assert!(stale.is_conflict(), "{stale}");
    let stale = loggers.update_status(&second, &post()).await.unwrap_err();
    assert!(stale.is_conflict(), "{stale}");
    assert_eq!(loggers.get("audit").await.unwrap().spec.interval, "1s");
}

pub(super) async fn list_covers_one_or_all_namespaces(client: Client) {
    let here = loggers(&client, "list-here").await;
    let there = loggers(&client, "list-there").await;
    for (loggers, name) in [(&here, "a"), (&here, "b"), (&there, "c")] {
        let mut logger = logger(name);
        logger.metadata.labels =
            Some([("test".to_owned(), "list".to_owned()), ("name".to_owned(), name.to_owned())].into());
        loggers.create(&logger, &post()).await.unwrap();
    }
    let names = |list: logger_types::v2::LoggerList| -> Vec<_> {
        assert!(list.metadata.resource_version.is_some());
        list.items.into_iter().filter_map(|logger| logger.metadata.name).collect()
    };
    assert_eq!(names(here.list(&ListParams::default()).await.unwrap()), ["a", "b"]);
    assert_eq!(names(here.list(&ListParams::default().labels("name=b")).await.unwrap()), ["b"]);
    let all = Clientset::new(client).example_v2().all_loggers();
    assert_eq!(names(all.list(&ListParams::default().labels("test=list")).await.unwrap()), ["a", "b", "c"]);
}

pub(super) async fn patch_changes_single_fields(client: Client) {
    let loggers = loggers(&client, "patch").await;
    loggers.create(&logger("audit"), &post()).await.unwrap();
    let patch = Patch::Merge(json!({"spec": {"replicas": 3}}));
    let patched = loggers.patch("audit", &patch, &PatchParams::default()).await.unwrap();
    assert_eq!((patched.spec.replicas, patched.spec.interval.as_str()), (Some(3), "1m"));
    let patch = Patch::Merge(json!({"spec": {"replicas": null}}));
    let patched = loggers.patch("audit", &patch, &PatchParams::default()).await.unwrap();
    assert_eq!(patched.spec.replicas, None);
}

pub(super) async fn delete_removes_the_object(client: Client) {
    let loggers = loggers(&client, "delete").await;
    loggers.create(&logger("audit"), &post()).await.unwrap();
    loggers.delete("audit", &DeleteParams::default()).await.unwrap();
    assert!(loggers.get("audit").await.unwrap_err().is_not_found());
    assert!(loggers.delete("audit", &DeleteParams::default()).await.unwrap_err().is_not_found());
}

pub(super) async fn delete_collection_deletes_by_selector(client: Client) {
    let loggers = loggers(&client, "delete-collection").await;
    for (name, tier) in [("a", "old"), ("b", "old"), ("c", "new")] {
        let mut logger = logger(name);
        logger.metadata.labels = Some([("tier".to_owned(), tier.to_owned())].into());
        loggers.create(&logger, &post()).await.unwrap();
    }
    loggers.delete_collection(&DeleteParams::default(), &ListParams::default().labels("tier=old")).await.unwrap();
    let left = loggers.list(&ListParams::default()).await.unwrap();
    assert_eq!(left.items.len(), 1);
    assert_eq!(left.items[0].metadata.name.as_deref(), Some("c"));
}

pub(super) async fn watch_starts_at_a_resource_version(client: Client) {
    let loggers = loggers(&client, "watch").await;
    let version = loggers.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    let mut audit = loggers.create(&logger("audit"), &post()).await.unwrap();
    audit.spec.interval = "1s".to_owned();
    loggers.update(&audit, &post()).await.unwrap();
    loggers.delete("audit", &DeleteParams::default()).await.unwrap();

    let events = loggers.watch(&WatchParams::default(), &version).await.unwrap();
    pin_mut!(events);
    let mut seen = Vec::new();
    while seen.len() < 3 {
        match events.next().await.expect("the watch continues").unwrap() {
            WatchEvent::Added(logger) => seen.push(("added", logger.spec.interval)),
            WatchEvent::Modified(logger) => seen.push(("modified", logger.spec.interval)),
            WatchEvent::Deleted(logger) => seen.push(("deleted", logger.spec.interval)),
            WatchEvent::Bookmark(_) => {}
            WatchEvent::Error(status) => panic!("{status:?}"),
        }
    }
    let seen: Vec<_> = seen.iter().map(|(event, interval)| (*event, interval.as_str())).collect();
    assert_eq!(seen, [("added", "1m"), ("modified", "1s"), ("deleted", "1s")]);
}
