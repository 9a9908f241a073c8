//! What every part of a cluster uses: the client, the informers, the event recorder, the clock and its periods.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{Client, Resource};
use kubewright_runtime::{EventRecorder, EventType, Index, InformerFactory, SharedInformer, Store, object::ApiObject};

use crate::model::{
    clock::Clock,
    nodes::GracePeriod,
    pods::{self, controller_of},
};

/// The pods by the UID of their controller.
const BY_CONTROLLER: Index<Pod> =
    Index::new("by_controller", |pod| controller_of(pod).map(|owner| owner.uid.clone()).into_iter().collect());
/// The pods by the name of their node.
const BY_NODE: Index<Pod> = Index::new("by_node", |pod| pods::node_name(pod).map(str::to_owned).into_iter().collect());

/// What every part of a cluster uses. Clones share everything.
#[derive(Clone)]
pub(crate) struct Environment {
    pub(crate) client: Client,
    pub(crate) factory: InformerFactory,
    pub(crate) events: EventRecorder,
    pub(crate) clock: Clock,
    pub(crate) grace_period: GracePeriod,
}

impl Environment {
    /// Returns the informer of pods, with its indexes.
    pub(crate) fn pods(&self) -> SharedInformer<Pod> {
        self.factory.indexed_informer(&[BY_CONTROLLER, BY_NODE])
    }

    pub(crate) fn nodes(&self) -> SharedInformer<Node> {
        self.factory.informer()
    }

    /// Returns the recorder of a component, such as `kubelet`.
    pub(crate) fn recorder(&self, component: &str) -> Recorder {
        // The names of components are qualified names.
        Recorder(self.events.for_controller(component).unwrap_or_else(|_| self.events.clone()))
    }
}

/// Returns the pods that an object controls, by name.
pub(crate) fn controlled_by<O: Resource>(pods: &Store<Pod>, owner: &O) -> Vec<Arc<Pod>> {
    let mut controlled = pods.by_index(&BY_CONTROLLER, owner.meta().uid.as_deref().unwrap_or_default());
    controlled.retain(|pod| pod.metadata.namespace == owner.meta().namespace);
    controlled.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
    controlled
}

/// Returns the pods of a node, by namespace and name.
pub(crate) fn on_node(pods: &Store<Pod>, node: &str) -> Vec<Arc<Pod>> {
    let mut on_node = pods.by_index(&BY_NODE, node);
    let key = |pod: &Arc<Pod>| (pod.metadata.namespace.clone(), pod.metadata.name.clone());
    on_node.sort_by_cached_key(key);
    on_node
}

/// Records the events of one component.
#[derive(Clone)]
pub(crate) struct Recorder(EventRecorder);

impl Recorder {
    pub(crate) fn normal<K: ApiObject>(&self, object: &K, reason: &str, note: impl Into<String>) {
        self.0.event(object, EventType::Normal, reason, reason, note);
    }

    pub(crate) fn warning<K: ApiObject>(&self, object: &K, reason: &str, note: impl Into<String>) {
        self.0.event(object, EventType::Warning, reason, reason, note);
    }
}
