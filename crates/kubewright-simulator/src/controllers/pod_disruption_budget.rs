//! The disruption controller: it writes into the status of PodDisruptionBudgets how many pods can be evicted.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, ReplicaSet, StatefulSet},
        core::v1::Pod,
        policy::v1::{PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus},
    },
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
};
use kube::ResourceExt;
use kubewright_runtime::{Action, Controller, ObjectKey, ReconcileContext, ReconcileError, Store};
use parking_lot::Mutex;
use tokio::time::Instant;

use super::children::count;
use crate::{
    environment::{Environment, Recorder},
    model::{
        budget::{self, counts, disruptions_allowed},
        clock::Clock,
        labels,
        pods::{controller_of, has_finished, is_ready, is_terminating},
    },
};

/// How long an evicted pod can exist without being deleted before it counts again.
const DELETION_TIMEOUT: Duration = Duration::from_secs(120);
const CONDITION: &str = "DisruptionAllowed";

struct State {
    pods: Store<Pod>,
    replica_sets: Store<ReplicaSet>,
    deployments: Store<Deployment>,
    stateful_sets: Store<StatefulSet>,
    events: Recorder,
    clock: Clock,
    /// When the evicted pods of each budget were seen first.
    first_seen: Mutex<HashMap<ObjectKey, BTreeMap<String, Instant>>>,
}

pub(super) fn controller(environment: &Environment) -> Controller {
    let factory = &environment.factory;
    let (budgets, pods) = (factory.informer::<PodDisruptionBudget>(), environment.pods());
    let (sets, deployments) = (factory.informer::<ReplicaSet>(), factory.informer::<Deployment>());
    let stateful_sets = factory.informer::<StatefulSet>();
    let state = State {
        pods: pods.store(),
        replica_sets: sets.store(),
        deployments: deployments.store(),
        stateful_sets: stateful_sets.store(),
        events: environment.recorder("controllermanager"),
        clock: environment.clock,
        first_seen: Mutex::default(),
    };
    let (of_pod, of_deployment, of_set) = (budgets.store(), budgets.store(), budgets.store());
    Controller::new("disruption", &budgets)
        .watches(&pods, move |pod| budgets_of(&of_pod, pod))
        .watches(&deployments, move |deployment| in_namespace(&of_deployment, deployment.metadata.namespace.as_deref()))
        .watches(&stateful_sets, move |set| in_namespace(&of_set, set.metadata.namespace.as_deref()))
        .reconcile_with(move |_| state, reconcile)
        .build()
}

/// Returns the budgets of a pod.
fn budgets_of(budgets: &Store<PodDisruptionBudget>, pod: &Pod) -> Vec<ObjectKey> {
    let budgets = budgets.list_namespace(pod.metadata.namespace.as_deref().unwrap_or_default());
    budgets.iter().filter(|budget| selects(budget, pod)).map(|budget| ObjectKey::from_object(&**budget)).collect()
}

fn in_namespace(budgets: &Store<PodDisruptionBudget>, namespace: Option<&str>) -> Vec<ObjectKey> {
    let budgets = budgets.list_namespace(namespace.unwrap_or_default());
    budgets.iter().map(|budget| ObjectKey::from_object(&**budget)).collect()
}

fn selects(budget: &PodDisruptionBudget, pod: &Pod) -> bool {
    let selector = budget.spec.as_ref().and_then(|spec| spec.selector.as_ref());
    labels::matches_optional(selector, pod.labels())
}

async fn reconcile(
    budget: Arc<PodDisruptionBudget>,
    context: ReconcileContext<State>,
) -> Result<Action, ReconcileError> {
    if is_terminating(&*budget) {
        return Ok(Action::Done);
    }
    let spec = budget.spec.clone().unwrap_or_default();
    let mut pods = context.pods.list_namespace(context.key().namespace());
    pods.retain(|pod| !has_finished(pod) && selects(&budget, pod));
    if pods.is_empty() {
        context.events.normal(&*budget, "NoPods", "No matching pods found");
    }
    let counts = counts(&spec, expected(&spec, &pods, &context));
    let (disrupted, next) = context.disrupted(&budget, &pods);
    let is_healthy =
        |pod: &&Arc<Pod>| is_ready(pod) && !is_terminating(&***pod) && !disrupted.contains_key(&pod.name_any());
    let healthy = count(pods.iter().filter(is_healthy).count());
    let allowed = disruptions_allowed(counts, healthy);
    let old = budget.status.clone().unwrap_or_default();
    let status = PodDisruptionBudgetStatus {
        expected_pods: Some(counts.expected),
        desired_healthy: Some(counts.desired_healthy),
        current_healthy: Some(healthy),
        disruptions_allowed: Some(allowed),
        disrupted_pods: Some(disrupted).filter(|disrupted| !disrupted.is_empty()),
        observed_generation: budget.metadata.generation,
        conditions: Some(vec![condition(&budget, &old, allowed, &context.clock)]),
    };
    context.update_status(&*budget, |budget| budget.status = Some(status)).await?;
    Ok(next.map_or(Action::Done, Action::RequeueAfter))
}

