//! The reconciliation of a Logger: its children are applied, and its status is observed.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::{
    apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet},
    core::v1::Pod,
    policy::v1::PodDisruptionBudget,
};
use kubewright_core::{apply::ApplyConfiguration, verbs};
use kubewright_runtime::{
    Action, ApiObject, Error, EventRecorder, EventType, Index, ObjectKey, ReconcileContext, Store,
    client::ScopedObject, kube::core::PartialObjectMeta,
};
use logger_client::applyconfigurations::example_v2::{LoggerApply, LoggerStatusApply};
use logger_types::v2::{Logger, LoggerStatus};

use crate::{
    children::{self, AgentOptions, WorkloadApply},
    metrics::LoggerMetrics,
    names::{Names, controller_of, logger_of},
    readiness::{self, Readiness},
    reason::{self, shorten},
    spec::interval,
    status::{self, CONDITIONS, Observed, Problem, Workload},
    validation::validate,
};

/// The time after which a child is applied again if an object of others has its name.
const CONFLICT_INTERVAL: Duration = Duration::from_mins(1);

/// The time after which agents that are not ready are requested again: a change of the reason is no event.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// The time after which ready agents are requested again: a clock that is set back is no event. Agents report it for a
/// longer time.
const READY_INTERVAL: Duration = Duration::from_mins(5);

/// The maximum number of characters of a message of the API server in the status.
const MAX_MESSAGE: usize = 400;

/// The action of all events.
const ACTION: &str = "Reconciling";

/// Finds the Pods with the annotation of a Logger by its key.
pub(crate) const BY_LOGGER: Index<Pod> = Index::new("logger_operator_by_logger", |pod| {
    logger_of(pod).map(|key| key.as_str().to_owned()).into_iter().collect()
});

/// The state of the controller.
pub(crate) struct State {
    pub(crate) agent: AgentOptions,
    /// The Pods with the label of agents.
    pub(crate) pods: Store<Pod>,
    /// The ReplicaSets of Deployments.
    pub(crate) replica_sets: Store<PartialObjectMeta<ReplicaSet>>,
    pub(crate) recorder: EventRecorder,
    pub(crate) metrics: LoggerMetrics,
}

/// The children that exist after a reconciliation, and why they are not as desired.
#[derive(Default)]
struct Applied {
    workloads: Workloads,
    disruption_budget: Option<Arc<PodDisruptionBudget>>,
    problem: Option<Problem>,
    /// The error of a child that the API server rejects.
    rejection: Option<Error>,
}

/// The workloads of a Logger, one of each kind.
#[derive(Default)]
struct Workloads {
    deployment: Option<Arc<Deployment>>,
    daemon_set: Option<Arc<DaemonSet>>,
    stateful_set: Option<Arc<StatefulSet>>,
}

impl Workloads {
    /// Returns those in the caches.
    fn existing(logger: &Logger, ctx: &ReconcileContext<State>) -> Self {
        Workloads {
            deployment: existing_child(logger, ctx),
            daemon_set: existing_child(logger, ctx),
            stateful_set: existing_child(logger, ctx),
        }
    }

    /// Returns whether one of them controls a Pod, itself or through a ReplicaSet.
    fn control(&self, pod: &Pod, replica_sets: &Store<PartialObjectMeta<ReplicaSet>>) -> bool {
        let Some(owner) = controller_of(pod) else { return false };
        let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
        let replica_set = replica_sets.get(namespace, &owner.name);
        let replica_set = replica_set.filter(|found| found.metadata.uid.as_ref() == Some(&owner.uid));
        let owner = replica_set.as_deref().and_then(|found| controller_of(found)).unwrap_or(owner);
        self.uids().any(|uid| *uid == owner.uid)
    }

    fn uids(&self) -> impl Iterator<Item = &String> {
        let deployment = self.deployment.as_ref().and_then(|child| child.metadata.uid.as_ref());
        let daemon_set = self.daemon_set.as_ref().and_then(|child| child.metadata.uid.as_ref());
        let stateful_set = self.stateful_set.as_ref().and_then(|child| child.metadata.uid.as_ref());
        [deployment, daemon_set, stateful_set].into_iter().flatten()
    }

