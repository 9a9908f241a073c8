//! The overall guarantee of a reflector: applying its events yields the server's objects, whatever fails.

use std::{collections::BTreeMap, sync::Mutex, time::Duration};

use fastrand::Rng;
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{DeleteParams, ListParams, PostParams},
};
use kubewright_apiserver::{ApiServer, Fault, Faults, Requests};
use kubewright_runtime::{
    Reflector,
    reflector::{Config, Event, ExponentialBackoff, InitialListStrategy},
};
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout},
};

use super::scripted_server::object;

/// Resource versions by object name.
type Replica = BTreeMap<String, String>;

#[tokio::test(start_paused = true)]
async fn r12_the_replica_converges_to_the_server_whatever_fails() {
    for seed in 0..12 {
        let backoff = ExponentialBackoff::new(Duration::from_millis(50), Duration::from_secs(2)).jitter(1.0).seed(seed);
        let config = Config::default().page_size(4).backoff(backoff).initial_list_strategy(match seed % 2 {
            0 => InitialListStrategy::List,
            _ => InitialListStrategy::WatchList,
        });
        run_with_seed(seed, config).await;
    }
}

/// Makes random writes under random faults, then compares the replica without faults. The seed determines everything.
async fn run_with_seed(seed: u64, config: Config<ConfigMap>) {
    let (server, faults) = (ApiServer::new(), Faults::new());
    let rng = Mutex::new(Rng::with_seed(seed));
    faults.decide(Requests::to("configmaps"), move |_| fault(&mut rng.lock().unwrap()));
    let replica = watch::Sender::new(Replica::new());
    let api = Api::namespaced(server.client_with(faults.layer()), "default");
    let task = tokio::spawn(replicate(Reflector::with_config(api, config), replica.clone()));

    let start = Instant::now();
    let objects = Api::namespaced(server.client(), "default");
    let mut rng = Rng::with_seed(!seed);
    for _ in 0..150 {
        write(&objects, &mut rng).await;
        disturb(&server, &faults, &mut rng);
        sleep(Duration::from_millis(rng.u64(0..3000))).await;
    }
    let (requests, time) = (faults.count(Requests::all()), start.elapsed());
    assert!(
        requests < 150 + 3 * usize::try_from(time.as_secs()).unwrap(),
        "seed {seed}: {requests} requests in {time:?}"
    );

    faults.heal();
    faults.cut(Requests::all());
    let now = objects.list(&ListParams::default()).await.unwrap();
    let now: Replica = now.items.into_iter().map(|object| entry(&object)).collect();
    let mut replicas = replica.subscribe();
    let same = replicas.wait_for(|replica| *replica == now);
    let same = timeout(Duration::from_secs(120), same).await.map(drop);
    assert!(same.is_ok(), "seed {seed}: {:?} differs from {now:?}", replica.borrow());
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled(), "seed {seed}: the reflector ended");
    assert_eq!(faults.open(Requests::all()) + faults.waiting(Requests::all()), 0, "seed {seed}");
}

async fn replicate(reflector: Reflector<ConfigMap>, replica: watch::Sender<Replica>) {
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
        assert!(version >= last, "{event:?} goes back from {last} to {version}");
        last = version;
        replica.send_modify(|replica| match event {
            Event::Replaced { objects, .. } => *replica = objects.iter().map(|object| entry(object)).collect(),
            Event::Applied { object, .. } => replica.extend([entry(&object)]),
            Event::Deleted { object, .. } => drop(replica.remove(&entry(&object).0)),
            Event::Bookmark { .. } => {}
        });
    }
}

fn entry(object: &ConfigMap) -> (String, String) {
    let meta = object.metadata.clone();
    (meta.name.unwrap(), meta.resource_version.unwrap())
}

async fn write(objects: &Api<ConfigMap>, rng: &mut Rng) {
    let name = format!("object-{}", rng.u8(0..12));
    let mut new: ConfigMap = serde_json::from_value(object(&name, "")).unwrap();
    new.metadata.uid = None;
    new.data = Some([("state".into(), rng.u32(..).to_string())].into());
    // Updates or deletes an existing object, and creates a missing one.
    match objects.get_opt(&name).await.unwrap() {
        None => drop(objects.create(&PostParams::default(), &new).await.unwrap()),
        Some(_) if rng.u8(0..3) == 0 => drop(objects.delete(&name, &DeleteParams::default()).await.unwrap()),
        Some(_) => drop(objects.replace(&name, &PostParams::default(), &new).await.unwrap()),
    }
}

fn disturb(server: &ApiServer, faults: &Faults, rng: &mut Rng) {
    match rng.u8(0..12) {
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

fn fault(rng: &mut Rng) -> Option<Fault> {
    Some(match rng.u8(0..24) {
        0 => Fault::too_many_requests(2),
        1 => Fault::expired(),
        2 => Fault::expired_event(),
        3 => Fault::connection_refused(),
        4 => Fault::reset(),
        5 => Fault::status(500, "InternalError", "etcd is down"),
        6 => Fault::status(422, "Invalid", "no"),
        7 => Fault::answer(200, "<html>"),
        8 => Fault::torn(r#"{"type":"ADDED","object":{"metadata":"#),
        9 => Fault::broken_after(usize::from(rng.u16(0..900))),
        10 => Fault::late(Duration::from_secs(rng.u64(0..20))),
        11 => Fault::slow(50, Duration::from_millis(300)),
        _ => return None,
    })
}
