//! The guarantees of `Faults`. The clock is paused.

use std::{error::Error, io, time::Duration};

use bytes::Bytes;
use futures::{StreamExt, stream::BoxStream};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    Api,
    api::{ListParams, PostParams, WatchEvent, WatchParams},
    client::Body,
};
use kubewright_apiserver::{ApiServer, Fault, Faults, Requests, Verb};
use tokio::{
    sync::watch,
    time::{Instant, timeout},
};
use tower::{Layer, ServiceExt};

const MOMENT: Duration = Duration::from_secs(1);
const TIMEOUT: Duration = Duration::from_secs(60);

/// A server behind faults, with a client on either side of them.
struct Fixture {
    server: ApiServer,
    faults: Faults,
    /// The client behind the faults.
    maps: Api<ConfigMap>,
    /// The client without faults.
    direct: Api<ConfigMap>,
}

fn fixture() -> Fixture {
    let (server, faults) = (ApiServer::new(), Faults::new());
    let maps = Api::namespaced(server.client_with(faults.layer()), "default");
    let direct = Api::namespaced(server.client(), "default");
    Fixture { server, faults, maps, direct }
}

fn map(name: &str) -> ConfigMap {
    let metadata = ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() };
    ConfigMap { metadata, data: Some([("key".into(), "value".into())].into()), ..ConfigMap::default() }
}

type Events = BoxStream<'static, kube::Result<WatchEvent<ConfigMap>>>;

impl Fixture {
    async fn create(&self, name: &str) {
        self.direct.create(&PostParams::default(), &map(name)).await.unwrap();
    }

    async fn list(&self) -> kube::Result<usize> {
        self.maps.list(&ListParams::default()).await.map(|list| list.items.len())
    }

    async fn watch(&self) -> Events {
        self.maps.watch(&WatchParams::default().disable_bookmarks(), "0").await.unwrap().boxed()
    }

    /// Sends a raw request and returns the complete response.
    async fn raw(&self, path: &str) -> Response<Bytes> {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let answer = self.faults.layer().layer(self.server.clone()).oneshot(request).await.unwrap();
        let (parts, body) = answer.into_parts();
        Response::from_parts(parts, body.collect().await.unwrap().to_bytes())
    }
}

