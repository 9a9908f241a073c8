//! A load for operators that copy the desired value of ConfigMaps to the observed one: objects are changed, deleted and
//! created, also while the API server is unavailable for a while.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use fastrand::Rng;
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use kubewright_runtime::CancellationToken;
use serde_json::json;
use tokio::{
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval, sleep},
};

use crate::replica::{DESIRED, Error, OBSERVED};

/// What the names of the objects begin with, in contrast to those of others in the namespace.
const PREFIX: &str = "map-";
/// The number of objects that are created concurrently.
const CREATIONS: usize = 16;
/// One of so many changes replaces an object by one of another name.
const CHANGES_PER_REPLACEMENT: usize = 50;
/// How long a request is retried.
const DEADLINE: Duration = Duration::from_mins(2);
const RETRY_PERIOD: Duration = Duration::from_millis(200);

/// The desired value of each object by name.
pub type Values = BTreeMap<String, String>;

/// Changes objects until it is stopped. Their number remains the same, and each name is used once.
pub struct Load {
    stop: CancellationToken,
    tasks: JoinSet<Result<Values, Error>>,
}

impl Load {
    /// Creates this number of objects, and then changes or replaces a random one in each period, in a task.
    ///
    /// # Errors
    /// Fails if an object cannot be created.
    pub async fn start(api: Api<ConfigMap>, count: usize, period: Duration, rng: Rng) -> Result<Self, Error> {
        let created = stream::iter(0..count).map(|number| create(&api, number)).buffer_unordered(CREATIONS);
        let values = created.try_collect().await?;
        let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
        tasks.spawn(change(api, values, count, period, rng, stop.clone()));
        Ok(Load { stop, tasks })
    }

    /// Stops the changes, and returns the desired values.
    ///
    /// # Errors
    /// Fails if a change failed for too long.
    pub async fn stop(mut self) -> Result<Values, Error> {
        self.stop.cancel();
        self.tasks.join_next().await.ok_or("the task runs once")??
    }
}

async fn change(
    api: Api<ConfigMap>,
    mut values: Values,
    mut created: usize,
    period: Duration,
    mut rng: Rng,
    stop: CancellationToken,
) -> Result<Values, Error> {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut next = 1_u64;
    while !stop.is_cancelled() {
        ticks.tick().await;
        let index = rng.usize(..values.len());
        let (name, value) = values.iter_mut().nth(index).ok_or("no objects")?;
        if rng.usize(..CHANGES_PER_REPLACEMENT) > 0 {
            *value = next.to_string();
            set(&api, name, value).await?;
        } else {
            let name = name.clone();
            delete(&api, &name).await?;
            values.remove(&name);
            values.extend([create(&api, created).await?]);
            created += 1;
        }
        next += 1;
    }
    Ok(values)
}

async fn create(api: &Api<ConfigMap>, number: usize) -> Result<(String, String), Error> {
    let (name, value) = (format!("{PREFIX}{number}"), "0".to_owned());
    let mut map = ConfigMap::default();
    map.metadata.name = Some(name.clone());
    map.data = Some(BTreeMap::from([(DESIRED.to_owned(), value.clone())]));
    let attempt = || async {
        match api.create(&PostParams::default(), &map).await {
            // A former attempt had its effect.
            Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
            result => result.map(drop),
        }
    };
    retry(attempt).await?;
    Ok((name, value))
}

async fn set(api: &Api<ConfigMap>, name: &str, value: &str) -> Result<(), Error> {
    let patch = Patch::Merge(json!({ "data": { DESIRED: value } }));
    retry(|| async { api.patch(name, &PatchParams::default(), &patch).await.map(drop) }).await
}

async fn delete(api: &Api<ConfigMap>, name: &str) -> Result<(), Error> {
    let attempt = || async {
        match api.delete(name, &DeleteParams::default()).await {
            // A former attempt had its effect.
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            result => result.map(drop),
        }
    };
    retry(attempt).await
}

async fn retry<F>(request: impl Fn() -> F) -> Result<(), Error>
where
    F: Future<Output = Result<(), kube::Error>>,
{
    let started = Instant::now();
    while let Err(error) = request().await {
        if started.elapsed() > DEADLINE {
            return Err(error.into());
        }
        sleep(RETRY_PERIOD).await;
    }
    Ok(())
}

/// Returns the names of the objects whose observed value is not the desired one, of those that do not exist, and of
/// those that were deleted and exist.
///
/// # Errors
/// Fails if the objects cannot be listed.
pub async fn different(api: &Api<ConfigMap>, desired: &Values) -> Result<BTreeSet<String>, Error> {
    let mut maps: BTreeMap<_, _> = api
        .list(&ListParams::default())
        .await?
        .into_iter()
        .filter_map(|map| Some((map.metadata.name?, map.data.unwrap_or_default())))
        .filter(|(name, _)| name.starts_with(PREFIX))
        .collect();
    let mut names = BTreeSet::new();
    for (name, value) in desired {
        let data = maps.remove(name).unwrap_or_default();
        if [DESIRED, OBSERVED].iter().any(|field| data.get(*field) != Some(value)) {
            names.insert(name.clone());
        }
    }
    names.extend(maps.into_keys());
    Ok(names)
}
