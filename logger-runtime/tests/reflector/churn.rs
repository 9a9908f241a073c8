//! What a reflector promises as a whole: whoever does what it tells has the server's objects, whatever goes wrong.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use fastrand::Rng;
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{DeleteParams, ListParams, PostParams};
use logger_apiserver::{ApiServer, Fault, Faults, Requests};
use logger_runtime::Reflector;
use logger_runtime::reflector::{Config, Event, ExponentialBackoff, InitialSync};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use crate::script::object;

/// The versions of objects by their names.
type Copy = BTreeMap<String, String>;

#[tokio::test(start_paused = true)]
async fn r12_the_copy_is_the_servers_whatever_goes_wrong() {
    for seed in 0..12 {
        let backoff = ExponentialBackoff::new(Duration::from_millis(50), Duration::from_secs(2)).jitter(1.0).seed(seed);
        let config = Config::default().page_size(4).backoff(backoff).initial_sync(match seed % 2 {
            0 => InitialSync::List,
            _ => InitialSync::WatchList,
        });
        course(seed, config).await;
    }
}

/// Random writes and random faults, then none; the same for the same seed.
async fn course(seed: u64, config: Config<ConfigMap>) {
    let (server, faults) = (ApiServer::new(), Faults::new());
    let chances = Mutex::new(Rng::with_seed(seed));
    faults.decide(Requests::to("configmaps"), move |_| fault(&mut chances.lock().unwrap()));
    let copy = watch::Sender::new(Copy::new());
    let api = Api::namespaced(server.client_with(faults.layer()), "default");
    let following = tokio::spawn(follow(Reflector::with(api, config), copy.clone()));

    let begin = Instant::now();
    let objects = Api::namespaced(server.client(), "default");
    let mut chances = Rng::with_seed(!seed);
    for _ in 0..150 {
        write(&objects, &mut chances).await;
        disturb(&server, &faults, &mut chances);
        sleep(Duration::from_millis(chances.u64(0..3000))).await;
    }
    let (asked, time) = (faults.count(Requests::all()), begin.elapsed());
    assert!(asked < 150 + 3 * usize::try_from(time.as_secs()).unwrap(), "seed {seed}: {asked} requests in {time:?}");

    faults.heal();
    faults.cut(Requests::all());
    let now = objects.list(&ListParams::default()).await.unwrap();
    let now: Copy = now.items.into_iter().map(|object| entry(&object)).collect();
    let mut copies = copy.subscribe();
    let same = copies.wait_for(|copy| *copy == now);
    let same = timeout(Duration::from_secs(120), same).await.map(drop);
    assert!(same.is_ok(), "seed {seed}: {:?} is not {now:?}", copy.borrow());
    following.abort();
    assert!(following.await.unwrap_err().is_cancelled(), "seed {seed}: it follows for ever");
    assert_eq!(faults.open(Requests::all()) + faults.waiting(Requests::all()), 0, "seed {seed}");
}

async fn follow(reflector: Reflector<ConfigMap>, copy: watch::Sender<Copy>) {
    let mut events = reflector.events().boxed();
    let mut last = 0;
    while let Some(event) = events.next().await {
        let Ok(event) = event else { continue };
        let version = match &event {
            Event::Replaced { version, .. }
            | Event::Applied { version, .. }
            | Event::Deleted { version, .. }
            | Event::Bookmark { version } => version.as_str().parse::<u64>().unwrap(),
        };
        assert!(version >= last, "from {last} back to {version} by {event:?}");
        last = version;
        copy.send_modify(|copy| match event {
            Event::Replaced { objects, .. } => *copy = objects.iter().map(|object| entry(object)).collect(),
            Event::Applied { object, .. } => copy.extend([entry(&object)]),
            Event::Deleted { object, .. } => drop(copy.remove(&entry(&object).0)),
            Event::Bookmark { .. } => {}
        });
    }
}

fn entry(object: &ConfigMap) -> (String, String) {
    let meta = object.metadata.clone();
    (meta.name.unwrap(), meta.resource_version.unwrap())
}

async fn write(objects: &Api<ConfigMap>, chances: &mut Rng) {
    let name = format!("object-{}", chances.u8(0..12));
    let mut new: ConfigMap = serde_json::from_value(object(&name, "")).unwrap();
    new.metadata.uid = None;
    new.data = Some([("state".into(), chances.u32(..).to_string())].into());
    // What is there is changed or deleted, what is not is made.
    match objects.get_opt(&name).await.unwrap() {
        None => drop(objects.create(&PostParams::default(), &new).await.unwrap()),
        Some(_) if chances.u8(0..3) == 0 => drop(objects.delete(&name, &DeleteParams::default()).await.unwrap()),
        Some(_) => drop(objects.replace(&name, &PostParams::default(), &new).await.unwrap()),
    }
}

fn disturb(server: &ApiServer, faults: &Faults, chances: &mut Rng) {
    match chances.u8(0..12) {
        0 => server.compact(),
        1 => {
            faults.cut(Requests::all());
        }
        2 => {
            faults.end(Requests::all());
        }
        3 => {
            faults.expire(Requests::all());
        }
        _ => {}
    }
}

fn fault(chances: &mut Rng) -> Option<Fault> {
    Some(match chances.u8(0..24) {
        0 => Fault::too_many_requests(2),
        1 => Fault::expired(),
        2 => Fault::expired_event(),
        3 => Fault::refused(),
        4 => Fault::reset(),
        5 => Fault::status(500, "InternalError", "etcd is down"),
        6 => Fault::status(422, "Invalid", "no"),
        7 => Fault::answer(200, "<html>"),
        8 => Fault::torn(r#"{"type":"ADDED","object":{"metadata":"#),
        9 => Fault::broken_after(usize::from(chances.u16(0..900))),
        10 => Fault::late(Duration::from_secs(chances.u64(0..20))),
        11 => Fault::slow(50, Duration::from_millis(300)),
        _ => return None,
    })
}
