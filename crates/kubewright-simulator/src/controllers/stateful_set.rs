//! The StatefulSet controller: pods with stable names, created and updated in order.

mod identity;

use std::sync::Arc;

use k8s_openapi::api::{
    apps::v1::{ControllerRevision, StatefulSet, StatefulSetSpec, StatefulSetStatus},
    core::v1::{PersistentVolumeClaim, Pod},
};
use kube::{ResourceExt, api::PostParams};
use kubewright_runtime::{Action, Controller, Error, ReconcileContext, ReconcileError, Store};

use super::{
    children::{self, count, nonzero},
    revisions::{REVISION_LABEL, Revisions},
};
use crate::{
    environment::{Environment, Recorder, controlled_by},
    model::{
        clock::Clock,
        pods::{self, has_finished, is_available, is_ready, is_terminating, phase},
    },
};
use identity::ordinal;

struct State {
    pods: Store<Pod>,
    revisions: Store<ControllerRevision>,
    events: Recorder,
    clock: Clock,
}

pub(super) fn controller(environment: &Environment) -> Controller {
    let sets = environment.factory.informer::<StatefulSet>();
    let revisions = environment.factory.informer::<ControllerRevision>();
    let pods = environment.pods();
    let (events, clock) = (environment.recorder("statefulset-controller"), environment.clock);
    let state = State { pods: pods.store(), revisions: revisions.store(), events, clock };
    Controller::new("statefulset", &sets).owns(&pods).owns(&revisions).reconcile_with(move |_| state, reconcile).build()
}

/// A set with its pods.
struct Workload {
    set: Arc<StatefulSet>,
    spec: StatefulSetSpec,
    pods: Vec<Arc<Pod>>,
    revisions: Revisions,
    /// The revision that is rolled out.
    update: String,
    /// The revision of the pods that are not updated yet.
    current: String,
}

async fn reconcile(set: Arc<StatefulSet>, context: ReconcileContext<State>) -> Result<Action, ReconcileError> {
    let spec = set.spec.clone().unwrap_or_default();
    let pods = controlled_by(&context.pods, &*set);
    if is_terminating(&*set) {
        return Ok(Action::Done);
    }
    let revisions = Revisions::sync(&*set, &spec.template, &context.revisions, &context.typed()).await?;
    let update = revisions.latest();
    let status = set.status.clone().unwrap_or_default();
    let current = status.current_revision.filter(|name| revisions.template(name).is_some());
    let current = current.unwrap_or_else(|| update.clone());
    let workload = Workload { set, spec, pods, revisions, update, current };
    let result = workload.step(&context).await;
    let status = workload.status(&context.clock);
    context.update_status(&*workload.set, |set| set.status = Some(status)).await?;
    result?;
    let limit = workload.spec.revision_history_limit;
    let in_use =
        workload.pods.iter().filter_map(|pod| revision(pod)).chain([workload.current.clone()]).collect::<Vec<_>>();
    workload.revisions.delete_history(limit, &in_use, &context.typed()).await?;
    let next = pods::next_availability(&workload.pods, workload.spec.min_ready_seconds, &context.clock);
    Ok(next.map_or(Action::Done, Action::RequeueAfter))
}

impl Workload {
    /// Creates missing pods, deletes surplus ones and updates outdated ones. With the policy `OrderedReady` it stops at
    /// the first pod that must be waited for.
    async fn step(&self, context: &ReconcileContext<State>) -> Result<(), Error> {
        let is_ordered = self.spec.pod_management_policy.as_deref() != Some("Parallel");
        for ordinal in self.desired() {
            if !self.ensure(ordinal, context).await? && is_ordered {
                return Ok(());
            }
        }
        for pod in self.surplus() {
            if !is_terminating(&**pod) {
                children::delete(&context.typed(), &context.events, &*self.set, pod).await?;
            }
            if is_ordered {
                return Ok(());
            }
        }
        self.update_one(context).await
    }

    /// Returns the ordinals of the desired pods.
    fn desired(&self) -> std::ops::Range<i32> {
        let start = self.spec.ordinals.as_ref().and_then(|ordinals| ordinals.start).unwrap_or_default();
        start..start + self.spec.replicas.unwrap_or(1)
    }

    fn pod(&self, number: i32) -> Option<&Arc<Pod>> {
        self.pods.iter().find(|pod| ordinal(&self.set, pod) == Some(number))
    }

    /// Returns the pods that are not desired, the last one first.
    fn surplus(&self) -> Vec<&Arc<Pod>> {
        let desired = self.desired();
        let number = |pod: &Arc<Pod>| ordinal(&self.set, pod).unwrap_or(i32::MAX);
        let mut surplus: Vec<_> = self.pods.iter().filter(|pod| !desired.contains(&number(pod))).collect();
        surplus.sort_by_key(|pod| std::cmp::Reverse(number(pod)));
        surplus
    }

