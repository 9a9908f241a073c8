//! The promises of the informer factory. The clock is paused, but where a real socket is needed.

use std::time::Duration;

use fixture_types::library_v1beta1::Book;
use kube::Client;
use logger_runtime::{InformerFactory, SyncError};
use logger_types::v1::Logger;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout};

use crate::client::unreachable;
use crate::hearing::{World, hear};
use crate::line::{Answer, Asked, Line, PATIENCE};

const DEADLINE: Duration = Duration::from_secs(5);

fn count(line: &Line, asked: Asked, resource: &str) -> usize {
    let seen = line.seen(asked);
    seen.iter().filter(|seen| seen.resource == resource).count()
}

#[tokio::test(start_paused = true)]
async fn one_informer_for_each_kind_however_often_it_is_asked_for() {
    let line = Line::new().await;
    let factory = InformerFactory::namespaced(line.client(), "default");
    let mut heard = hear(&factory.informer::<Logger>());
    let again = factory.clone().informer::<Logger>();
    factory.informer::<Book>();
    factory.start();
    factory.wait_for_sync(DEADLINE).await.unwrap();
    World::of(&line).create("audit", 1).await;
    heard.these(&["add audit=1"]).await;
    assert_eq!(again.store().len(), 1);
    assert_eq!(factory.informer::<Logger>().lister().list().len(), 1);
    for resource in ["loggers", "books"] {
        let asked = [Asked::List, Asked::Watch].map(|asked| count(&line, asked, resource));
        assert_eq!(asked, [1, 1], "{resource}");
    }
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn informers_asked_for_after_start_run_after_a_second_start() {
    let line = Line::new().await;
    let factory = InformerFactory::new(line.client());
    factory.informer::<Logger>();
    factory.start();
    factory.wait_for_sync(DEADLINE).await.unwrap();
    let books = factory.informer::<Book>();
    let error = factory.wait_for_sync(DEADLINE).await.unwrap_err();
    assert_eq!(error.reasons, ["books.library.example.org: not started"]);
    factory.start();
    factory.wait_for_sync(DEADLINE).await.unwrap();
    assert!(books.has_synced());
    assert_eq!(count(&line, Asked::List, "loggers"), 1, "what runs is not run again");
    factory.shutdown().await;
}

/// Waits for Loggers and Books; the error must come at the deadline.
async fn sync_error(client: Client, deadline: Duration) -> SyncError {
    let factory = InformerFactory::new(client);
    factory.informer::<Logger>();
    factory.informer::<Book>();
    factory.start();
    let start = Instant::now();
    let error = factory.wait_for_sync(deadline).await.unwrap_err();
    assert!(start.elapsed() < deadline + Duration::from_millis(500), "{:?}", start.elapsed());
    assert_eq!(error.waited, deadline);
    assert_eq!(error.reasons.len(), 2, "{error}");
    assert!(error.to_string().starts_with(&format!("not synced after {deadline:?}: ")), "{error}");
    for reason in &error.reasons {
        assert!(error.to_string().contains(reason), "{error}");
    }
    factory.shutdown().await;
    error
}

#[tokio::test(start_paused = true)]
async fn not_synced_names_the_kinds_and_that_their_crds_are_not_installed() {
    let error = sync_error(Line::bare().client(), DEADLINE).await;
    for (reason, resource) in error.reasons.iter().zip(["books.library.example.org", "loggers.example.com"]) {
        assert!(reason.starts_with(&format!("cannot list {resource}: 404 page not found; ")), "{reason}");
        assert!(reason.contains("CustomResourceDefinition installed?"), "{reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn not_synced_names_the_kinds_and_that_they_are_forbidden() {
    let line = Line::new().await;
    line.always(Asked::List, Answer::status(403, "Forbidden", "User \"ann\" cannot list that"));
    let error = sync_error(line.client(), DEADLINE).await;
    for (reason, resource) in error.reasons.iter().zip(["books.library.example.org", "loggers.example.com"]) {
        let expected = format!("cannot list {resource}: User \"ann\" cannot list that; ");
        assert!(reason.starts_with(&expected), "{reason}");
        assert!(reason.contains(&format!("`kubectl auth can-i list {resource}`")), "{reason}");
    }
}

#[tokio::test]
async fn not_synced_names_the_kinds_and_that_the_server_is_unreachable() {
    let error = sync_error(unreachable(), Duration::from_millis(500)).await;
    for (reason, resource) in error.reasons.iter().zip(["books.library.example.org", "loggers.example.com"]) {
        assert!(reason.starts_with(&format!("cannot list {resource}: ")), "{reason}");
        assert!(reason.to_lowercase().contains("connection refused"), "{reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn not_synced_says_that_the_server_does_not_answer() {
    let line = Line::new().await;
    line.always(Asked::List, Answer::Never);
    let error = sync_error(line.client(), DEADLINE).await;
    assert_eq!(error.reasons, ["books.library.example.org: no answer yet", "loggers.example.com: no answer yet"]);
}

#[tokio::test(start_paused = true)]
async fn not_synced_names_only_the_kinds_that_are_not() {
    let line = Line::new().await;
    let factory = InformerFactory::new(line.client());
    factory.informer::<Book>();
    factory.start();
    factory.wait_for_sync(DEADLINE).await.unwrap();
    line.always(Asked::List, Answer::Never);
    factory.informer::<Logger>();
    factory.start();
    let error = factory.wait_for_sync(DEADLINE).await.unwrap_err();
    assert_eq!(error.reasons, ["loggers.example.com: no answer yet"]);
}

#[tokio::test(start_paused = true)]
async fn a_crd_that_is_installed_meanwhile_syncs() {
    let line = Line::bare();
    let factory = InformerFactory::new(line.client());
    let loggers = factory.informer::<Logger>();
    factory.start();
    factory.wait_for_sync(DEADLINE).await.unwrap_err();
    tests::install_crds(&line.direct()).await;
    factory.wait_for_sync(PATIENCE).await.unwrap();
    assert_eq!(loggers.last_error(), None);
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn shutdown_ends_every_task_even_when_the_server_hangs() {
    for (asked, answer) in [
        (Asked::Other, Answer::Never),
        (Asked::List, Answer::Never),
        (Asked::Watch, Answer::Never),
        (Asked::List, Answer::Refused),
    ] {
        let line = Line::new().await;
        let world = World::of(&line);
        line.always(asked, answer);
        let factory = InformerFactory::new(line.client());
        let mut heard = hear(&factory.informer::<Logger>());
        factory.informer::<Book>();
        let tasks = settled().await;
        factory.start();
        assert_eq!(alive(), tasks + 2);
        line.until(if asked == Asked::List { asked } else { Asked::Watch }, 2).await;

        let before = Instant::now();
        timeout(DEADLINE, factory.shutdown()).await.expect("it returns");
        assert_eq!(before.elapsed(), Duration::ZERO);
        assert_eq!(alive(), tasks);
        assert_eq!(line.hanging(), 0);
        line.heal();
        world.create("audit", 1).await;
        assert!(timeout(PATIENCE, std::future::pending::<()>()).await.is_err());
        assert_eq!(heard.now(), [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_factory_that_was_shut_down_starts_none_again() {
    let line = Line::new().await;
    let factory = InformerFactory::new(line.client());
    factory.shutdown().await;
    factory.informer::<Logger>();
    let tasks = settled().await;
    factory.start();
    assert_eq!(alive(), tasks);
    factory.wait_for_sync(DEADLINE).await.unwrap_err();
    assert_eq!(line.count(Asked::List), 0);
    timeout(DEADLINE, factory.shutdown()).await.expect("a second shutdown returns");
}

fn alive() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

/// How many tasks there are once those that can end have ended.
async fn settled() -> usize {
    drop(timeout(Duration::from_secs(1), std::future::pending::<()>()).await);
    alive()
}
