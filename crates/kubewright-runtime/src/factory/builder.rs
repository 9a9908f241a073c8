//! The builder of an informer factory.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
};

use kube::{Api, Client};
use kubewright_core::description::InformerDescription;

use super::InformerFactory;
use crate::{
    client::ScopedObject,
    informer::{Config, SharedInformer},
    object::{ApiObject, describe_kind},
};

/// Stands for all kinds in the options that are common to the informers of a factory: `Config<AllKinds>`.
#[derive(Clone, Copy, Debug)]
pub enum AllKinds {}

/// Builds an [`InformerFactory`]: the namespaces and the options of its informers.
///
/// The [defaults](Self::defaults) apply to all kinds. The [options of a kind](Self::configure) change them.
///
/// ```
/// use std::time::Duration;
///
/// use k8s_openapi::api::core::v1::Pod;
/// use kubewright_runtime::{InformerFactory, informer::Config, kube::Client};
///
/// # fn example(client: Client) -> InformerFactory {
/// InformerFactory::builder(client)
///     .namespaces(["a", "b"])
///     .defaults(|config| config.resync(Duration::from_secs(600)).reflector(|reflector| reflector.labels("tier=web")))
///     .configure(|config: Config<Pod>| config.reflector(|reflector| reflector.transform(|pod| pod.status = None)))
///     .build()
/// # }
/// ```
#[must_use = "a factory is only created by `build`"]
pub struct InformerFactoryBuilder {
    client: Client,
    /// Empty for all namespaces.
    namespaces: Vec<String>,
    defaults: Config<AllKinds>,
    /// A `Change` per kind.
    changes: HashMap<TypeId, Box<dyn Any + Send + Sync>>,
}

type Change<K> = Box<dyn Fn(Config<K>) -> Config<K> + Send + Sync>;

impl InformerFactoryBuilder {
    pub(super) fn new(client: Client) -> Self {
        InformerFactoryBuilder { client, namespaces: Vec::new(), defaults: Config::default(), changes: HashMap::new() }
    }

    /// Adds a namespace to which the informers of namespaced kinds are restricted.
    pub fn namespace(self, namespace: impl Into<String>) -> Self {
        self.namespaces([namespace])
    }

    /// Adds namespaces to which the informers of namespaced kinds are restricted. An informer has a watch per namespace
    /// and one store. Without a namespace, the informers are not restricted.
    pub fn namespaces<N: Into<String>>(mut self, namespaces: impl IntoIterator<Item = N>) -> Self {
        self.namespaces.extend(namespaces.into_iter().map(Into::into));
        self.namespaces.sort();
        self.namespaces.dedup();
        self
    }

    /// Changes the options that are common to the informers of all kinds.
    pub fn defaults(mut self, change: impl FnOnce(Config<AllKinds>) -> Config<AllKinds>) -> Self {
        self.defaults = change(self.defaults);
        self
    }

    /// Changes the options of the informer of this kind. Runs after the defaults and earlier changes of the kind.
    pub fn configure<K: ApiObject>(mut self, change: impl Fn(Config<K>) -> Config<K> + Send + Sync + 'static) -> Self {
        let before = self.changes.remove(&TypeId::of::<K>()).and_then(|change| change.downcast::<Change<K>>().ok());
        let combined: Change<K> = match before {
            Some(before) => Box::new(move |config| change(before(config))),
            None => Box::new(change),
        };
        self.changes.insert(TypeId::of::<K>(), Box::new(combined));
        self
    }

    /// Builds the factory. It does nothing until informers are requested and it is [started](InformerFactory::start).
    pub fn build(self) -> InformerFactory {
        InformerFactory::from_builder(self)
    }

    /// Creates the informer of a kind.
    pub(super) fn informer<K: ScopedObject>(&self) -> SharedInformer<K> {
        SharedInformer::with_config(self.apis(), self.config())
    }

    /// Describes the informer of a kind.
    pub(super) fn describe<K: ScopedObject>(&self) -> InformerDescription {
        let (label_selector, field_selector) = self.config::<K>().selectors();
        let kind = describe_kind::<K>();
        let namespaces = if kind.namespaced { self.namespaces.clone() } else { Vec::new() };
        InformerDescription { kind, namespaces, label_selector, field_selector }
    }

    fn apis<K: ScopedObject>(&self) -> Vec<Api<K>> {
        let api = |namespace| K::api(self.client.clone(), namespace);
        let apis: Vec<_> = self.namespaces.iter().map(|namespace| api(Some(namespace))).collect();
        // The API of a cluster-scoped kind has no namespace and must not be repeated.
        match apis.iter().all(|api| api.namespace().is_some()) && !apis.is_empty() {
            true => apis,
            false => vec![api(None)],
        }
    }

    fn config<K: ApiObject>(&self) -> Config<K> {
        let config = self.defaults.for_kind();
        let change = self.changes.get(&TypeId::of::<K>()).and_then(|change| change.downcast_ref::<Change<K>>());
        match change {
            Some(change) => change(config),
            None => config,
        }
    }
}

impl fmt::Debug for InformerFactoryBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InformerFactoryBuilder")
            .field("namespaces", &self.namespaces)
            .field("defaults", &self.defaults)
            .finish_non_exhaustive()
    }
}