    /// Creates the pod of an ordinal if it does not exist, and replaces it if it ended. Returns whether it is
    /// available.
    async fn ensure(&self, number: i32, context: &ReconcileContext<State>) -> Result<bool, Error> {
        match self.pod(number) {
            Some(pod) if is_terminating(&**pod) => Ok(false),
            Some(pod) if has_finished(pod) => {
                children::delete(&context.typed(), &context.events, &*self.set, pod).await?;
                Ok(false)
            }
            Some(pod) => Ok(is_available(pod, self.spec.min_ready_seconds, &context.clock)),
            None => {
                for claim in identity::claims(&self.set, &self.spec, number) {
                    let client = context.typed::<PersistentVolumeClaim>();
                    match client.create(&claim, &PostParams::default()).await {
                        Err(error) if !error.is_already_exists() => return Err(error),
                        _ => {}
                    }
                }
                let revision = self.revision_of(number);
                let template = self.revisions.template(revision).unwrap_or_else(|| self.spec.template.clone());
                let pod = identity::pod(&self.set, &self.spec, &template, revision, number);
                children::create(&context.typed(), &context.events, &*self.set, &pod).await?;
                Ok(false)
            }
        }
    }

    /// Returns the revision that a new pod gets: the current one below the partition. A strategy that declares only its
    /// type has none: then it is the current one below the number of pods that are not updated yet.
    fn revision_of(&self, number: i32) -> &str {
        let strategy = self.spec.update_strategy.as_ref();
        let has_partition = strategy.is_none_or(|strategy| strategy.rolling_update.is_some());
        let first_updated = match has_partition || !self.is_rolling() {
            true => self.partition(),
            false => {
                let outdated = self.set.status.as_ref().and_then(|status| status.current_replicas);
                self.desired().start.saturating_add(outdated.unwrap_or_default())
            }
        };
        if number < first_updated { &self.current } else { &self.update }
    }

    /// Returns the first ordinal that is updated. The partition counts from the start of the ordinals.
    fn partition(&self) -> i32 {
        let rolling = self.spec.update_strategy.as_ref().and_then(|strategy| strategy.rolling_update.as_ref());
        let partition = rolling.and_then(|rolling| rolling.partition).unwrap_or_default();
        self.desired().start.saturating_add(partition)
    }

    fn is_rolling(&self) -> bool {
        let strategy = self.spec.update_strategy.as_ref().and_then(|strategy| strategy.type_.as_deref());
        strategy != Some("OnDelete")
    }

    /// Deletes the last outdated pod, if all later ones are updated and ready.
    async fn update_one(&self, context: &ReconcileContext<State>) -> Result<(), Error> {
        if !self.is_rolling() {
            return Ok(());
        }
        for pod in self.desired().rev().take_while(|number| *number >= self.partition()).filter_map(|n| self.pod(n)) {
            if revision(pod).as_ref() != Some(&self.update) && !is_terminating(&**pod) {
                return children::delete(&context.typed(), &context.events, &*self.set, pod).await;
            }
            if is_terminating(&**pod) || !is_available(pod, self.spec.min_ready_seconds, &context.clock) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn status(&self, clock: &Clock) -> StatefulSetStatus {
        let old = self.set.status.clone().unwrap_or_default();
        let desired = self.desired();
        let counted = |matches: &dyn Fn(&Pod) -> bool| self.pods.iter().filter(|pod| matches(pod)).count();
        let created = |pod: &Pod| ordinal(&self.set, pod).is_some();
        let has_revision = |pod: &Pod, name: &String| !is_terminating(pod) && revision(pod).as_ref() == Some(name);
        let is_running = |pod: &Pod| phase(pod) == "Running" && is_ready(pod);
        let updated = counted(&|pod| has_revision(pod, &self.update));
        let ready = counted(&is_running);
        let is_complete = self.is_rolling()
            && self.partition() == desired.start
            && self.pods.len() == desired.len()
            && updated == desired.len()
            && ready == desired.len();
        let current = if is_complete { &self.update } else { &self.current };
        StatefulSetStatus {
            replicas: count(counted(&created)),
            ready_replicas: nonzero(ready),
            available_replicas: Some(count(counted(&|pod| {
                is_running(pod) && is_available(pod, self.spec.min_ready_seconds, clock)
            }))),
            current_replicas: nonzero(counted(&|pod| has_revision(pod, current))),
            updated_replicas: nonzero(updated),
            current_revision: Some(current.clone()),
            update_revision: Some(self.update.clone()),
            observed_generation: self.set.metadata.generation,
            collision_count: Some(old.collision_count.unwrap_or_default()),
            conditions: old.conditions,
        }
    }
}

fn revision(pod: &Pod) -> Option<String> {
    pod.labels().get(REVISION_LABEL).cloned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn new_pods_below_the_partition_get_the_current_revision() {
        let first_updated = |strategy: &Value| {
            let spec = json!({"replicas": 4, "ordinals": {"start": 10}, "updateStrategy": strategy});
            let status = json!({"replicas": 4, "currentReplicas": 3});
            let set: StatefulSet = serde_json::from_value(json!({"spec": spec, "status": status})).unwrap();
            let workload = Workload {
                spec: set.spec.clone().unwrap(),
                set: Arc::new(set),
                pods: Vec::new(),
                revisions: Revisions { all: Vec::new() },
                update: "new".to_owned(),
                current: "old".to_owned(),
            };
            workload.desired().find(|number| workload.revision_of(*number) == "new")
        };
        for (strategy, expected) in [
            (json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}), 12),
            (json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}), 10),
            // Kubernetes sets no default for an explicit type.
            (json!({"type": "RollingUpdate"}), 13),
            (json!({"type": "OnDelete"}), 10),
            (Value::Null, 10),
        ] {
            assert_eq!(first_updated(&strategy), Some(expected), "{strategy}");
        }
    }
}