    fn observed(&self) -> impl Iterator<Item = Workload> + '_ {
        let deployment = self.deployment.as_deref().map(Workload::from);
        let daemon_set = self.daemon_set.as_deref().map(Workload::from);
        let stateful_set = self.stateful_set.as_deref().map(Workload::from);
        [deployment, daemon_set, stateful_set].into_iter().flatten()
    }
}

/// Reconciles a Logger.
///
/// Guarantees:
/// - every child is applied as one field manager, and a reconciliation that changes nothing sends no write;
/// - an object that does not belong to the Logger is never changed, and a Pod that it does not control is no agent;
/// - a child that the API server rejects is in the status, and is tried again with back-off. The others are applied,
///   except for agents without their NetworkPolicy;
/// - an invalid spec changes no child: running agents continue;
/// - a workload of a former kind is deleted when the agents of the desired one are available, so that recording
///   continues;
/// - the status is written at most once, and its transitions are events.
pub(crate) async fn reconcile(logger: Arc<Logger>, ctx: ReconcileContext<State>) -> Result<Action, Error> {
    if logger.metadata.deletion_timestamp.is_some() {
        return Ok(Action::Done); // The garbage collector deletes the children, and agents flush when they are stopped.
    }
    let applied = match validate(&logger.spec) {
        Ok(()) => apply_children(&logger, &ctx).await?,
        Err(invalid) => {
            let problem = Problem { reason: invalid.reason(), message: invalid.to_string() };
            existing_children(&logger, &ctx, problem)
        }
    };
    let is_conflict = applied.problem.as_ref().is_some_and(|problem| problem.reason == reason::NAME_CONFLICT);
    let pods = agents(&logger, &ctx);
    let kind = children::workload_kind(&logger.spec);
    let workload = applied.workloads.observed().max_by_key(|workload| workload.kind == kind);
    let observed = Observed {
        problem: applied.problem,
        workload,
        disruption_budget: applied.disruption_budget.as_deref(),
        pods: &pods,
        reports: readiness::reports(&pods).await,
    };
    let status = status::observe(&logger, &observed);
    let (ready, desired) = (status.ready_replicas.unwrap_or_default(), status.desired_replicas.unwrap_or_default());
    ctx.metrics.report(ctx.key(), ready, desired, interval(&logger.spec).unwrap_or_default());
    report(&logger, &status, &ctx).await?;
    if let Some(error) = applied.rejection {
        return Err(error);
    }
    // The minimum is `Unready` if any agent is not ready.
    Ok(match pods.iter().filter_map(|pod| readiness::readiness(pod)).min() {
        Some(Readiness::Unready) => Action::RequeueAfter(REPORT_INTERVAL),
        // The informers contain no objects of others, so that the end of a conflict is no event.
        _ if is_conflict => Action::RequeueAfter(CONFLICT_INTERVAL),
        Some(Readiness::Ready) => Action::RequeueAfter(READY_INTERVAL),
        None => Action::Done,
    })
}

/// Returns the agents of a Logger: the Pods that its workloads control. Others can have the labels of agents, too.
fn agents(logger: &Logger, ctx: &ReconcileContext<State>) -> Vec<Arc<Pod>> {
    let workloads = Workloads::existing(logger, ctx);
    let labelled = ctx.pods.by_index(&BY_LOGGER, ctx.key().as_str());
    labelled.into_iter().filter(|pod| workloads.control(pod, &ctx.replica_sets)).collect()
}

/// Forgets a deleted Logger.
pub(crate) async fn forget(ctx: ReconcileContext<State>) -> Result<(), Error> {
    ctx.metrics.forget(ctx.key());
    Ok(())
}

