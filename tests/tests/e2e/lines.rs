//! Informers at the end of a bad line to the real server: after cuts, stalls, refusals and versions that etcd forgot, stores
//! equal the server.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use envtest::{Assets, ControlPlane};
use futures::StreamExt;
use http::Request;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::client::ClientBuilder;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use libtest_mimic::{Failed, Trial};
use logger_apiserver::{Faults, Verb};
use logger_runtime::reflector::{Config as Following, Event, ExponentialBackoff, Reflector};
use logger_runtime::{ResourceVersion, SharedInformer, Store};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::proxy::Proxy;

/// How long anything may take on the real clock.
const PATIENCE: Duration = Duration::from_secs(60);

type Outcome = Result<(), Failed>;

pub fn trials(control_plane: &Arc<ControlPlane>, assets: &Assets) -> impl Iterator<Item = Trial> + use<> {
    let assets = assets.clone();
    let forgets = Trial::test("lines::an_informer_lists_again_when_etcd_forgot_the_version", move || {
        // With a cache before etcd the server would know the version still.
        let control_plane = ControlPlane::start_with(&assets, &["--watch-cache=false"])?;
        block_on(forgotten(&control_plane))
    });
    [
        super::trial(control_plane, "lines::an_informer_follows_through_cuts", |plane| block_on(cuts(plane))),
        super::trial(control_plane, "lines::an_informer_follows_after_refusals", |plane| block_on(refusals(plane))),
        super::trial(control_plane, "lines::a_reflector_gives_up_a_line_that_stalls", |plane| block_on(stall(plane))),
        forgets,
    ]
    .into_iter()
}

fn block_on(outcome: impl Future<Output = Outcome>) -> Outcome {
    tokio::runtime::Runtime::new()?.block_on(outcome)
}

/// The line is cut while objects change: each time the watch goes on where it was.
async fn cuts(control_plane: &ControlPlane) -> Outcome {
    let mut world = World::new(control_plane, "cuts").await?;
    let informer = world.informer().await?;
    for round in 0..5 {
        world.change(round).await?;
        world.proxy.cut();
        world.change(round + 1).await?;
        world.equals(&informer.store()).await?;
    }
    assert_eq!(world.syncs(), 1, "a cut is no reason to list again");
    Ok(())
}

/// For a while there is no server.
async fn refusals(control_plane: &ControlPlane) -> Outcome {
    let mut world = World::new(control_plane, "refusals").await?;
    let informer = world.informer().await?;
    let watches = world.faults.count(Verb::Watch);
    world.proxy.refuse().await;
    world.change(1).await?;
    timeout(PATIENCE, world.faults.until(Verb::Watch, watches + 3)).await?;
    let error = informer.last_error().ok_or("the refusal is no error")?;
    assert!(error.contains("cannot watch configmaps"), "{error}");
    world.proxy.heal().await;
    world.equals(&informer.store()).await?;
    assert_eq!(world.syncs(), 1, "a refusal is no reason to list again");
    assert_eq!(informer.last_error(), None);
    Ok(())
}

/// Nothing comes any more, and nobody says so: the watch is given up, and another one follows when the line is back.
async fn stall(control_plane: &ControlPlane) -> Outcome {
    let mut world = World::new(control_plane, "stall").await?;
    let mut copy = world.reflect();
    timeout(PATIENCE, world.faults.until(Verb::Watch, 1)).await?;
    world.change(0).await?;
    let expected = world.versions().await?;
    timeout(PATIENCE, copy.wait_for(|copy| *copy == expected)).await??;
    let watches = world.faults.count(Verb::Watch);
    world.proxy.stall();
    world.change(1).await?;
    timeout(PATIENCE, world.faults.until(Verb::Watch, watches + 1)).await?;
    world.proxy.heal().await;
    let expected = world.versions().await?;
    timeout(PATIENCE, copy.wait_for(|copy| *copy == expected)).await??;
    assert_eq!(world.syncs(), 1, "a stall is no reason to list again");
    Ok(())
}

/// While there is no line, objects go, and etcd forgets that they were.
async fn forgotten(control_plane: &ControlPlane) -> Outcome {
    let mut world = World::new(control_plane, "forgotten").await?;
    world.change(0).await?;
    let informer = world.informer().await?;
    world.equals(&informer.store()).await?;
    world.proxy.refuse().await;
    world.change(1).await?;
    compact(control_plane).await?;
    world.proxy.heal().await;
    world.equals(&informer.store()).await?;
    assert_eq!(world.syncs(), 2, "what was forgotten is in a list");
    Ok(())
}

