//! Observes the objects of a scenario: their current state, and the transitions that led to it.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::ready,
};

use futures::{
    StreamExt,
    stream::{BoxStream, SelectAll, select_all},
};
use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet},
        batch::v1::Job,
        core::v1::{Node, Pod},
        policy::v1::PodDisruptionBudget,
    },
};
use kube::{
    Api, Client,
    runtime::{
        WatchStreamExt,
        watcher::{self, Event, watcher},
    },
};
use kubewright_runtime::object::ApiObject;
use serde_json::Value;

use super::objects::{Objects, conditions, controller, is_terminating, name};

/// A change of an object, with its kind, or of the watch of a kind.
enum Change {
    Set(&'static str, Value),
    Removed(&'static str, Value),
    /// The watch starts or restarts: all objects that exist are set next.
    Listing(&'static str),
    /// All objects that exist are set.
    Listed(&'static str),
}

/// The observed state of a scenario. Changes are read when the scenario waits.
pub(super) struct Observer {
    changes: SelectAll<BoxStream<'static, Change>>,
    /// The kinds and names of objects that are not set yet by a list in progress.
    stale: BTreeSet<(&'static str, String)>,
    pub(super) objects: Objects,
    pub(super) history: History,
}

/// What happened to objects, including those that no longer exist.
#[derive(Debug, Default)]
pub(super) struct History {
    /// The conditions by UID.
    pub(super) transitions: BTreeMap<String, Transitions>,
    /// The creations and deletions of pods of StatefulSets, whose order is defined.
    pub(super) order: Vec<String>,
}

/// The conditions of one object.
#[derive(Debug)]
pub(super) struct Transitions {
    pub(super) kind: &'static str,
    pub(super) name: String,
    /// The name without the random part.
    pub(super) generic_name: String,
    /// Whether it is a pod of a DaemonSet.
    pub(super) is_daemon: bool,
    /// Each status with its reason, one after another, by type.
    pub(super) conditions: BTreeMap<String, Vec<String>>,
}

impl Observer {
    /// Observes a namespace, and the nodes with this selector.
    pub(super) fn start(client: &Client, namespace: &str, nodes: &str) -> Self {
        let nodes = watcher::Config::default().labels(nodes);
        let changes = select_all([
            changes(Api::<Node>::all(client.clone()), nodes),
            changes_in::<Pod>(client, namespace),
            changes_in::<Deployment>(client, namespace),
            changes_in::<ReplicaSet>(client, namespace),
            changes_in::<StatefulSet>(client, namespace),
            changes_in::<DaemonSet>(client, namespace),
            changes_in::<Job>(client, namespace),
            changes_in::<PodDisruptionBudget>(client, namespace),
        ]);
        Observer { changes, stale: BTreeSet::new(), objects: Objects::default(), history: History::default() }
    }

    /// Waits for a change, and records it.
    pub(super) async fn observe(&mut self) {
        match self.changes.next().await.expect("a watch never ends") {
            Change::Set(kind, object) => {
                let key = (kind, name(&object).to_owned());
                self.history.record(kind, &object, !self.objects.0.contains_key(&key));
                self.stale.remove(&key);
                self.objects.0.insert(key, object);
            }
            Change::Removed(kind, object) => {
                self.history.record_removal(&object);
                self.objects.0.remove(&(kind, name(&object).to_owned()));
            }
            Change::Listing(kind) => self.stale.extend(self.objects.0.keys().filter(|key| key.0 == kind).cloned()),
            Change::Listed(kind) => {
                // Their deletions were missed.
                for key in self.stale.extract_if(.., |key| key.0 == kind) {
                    if let Some(object) = self.objects.0.remove(&key) {
                        self.history.record_removal(&object);
                    }
                }
            }
        }
    }
}

impl History {
    fn record(&mut self, kind: &'static str, object: &Value, is_new: bool) {
        if is_new && is_ordered(object) {
            self.order.push(format!("{} is created", name(object)));
        }
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
        let transitions = self.transitions.entry(uid.to_owned()).or_insert_with(|| Transitions::new(kind, object));
        // kwok removes a terminating pod at once, while a kubelet reports the end of its containers before.
        if is_terminating(object) {
            return;
        }
        for condition in conditions(object) {
            let text = |field: &str| condition[field].as_str().unwrap_or_default();
            let state = format!("{} {}", text("status"), text("reason")).trim_end().to_owned();
            let states = transitions.conditions.entry(text("type").to_owned()).or_default();
            if states.last() != Some(&state) {
                states.push(state);
            }
        }
    }

    fn record_removal(&mut self, object: &Value) {
        if is_ordered(object) {
            self.order.push(format!("{} is deleted", name(object)));
        }
    }
}

impl Transitions {
    pub(super) fn new(kind: &'static str, object: &Value) -> Self {
        let generated = object["metadata"]["generateName"].as_str().filter(|_| !is_ordered(object));
        let generated = generated.map(|prefix| format!("{prefix}*"));
        let name = name(object).to_owned();
        let generic_name = generated.unwrap_or_else(|| name.clone());
        let is_daemon = controller(object).is_some_and(|(kind, _)| kind == "DaemonSet");
        Transitions { kind, name, generic_name, is_daemon, conditions: BTreeMap::new() }
    }

    /// Whether kube-scheduler did not know the node of a daemon pod at first: its cache and that of the DaemonSet
    /// controller, which creates the pod for a new node, are independent.
    pub(super) fn is_scheduled_later(&self) -> bool {
        self.is_daemon
            && self
                .conditions
                .get("PodScheduled")
                .is_some_and(|states| states.last().is_some_and(|state| state == "True"))
    }
}

/// Returns whether an object is a pod of a StatefulSet, which has a stable name.
pub(super) fn is_ordered(object: &Value) -> bool {
    controller(object).is_some_and(|(kind, _)| kind == "StatefulSet")
}

fn changes_in<K>(client: &Client, namespace: &str) -> BoxStream<'static, Change>
where
    K: ApiObject<Scope = NamespaceResourceScope> + k8s_openapi::Resource,
{
    changes(Api::<K>::namespaced(client.clone(), namespace), watcher::Config::default())
}

fn changes<K: ApiObject + k8s_openapi::Resource>(api: Api<K>, config: watcher::Config) -> BoxStream<'static, Change> {
    let kind = <K as k8s_openapi::Resource>::KIND;
    let value = |object: K| serde_json::to_value(object).expect("an object can be encoded");
    let changes = watcher(api, config).default_backoff().filter_map(move |event| {
        ready(match event {
            Ok(Event::Apply(object) | Event::InitApply(object)) => Some(Change::Set(kind, value(object))),
            Ok(Event::Delete(object)) => Some(Change::Removed(kind, value(object))),
            Ok(Event::Init) => Some(Change::Listing(kind)),
            Ok(Event::InitDone) => Some(Change::Listed(kind)),
            // A watch that failed is started again. The time limits of scenarios end one that never succeeds.
            Err(_) => None,
        })
    });
    changes.boxed()
}

#[cfg(test)]
mod tests {
    use futures::stream::iter;
    use serde_json::json;

    use super::*;

    fn object(name: &str) -> Value {
        let owner = json!({"kind": "StatefulSet", "name": "web", "controller": true});
        json!({"metadata": {"name": name, "uid": name, "ownerReferences": [owner]}})
    }

    #[tokio::test]
    async fn a_restarted_watch_removes_objects_that_no_longer_exist() {
        let set = |kind, name| Change::Set(kind, object(name));
        let listed = [Change::Listing("Pod"), set("Pod", "web-0"), set("Pod", "web-1"), Change::Listed("Pod")];
        // A list that fails, and one that succeeds.
        let failed = [set("Node", "web-1"), Change::Listing("Pod"), set("Pod", "web-1")];
        let relisted = [Change::Listing("Pod"), set("Pod", "web-0"), Change::Listed("Pod")];
        let changes: Vec<_> = listed.into_iter().chain(failed).chain(relisted).collect();
        let count = changes.len();
        let (changes, stale) = (select_all([iter(changes).boxed()]), BTreeSet::new());
        let mut observer = Observer { changes, stale, objects: Objects::default(), history: History::default() };
        for _ in 0..count {
            observer.observe().await;
        }
        let keys: Vec<_> = observer.objects.0.keys().map(|(kind, name)| (*kind, name.as_str())).collect();
        assert_eq!(keys, [("Node", "web-1"), ("Pod", "web-0")]);
        assert_eq!(observer.history.order.last().map(String::as_str), Some("web-1 is deleted"));
    }
}
