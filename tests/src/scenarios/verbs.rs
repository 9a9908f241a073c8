//! Options of reads, deletes and watches of the generated Logger client. The matrix verifies every verb of every
//! kind.

use futures::{StreamExt, pin_mut};
use kube::{
    Client,
    api::{DeleteParams, GetParams, ListParams, PostParams, WatchEvent, WatchParams},
};
use logger_client::{Clientset, typed::example_v2::LoggerClient};

use crate::{logger, namespace};

async fn loggers(client: &Client, test: &str) -> LoggerClient {
    let namespace = namespace(client, test).await;
    Clientset::new(client.clone()).example_v2().loggers(&namespace)
}

fn post() -> PostParams {
    PostParams::default()
}

pub(super) async fn reads_select_versions_labels_and_namespaces(client: Client) {
    let here = loggers(&client, "list-here").await;
    let there = loggers(&client, "list-there").await;
    for (loggers, name) in [(&here, "a"), (&here, "b"), (&there, "c")] {
        let mut logger = logger(name);
        logger.metadata.labels =
            Some([("test".to_owned(), "list".to_owned()), ("name".to_owned(), name.to_owned())].into());
        loggers.create(&logger, &post()).await.unwrap();
    }
    let created = here.get("a").await.unwrap();
    let no_older = GetParams { resource_version: created.metadata.resource_version.clone() };
    assert_eq!(here.get_with("a", &no_older).await.unwrap(), created);
    assert_eq!(here.get_opt("other").await.unwrap(), None);
    let names = |list: logger_types::v2::LoggerList| -> Vec<_> {
        assert!(list.metadata.resource_version.is_some());
        list.items.into_iter().filter_map(|logger| logger.metadata.name).collect()
    };
    assert_eq!(names(here.list(&ListParams::default()).await.unwrap()), ["a", "b"]);
    assert_eq!(names(here.list(&ListParams::default().labels("name=b")).await.unwrap()), ["b"]);
    let all = Clientset::new(client).example_v2().all_loggers();
    assert_eq!(names(all.list(&ListParams::default().labels("test=list")).await.unwrap()), ["a", "b", "c"]);
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