/// Has etcd forget all versions but the present one.
async fn compact(control_plane: &ControlPlane) -> Outcome {
    let etcd = Client::try_from(Config::new(format!("http://{}", control_plane.etcd()).parse()?))?;
    let ask = async |path: &str, body: Value| {
        let request =
            Request::post(path).header("content-type", "application/json").body(body.to_string().into_bytes());
        Ok::<Value, Failed>(etcd.request(request?).await?)
    };
    let now = ask("/v3/kv/range", json!({"key": "AA=="})).await?;
    ask("/v3/kv/compaction", json!({"revision": now["header"]["revision"], "physical": true})).await?;
    Ok(())
}

/// Changes ConfigMaps on the good line, and follows them on the bad one.
struct World {
    proxy: Proxy,
    /// They make no trouble: they tell what was asked.
    faults: Faults,
    bad: Api<ConfigMap>,
    good: Api<ConfigMap>,
    tasks: JoinSet<()>,
}

impl World {
    async fn new(control_plane: &ControlPlane, namespace: &str) -> Result<World, Failed> {
        let good = super::client(control_plane).await?;
        let namespace = tests::namespace(&good, &format!("lines-{namespace}")).await;
        let kubeconfig = Kubeconfig::read_from(control_plane.kubeconfig())?;
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        let server = config.cluster_url.authority().ok_or("no server")?.as_str().parse()?;
        let proxy = Proxy::start(server).await?;
        config.cluster_url = format!("https://{}", proxy.address()).parse()?;
        config.default_retry = false;
        let faults = Faults::new();
        let bad = ClientBuilder::try_from(config)?.with_layer(&faults.layer()).build();
        Ok(World {
            proxy,
            faults,
            bad: Api::namespaced(bad, &namespace),
            good: Api::namespaced(good, &namespace),
            tasks: JoinSet::new(),
        })
    }

    /// An informer that has synced.
    async fn informer(&mut self) -> Result<SharedInformer<ConfigMap>, Failed> {
        let informer = SharedInformer::new(self.bad.clone());
        let running = informer.clone();
        self.tasks.spawn(async move { running.run(CancellationToken::new()).await });
        timeout(PATIENCE, informer.wait_for_sync()).await?;
        Ok(informer)
    }

    /// How often all objects were asked for: by a list, or by a watch that begins with them.
    fn syncs(&self) -> usize {
        let watches = self.faults.seen(Verb::Watch);
        let streamed = watches.iter().filter(|seen| seen.info.has_option("sendInitialEvents")).count();
        streamed + self.faults.count(Verb::List)
    }

    /// What a reflector with little patience tells, put together.
    fn reflect(&mut self) -> watch::Receiver<Versions> {
        let backoff = ExponentialBackoff::new(Duration::from_millis(100), Duration::from_secs(1));
        let config = Following::default().idle_timeout(Duration::from_secs(2)).backoff(backoff);
        let mut events = Box::pin(Reflector::with(self.bad.clone(), config).events());
        let (copy, copied) = watch::channel(Versions::new());
        self.tasks.spawn(async move {
            while let Some(event) = events.next().await {
                event.into_iter().for_each(|event| copy.send_modify(|copy| take_in(copy, event)));
            }
        });
        copied
    }

    /// Creates, changes and deletes.
    async fn change(&self, round: i32) -> Outcome {
        for number in 0..10 {
            let name = format!("map-{number}");
            self.good.delete(&name, &DeleteParams::default()).await.ok();
            if number % 3 != round % 3 {
                self.good.create(&PostParams::default(), &map(&name)).await?;
                let patch = Patch::Merge(json!({"data": {"round": round.to_string()}}));
                self.good.patch(&name, &PatchParams::default(), &patch).await?;
            }
        }
        Ok(())
    }

    /// Waits until the store has what the server has now.
    async fn equals(&self, store: &Store<ConfigMap>) -> Outcome {
        let last = self.good.create(&PostParams::default(), &map("")).await?;
        let version = ResourceVersion::new(last.metadata.resource_version.as_deref().unwrap_or_default());
        store.wait_for_within(&version, PATIENCE).await?;
        let stored = store.list();
        assert_eq!(versions(stored.iter().map(AsRef::as_ref)), self.versions().await?);
        Ok(())
    }

    async fn versions(&self) -> Result<Versions, Failed> {
        Ok(versions(&self.good.list(&ListParams::default()).await?.items))
    }
}

/// The version of each map.
type Versions = BTreeMap<String, String>;

fn take_in(copy: &mut Versions, event: Event<ConfigMap>) {
    match event {
        Event::Replaced { objects, .. } => *copy = versions(objects.iter().map(AsRef::as_ref)),
        Event::Applied { object, .. } => copy.extend(versions([object.as_ref()])),
        Event::Deleted { object, .. } => drop(copy.remove(object.metadata.name.as_deref().unwrap_or_default())),
        Event::Bookmark { .. } => {}
    }
}

/// One without a name gets one of the server's choice.
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
