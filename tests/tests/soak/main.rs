//! A soak on a real etcd and kube-apiserver with an unreliable connection, with all parts in one process: informers
//! with plain and compact objects, and two managers that share the keys of a controller and are replaced.
//!
//! The resident memory, the tasks and the file descriptors of the last third of the time equal those of the first
//! third, within the tolerances of [`samples`]. In the end every change is reconciled, and every cache and handler has
//! the objects of the server.
//!
//! By default it lasts 45 s with 1,000 objects. `SOAK=1h` (or `s`, `m`) selects another time, with 20,000 objects. A
//! seed determines the faults. It is printed, and taken from `SOAK_SEED` if that is set.

mod faults;
mod observed;
mod samples;
mod shards;

use std::{collections::BTreeMap, error::Error as StdError, process::ExitCode, time::Duration};

use envtest::ControlPlane;
use fastrand::Rng;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, api::ListParams};
use kubewright_runtime::Memory;
use libtest_mimic::{Arguments, Failed};
use tests::{
    load::{Load, Values, different},
    proxy::Proxy,
    replica::Error,
};
use tokio::{
    runtime::Runtime,
    time::{Instant, sleep},
};

use observed::Observed;
use shards::Shards;

const NAMESPACE: &str = "soak";
/// The number of objects and the time by default, and the number of objects if `SOAK` is set.
const OBJECTS: usize = 1000;
const TIME: Duration = Duration::from_secs(45);
const MANY_OBJECTS: usize = 20_000;
/// The time between two changes.
const PERIOD: Duration = Duration::from_millis(10);
/// The limit of every wait: an informer tries again after up to a minute, and the first one reconciles all objects.
const TIMEOUT: Duration = Duration::from_mins(10);
const POLL: Duration = Duration::from_millis(500);

/// How informers hold their objects.
#[cfg(feature = "compact")]
const MEMORIES: [Memory; 2] = [Memory::Plain, Memory::Compact];
#[cfg(not(feature = "compact"))]
const MEMORIES: [Memory; 1] = [Memory::Plain];

/// The version of each object by name.
type Versions = BTreeMap<String, String>;

fn main() -> ExitCode {
    envtest::exit_code(run(&Arguments::from_args()))
}

/// Runs the trial on a control plane, which is stopped on return.
fn run(args: &Arguments) -> Result<ExitCode, Box<dyn StdError>> {
    let suite = envtest::Suite::new("soak", |assets| Ok(ControlPlane::start(assets)?))?;
    let name = "resources_are_flat_and_nothing_is_missed";
    let trial = suite.test(name, |control_plane| Runtime::new()?.block_on(soak(control_plane)).map_err(Failed::from));
    Ok(suite.run(args, vec![trial]).exit_code())
}

async fn soak(control_plane: &ControlPlane) -> Result<(), Error> {
    let seed = std::env::var("SOAK_SEED").map_or_else(|_| Ok(fastrand::u64(..)), |seed| seed.parse())?;
    println!("reproduce the faults with SOAK_SEED={seed}");
    let (time, count) = match tests::duration_of_env("SOAK") {
        Some(time) => (time, MANY_OBJECTS),
        None => (TIME, OBJECTS),
    };
    let mut rng = Rng::with_seed(seed);
    let mut config = tests::config(control_plane.kubeconfig()).await?;
    let direct = Client::try_from(config.clone())?;
    let maps = Api::<ConfigMap>::namespaced(direct.clone(), &tests::namespace(&direct, NAMESPACE).await);
    let server = config.cluster_url.authority().ok_or("a URL without a server")?.as_str().parse()?;
    let proxy = Proxy::start(server).await?;
    config.cluster_url = format!("https://{}", proxy.address()).parse()?;

    let observed = MEMORIES.map(|memory| Observed::start(&config, memory));
    let observed = observed.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut shards = Shards::start(config)?;
    let load = Load::start(maps.clone(), count, PERIOD, rng.fork()).await?;
    wait_until("the first reconciliation of each object", async || Ok(observed[0].are_reconciled(count))).await?;
    let end = Instant::now() + time;
    let (samples, churned, ()) =
        tokio::join!(samples::take_until(end), shards.churn(rng.fork(), end), faults::inject(&proxy, rng.fork(), end),);
    churned?;
    verify(&maps, load.stop().await?, &observed, &shards).await?;
    shards.stop().await?;
    println!("{count} objects, {} managers; {}", shards.started(), samples::check(&samples)?);
    Ok(())
}

/// Waits until every change is reconciled, and each cache and handler has the objects of the server.
async fn verify(maps: &Api<ConfigMap>, desired: Values, observed: &[Observed], shards: &Shards) -> Result<(), Error> {
    wait_until("changes that are not reconciled", async || Ok(different(maps, &desired).await?.is_empty())).await?;
    wait_until("caches and handlers that differ from the server", async || {
        let expected = versions(&maps.list(&ListParams::default()).await?.items);
        let is_equal = |observed: &Observed| observed.stored() == expected && observed.received() == expected;
        Ok(observed.iter().all(is_equal) && shards.stored() == expected)
    })
    .await
}

/// Waits until a condition is true.
async fn wait_until(what: &str, condition: impl AsyncFn() -> Result<bool, Error>) -> Result<(), Error> {
    let started = Instant::now();
    while !condition().await? {
        if started.elapsed() > TIMEOUT {
            return Err(format!("timed out after {TIMEOUT:?}: {what}").into());
        }
        sleep(POLL).await;
    }
    Ok(())
}

fn versions<'a>(maps: impl IntoIterator<Item = &'a ConfigMap>) -> Versions {
    maps.into_iter().map(version).collect()
}

/// Returns the name and the version of an object.
fn version(map: &ConfigMap) -> (String, String) {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    (text(&map.metadata.name), text(&map.metadata.resource_version))
}
