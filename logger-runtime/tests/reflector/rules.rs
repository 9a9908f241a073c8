//! The rules of the reflector, R1 to R11, over a client. The clock is paused.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{DeleteParams, PostParams};
use logger_runtime::Reflector;
use logger_runtime::reflector::{Config, Event, ExponentialBackoff, InitialSync};
use tokio::time::Instant;

use crate::hearing::hear;
use crate::script::{Answer, Script, bookmark, error, event, list, object};

fn watch_list() -> Config<ConfigMap> {
    Config::default().initial_sync(InitialSync::WatchList)
}

fn named(name: &str) -> ConfigMap {
    serde_json::from_value(object(name, "")).unwrap()
}

#[tokio::test(start_paused = true)]
async fn r01_it_lists_any_version_in_pages_and_follows_the_server() {
    let script = Script::real();
    let api: Api<ConfigMap> = Api::namespaced(script.backdoor(), "default");
    let version = |object: ConfigMap| object.metadata.resource_version.unwrap();
    let create = async |name| version(api.create(&PostParams::default(), &named(name)).await.unwrap());
    let early = create("early").await;
    let mut heard = hear(&script, Config::default());
    heard.these(&[&format!("all early @{early}")]).await;
    let late = create("late").await;
    heard.these(&[&format!("late @{late}")]).await;
    api.delete("early", &DeleteParams::default()).await.unwrap();
    let gone = late.parse::<u64>().unwrap() + 1;
    heard.these(&[&format!("-early @{gone}")]).await;
    let (first, watch) = (&script.lists()[0], &script.watches()[0]);
    assert_eq!((first.version(), first.option("limit")), ("0", "500"));
    assert_eq!((watch.version(), watch.option("allowWatchBookmarks")), (early.as_str(), "true"));
    let timeout: u64 = watch.option("timeoutSeconds").parse().unwrap();
    assert!((300..=600).contains(&timeout), "{timeout}");
}

#[tokio::test(start_paused = true)]
async fn r01_pages_are_told_as_one_list_of_the_first_ones_version() {
    let script = Script::new(|asked, _| match (asked.watch, asked.option("continue")) {
        (true, _) => Answer::Open(vec![]),
        (_, "") => list(&["a", "b"], "7", "second"),
        (_, "second") => list(&["c"], "7", "third"),
        _ => list(&["d"], "7", ""),
    });
    hear(&script, Config::default().page_size(2)).these(&["all a b c d @7"]).await;
    let pages: Vec<_> =
        script.lists().iter().map(|asked| (asked.version().to_owned(), asked.option("limit").to_owned())).collect();
    let pages: Vec<_> = pages.iter().map(|(version, limit)| (version.as_str(), limit.as_str())).collect();
    assert_eq!(pages, [("0", "2"), ("", "2"), ("", "2")]);
}

/// As kube-apiserver 1.36 does after a restart: etcd still has the version, the server's memory does not.
#[tokio::test(start_paused = true)]
async fn r01_a_relist_in_pages_is_not_of_a_version_that_can_no_longer_be_watched() {
    let script = Script::new(|asked, _| match (asked.watch, asked.version(), asked.option("resourceVersionMatch")) {
        (true, "10", _) => Answer::Lines(vec![error(410, "Expired")]),
        (true, ..) => Answer::Open(vec![]),
        (false, "10", "NotOlderThan") => list(&["b"], "20", ""),
        (false, ..) => list(&["a"], "10", ""),
    });
    hear(&script, Config::default().page_size(2)).these(&["all a @10", "all b @20"]).await;
}

#[tokio::test(start_paused = true)]
async fn r02_an_expired_version_has_the_newest_listed() {
    let script = Script::new(|asked, before| match (asked.watch, before) {
        (true, 0) => Answer::Lines(vec![error(410, "Expired")]),
        (true, _) => Answer::Open(vec![]),
        (false, 0) => list(&["a"], "10", ""),
        (false, 1) => Answer::Refused(410, "Expired"),
        (false, _) => list(&["b"], "20", ""),
    });
    hear(&script, Config::default()).these(&["all a @10", "all b @20"]).await;
    assert_eq!(script.listed(), ["0", "10", ""]);
}