/// Applies the desired children, and deletes those that are not desired anymore.
async fn apply_children(logger: &Logger, ctx: &ReconcileContext<State>) -> Result<Applied, Error> {
    let desired = children::desired(logger, &ctx.agent);
    let mut children = Children { logger, ctx, taken: Vec::new(), rejection: None };
    let service = children.apply("Service", desired.service).await?;
    let is_restricted = desired.network_policy.is_some();
    let network_policy = match desired.network_policy {
        Some(policy) => children.apply("NetworkPolicy", policy).await?,
        None => None,
    };
    let disruption_budget = match desired.disruption_budget {
        Some(budget) => children.apply("PodDisruptionBudget", budget).await?,
        None => None,
    };
    // The last one: its Pods find the others. Without their policy, everyone could connect to them.
    let workloads = match is_restricted && network_policy.is_none() {
        true => Workloads::existing(logger, ctx),
        false => children.apply_workload(desired.workload).await?,
    };
    prune(logger, ctx, service).await?;
    prune(logger, ctx, network_policy).await?;
    if !is_replacing(logger, ctx, &workloads) {
        prune(logger, ctx, disruption_budget.clone()).await?;
        prune(logger, ctx, workloads.deployment.clone()).await?;
        prune(logger, ctx, workloads.daemon_set.clone()).await?;
        prune(logger, ctx, workloads.stateful_set.clone()).await?;
    }
    let problem = children.problem().or_else(|| rejected_pods(workloads.deployment.as_deref()?));
    let rejection = children.rejection.map(|(_, error)| error);
    Ok(Applied { workloads, disruption_budget, problem, rejection })
}

/// Returns the problem that the API server rejects the Pods of a Deployment. Other workloads do not report it.
fn rejected_pods(deployment: &Deployment) -> Option<Problem> {
    let conditions = deployment.status.as_ref()?.conditions.as_ref()?;
    let failure = conditions.iter().find(|condition| condition.type_ == "ReplicaFailure")?;
    let message = failure.message.as_deref().filter(|_| failure.status == "True")?;
    Some(Problem {
        reason: reason::CHILD_REJECTED,
        message: format!("agents cannot be created: {}", shorten(message, MAX_MESSAGE)),
    })
}

/// Returns whether the agents of a former workload are needed, because those of the desired one are not all available.
fn is_replacing(logger: &Logger, ctx: &ReconcileContext<State>, desired: &Workloads) -> bool {
    let is_complete = desired.observed().any(|workload| workload.is_complete());
    let kind = children::workload_kind(&logger.spec);
    !is_complete && Workloads::existing(logger, ctx).observed().any(|workload| workload.kind != kind)
}

/// Deletes the children of a kind except for this one.
async fn prune<K>(logger: &Logger, ctx: &ReconcileContext<State>, desired: Option<Arc<K>>) -> Result<(), Error>
where
    K: ScopedObject + verbs::Delete,
{
    let desired: Vec<_> = desired.into_iter().collect();
    ctx.prune_owned(logger, &desired).await.map(drop)
}

/// Returns the children in the caches.
fn existing_children(logger: &Logger, ctx: &ReconcileContext<State>, problem: Problem) -> Applied {
    Applied {
        workloads: Workloads::existing(logger, ctx),
        disruption_budget: existing_child(logger, ctx),
        problem: Some(problem),
        rejection: None,
    }
}

fn existing_child<K: ScopedObject>(logger: &Logger, ctx: &ReconcileContext<State>) -> Option<Arc<K>> {
    let (store, names) = (ctx.store::<K>()?, Names::new(logger));
    store.get(names.namespace(), names.child()).filter(|child| is_controlled_by(&**child, logger))
}

fn is_controlled_by(child: &impl ApiObject, logger: &Logger) -> bool {
    controller_of(child).is_some_and(|owner| Some(&owner.uid) == logger.metadata.uid.as_ref())
}

/// Applies children, and collects why some are not as desired.
struct Children<'a> {
    logger: &'a Logger,
    ctx: &'a ReconcileContext<State>,
    /// The kinds of children whose name is taken.
    taken: Vec<&'static str>,
    /// The kind of the first child that the API server rejects, and its error.
    rejection: Option<(&'static str, Error)>,
}

