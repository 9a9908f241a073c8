//! The DaemonSet controller: one pod on each node that fits.

use std::{collections::BTreeMap, sync::Arc};

use futures::future::join_all;
use k8s_openapi::api::{
    apps::v1::{ControllerRevision, DaemonSet, DaemonSetSpec, DaemonSetStatus},
    core::v1::{Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod, Toleration},
};
use kube::ResourceExt;
use kubewright_runtime::{Action, Controller, Error, ObjectKey, ReconcileContext, ReconcileError, Store};

use super::{
    children::{self, count, nonzero},
    revisions::{REVISION_LABEL, Revisions},
};
use crate::{
    environment::{Environment, Recorder, controlled_by},
    model::{
        clock::Clock,
        int_or_percent::{Round, resolve},
        nodes,
        pods::{self, has_finished, is_available, is_ready, is_terminating},
        taints::{self, NO_EXECUTE, NO_SCHEDULE, NOT_READY, UNREACHABLE, UNSCHEDULABLE},
    },
};

/// The taints that the pods of a DaemonSet tolerate.
const TOLERATED: [(&str, &str); 6] = [
    (NOT_READY, NO_EXECUTE),
    (UNREACHABLE, NO_EXECUTE),
    ("node.kubernetes.io/disk-pressure", NO_SCHEDULE),
    ("node.kubernetes.io/memory-pressure", NO_SCHEDULE),
    ("node.kubernetes.io/pid-pressure", NO_SCHEDULE),
    (UNSCHEDULABLE, NO_SCHEDULE),
];
const GENERATION_LABEL: &str = "pod-template-generation";
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

struct State {
    pods: Store<Pod>,
    nodes: Store<Node>,
    revisions: Store<ControllerRevision>,
    events: Recorder,
    clock: Clock,
}

pub(super) fn controller(environment: &Environment) -> Controller {
    let sets = environment.factory.informer::<DaemonSet>();
    let revisions = environment.factory.informer::<ControllerRevision>();
    let (pods, nodes) = (environment.pods(), environment.nodes());
    let (events, clock) = (environment.recorder("daemonset-controller"), environment.clock);
    let state = State { pods: pods.store(), nodes: nodes.store(), revisions: revisions.store(), events, clock };
    let known = sets.store();
    let all = move |_: &Node| known.list().iter().map(|set| ObjectKey::from_object(&**set)).collect::<Vec<_>>();
    Controller::new("daemonset", &sets)
        .owns(&pods)
        .owns(&revisions)
        .watches(&nodes, all)
        .reconcile_with(move |_| state, reconcile)
        .build()
}

async fn reconcile(set: Arc<DaemonSet>, context: ReconcileContext<State>) -> Result<Action, ReconcileError> {
    if is_terminating(&*set) {
        return Ok(Action::Done);
    }
    let spec = set.spec.clone().unwrap_or_default();
    let revisions = Revisions::sync(&*set, &spec.template, &context.revisions, &context.typed()).await?;
    let hash = revisions.all.last().and_then(|latest| latest.labels().get(REVISION_LABEL).cloned()).unwrap_or_default();
    let pods = controlled_by(&context.pods, &*set);
    let mut nodes = context.nodes.list();
    nodes.sort_by_key(|node| node.name_any());
    let daemons = Daemons::new(set, spec, hash, &pods, &nodes, context.clock);
    let result = daemons.sync(&context).await;
    let status = daemons.status();
    context.update_status(&*daemons.set, |set| set.status = Some(status)).await?;
    result?;
    revisions.delete_history(daemons.spec.revision_history_limit, &[], &context.typed()).await?;
    let next = pods::next_availability(&pods, daemons.spec.min_ready_seconds, &context.clock);
    Ok(next.map_or(Action::Done, Action::RequeueAfter))
}

