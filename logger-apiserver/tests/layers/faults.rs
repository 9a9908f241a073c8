//! What `Faults` promise

use std::{error::Error, io, time::Duration};

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, pin_mut, stream::BoxStream};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    Api,
    api::{ListParams, PostParams, WatchEvent, WatchParams},
    client::Body,
};
use logger_apiserver::{ApiServer, Fault, Faults, Requests, Verb};
use tokio::{
    sync::watch,
    time::{Instant, timeout},
};
use tower::{Layer, ServiceExt};

const MOMENT: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(60);

/// A server with faults before it, and one client at each end.
struct World {
    server: ApiServer,
    faults: Faults,
    /// Of those before which faults stand.
    maps: Api<ConfigMap>,
    /// Of the server's own side.
    direct: Api<ConfigMap>,
}

fn world() -> World {
    let (server, faults) = (ApiServer::new(), Faults::new());
    let maps = Api::namespaced(server.client_with(faults.layer()), "default");
    let direct = Api::namespaced(server.client(), "default");
    World { server, faults, maps, direct }
}

fn map(name: &str) -> ConfigMap {
    let metadata = ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() };
    ConfigMap { metadata, data: Some([("key".into(), "value".into())].into()), ..ConfigMap::default() }
}

type Events = BoxStream<'static, kube::Result<WatchEvent<ConfigMap>>>;

impl World {
    async fn create(&self, name: &str) {
        self.direct.create(&PostParams::default(), &map(name)).await.unwrap();
    }

    async fn list(&self) -> kube::Result<usize> {
        self.maps.list(&ListParams::default()).await.map(|list| list.items.len())
    }

    async fn watch(&self) -> Events {
        self.maps.watch(&WatchParams::default().disable_bookmarks(), "0").await.unwrap().boxed()
    }

    /// What a raw request is answered with: its headers are to be seen.
    async fn raw(&self, path: &str) -> Response<Bytes> {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let answer = self.faults.layer().layer(self.server.clone()).oneshot(request).await.unwrap();
        let (parts, body) = answer.into_parts();
        Response::from_parts(parts, body.collect().await.unwrap().to_bytes())
    }
}

/// The code of a refusal, or the kind of the error that the connection had.
fn refusal(error: &kube::Error) -> String {
    if let kube::Error::Api(status) = error {
        return format!("{} {}", status.code, status.reason);
    }
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>()
            && error.get_ref().is_none()
        {
            return format!("{:?}", error.kind());
        }
        cause = error.source();
    }
    panic!("{error:?}")
}

