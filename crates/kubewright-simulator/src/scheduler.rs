//! The scheduler: it binds pods to nodes.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use k8s_openapi::{
    api::core::v1::{Binding, Node, ObjectReference, Pod, PodCondition},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{Api, ResourceExt, api::PostParams, core::Status};
use kubewright_runtime::{
    Action, Controller, Error, Event, ObjectKey, ReconcileContext, ReconcileError, Store,
    controller::{Predicate, Watch},
};
use parking_lot::Mutex;

use crate::{
    environment::{Environment, Recorder},
    model::{
        clock::Clock,
        placement::Snapshot,
        pods::{self, has_finished, is_terminating},
    },
};

const NAME: &str = "default-scheduler";
const SCHEDULED: &str = "PodScheduled";
/// After which time a pod that did not fit is tried again without an event.
const RETRY_INTERVAL: Duration = Duration::from_secs(300);

struct State {
    pods: Store<Pod>,
    nodes: Store<Node>,
    /// The nodes of pods that are bound, by UID, until the cache contains the binding.
    assumed: Mutex<HashMap<String, String>>,
    events: Recorder,
    clock: Clock,
}

/// Returns the scheduler. It binds one pod at a time, so that each decision is based on the previous ones.
pub(crate) fn controller(environment: &Environment) -> Controller {
    let (pods, nodes) = (environment.pods(), environment.nodes());
    let state = State {
        pods: pods.store(),
        nodes: nodes.store(),
        assumed: Mutex::default(),
        events: environment.recorder(NAME),
        clock: environment.clock,
    };
    let unscheduled = Predicate::new(|event: &Event<Pod>| is_unscheduled(event.object()));
    let (for_nodes, for_pods) = (pods.store(), pods.store());
    Controller::new(NAME, Watch::new(&pods).with_predicate(unscheduled))
        .watches(&nodes, move |_| waiting(&for_nodes))
        .watches(Watch::new(&pods).with_predicate(Predicate::new(changes_placement)), move |_| waiting(&for_pods))
        .reconcile_with(move |_| state, reconcile)
        .build()
}

fn is_unscheduled(pod: &Pod) -> bool {
    let spec = pod.spec.as_ref();
    let is_gated = spec.is_some_and(|spec| spec.scheduling_gates.as_ref().is_some_and(|gates| !gates.is_empty()));
    let scheduler = spec.and_then(|spec| spec.scheduler_name.as_deref()).unwrap_or(NAME);
    pods::node_name(pod).is_none() && !is_gated && !is_terminating(pod) && !has_finished(pod) && scheduler == NAME
}

/// Returns whether an event can make a pod fit: another one is bound, ended or was deleted.
fn changes_placement(event: &Event<Pod>) -> bool {
    match event {
        Event::Added { .. } => false,
        Event::Deleted { object, .. } => pods::node_name(object).is_some(),
        Event::Updated { old, new } => {
            pods::node_name(old) != pods::node_name(new) || has_finished(old) != has_finished(new)
        }
    }
}

fn waiting(pods: &Store<Pod>) -> Vec<ObjectKey> {
    let pods = pods.list().into_iter().filter(|pod| is_unscheduled(pod));
    pods.map(|pod| ObjectKey::from_object(&*pod)).collect()
}

async fn reconcile(pod: Arc<Pod>, context: ReconcileContext<State>) -> Result<Action, ReconcileError> {
    if !is_unscheduled(&pod) || context.is_assumed(&pod) {
        return Ok(Action::Done);
    }
    match context.choose(&pod) {
        Ok(node) => {
            bind(&pod, &node, &context).await?;
            Ok(Action::Done)
        }
        Err(message) => {
            report(&pod, message, &context).await?;
            Ok(Action::RequeueAfter(RETRY_INTERVAL))
        }
    }
}

impl State {
    fn is_assumed(&self, pod: &Pod) -> bool {
        pod.uid().is_some_and(|uid| self.assumed.lock().contains_key(&uid))
    }

    /// Returns the name of the best node, or why none fits.
    fn choose(&self, pod: &Pod) -> Result<String, String> {
        let (mut nodes, pods) = (self.nodes.list(), self.pods.list());
        nodes.sort_by_key(|node| node.name_any());
        let mut assumed = self.assumed.lock();
        let is_pending = |pod: &Arc<Pod>| pods::node_name(pod).is_none() && !is_terminating(&**pod);
        let pending: HashSet<_> = pods.iter().filter(|pod| is_pending(pod)).filter_map(|pod| pod.uid()).collect();
        assumed.retain(|uid, _| pending.contains(uid));
        let placed = pods.iter().filter_map(|pod| {
            let node = pods::node_name(pod).map(str::to_owned);
            Some((&**pod, node.or_else(|| assumed.get(&pod.uid()?).cloned())?))
        });
        let snapshot = Snapshot::new(nodes.iter().map(|node| &**node), placed);
        snapshot.choose(pod).map(|node| node.name_any())
    }
}

async fn bind(pod: &Pod, node: &str, context: &ReconcileContext<State>) -> Result<(), ReconcileError> {
    let (namespace, name) = (context.key().namespace(), context.key().name());
    let binding = Binding {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some(namespace.to_owned()),
            uid: pod.uid(),
            ..ObjectMeta::default()
        },
        target: ObjectReference {
            api_version: Some("v1".to_owned()),
            kind: Some("Node".to_owned()),
            name: Some(node.to_owned()),
            ..ObjectReference::default()
        },
    };
    let pods: Api<Pod> = Api::namespaced(context.client().clone(), namespace);
    let bound = pods.create_subresource::<_, Status>("binding", name, &PostParams::default(), &binding).await;
    match bound.map_err(|error| Error::new("create", "pods", name, error).with_subresource(Some("binding"))) {
        Ok(_) => {}
        Err(error) if error.is_not_found() => return Ok(()),
        Err(error) => return Err(error.into()),
    }
    if let Some(uid) = pod.uid() {
        context.assumed.lock().insert(uid, node.to_owned());
    }
    context.events.normal(pod, "Scheduled", format!("Successfully assigned {namespace}/{name} to {node}"));
    Ok(())
}

/// Writes why a pod does not fit on any node.
async fn report(pod: &Pod, message: String, context: &ReconcileContext<State>) -> Result<(), ReconcileError> {
    let known = pods::condition(pod, SCHEDULED).filter(|known| known.status == "False");
    if known.is_some_and(|known| known.message.as_ref() == Some(&message)) {
        return Ok(());
    }
    context.events.warning(pod, "FailedScheduling", message.clone());
    let transition = known.and_then(|known| known.last_transition_time.clone());
    let condition = PodCondition {
        type_: SCHEDULED.to_owned(),
        status: "False".to_owned(),
        reason: Some("Unschedulable".to_owned()),
        message: Some(message),
        last_transition_time: transition.or_else(|| Some(context.clock.time())),
        ..PodCondition::default()
    };
    let update = |pod: &mut Pod| {
        let conditions = pod.status.get_or_insert_default().conditions.get_or_insert_default();
        conditions.retain(|known| known.type_ != SCHEDULED);
        conditions.push(condition);
    };
    context.update_status(pod, update).await?;
    Ok(())
}