/// Returns the code and reason of a rejection, or the kind of a connection error.
fn failure(error: &kube::Error) -> String {
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
    let event = timeout(TIMEOUT, events.next()).await.expect("an event arrives");
    match event {
        None => "end".into(),
        Some(Ok(WatchEvent::Added(map))) => format!("added {}", map.metadata.name.unwrap()),
        Some(Ok(WatchEvent::Error(status))) => format!("error {} {}", status.code, status.reason),
        Some(Ok(event)) => format!("{event:?}"),
        Some(Err(error)) => failure(&error),
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_matching_rule_with_remaining_uses_applies() {
    let fixture = fixture();
    fixture.faults.once(Verb::Get, Fault::connection_refused());
    fixture.faults.next(2, Verb::List, Fault::status(500, "InternalError", "etcd is down"));
    fixture.faults.once(Requests::to("secrets"), Fault::connection_refused());
    let last = fixture.faults.always(Requests::to("configmaps"), Fault::status(503, "ServiceUnavailable", "later"));
    let mut met = Vec::new();
    for _ in 0..3 {
        met.push(failure(&fixture.list().await.unwrap_err()));
    }
    assert_eq!(met, ["500 InternalError", "500 InternalError", "503 ServiceUnavailable"]);
    assert_eq!(failure(&fixture.maps.get("a").await.unwrap_err()), "ConnectionRefused");
    last.heal();
    assert_eq!(fixture.list().await.unwrap(), 0);
    fixture.faults.always(Verb::List, Fault::reset());
    assert_eq!(failure(&fixture.list().await.unwrap_err()), "ConnectionReset");
    fixture.faults.heal();
    fixture.list().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn requests_without_a_matching_rule_reach_the_server_unchanged() {
    let fixture = fixture();
    fixture.create("a").await;
    fixture.faults.always(Requests::to("secrets"), Fault::connection_refused());
    let path = "/api/v1/namespaces/default/configmaps/a";
    let direct = fixture.server.clone().oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
    let through = fixture.raw(path).await;
    assert_eq!((through.status(), through.headers()), (direct.status(), direct.headers()));
    assert_eq!(*through.body(), direct.into_body().collect().await.unwrap().to_bytes());
}

#[tokio::test(start_paused = true)]
async fn a_rule_can_decide_per_request() {
    let fixture = fixture();
    fixture.faults.decide(Verb::List, |request| {
        (request.option("limit") == Some("7")).then(|| Fault::status(504, "Timeout", "too slow"))
    });
    fixture.faults.always(Verb::List, Fault::connection_refused());
    let error = fixture.maps.list(&ListParams::default().limit(7)).await.unwrap_err();
    assert_eq!(failure(&error), "504 Timeout");
    assert_eq!(failure(&fixture.list().await.unwrap_err()), "ConnectionRefused");
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_in_header_and_details() {
    let fixture = fixture();
    fixture.faults.once(Verb::List, Fault::status_retry_after(503, "ServiceUnavailable", "starting", 7));
    fixture.faults.once(Verb::List, Fault::too_many_requests(3));
    let path = "/api/v1/configmaps";
    let first = fixture.raw(path).await;
    assert_eq!((first.status().as_u16(), &first.headers()["retry-after"]), (503, &"7".parse().unwrap()));
    let status: serde_json::Value = serde_json::from_slice(first.body()).unwrap();
    assert_eq!((&status["details"]["retryAfterSeconds"], &status["kind"]), (&7.into(), &"Status".into()));
    let second = fixture.raw(path).await;
    assert_eq!((second.status().as_u16(), &second.headers()["retry-after"]), (429, &"3".parse().unwrap()));
    assert_eq!(second.body(), "Too many requests, please try again later.\n");
}

#[tokio::test(start_paused = true)]
async fn a_lost_response_is_of_a_write_that_succeeded() {
    let fixture = fixture();
    fixture.faults.once(Verb::Create, Fault::lost_answer());
    fixture.faults.once(Verb::Create, Fault::reset());
    for name in ["done", "not-done"] {
        let error = fixture.maps.create(&PostParams::default(), &map(name)).await.unwrap_err();
        assert_eq!(failure(&error), "ConnectionReset");
    }
    assert!(fixture.direct.get_opt("done").await.unwrap().is_some());
    assert!(fixture.direct.get_opt("not-done").await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn bodies_break_off_at_the_specified_byte() {
    let fixture = fixture();
    fixture.faults.once(Verb::List, Fault::torn("{\"kind\": \"ConfigMapList\", "));
    fixture.faults.once(Verb::List, Fault::broken_after(20));
    for _ in 0..2 {
        assert_eq!(failure(&fixture.list().await.unwrap_err()), "ConnectionReset");
    }
    fixture.create("a").await;
    fixture.faults.once(Verb::Watch, Fault::broken_after(1));
    assert_eq!(next(&mut fixture.watch().await).await, "ConnectionReset");
    fixture.faults.once(Verb::List, Fault::broken_after(1 << 20));
    assert_eq!(fixture.list().await.unwrap(), 1, "the body is shorter");
}

#[tokio::test(start_paused = true)]
async fn open_watches_can_be_reset_ended_or_expired() {
    let fixture = fixture();
    fixture.create("a").await;
    type How = fn(&Faults) -> usize;
    let ends: [(How, &[&str]); 3] = [
        (|faults| faults.cut(Verb::Watch), &["ConnectionReset", "end"]),
        (|faults| faults.end(Verb::Watch), &["end"]),
        (|faults| faults.expire(Requests::to("configmaps")), &["error 410 Expired", "end"]),
    ];
    for (end, last) in ends {
        let mut watches = [fixture.watch().await, fixture.watch().await];
        for events in &mut watches {
            while next(events).await != "added a" {}
        }
        assert_eq!(fixture.faults.open(Verb::Watch), 2);
        assert_eq!(fixture.faults.cut(Requests::to("secrets")), 0);
        assert_eq!(end(&fixture.faults), 2);
        for events in &mut watches {
            for last in last {
                assert_eq!(next(events).await, *last);
            }
        }
        assert_eq!(fixture.faults.open(Requests::all()), 0);
        let mut new = fixture.watch().await;
        while next(&mut new).await != "added a" {}
    }
}

#[tokio::test(start_paused = true)]
async fn expired_versions_are_a_status_or_an_event() {
    let fixture = fixture();
    fixture.faults.once(Verb::Watch, Fault::expired());
    fixture.faults.once(Verb::Watch, Fault::expired_event());
    let rejected = fixture.maps.watch(&WatchParams::default(), "1").await.err().unwrap();
    assert_eq!(failure(&rejected), "410 Expired");
    let mut events = fixture.watch().await;
    assert_eq!(next(&mut events).await, "error 410 Expired");
    assert_eq!(next(&mut events).await, "end");
}

#[tokio::test(start_paused = true)]
async fn a_request_hangs_until_it_is_reset_or_cancelled() {
    let fixture = fixture();
    fixture.faults.next(2, Verb::List, Fault::hang());
    assert!(timeout(TIMEOUT, fixture.list()).await.is_err());
    assert_eq!(fixture.faults.waiting(Requests::all()), 0, "the request was cancelled");
    let maps = fixture.maps.clone();
    let hanging = tokio::spawn(async move { maps.list(&ListParams::default()).await });
    timeout(MOMENT, fixture.faults.wait_for(|faults| faults.waiting(Verb::List) == 1)).await.unwrap();
    fixture.faults.heal();
    assert_eq!((fixture.faults.end(Verb::List), fixture.faults.waiting(Verb::List)), (0, 1));
    assert_eq!(fixture.faults.cut(Verb::List), 1);
    assert_eq!(failure(&hanging.await.unwrap().unwrap_err()), "ConnectionReset");
    assert_eq!(fixture.faults.waiting(Requests::all()), 0);
}

#[tokio::test(start_paused = true)]
async fn latency_delays_the_request_and_late_the_response() {
    let fixture = fixture();
    for (fault, expected) in [(Fault::latency(MOMENT), 1), (Fault::late(MOMENT), 0)] {
        fixture.faults.once(Verb::List, fault);
        let (start, maps) = (Instant::now(), fixture.maps.clone());
        let listing = tokio::spawn(async move { maps.list(&ListParams::default()).await.unwrap().items.len() });
        fixture.faults.wait_for(|faults| faults.waiting(Verb::List) == 1).await;
        tokio::time::sleep(MOMENT / 2).await;
        fixture.create("a").await;
        assert_eq!((listing.await.unwrap(), start.elapsed()), (expected, MOMENT));
        fixture.direct.delete("a", &Default::default()).await.unwrap();
    }
    fixture.faults.once(Verb::List, Fault::connection_refused().delayed(MOMENT));
    let start = Instant::now();
    assert_eq!((failure(&fixture.list().await.unwrap_err()), start.elapsed()), ("ConnectionRefused".into(), MOMENT));
}

#[tokio::test(start_paused = true)]
async fn a_gate_blocks_requests_until_it_is_open_or_dropped() {
    let fixture = fixture();
    let (open, gate) = watch::channel(false);
    fixture.faults.always(Verb::List, Fault::gate(gate));
    assert!(timeout(TIMEOUT, fixture.list()).await.is_err());
    open.send_replace(true);
    fixture.list().await.unwrap();
    open.send_replace(false);
    assert!(timeout(TIMEOUT, fixture.list()).await.is_err());
    drop(open);
    fixture.list().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_slow_body_arrives_in_chunks() {
    let fixture = fixture();
    let complete = fixture.raw("/api/v1/configmaps").await.into_body();
    fixture.faults.once(Verb::List, Fault::slow(10, MOMENT));
    let start = Instant::now();
    assert_eq!(fixture.raw("/api/v1/configmaps").await.into_body(), complete);
    assert_eq!(start.elapsed(), MOMENT * u32::try_from(complete.len().div_ceil(10)).unwrap());
}

#[tokio::test(start_paused = true)]
async fn requests_are_recorded_in_order() {
    let fixture = fixture();
    fixture.faults.always(Verb::Delete, Fault::connection_refused());
    fixture.maps.create(&PostParams::default(), &map("a")).await.unwrap();
    tokio::time::sleep(MOMENT).await;
    fixture.list().await.unwrap();
    fixture.maps.delete("a", &Default::default()).await.unwrap_err();
    let seen = fixture.faults.seen(Requests::to("configmaps").namespace("default"));
    let recorded: Vec<_> = seen.iter().map(|seen| seen.info.to_string()).collect();
    assert_eq!(recorded, ["create configmaps default", "list configmaps default", "delete configmaps default/a"]);
    assert_eq!(seen[1].at - seen[0].at, MOMENT);
    assert_eq!((fixture.faults.count(Verb::List), fixture.faults.count(Verb::Watch)), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_count_of_requests_can_be_awaited() {
    let fixture = fixture();
    let (faults, maps) = (fixture.faults.clone(), fixture.maps.clone());
    assert!(timeout(MOMENT, faults.until(Verb::List, 1)).await.is_err());
    tokio::spawn(async move {
        for _ in 0..3 {
            tokio::time::sleep(MOMENT).await;
            maps.list(&ListParams::default()).await.unwrap();
        }
    });
    let start = Instant::now();
    timeout(TIMEOUT, faults.until(Verb::List, 3)).await.unwrap();
    assert_eq!(start.elapsed(), 3 * MOMENT);
}

#[tokio::test(start_paused = true)]
async fn the_latest_requests_are_retained() {
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
async fn faults_wrap_any_service() {
    let faults = Faults::new();
    let other =
        tower::service_fn(|_: Request<Body>| async { Ok::<_, io::Error>(Response::new(Full::<Bytes>::from("hello"))) });
    let client = kube::client::ClientBuilder::new(other, "default").with_layer(&faults.layer()).build::<_>();
    let ask = || Request::get("/version").body(Vec::new()).unwrap();
    faults.once(Verb::Get, Fault::connection_refused());
    assert_eq!(failure(&client.request_text(ask()).await.unwrap_err()), "ConnectionRefused");
    assert_eq!(client.request_text(ask()).await.unwrap(), "hello");
}