async fn next(events: &mut Events) -> String {
    let event = timeout(PATIENCE, events.next()).await.expect("an event comes");
    match event {
        None => "end".into(),
        Some(Ok(WatchEvent::Added(map))) => format!("added {}", map.metadata.name.unwrap()),
        Some(Ok(WatchEvent::Error(status))) => format!("error {} {}", status.code, status.reason),
        Some(Ok(event)) => format!("{event:?}"),
        Some(Err(error)) => refusal(&error),
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_meets_the_first_rule_that_is_for_it_and_not_used_up() {
    let world = world();
    world.faults.once(Verb::Get, Fault::refused());
    world.faults.next(2, Verb::List, Fault::status(500, "InternalError", "etcd is down"));
    world.faults.once(Requests::to("secrets"), Fault::refused());
    let last = world.faults.always(Requests::to("configmaps"), Fault::status(503, "ServiceUnavailable", "later"));
    let mut met = Vec::new();
    for _ in 0..3 {
        met.push(refusal(&world.list().await.unwrap_err()));
    }
    assert_eq!(met, ["500 InternalError", "500 InternalError", "503 ServiceUnavailable"]);
    assert_eq!(refusal(&world.maps.get("a").await.unwrap_err()), "ConnectionRefused");
    last.heal();
    assert_eq!(world.list().await.unwrap(), 0);
    world.faults.always(Verb::List, Fault::reset());
    assert_eq!(refusal(&world.list().await.unwrap_err()), "ConnectionReset");
    world.faults.heal();
    world.list().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_request_that_meets_no_rule_is_answered_by_the_server_unchanged() {
    let world = world();
    world.create("a").await;
    world.faults.always(Requests::to("secrets"), Fault::refused());
    let path = "/api/v1/namespaces/default/configmaps/a";
    let direct = world.server.clone().oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
    let through = world.raw(path).await;
    assert_eq!((through.status(), through.headers()), (direct.status(), direct.headers()));
    assert_eq!(*through.body(), direct.into_body().collect().await.unwrap().to_bytes());
}

#[tokio::test(start_paused = true)]
async fn a_rule_may_decide_each_time() {
    let world = world();
    world.faults.decide(Verb::List, |request| {
        (request.option("limit") == Some("7")).then(|| Fault::status(504, "Timeout", "too slow"))
    });
    world.faults.always(Verb::List, Fault::refused());
    let error = world.maps.list(&ListParams::default().limit(7)).await.unwrap_err();
    assert_eq!(refusal(&error), "504 Timeout");
    assert_eq!(refusal(&world.list().await.unwrap_err()), "ConnectionRefused");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_says_in_header_and_details_when_to_come_again() {
    let world = world();
    world.faults.once(Verb::List, Fault::status_retry_after(503, "ServiceUnavailable", "starting", 7));
    world.faults.once(Verb::List, Fault::too_many_requests(3));
    let path = "/api/v1/configmaps";
    let first = world.raw(path).await;
    assert_eq!((first.status().as_u16(), &first.headers()["retry-after"]), (503, &"7".parse().unwrap()));
    let status: serde_json::Value = serde_json::from_slice(first.body()).unwrap();
    assert_eq!((&status["details"]["retryAfterSeconds"], &status["kind"]), (&7.into(), &"Status".into()));
    let second = world.raw(path).await;
    assert_eq!((second.status().as_u16(), &second.headers()["retry-after"]), (429, &"3".parse().unwrap()));
    assert_eq!(second.body(), "Too many requests, please try again later.\n");
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_of_a_write_that_was_done() {
    let world = world();
    world.faults.once(Verb::Create, Fault::lost_answer());
    world.faults.once(Verb::Create, Fault::reset());
    for name in ["done", "not-done"] {
        let error = world.maps.create(&PostParams::default(), &map(name)).await.unwrap_err();
        assert_eq!(refusal(&error), "ConnectionReset");
    }
    assert!(world.direct.get_opt("done").await.unwrap().is_some());
    assert!(world.direct.get_opt("not-done").await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn bodies_break_where_told() {
    let world = world();
    world.faults.once(Verb::List, Fault::torn("{\"kind\": \"ConfigMapList\", "));
    world.faults.once(Verb::List, Fault::broken_after(20));
    for _ in 0..2 {
        assert_eq!(refusal(&world.list().await.unwrap_err()), "ConnectionReset");
    }
    world.create("a").await;
    world.faults.once(Verb::Watch, Fault::broken_after(1));
    assert_eq!(next(&mut world.watch().await).await, "ConnectionReset");
    world.faults.once(Verb::List, Fault::broken_after(1 << 20));
    assert_eq!(world.list().await.unwrap(), 1, "it is shorter");
}

#[tokio::test(start_paused = true)]
async fn open_watches_are_cut_ended_or_expired() {
    let world = world();
    world.create("a").await;
    type How = fn(&Faults) -> usize;
    let ends: [(How, &[&str]); 3] = [
        (|faults| faults.cut(Verb::Watch), &["ConnectionReset", "end"]),
        (|faults| faults.end(Verb::Watch), &["end"]),
        (|faults| faults.expire(Requests::to("configmaps")), &["error 410 Expired", "end"]),
    ];
    for (end, last) in ends {
        let mut watches = [world.watch().await, world.watch().await];
        for events in &mut watches {
            while next(events).await != "added a" {}
        }
        assert_eq!(world.faults.open(Verb::Watch), 2);
        assert_eq!(world.faults.cut(Requests::to("secrets")), 0);
        assert_eq!(end(&world.faults), 2);
        for events in &mut watches {
            for last in last {
                assert_eq!(next(events).await, *last);
            }
        }
        assert_eq!(world.faults.open(Requests::all()), 0);
        let mut new = world.watch().await;
        while next(&mut new).await != "added a" {}
    }
}

#[tokio::test(start_paused = true)]
async fn versions_are_too_old_as_a_status_and_as_an_event() {
    let world = world();
    world.faults.once(Verb::Watch, Fault::expired());
    world.faults.once(Verb::Watch, Fault::expired_event());
    let refused = world.maps.watch(&WatchParams::default(), "1").await.err().unwrap();
    assert_eq!(refusal(&refused), "410 Expired");
    let mut events = world.watch().await;
    assert_eq!(next(&mut events).await, "error 410 Expired");
    assert_eq!(next(&mut events).await, "end");
}

#[tokio::test(start_paused = true)]
async fn a_request_hangs_until_it_is_cut_or_given_up() {
    let world = world();
    world.faults.next(2, Verb::List, Fault::hang());
    assert!(timeout(PATIENCE, world.list()).await.is_err());
    assert_eq!(world.faults.waiting(Requests::all()), 0, "it was given up");
    let maps = world.maps.clone();
    let hanging = tokio::spawn(async move { maps.list(&ListParams::default()).await });
    timeout(MOMENT, world.faults.wait_for(|faults| faults.waiting(Verb::List) == 1)).await.unwrap();
    world.faults.heal();
    assert_eq!((world.faults.end(Verb::List), world.faults.waiting(Verb::List)), (0, 1));
    assert_eq!(world.faults.cut(Verb::List), 1);
    assert_eq!(refusal(&hanging.await.unwrap().unwrap_err()), "ConnectionReset");
    assert_eq!(world.faults.waiting(Requests::all()), 0);
}

#[tokio::test(start_paused = true)]
async fn latency_is_before_the_server_and_lateness_after_it() {
    let world = world();
    for (fault, expected) in [(Fault::latency(MOMENT), 1), (Fault::late(MOMENT), 0)] {
        world.faults.once(Verb::List, fault);
        let (start, maps) = (Instant::now(), world.maps.clone());
        let listing = tokio::spawn(async move { maps.list(&ListParams::default()).await.unwrap().items.len() });
        world.faults.wait_for(|faults| faults.waiting(Verb::List) == 1).await;
        tokio::time::sleep(MOMENT / 2).await;
        world.create("a").await;
        assert_eq!((listing.await.unwrap(), start.elapsed()), (expected, MOMENT));
        world.direct.delete("a", &Default::default()).await.unwrap();
    }
    world.faults.once(Verb::List, Fault::refused().delayed(MOMENT));
    let start = Instant::now();
    assert_eq!((refusal(&world.list().await.unwrap_err()), start.elapsed()), ("ConnectionRefused".into(), MOMENT));
}

#[tokio::test(start_paused = true)]
async fn a_gate_holds_requests_up_until_it_is_open_or_nobody_holds_it() {
    let world = world();
    let (open, gate) = watch::channel(false);
    world.faults.always(Verb::List, Fault::gate(gate));
    assert!(timeout(PATIENCE, world.list()).await.is_err());
    open.send_replace(true);
    world.list().await.unwrap();
    open.send_replace(false);
    assert!(timeout(PATIENCE, world.list()).await.is_err());
    drop(open);
    world.list().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_slow_body_comes_piece_by_piece() {
    let world = world();
    let whole = world.raw("/api/v1/configmaps").await.into_body();
    world.faults.once(Verb::List, Fault::slow(10, MOMENT));
    let start = Instant::now();
    assert_eq!(world.raw("/api/v1/configmaps").await.into_body(), whole);
    assert_eq!(start.elapsed(), MOMENT * u32::try_from(whole.len().div_ceil(10)).unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_ahead_shows_in_dates_and_in_the_times_of_objects() {
    let world = world();
    world.create("a").await;
    let hour = SignedDuration::from_hours(1);
    let created = |map: &ConfigMap| map.metadata.creation_timestamp.as_ref().unwrap().0;
    let managed = |map: &ConfigMap| map.metadata.managed_fields.as_ref().unwrap()[0].time.as_ref().unwrap().0;
    let stored = world.direct.get("a").await.unwrap();
    for by in [hour, -hour] {
        world.faults.heal();
        world.faults.always(Requests::to("configmaps"), Fault::clock_ahead(by));
        let read = world.maps.get("a").await.unwrap();
        assert_eq!(created(&read), created(&stored) + by);
        assert_eq!(managed(&read), managed(&stored) + by);
        let list = world.maps.list(&ListParams::default()).await.unwrap();
        assert!(list.items.iter().any(|map| created(map) == created(&stored) + by));
        let events = world.maps.watch(&WatchParams::default().fields("metadata.name=a"), "0").await.unwrap();
        pin_mut!(events);
        let Some(WatchEvent::Added(event)) = events.try_next().await.unwrap() else { panic!("it is there") };
        assert_eq!(created(&event), created(&stored) + by);
        let date = world.raw("/api/v1/configmaps").await.headers()["date"].to_str().unwrap().to_owned();
        let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(&date).unwrap();
        assert!((date - Timestamp::now()).get_seconds().abs_diff(by.as_secs()) < 60, "{date}");
    }
}

#[tokio::test(start_paused = true)]
async fn requests_are_told_in_the_order_they_were_sent() {
    let world = world();
    world.faults.always(Verb::Delete, Fault::refused());
    world.maps.create(&PostParams::default(), &map("a")).await.unwrap();
    tokio::time::sleep(MOMENT).await;
    world.list().await.unwrap();
    world.maps.delete("a", &Default::default()).await.unwrap_err();
    let seen = world.faults.seen(Requests::to("configmaps").namespace("default"));
    let told: Vec<_> = seen.iter().map(|seen| seen.info.to_string()).collect();
    assert_eq!(told, ["create configmaps default", "list configmaps default", "delete configmaps default/a"]);
    assert_eq!(seen[1].at - seen[0].at, MOMENT);
    assert_eq!((world.faults.count(Verb::List), world.faults.count(Verb::Watch)), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_count_of_requests_can_be_awaited() {
    let world = world();
    let (faults, maps) = (world.faults.clone(), world.maps.clone());
    assert!(timeout(MOMENT, faults.until(Verb::List, 1)).await.is_err());
    tokio::spawn(async move {
        for _ in 0..3 {
            tokio::time::sleep(MOMENT).await;
            maps.list(&ListParams::default()).await.unwrap();
        }
    });
    let start = Instant::now();
    timeout(PATIENCE, faults.until(Verb::List, 3)).await.unwrap();
    assert_eq!(start.elapsed(), 3 * MOMENT);
}

#[tokio::test(start_paused = true)]
async fn of_many_requests_the_latest_are_remembered() {
    let faults = Faults::remembering(10);
    let maps: Api<ConfigMap> = Api::namespaced(ApiServer::new().client_with(faults.layer()), "default");
    for number in 0..25 {
        maps.get_opt(&format!("a{number}")).await.unwrap();
    }
    let names: Vec<_> = faults.seen(Verb::Get).into_iter().map(|seen| seen.info.name).collect();
    assert_eq!((names.len(), names[0].as_str(), faults.forgotten()), (10, "a15", 15));
    faults.forget();
    assert_eq!((faults.count(Requests::all()), faults.forgotten()), (0, 25));
}

#[tokio::test(start_paused = true)]
async fn faults_stand_before_any_service() {
    let faults = Faults::new();
    let other =
        tower::service_fn(|_: Request<Body>| async { Ok::<_, io::Error>(Response::new(Full::<Bytes>::from("hello"))) });
    let client = kube::client::ClientBuilder::new(other, "default").with_layer(&faults.layer()).build::<_>();
    let ask = || Request::get("/version").body(Vec::new()).unwrap();
    faults.once(Verb::Get, Fault::refused());
    assert_eq!(refusal(&client.request_text(ask()).await.unwrap_err()), "ConnectionRefused");
    assert_eq!(client.request_text(ask()).await.unwrap(), "hello");
}
