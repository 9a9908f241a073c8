//! R12: where kube's watcher does not recover and the reflector does. A test that fails for kube means that it was mended.

use std::time::Duration;

use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::runtime::{WatchStreamExt, watcher};
use logger_runtime::reflector::{Config, InitialSync};

use crate::hearing::hear;
use crate::script::{Answer, Script, event, list};

const HOUR: Duration = Duration::from_secs(3600);

/// What kube's watcher, with its back-off, tells within an hour.
async fn kube_tells(script: &Script, config: watcher::Config) -> Vec<watcher::Result<watcher::Event<ConfigMap>>> {
    let api: Api<ConfigMap> = Api::namespaced(script.client(), "default");
    within_an_hour(watcher(api, config).default_backoff()).await
}

async fn within_an_hour<T>(events: impl Stream<Item = T>) -> Vec<T> {
    Box::pin(events.take_until(tokio::time::sleep(HOUR))).collect().await
}

fn synced(told: &[watcher::Result<watcher::Event<ConfigMap>>]) -> usize {
    told.iter().filter(|event| matches!(event, Ok(watcher::Event::InitDone))).count()
}

/// The version of the first list is forgotten before the watch begins.
fn forgets_the_first_version() -> Script {
    Script::new(|asked, before| match (asked.watch, asked.version()) {
        (false, _) if before == 0 => list(&["a"], "10", ""),
        (false, _) => list(&["a", "b"], "50", ""),
        (true, "10") => Answer::Refused(410, "Expired"),
        (true, _) => Answer::Open(vec![event("ADDED", "c", "51")]),
    })
}

#[tokio::test(start_paused = true)]
async fn r12_a_watch_refused_with_410_is_healed_by_one_relist() {
    let script = forgets_the_first_version();
    hear(&script, Config::default()).these(&["all a @10", "all a b @50", "c @51"]).await;
    assert_eq!(script.listed(), ["0", "10"]);
}

#[tokio::test(start_paused = true)]
async fn r12_kube_asks_for_the_forgotten_version_for_ever() {
    let script = forgets_the_first_version();
    let told = kube_tells(&script, watcher::Config::default()).await;
    assert_eq!((synced(&told), script.lists().len()), (1, 1));
    assert!(script.watches().len() > 50);
    assert!(script.watched().iter().all(|version| version == "10"));
}

fn streams_no_lists() -> Script {
    Script::new(|asked, _| match (asked.watch, asked.option("sendInitialEvents")) {
        (false, _) => list(&["a"], "10", ""),
        (true, "true") => Answer::Refused(422, "Invalid"),
        (true, _) => Answer::Open(vec![event("ADDED", "b", "11")]),
    })
}

#[tokio::test(start_paused = true)]
async fn r12_a_server_that_streams_no_lists_is_listed_once() {
    let script = streams_no_lists();
    let config = Config::default().initial_sync(InitialSync::WatchList);
    hear(&script, config).these(&["all a @10", "b @11"]).await;
    assert_eq!((script.listed(), script.watches().len()), (vec!["0".into()], 2));
}

#[tokio::test(start_paused = true)]
async fn r12_kube_never_syncs_with_a_server_that_streams_no_lists() {
    let script = streams_no_lists();
    let told = kube_tells(&script, watcher::Config::default().streaming_lists()).await;
    assert_eq!((synced(&told), script.lists().len()), (0, 0));
}

/// Listing in pages takes longer than the server keeps a version, each time.
fn forgets_pages() -> Script {
    Script::new(|asked, _| match (asked.watch, asked.option("continue"), asked.option("limit")) {
        (true, ..) => Answer::Open(vec![event("ADDED", "c", "11")]),
        (false, "", "") => list(&["a", "b"], "10", ""),
        (false, "", _) => list(&["a"], "10", "more"),
        (false, ..) => Answer::Refused(410, "Expired"),
    })
}

#[tokio::test(start_paused = true)]
async fn r12_an_expired_continue_token_is_healed_by_one_list_in_one_piece() {
    let script = forgets_pages();
    hear(&script, Config::default()).these(&["all a b @10", "c @11"]).await;
    let limits: Vec<_> = script.lists().iter().map(|asked| asked.option("limit").to_owned()).collect();
    assert_eq!(limits, ["500", "500", ""]);
}

#[tokio::test(start_paused = true)]
async fn r12_kube_lists_in_pages_for_ever_when_their_tokens_expire() {
    let script = forgets_pages();
    let told = kube_tells(&script, watcher::Config::default()).await;
    assert_eq!((synced(&told), script.watches().len()), (0, 0));
    // Each beginning counts as a success to its back-off, so they are a second apart.
    assert!(script.lists().len() > 2 * 2000);
}