impl State {
    /// Returns the evicted pods that are not deleted yet, with the time of their eviction, and after which time the
    /// next of them counts again. The time is that of this controller: the clock of the API server can differ.
    fn disrupted(&self, budget: &PodDisruptionBudget, pods: &[Arc<Pod>]) -> (BTreeMap<String, Time>, Option<Duration>) {
        let mut recorded = budget.status.as_ref().and_then(|status| status.disrupted_pods.clone()).unwrap_or_default();
        let is_pending = |name: &String| {
            let pod = pods.iter().find(|pod| pod.metadata.name.as_ref() == Some(name));
            pod.is_some_and(|pod| !is_terminating(&**pod))
        };
        recorded.retain(|name, _| is_pending(name));
        let (key, now) = (ObjectKey::from_object(budget), Instant::now());
        // No panic can leave the map inconsistent.
        let mut first_seen = self.first_seen.lock();
        let seen = first_seen.entry(key.clone()).or_default();
        seen.retain(|name, _| recorded.contains_key(name));
        recorded.retain(|name, _| *seen.entry(name.clone()).or_insert(now) + DELETION_TIMEOUT > now);
        let next = seen.values().filter_map(|since| (*since + DELETION_TIMEOUT).checked_duration_since(now));
        let next = next.filter(|remaining| !remaining.is_zero()).min();
        if seen.is_empty() {
            first_seen.remove(&key);
        }
        (recorded, next)
    }
}

/// Returns the expected number of pods: those that exist, or those that their workloads should have.
fn expected(spec: &PodDisruptionBudgetSpec, pods: &[Arc<Pod>], context: &ReconcileContext<State>) -> i32 {
    if !budget::needs_scale(spec) {
        return count(pods.len());
    }
    let mut seen = BTreeSet::new();
    let scales = pods.iter().filter_map(|pod| {
        let (uid, scale) = scale(pod, context)?;
        seen.insert(uid).then_some(scale)
    });
    scales.sum()
}

/// Returns the workload of a pod and its number of replicas. The API server does not have the scale of other workloads.
fn scale(pod: &Pod, context: &ReconcileContext<State>) -> Option<(String, i32)> {
    let (namespace, owner) = (pod.metadata.namespace.as_deref().unwrap_or_default(), controller_of(pod)?);
    match owner.kind.as_str() {
        "ReplicaSet" => {
            let set = context.replica_sets.get(namespace, &owner.name)?;
            match controller_of(&*set).filter(|owner| owner.kind == "Deployment") {
                Some(owner) => {
                    let deployment = context.deployments.get(namespace, &owner.name)?;
                    Some((owner.uid.clone(), deployment.spec.as_ref()?.replicas.unwrap_or(1)))
                }
                None => Some((owner.uid.clone(), set.spec.as_ref()?.replicas.unwrap_or(1))),
            }
        }
        "StatefulSet" => {
            let set = context.stateful_sets.get(namespace, &owner.name)?;
            Some((owner.uid.clone(), set.spec.as_ref()?.replicas.unwrap_or(1)))
        }
        _ => None,
    }
}

fn condition(budget: &PodDisruptionBudget, old: &PodDisruptionBudgetStatus, allowed: i32, clock: &Clock) -> Condition {
    let (status, reason) = if allowed > 0 { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
    let known = old.conditions.iter().flatten().find(|known| known.type_ == CONDITION && known.status == status);
    Condition {
        type_: CONDITION.to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message: String::new(),
        observed_generation: budget.metadata.generation,
        last_transition_time: known.map_or_else(|| clock.time(), |known| known.last_transition_time.clone()),
    }
}
