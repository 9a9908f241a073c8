//! Informers on an unreliable connection to the real server: after resets, stalls, refused connections and versions
//! that etcd compacted, stores equal the server's state.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use envtest::ControlPlane;
use futures::StreamExt;
use http::Request;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, Config,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    client::ClientBuilder,
    config::{KubeConfigOptions, Kubeconfig},
};
use kubewright_apiserver::{Faults, Verb};
use kubewright_runtime::{
    ResourceVersion, SharedInformer, Store,
    reflector::{Config as ReflectorConfig, Event, ExponentialBackoff, Reflector},
};
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use tests::proxy::Proxy;
use tokio::{sync::watch, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{Suite, trial};

/// The limit of every wait, in real time.
const TIMEOUT: Duration = Duration::from_secs(60);

type Outcome = Result<(), Failed>;

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    let compacted = "connections::an_informer_lists_again_when_etcd_compacted_the_version";
    vec![
        trial(suite, "connections::an_informer_resumes_after_resets", |control_plane| block_on(resets(control_plane))),
        trial(suite, "connections::an_informer_resumes_after_refused_connections", |control_plane| {
            block_on(refusals(control_plane))
        }),
        trial(suite, "connections::a_reflector_abandons_a_stalled_watch", |control_plane| {
            block_on(stall(control_plane))
        }),
        suite.test(compacted, |environment| {
            // With a watch cache the server would still have the version.
            let control_plane = ControlPlane::start_with(&environment.assets, &["--watch-cache=false"])?;
            block_on(compaction(&control_plane))
        }),
    ]
}

fn block_on(outcome: impl Future<Output = Outcome>) -> Outcome {
    tokio::runtime::Runtime::new()?.block_on(outcome)
}

/// The connection is reset while objects change: each time the watch resumes at its version.
async fn resets(control_plane: &ControlPlane) -> Outcome {
    let mut fixture = Fixture::new(control_plane, "resets").await?;
    let informer = fixture.informer().await?;
    for round in 0..5 {
        fixture.change(round).await?;
        fixture.proxy.reset();
        fixture.change(round + 1).await?;
        fixture.assert_synced(&informer.store()).await?;
    }
    assert_eq!(fixture.syncs(), 1, "a reset causes no new list");
    Ok(())
}

/// Connections are refused for a while.
async fn refusals(control_plane: &ControlPlane) -> Outcome {
    let mut fixture = Fixture::new(control_plane, "refusals").await?;
    let informer = fixture.informer().await?;
    let watches = fixture.faults.count(Verb::Watch);
    fixture.proxy.refuse().await;
    fixture.change(1).await?;
    timeout(TIMEOUT, fixture.faults.until(Verb::Watch, watches + 3)).await?;
    let error = informer.last_error().ok_or("a refused connection is not reported")?;
    assert!(error.contains("cannot watch configmaps"), "{error}");
    fixture.proxy.heal().await;
    fixture.assert_synced(&informer.store()).await?;
    assert_eq!(fixture.syncs(), 1, "a refused connection causes no new list");
    assert_eq!(informer.last_error(), None);
    Ok(())
}

/// No data arrives and the connection stays open: the watch is abandoned, and a new one starts when the connection
/// recovers.
async fn stall(control_plane: &ControlPlane) -> Outcome {
    let mut fixture = Fixture::new(control_plane, "stall").await?;
    let mut copy = fixture.reflect();
    timeout(TIMEOUT, fixture.faults.until(Verb::Watch, 1)).await?;
    fixture.change(0).await?;
    let expected = fixture.versions().await?;
    timeout(TIMEOUT, copy.wait_for(|copy| *copy == expected)).await??;
    let watches = fixture.faults.count(Verb::Watch);
    fixture.proxy.stall();
    fixture.change(1).await?;
    timeout(TIMEOUT, fixture.faults.until(Verb::Watch, watches + 1)).await?;
    fixture.proxy.heal().await;
    let expected = fixture.versions().await?;
    timeout(TIMEOUT, copy.wait_for(|copy| *copy == expected)).await??;
    assert_eq!(fixture.syncs(), 1, "a stall causes no new list");
    Ok(())
}

/// While connections are refused, objects are deleted and etcd compacts the history.
async fn compaction(control_plane: &ControlPlane) -> Outcome {
    let mut fixture = Fixture::new(control_plane, "compaction").await?;
    fixture.change(0).await?;
    let informer = fixture.informer().await?;
    fixture.assert_synced(&informer.store()).await?;
    fixture.proxy.refuse().await;
    fixture.change(1).await?;
    compact(control_plane).await?;
    fixture.proxy.heal().await;
    fixture.assert_synced(&informer.store()).await?;
    assert_eq!(fixture.syncs(), 2, "a compacted version causes a new list");
    Ok(())
}

/// Compacts etcd's history up to the current version.
async fn compact(control_plane: &ControlPlane) -> Outcome {
    let etcd = Client::try_from(Config::new(format!("http://{}", control_plane.etcd()).parse()?))?;
    let send = async |path: &str, body: Value| {
        let request =
            Request::post(path).header("content-type", "application/json").body(body.to_string().into_bytes());
        Ok::<Value, Failed>(etcd.request(request?).await?)
    };
    let now = send("/v3/kv/range", json!({"key": "AA=="})).await?;
    send("/v3/kv/compaction", json!({"revision": now["header"]["revision"], "physical": true})).await?;
    Ok(())
}

