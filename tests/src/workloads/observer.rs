//! Observes the objects of a scenario: their current state, and the transitions that led to it.

use std::{collections::BTreeMap, future::ready};

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
use logger_runtime::object::ApiObject;
use serde_json::Value;

use super::objects::{Objects, conditions, controller, is_terminating, name};

/// A change of an object, with its kind.
enum Change {
    Set(&'static str, Value),
    Removed(&'static str, Value),
}

/// The observed state of a scenario. Changes are read when the scenario waits.
pub(super) struct Observer {
    changes: SelectAll<BoxStream<'static, Change>>,
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
        Observer { changes, objects: Objects::default(), history: History::default() }
    }

    /// Waits for a change, and records it.
    pub(super) async fn observe(&mut self) {
        match self.changes.next().await.expect("a watch never ends") {
            Change::Set(kind, object) => {
                let key = (kind, name(&object).to_owned());
                self.history.record(kind, &object, !self.objects.0.contains_key(&key));
                self.objects.0.insert(key, object);
            }
            Change::Removed(kind, object) => {
                self.history.record_removal(&object);
                self.objects.0.remove(&(kind, name(&object).to_owned()));
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
        Transitions { kind, name, generic_name, conditions: BTreeMap::new() }
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
            // A watch that failed is started again. The time limits of scenarios end one that never succeeds.
            Ok(Event::Init | Event::InitDone) | Err(_) => None,
        })
    });
    changes.boxed()
}
