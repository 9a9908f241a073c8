//! The objects: ConfigMaps of 2.5 kB that are created once, and changed at once in each measurement.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    path::Path,
    time::Duration,
};

use anyhow::{Context, Result};
use bench::clock::now;
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{
    Api, Client, Config,
    api::{Patch, PatchParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::json;

/// The namespace of the objects.
pub(super) const NAMESPACE: &str = "bench";
/// The number of concurrent writes.
const WRITERS: usize = 32;
/// A prime number: the changed objects are all over the namespace.
const STRIDE: usize = 7919;
/// The size of an object: so many entries of so many bytes.
const ENTRIES: usize = 40;
const ENTRY: usize = 40;

/// The objects on a server.
pub(super) struct Objects {
    api: Api<ConfigMap>,
    server: SocketAddr,
    count: usize,
}

impl Objects {
    /// Creates the objects.
    pub(super) async fn create(kubeconfig: &Path, count: usize) -> Result<Objects> {
        let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        let server = config.cluster_url.authority().context("the URL has no server")?.as_str().parse()?;
        let client = Client::try_from(config)?;
        let mut namespace = Namespace::default();
        namespace.metadata.name = Some(NAMESPACE.to_owned());
        Api::all(client.clone()).create(&PostParams::default(), &namespace).await?;
        let api = Api::namespaced(client, NAMESPACE);
        let create = async |number: usize| api.create(&PostParams::default(), &object(number)).await.map(drop);
        stream::iter(0..count).map(create).buffer_unordered(WRITERS).try_collect::<()>().await?;
        Ok(Objects { api, server, count })
    }

    /// Returns the address of the API server.
    pub(super) fn server(&self) -> SocketAddr {
        self.server
    }

    /// Changes objects as fast as the server allows. Returns their names, and when the first change was sent, on the
    /// monotonic clock.
    pub(super) async fn change(&self, value: &str, count: usize) -> Result<(BTreeSet<String>, Duration)> {
        let names: BTreeSet<_> = (0..count).map(|change| name(change * STRIDE % self.count)).collect();
        let (began, patch) = (now(), Patch::Merge(json!({ "data": { "round": value } })));
        let change = async |name: &String| self.api.patch(name, &PatchParams::default(), &patch).await.map(drop);
        stream::iter(&names).map(change).buffer_unordered(WRITERS).try_collect::<()>().await?;
        Ok((names, began))
    }
}

fn name(number: usize) -> String {
    format!("map-{number:06}")
}

fn object(number: usize) -> ConfigMap {
    let entry = |entry: usize| (format!("entry-{entry:02}"), format!("{:0ENTRY$}", number * ENTRIES + entry));
    let mut map = ConfigMap { data: Some((0..ENTRIES).map(entry).collect::<BTreeMap<_, _>>()), ..ConfigMap::default() };
    map.metadata.name = Some(name(number));
    map
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_has_the_documented_size() {
        let size = serde_json::to_string(&object(49_999)).unwrap().len();
        // The server adds a quarter of a kilobyte of metadata.
        assert!((2200..2300).contains(&size), "{size}");
    }
}