/// Changes ConfigMaps on a direct connection, and observes them through the proxy.
struct Fixture {
    proxy: Proxy,
    /// Injects no faults, but records the requests.
    faults: Faults,
    proxied: Api<ConfigMap>,
    direct: Api<ConfigMap>,
    tasks: JoinSet<()>,
}

impl Fixture {
    async fn new(control_plane: &ControlPlane, namespace: &str) -> Result<Fixture, Failed> {
        let direct = super::client(control_plane).await?;
        let namespace = tests::namespace(&direct, &format!("connections-{namespace}")).await;
        let kubeconfig = Kubeconfig::read_from(control_plane.kubeconfig())?;
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        let server = config.cluster_url.authority().ok_or("no server")?.as_str().parse()?;
        let proxy = Proxy::start(server).await?;
        config.cluster_url = format!("https://{}", proxy.address()).parse()?;
        config.default_retry = false;
        let faults = Faults::new();
        let proxied = ClientBuilder::try_from(config)?.with_layer(&faults.layer()).build();
        Ok(Fixture {
            proxy,
            faults,
            proxied: Api::namespaced(proxied, &namespace),
            direct: Api::namespaced(direct, &namespace),
            tasks: JoinSet::new(),
        })
    }

    /// Starts an informer and waits until it has synced.
    async fn informer(&mut self) -> Result<SharedInformer<ConfigMap>, Failed> {
        let informer = SharedInformer::new(self.proxied.clone());
        let running = informer.clone();
        self.tasks.spawn(async move { running.run(CancellationToken::new()).await.expect("no informer fails") });
        timeout(TIMEOUT, informer.wait_for_sync()).await??;
        Ok(informer)
    }

    /// Counts the requests for all objects: lists, and watches with initial events.
    fn syncs(&self) -> usize {
        let watches = self.faults.seen(Verb::Watch);
        let streamed = watches.iter().filter(|seen| seen.info.has_option("sendInitialEvents")).count();
        streamed + self.faults.count(Verb::List)
    }

    /// Starts a reflector with short timeouts and returns the state that its events describe.
    fn reflect(&mut self) -> watch::Receiver<Versions> {
        let backoff = ExponentialBackoff::new(Duration::from_millis(100), Duration::from_secs(1));
        let config = ReflectorConfig::default().idle_timeout(Duration::from_secs(2)).backoff(backoff);
        let mut events = Box::pin(Reflector::with_config(self.proxied.clone(), config).events());
        let (copy, copied) = watch::channel(Versions::new());
        self.tasks.spawn(async move {
            while let Some(event) = events.next().await {
                event.into_iter().for_each(|event| copy.send_modify(|copy| apply_event(copy, event)));
            }
        });
        copied
    }

    /// Creates, changes and deletes objects.
    async fn change(&self, round: i32) -> Outcome {
        for number in 0..10 {
            let name = format!("map-{number}");
            self.direct.delete(&name, &DeleteParams::default()).await.ok();
            if number % 3 != round % 3 {
                self.direct.create(&PostParams::default(), &map(&name)).await?;
                let patch = Patch::Merge(json!({"data": {"round": round.to_string()}}));
                self.direct.patch(&name, &PatchParams::default(), &patch).await?;
            }
        }
        Ok(())
    }

    /// Waits until the store has the server's current version, and compares them.
    async fn assert_synced(&self, store: &Store<ConfigMap>) -> Outcome {
        let last = self.direct.create(&PostParams::default(), &map("")).await?;
        let version = ResourceVersion::new(last.metadata.resource_version.as_deref().unwrap_or_default());
        store.wait_for_within(&version, TIMEOUT).await?;
        let stored = store.list();
        assert_eq!(versions(stored.iter().map(AsRef::as_ref)), self.versions().await?);
        Ok(())
    }

    async fn versions(&self) -> Result<Versions, Failed> {
        Ok(versions(&self.direct.list(&ListParams::default()).await?.items))
    }
}

/// The version of each ConfigMap by name.
type Versions = BTreeMap<String, String>;

fn apply_event(copy: &mut Versions, event: Event<ConfigMap>) {
    match event {
        Event::Replaced { objects, .. } => *copy = versions(objects.iter().map(AsRef::as_ref)),
        Event::Applied { object, .. } => copy.extend(versions([object.as_ref()])),
        Event::Deleted { object, .. } => drop(copy.remove(object.metadata.name.as_deref().unwrap_or_default())),
        Event::Bookmark { .. } => {}
    }
}

/// Returns a ConfigMap. Without a name the server generates one.
fn map(name: &str) -> ConfigMap {
    let mut map = ConfigMap::default();
    match name {
        "" => map.metadata.generate_name = Some("marker-".into()),
        _ => map.metadata.name = Some(name.into()),
    }
    map
}

fn versions<'a>(maps: impl IntoIterator<Item = &'a ConfigMap>) -> Versions {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    maps.into_iter().map(|map| (text(&map.metadata.name), text(&map.metadata.resource_version))).collect()
}