#[tokio::test(start_paused = true)]
async fn r04_a_server_that_is_busy_or_away_is_watched_again_without_a_list() {
    let script = Script::new(|asked, before| match (asked.watch, before) {
        (false, _) => list(&["a"], "10", ""),
        (true, 0 | 2) => Answer::Refused(429, "TooManyRequests"),
        (true, 1 | 3) => Answer::NobodyThere,
        (true, _) => Answer::Open(vec![event("ADDED", "b", "11")]),
    });
    hear(&script, Config::default()).these(&["all a @10", "b @11"]).await;
    assert_eq!(script.listed(), ["0"]);
    assert_eq!(script.watched(), ["10"; 5]);
}

#[tokio::test(start_paused = true)]
async fn r05_a_server_that_stays_broken_is_listed_after_half_a_minute() {
    let script = Script::new(|asked, _| match asked.watch {
        false => list(&["a"], "10", ""),
        true => Answer::Refused(500, "InternalError"),
    });
    let start = Instant::now();
    hear(&script, Config::default()).these(&["all a @10", "all a @10"]).await;
    assert!((4..10).contains(&script.watches().len()), "{}", script.watches().len());
    assert!(start.elapsed() > Duration::from_secs(30), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn r06_the_back_off_can_be_another() {
    let script = Script::new(|asked, before| match (asked.watch, before) {
        (false, 0..5) => Answer::Refused(500, "InternalError"),
        (false, _) => list(&[], "10", ""),
        (true, _) => Answer::Open(vec![]),
    });
    let backoff = ExponentialBackoff::new(Duration::from_millis(10), Duration::from_millis(100));
    let start = Instant::now();
    hear(&script, Config::default().backoff(backoff)).these(&["all  @10"]).await;
    assert_eq!(start.elapsed().as_millis(), 10 + 20 + 40 + 80 + 100);
}

#[tokio::test(start_paused = true)]
async fn r07_a_connection_that_died_silently_is_given_up() {
    let script = Script::new(|asked, before| match (asked.watch, before) {
        (false, _) => list(&["a"], "10", ""),
        (true, 0) => Answer::Open(vec![bookmark("12", false)]),
        (true, 1) => Answer::Never,
        (true, _) => Answer::Open(vec![event("ADDED", "b", "13")]),
    });
    let mut heard = hear(&script, Config::default());
    heard.these(&["all a @10", "@12"]).await;
    let start = Instant::now();
    let told = heard.error().await.to_string();
    assert!(told.starts_with("cannot watch configmaps: the server was silent for"), "{told}");
    heard.these(&["b @13"]).await;
    // Bookmarks that stop, 3 minutes; then a watch that never begins, at most ten and a half.
    assert!(start.elapsed() <= Duration::from_secs(180 + 632), "{:?}", start.elapsed());
    assert_eq!((script.listed().len(), script.watched()), (1, vec!["10".into(), "12".into(), "12".into()]));
}

#[tokio::test(start_paused = true)]
async fn r07_an_idle_timeout_notices_it_sooner() {
    let script = Script::new(|asked, before| match (asked.watch, before) {
        (false, _) => list(&["a"], "10", ""),
        (true, 0) => Answer::Open(vec![]),
        (true, _) => Answer::Open(vec![event("ADDED", "b", "13")]),
    });
    let start = Instant::now();
    let config = Config::default().idle_timeout(Duration::from_secs(90));
    hear(&script, config).these(&["all a @10", "b @13"]).await;
    assert!(start.elapsed() < Duration::from_secs(95), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn r07_a_list_that_never_comes_is_given_up() {
    let script = Script::new(|asked, before| match (asked.watch, before) {
        (false, 0) => Answer::Never,
        (false, _) => list(&["a"], "10", ""),
        (true, _) => Answer::Open(vec![]),
    });
    let mut heard = hear(&script, Config::default().list_timeout(Duration::from_secs(60)));
    assert!(heard.error().await.to_string().contains("no complete answer came within 60s"));
    heard.these(&["all a @10"]).await;
}

#[tokio::test(start_paused = true)]
async fn r08_the_version_follows_every_event_and_unknown_ones_are_skipped() {
    let script = Script::new(|asked, before| match (asked.watch, before) {
        (false, _) => list(&["a"], "5", ""),
        (true, 0) => Answer::Lines(vec![
            event("ADDED", "b", "10"),
            event("MODIFIED", "b", "20"),
            event("DELETED", "b", "30"),
            event("RENAMED", "b", "35"),
            bookmark("40", false),
        ]),
        (true, _) => Answer::Open(vec![event("ADDED", "c", "50")]),
    });
    let mut heard = hear(&script, Config::default());
    heard.these(&["all a @5", "b @10", "b @20", "-b @30", "@40", "c @50"]).await;
    assert_eq!(script.watched(), ["5", "40"]);
}

#[tokio::test(start_paused = true)]
async fn r09_a_streamed_list_is_told_at_its_end_and_its_watch_goes_on() {
    let script = Script::new(|asked, _| match asked.option("sendInitialEvents") {
        "true" => Answer::Open(vec![
            event("ADDED", "b", "9"),
            event("ADDED", "a", "3"),
            event("ADDED", "gone", "4"),
            event("MODIFIED", "a", "10"),
            event("DELETED", "gone", "11"),
            bookmark("12", true),
            event("ADDED", "c", "14"),
        ]),
        _ => Answer::Refused(500, "InternalError"),
    });
    let mut heard = hear(&script, watch_list());
    let Event::Replaced { objects, .. } = heard.event().await.unwrap() else { panic!("all are told first") };
    let mut versions: Vec<_> = objects.iter().map(|object| object.metadata.resource_version.clone().unwrap()).collect();
    versions.sort();
    assert_eq!(versions, ["10", "9"]);
    heard.these(&["c @14"]).await;
    let watch = &script.watches()[0];
    assert_eq!((watch.version(), watch.option("resourceVersionMatch")), ("", "NotOlderThan"));
    assert_eq!((script.lists().len(), script.watches().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn r09_the_api_server_in_memory_streams_lists() {
    let script = Script::real();
    let api: Api<ConfigMap> = Api::namespaced(script.backdoor(), "default");
    let created = api.create(&PostParams::default(), &named("early")).await.unwrap();
    let mut heard = hear(&script, watch_list());
    heard.these(&[&format!("all early @{}", created.metadata.resource_version.unwrap())]).await;
    let late = api.create(&PostParams::default(), &named("late")).await.unwrap();
    heard.these(&[&format!("late @{}", late.metadata.resource_version.unwrap())]).await;
    assert_eq!((script.lists().len(), script.watches().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn r10_nothing_is_left_open_when_it_is_dropped() {
    let script = Script::real();
    let mut heard = hear(&script, Config::default());
    heard.next().await;
    // The watch begins when the next event is asked for.
    assert!(tokio::time::timeout(Duration::from_secs(1), heard.event()).await.is_err());
    script.until_open(1).await;
    drop(heard);
    script.until_open(0).await;
}

#[tokio::test(start_paused = true)]
async fn r10_it_can_be_dropped_before_any_answer_and_asks_nothing_more() {
    let script = Script::new(|_, _| Answer::Never);
    let mut heard = hear(&script, Config::default());
    assert!(tokio::time::timeout(Duration::from_secs(1), heard.event()).await.is_err());
    drop(heard);
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!((script.lists().len(), script.watches().len()), (1, 0));
    drop(Reflector::<ConfigMap>::new(Api::all(script.client())).events());
    assert_eq!(script.lists().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn r11_an_object_the_server_cannot_read_is_gone_with_the_next_list() {
    let script = Script::new(|asked, before| match (asked.watch, before) {
        (false, 0) => list(&["corrupt", "sound"], "3", ""),
        (false, _) => list(&["sound"], "9", ""),
        (true, 0) => Answer::Lines(vec![error(500, "StorageReadError")]),
        (true, _) => Answer::Open(vec![]),
    });
    hear(&script, Config::default()).these(&["all corrupt sound @3", "all sound @9"]).await;
    assert_eq!(script.listed(), ["0", "3"]);
}