/// The pods of a set by node.
struct Daemons<'a> {
    set: Arc<DaemonSet>,
    spec: DaemonSetSpec,
    hash: String,
    clock: Clock,
    /// The pods of each node on which one should run.
    desired: Vec<(&'a Node, Vec<&'a Arc<Pod>>)>,
    /// The pods on nodes on which none should be.
    unwanted: Vec<&'a Arc<Pod>>,
    misscheduled: usize,
}

/// Returns the node that a pod is on, or that it is created for.
fn target(pod: &Pod) -> Option<String> {
    if let Some(node) = pods::node_name(pod) {
        return Some(node.to_owned());
    }
    let affinity = pod.spec.as_ref()?.affinity.as_ref()?.node_affinity.as_ref()?;
    let terms = &affinity.required_during_scheduling_ignored_during_execution.as_ref()?.node_selector_terms;
    terms.first()?.match_fields.as_ref()?.first()?.values.as_ref()?.first().cloned()
}

impl<'a> Daemons<'a> {
    fn new(
        set: Arc<DaemonSet>,
        spec: DaemonSetSpec,
        hash: String,
        pods: &'a [Arc<Pod>],
        nodes: &'a [Arc<Node>],
        clock: Clock,
    ) -> Self {
        let mut by_node: BTreeMap<String, Vec<&Arc<Pod>>> = BTreeMap::new();
        for pod in pods {
            by_node.entry(target(pod).unwrap_or_default()).or_default().push(pod);
        }
        let template = template(&set, &spec, &hash);
        let (mut desired, mut unwanted, mut misscheduled) = (Vec::new(), Vec::new(), 0);
        for node in nodes {
            let present = by_node.remove(&node.name_any()).unwrap_or_default();
            let fits = nodes::meets_affinity(&template, node);
            let blocking = taints::untolerated(&template, node);
            if fits && blocking.is_none() {
                desired.push((&**node, present));
                continue;
            }
            misscheduled += usize::from(!present.is_empty());
            // Pods remain on a node that only rejects new ones.
            if !fits || blocking.is_some_and(|taint| taint.effect == NO_EXECUTE) {
                unwanted.extend(present);
            }
        }
        Daemons { set, spec, hash, clock, desired, unwanted, misscheduled }
    }

    /// Creates missing pods, deletes unwanted ones, and replaces outdated ones within the limit.
    async fn sync(&self, context: &ReconcileContext<State>) -> Result<(), Error> {
        let client = context.typed::<Pod>();
        for pod in &self.unwanted {
            self.delete(pod, context).await?;
        }
        let mut missing = Vec::new();
        for (node, present) in &self.desired {
            for pod in present.iter().filter(|pod| has_finished(pod)) {
                self.delete(pod, context).await?;
            }
            let mut running: Vec<_> = present.iter().filter(|pod| !has_finished(pod)).collect();
            running.sort_by_key(|pod| pod.creation_timestamp());
            for surplus in running.iter().skip(1) {
                self.delete(surplus, context).await?;
            }
            if present.is_empty() {
                missing.push(self.pod(node));
            }
        }
        let creations = missing.iter().map(|pod| children::create(&client, &context.events, &*self.set, pod));
        join_all(creations).await.into_iter().collect::<Result<Vec<_>, _>>()?;
        for pod in self.outdated() {
            self.delete(pod, context).await?;
        }
        Ok(())
    }

    async fn delete(&self, pod: &Pod, context: &ReconcileContext<State>) -> Result<(), Error> {
        match is_terminating(pod) {
            true => Ok(()),
            false => children::delete(&context.typed(), &context.events, &*self.set, pod).await,
        }
    }

