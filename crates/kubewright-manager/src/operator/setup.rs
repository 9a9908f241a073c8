//! What the controllers of an operator share.

use kube::{Client, core::PartialObjectMeta};
use kubewright_core::verbs;
use kubewright_runtime::{
    ApiObject, Controller, EventRecorder, Index, InformerFactory, SharedInformer, client::ScopedObject,
    controller::ControllerBuilder, metrics::Metrics,
};

use super::NoOptions;

/// What the controllers, webhooks and runnables of an operator share: its client, informers, events and metrics.
#[derive(Clone)]
pub struct Setup<O = NoOptions> {
    pub(super) client: Client,
    pub(super) factory: InformerFactory,
    pub(super) metrics: Metrics,
    pub(super) recorder: EventRecorder,
    pub(super) options: O,
    pub(super) namespaces: Vec<String>,
}

impl<O> Setup<O> {
    /// Returns a builder of a controller of this kind, with its informer, and with the events and the metrics of the
    /// operator. The name is for logs, metrics and field managers; it must be unique in the operator.
    pub fn controller<K: ScopedObject + verbs::List + verbs::Watch>(&self, name: &str) -> ControllerBuilder<K> {
        Controller::new(name, &self.informer::<K>())
            .client(&self.client)
            .events(&self.recorder)
            .metrics(self.metrics.clone())
    }

    /// Returns the informer of a kind; there is one for each kind.
    pub fn informer<K: ScopedObject + verbs::List + verbs::Watch>(&self) -> SharedInformer<K> {
        self.factory.informer()
    }

    /// Returns the informer of a kind, with these indexes.
    pub fn indexed_informer<K: ScopedObject + verbs::List + verbs::Watch>(
        &self,
        indexes: &[Index<K>],
    ) -> SharedInformer<K> {
        self.factory.indexed_informer(indexes)
    }

    /// Returns the informer of the metadata of a kind, such as to watch Secrets without their data.
    pub fn metadata_informer<K>(&self) -> SharedInformer<PartialObjectMeta<K>>
    where
        K: ApiObject + verbs::List + verbs::Watch,
        PartialObjectMeta<K>: ScopedObject,
    {
        self.factory.metadata_informer()
    }

    /// Returns the client, for writes outside of reconciliations.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the informers, such as for a generated informer factory.
    pub fn factory(&self) -> &InformerFactory {
        &self.factory
    }

    /// Returns the metrics of the operator, to add others.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Returns the event recorder of the operator.
    pub fn recorder(&self) -> &EventRecorder {
        &self.recorder
    }

    /// Returns the options of the operator.
    pub fn options(&self) -> &O {
        &self.options
    }

    /// Returns the watched namespaces; empty for all.
    pub fn namespaces(&self) -> &[String] {
        &self.namespaces
    }
}

impl<O> std::fmt::Debug for Setup<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup").field("namespaces", &self.namespaces).finish_non_exhaustive()
    }
}