impl Children<'_> {
    async fn apply_workload(&mut self, desired: WorkloadApply) -> Result<Workloads, Error> {
        let mut workloads = Workloads::default();
        match desired {
            WorkloadApply::Deployment(child) => workloads.deployment = self.apply("Deployment", *child).await?,
            WorkloadApply::DaemonSet(child) => workloads.daemon_set = self.apply("DaemonSet", *child).await?,
            WorkloadApply::StatefulSet(child) => workloads.stateful_set = self.apply("StatefulSet", *child).await?,
        }
        Ok(workloads)
    }

    /// Applies a child. Returns the existing one if the API server rejects the change, and `None` if another object has
    /// its name.
    async fn apply<C>(&mut self, kind: &'static str, child: C) -> Result<Option<Arc<C::Kind>>, Error>
    where
        C: ApplyConfiguration<Kind: ScopedObject + verbs::Apply + verbs::Get> + Sync,
    {
        if !self.is_free(&child).await? {
            self.taken.push(kind);
            return Ok(None);
        }
        match self.ctx.apply_owned(self.logger, child).await {
            Err(error) if error.is_forbidden() || error.is_invalid() => {
                self.rejection.get_or_insert((kind, error));
                Ok(existing_child(self.logger, self.ctx))
            }
            applied => applied.map(Some),
        }
    }

    /// Returns whether no other object has the name of a child.
    async fn is_free<C>(&self, child: &C) -> Result<bool, Error>
    where
        C: ApplyConfiguration<Kind: ScopedObject + verbs::Get>,
    {
        let name = child.metadata().name();
        let cached = self.ctx.store::<C::Kind>().and_then(|store| store.get(self.ctx.key().namespace(), name));
        Ok(match cached {
            Some(cached) => is_controlled_by(&*cached, self.logger),
            // The cache contains objects with the label of this operator only.
            None => {
                let existing = self.ctx.typed::<C::Kind>().get_opt(name).await?;
                existing.is_none_or(|existing| is_controlled_by(&existing, self.logger))
            }
        })
    }

    fn problem(&self) -> Option<Problem> {
        let names = Names::new(self.logger);
        if !self.taken.is_empty() {
            let message = format!(
                "`{}` exists and does not belong to this Logger: {}; delete it, or rename the Logger",
                names.child(),
                self.taken.join(", ")
            );
            return Some(Problem { reason: reason::NAME_CONFLICT, message });
        }
        let (kind, error) = self.rejection.as_ref()?;
        let message = format!("{kind} `{}` is rejected: {}", names.child(), shorten(&error.to_string(), MAX_MESSAGE));
        Some(Problem { reason: reason::CHILD_REJECTED, message })
    }
}

/// Writes the status if it has changed, and then records its transitions.
async fn report(logger: &Logger, status: &LoggerStatus, ctx: &ReconcileContext<State>) -> Result<(), Error> {
    if logger.status.as_ref() == Some(status) {
        return Ok(());
    }
    match ctx.apply_status(&configuration(logger, status, ctx.key())).await {
        Err(error) if error.is_not_found() => return Ok(()), // The Logger was deleted meanwhile.
        applied => applied.map(drop)?,
    }
    for condition in status::transitions(logger.status.as_ref(), status) {
        let type_ = if status::is_warning(condition) { EventType::Warning } else { EventType::Normal };
        ctx.recorder.event(logger, type_, condition.reason.as_str(), ACTION, condition.message.as_str());
    }
    Ok(())
}

/// Returns the status of this Logger, and not of one that was recreated under its name, with the conditions of the
/// operator.
fn configuration(logger: &Logger, status: &LoggerStatus, key: &ObjectKey) -> LoggerApply {
    let conditions =
        status.conditions.iter().flatten().filter(|condition| CONDITIONS.contains(&condition.type_.as_str()));
    let applied = LoggerStatusApply {
        state: status.state,
        observed_generation: status.observed_generation,
        workload: status.workload,
        desired_replicas: status.desired_replicas,
        replicas: status.replicas,
        ready_replicas: status.ready_replicas,
        updated_replicas: status.updated_replicas,
        selector: status.selector.clone(),
        conditions: Some(conditions.cloned().map(Into::into).collect()),
    };
    let mut configuration = LoggerApply::new(key.name(), key.namespace()).with_status(applied);
    configuration.metadata.uid.clone_from(&logger.metadata.uid);
    configuration
}