    /// Returns the outdated pods that can be deleted now: those that are not available, and as many available ones as
    /// can be unavailable.
    fn outdated(&self) -> Vec<&'a Arc<Pod>> {
        let strategy = self.spec.update_strategy.as_ref();
        if strategy.is_some_and(|strategy| strategy.type_.as_deref() == Some("OnDelete")) {
            return Vec::new();
        }
        let limit = strategy.and_then(|strategy| strategy.rolling_update.as_ref()?.max_unavailable.as_ref());
        let limit = limit.map_or(1, |limit| resolve(limit, count(self.desired.len()), Round::Up));
        let is_up = |pod: &&Arc<Pod>| is_available(pod, self.spec.min_ready_seconds, &self.clock);
        let is_old = |pod: &&Arc<Pod>| pod.labels().get(REVISION_LABEL) != Some(&self.hash) && !is_terminating(&***pod);
        let is_node_up = |pods: &Vec<&'a Arc<Pod>>| pods.iter().any(|pod| is_up(pod) && !is_terminating(&***pod));
        let unavailable = self.desired.iter().filter(|(_, pods)| !is_node_up(pods)).count();
        let old = self.desired.iter().flat_map(|(_, pods)| pods.iter().copied()).filter(is_old);
        let (available, broken): (Vec<_>, Vec<_>) = old.partition(is_up);
        let room = usize::try_from(limit).unwrap_or_default().saturating_sub(unavailable);
        broken.into_iter().chain(available.into_iter().take(room)).collect()
    }

    /// Returns the pod for a node.
    fn pod(&self, node: &Node) -> Pod {
        let mut pod = template(&self.set, &self.spec, &self.hash);
        let field = NodeSelectorRequirement {
            key: "metadata.name".to_owned(),
            operator: "In".to_owned(),
            values: Some(vec![node.name_any()]),
        };
        let affinity = pod.spec.get_or_insert_default().affinity.get_or_insert_default();
        let required = affinity.node_affinity.get_or_insert_default();
        let selector = &mut required.required_during_scheduling_ignored_during_execution;
        let terms = &mut selector.get_or_insert_with(NodeSelector::default).node_selector_terms;
        // The controller has checked the other requirements.
        *terms = vec![NodeSelectorTerm { match_expressions: None, match_fields: Some(vec![field]) }];
        pod
    }

    fn status(&self) -> DaemonSetStatus {
        let on = |matches: &dyn Fn(&Pod) -> bool| {
            self.desired
                .iter()
                .filter(|(_, pods)| pods.iter().any(|pod| matches(pod) && !is_terminating(&***pod)))
                .count()
        };
        let available = on(&|pod| is_available(pod, self.spec.min_ready_seconds, &self.clock));
        let updated = on(&|pod| pod.labels().get(REVISION_LABEL) == Some(&self.hash));
        let old = self.set.status.clone().unwrap_or_default();
        DaemonSetStatus {
            desired_number_scheduled: count(self.desired.len()),
            current_number_scheduled: count(on(&|_| true)),
            number_misscheduled: count(self.misscheduled),
            number_ready: count(on(&is_ready)),
            number_available: nonzero(available),
            number_unavailable: nonzero(self.desired.len() - available),
            updated_number_scheduled: nonzero(updated),
            observed_generation: self.set.metadata.generation,
            collision_count: old.collision_count,
            conditions: old.conditions,
        }
    }
}

/// Returns a pod of the set, with its tolerations and without a node.
fn template(set: &DaemonSet, spec: &DaemonSetSpec, hash: &str) -> Pod {
    let mut pod = pods::from_template(&spec.template, set);
    pod.labels_mut().insert(REVISION_LABEL.to_owned(), hash.to_owned());
    if let Some(generation) = set.annotations().get(TEMPLATE_GENERATION) {
        pod.labels_mut().insert(GENERATION_LABEL.to_owned(), generation.clone());
    }
    let tolerations = pod.spec.get_or_insert_default().tolerations.get_or_insert_default();
    for (key, effect) in TOLERATED {
        let toleration = Toleration {
            key: Some(key.to_owned()),
            operator: Some("Exists".to_owned()),
            effect: Some(effect.to_owned()),
            ..Toleration::default()
        };
        // One of the template with a time is replaced.
        let is_same =
            |known: &&mut Toleration| Toleration { toleration_seconds: None, ..(*known).clone() } == toleration;
        match tolerations.iter_mut().find(is_same) {
            Some(known) => *known = toleration,
            None => tolerations.push(toleration),
        }
    }
    pod
}
