//! What a factory tells the informers it makes.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kube::{Api, Client};

use super::InformerFactory;
use crate::client::Addressed;
use crate::error::Error;
use crate::informer::{Config, SharedInformer};
use crate::metrics::Metrics;
use crate::object::ApiObject;
use crate::reflector::ListOptions;

/// Makes an [`InformerFactory`]: of which objects its informers tell, and how.
///
/// What is said of all kinds holds for each; what is [said of one](Self::configure) comes after.
pub struct InformerFactoryBuilder {
    client: Client,
    /// None is all there are.
    namespaces: Vec<String>,
    labels: Option<String>,
    fields: Option<String>,
    tweak: Option<Tweak>,
    managed_fields: bool,
    name: String,
    resync: Option<Duration>,
    on_error: Option<ErrorHandler>,
    metrics: Option<Arc<dyn Metrics>>,
    /// Of each kind a `Change` of its own.
    changes: HashMap<TypeId, Box<dyn Any + Send + Sync>>,
}

type Tweak = Arc<dyn Fn(&mut ListOptions) + Send + Sync>;
type ErrorHandler = Arc<dyn Fn(&Error) + Send + Sync>;
type Change<K> = Box<dyn Fn(Config<K>) -> Config<K> + Send + Sync>;

impl InformerFactoryBuilder {
    pub(super) fn new(client: Client) -> Self {
        InformerFactoryBuilder {
            client,
            namespaces: Vec::new(),
            labels: None,
            fields: None,
            tweak: None,
            managed_fields: false,
            name: String::new(),
            resync: None,
            on_error: None,
            metrics: None,
            changes: HashMap::new(),
        }
    }

    /// Only objects of this namespace, and of others that are named; those of cluster kinds are all seen.
    #[must_use]
    pub fn namespace(self, namespace: impl Into<String>) -> Self {
        self.namespaces([namespace])
    }

    /// Only objects of these namespaces: an informer has one watch for each, and one store for all. None is all there are.
    #[must_use]
    pub fn namespaces<N: Into<String>>(mut self, namespaces: impl IntoIterator<Item = N>) -> Self {
        self.namespaces.extend(namespaces.into_iter().map(Into::into));
        self.namespaces.sort();
        self.namespaces.dedup();
        self
    }

    /// Only objects with these labels, such as `app=web,tier!=cache`.
    #[must_use]
    pub fn labels(mut self, selector: impl Into<String>) -> Self {
        self.labels = Some(selector.into());
        self
    }

    /// Only objects with these fields, such as `metadata.name=audit`. A server refuses those that a kind does not have.
    #[must_use]
    pub fn fields(mut self, selector: impl Into<String>) -> Self {
        self.fields = Some(selector.into());
        self
    }

    /// Changes the options of every list and watch before they are sent.
    #[must_use]
    pub fn tweak(mut self, tweak: impl Fn(&mut ListOptions) + Send + Sync + 'static) -> Self {
        self.tweak = Some(Arc::new(tweak));
        self
    }

    /// Keeps `metadata.managedFields`, which are dropped by default.
    #[must_use]
    pub fn keep_managed_fields(mut self) -> Self {
        self.managed_fields = true;
        self
    }

    /// A name, for metrics.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// How often handlers that do not say hear of every object again; never by default.
    #[must_use]
    pub fn resync(mut self, period: Duration) -> Self {
        self.resync = Some(period);
        self
    }

    /// Has this called with everything that goes wrong on the way to the server. See [`Config::on_error`].
    #[must_use]
    pub fn on_error(mut self, handler: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.on_error = Some(Arc::new(handler));
        self
    }

    /// Where to measure the informers.
    #[must_use]
    pub fn metrics(mut self, metrics: Arc<dyn Metrics>) -> Self {
        self.metrics = Some(metrics);
        self
    }

    /// Changes each object of this kind before anyone has it. See [`transform`](crate::reflector::Config::transform).
    #[must_use]
    pub fn transform<K: ApiObject>(self, transform: impl Fn(&mut K) + Send + Sync + 'static) -> Self {
        let transform = Arc::new(transform);
        self.configure(move |config: Config<K>| {
            let transform = Arc::clone(&transform);
            config.reflector(|reflector| reflector.transform(move |object| transform(object)))
        })
    }

    /// Tells the informer of this kind more, after what was told to it before.
    #[must_use]
    pub fn configure<K: ApiObject>(mut self, change: impl Fn(Config<K>) -> Config<K> + Send + Sync + 'static) -> Self {
        let before = self.changes.remove(&TypeId::of::<K>()).and_then(|change| change.downcast::<Change<K>>().ok());
        let both: Change<K> = match before {
            Some(before) => Box::new(move |config| change(before(config))),
            None => Box::new(change),
        };
        self.changes.insert(TypeId::of::<K>(), Box::new(both));
        self
    }

    /// The factory. It does nothing until it is asked for informers and [started](InformerFactory::start).
    pub fn build(self) -> InformerFactory {
        InformerFactory::told(self)
    }

    /// An informer of a kind.
    pub(super) fn informer<K: Addressed>(&self) -> SharedInformer<K> {
        SharedInformer::with_config(self.apis(), self.config())
    }

    fn apis<K: Addressed>(&self) -> Vec<Api<K>> {
        let api = |namespace| K::api(self.client.clone(), namespace);
        let all: Vec<_> = self.namespaces.iter().map(|namespace| api(Some(namespace))).collect();
        // A cluster kind is in no namespace: there is one of it.
        match all.iter().all(|api| api.namespace().is_some()) && !all.is_empty() {
            true => all,
            false => vec![api(None)],
        }
    }

    fn config<K: ApiObject>(&self) -> Config<K> {
        let config = Config::default().name(&self.name).reflector(|mut reflector| {
            if let Some(labels) = &self.labels {
                reflector = reflector.labels(labels);
            }
            if let Some(fields) = &self.fields {
                reflector = reflector.fields(fields);
            }
            if let Some(tweak) = self.tweak.clone() {
                reflector = reflector.tweak(move |options| tweak(options));
            }
            if self.managed_fields { reflector.keep_managed_fields() } else { reflector }
        });
        let config = self.told_of_all(config);
        let change = self.changes.get(&TypeId::of::<K>()).and_then(|change| change.downcast_ref::<Change<K>>());
        match change {
            Some(change) => change(config),
            None => config,
        }
    }

    fn told_of_all<K>(&self, mut config: Config<K>) -> Config<K> {
        if let Some(period) = self.resync {
            config = config.resync(period);
        }
        if let Some(on_error) = self.on_error.clone() {
            config = config.on_error(move |error| on_error(error));
        }
        match &self.metrics {
            Some(metrics) => config.metrics(Arc::clone(metrics)),
            None => config,
        }
    }
}

impl fmt::Debug for InformerFactoryBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InformerFactoryBuilder")
            .field("namespaces", &self.namespaces)
            .field("labels", &self.labels)
            .field("fields", &self.fields)
            .field("resync", &self.resync)
            .finish_non_exhaustive()
    }
}
