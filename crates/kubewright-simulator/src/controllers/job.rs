//! The Job controller: it runs pods until enough of them have succeeded.

mod tracking;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use futures::future::join_all;
use k8s_openapi::api::{
    batch::v1::{Job, JobCondition, JobSpec, JobStatus},
    core::v1::{EnvVar, EnvVarSource, ObjectFieldSelector, Pod},
};
use kube::{ResourceExt, api::DeleteParams};
use kubewright_runtime::{Action, Controller, Preconditions, ReconcileContext, ReconcileError, Store};

use super::children::{self, BURST, count, nonzero};
use crate::{
    environment::{Environment, Recorder, controlled_by},
    model::{
        clock::{Clock, seconds},
        pods::{self, has_finished, is_active, is_ready, is_terminating},
    },
};
use tracking::{FINALIZER, Tracked};

const INDEX: &str = "batch.kubernetes.io/job-completion-index";
/// The delay after the first failed pod. It doubles with each failure.
const BACKOFF: Duration = Duration::from_secs(10);
const MAX_BACKOFF: Duration = Duration::from_secs(600);

struct State {
    pods: Store<Pod>,
    events: Recorder,
    clock: Clock,
}

pub(super) fn controller(environment: &Environment) -> Controller {
    let (jobs, pods) = (environment.factory.informer::<Job>(), environment.pods());
    let (events, clock) = (environment.recorder("job-controller"), environment.clock);
    let state = State { pods: pods.store(), events, clock };
    Controller::new("job", &jobs).owns(&pods).reconcile_with(move |_| state, reconcile).build()
}

async fn reconcile(job: Arc<Job>, context: ReconcileContext<State>) -> Result<Action, ReconcileError> {
    let owned = controlled_by(&context.pods, &*job);
    let spec = job.spec.clone().unwrap_or_default();
    if is_terminating(&*job) || has_condition(&job, "Complete") || has_condition(&job, "Failed") {
        tracking::release_all(&owned, &context).await?;
        return expire(&job, &spec, &context).await;
    }
    let mut status = job.status.clone().unwrap_or_default();
    let tracked = Tracked::count(&mut status, &owned, is_indexed(&spec));
    let active: Vec<_> = owned.iter().filter(|pod| is_active(pod)).cloned().collect();
    let verdict = verdict(&job, &spec, &status, &owned, &context.clock);
    let run = match &verdict {
        Verdict::Running if spec.suspend != Some(true) => {
            status.start_time.get_or_insert_with(|| context.clock.time());
            manage(&job, &spec, &status, &active, &owned, &context).await
        }
        // Pods of a job that has ended or is suspended are deleted.
        _ => delete(&job, &active, &context).await.map(|()| None),
    };
    let ending = owned.iter().filter(|pod| is_terminating(&***pod) && !has_finished(pod)).count();
    finish(&mut status, &verdict, &spec, active.is_empty() && ending == 0 && tracked.is_released(), &context);
    status.active = nonzero(active.len());
    status.ready = Some(count(active.iter().filter(|pod| is_ready(pod)).count()));
    status.terminating = Some(count(ending));
    let ended = status
        .conditions
        .iter()
        .flatten()
        .any(|condition| condition.type_ == "Complete" || condition.type_ == "Failed");
    context.update_status(&*job, |job| job.status = Some(status)).await?;
    if ended {
        verdict.report(&job, &context);
    }
    // The counts are stored, so that the pods can be deleted.
    tracked.release(&context).await?;
    let deadline = spec.active_deadline_seconds.and_then(|deadline| {
        let started = job.status.as_ref()?.start_time.as_ref()?;
        context.clock.remaining(started, seconds(deadline))
    });
    let next = [run?, deadline].into_iter().flatten().min();
    Ok(next.map_or(Action::Done, Action::RequeueAfter))
}

/// What a job has come to.
enum Verdict {
    Running,
    Complete,
    Failed { reason: String, message: String },
}

impl Verdict {
    fn failed(reason: &str, message: &str) -> Self {
        Verdict::Failed { reason: reason.to_owned(), message: message.to_owned() }
    }

    /// Returns the result that the conditions report. Pods that end later do not change it.
    fn reported(status: &JobStatus) -> Option<Self> {
        let mut conditions = status.conditions.iter().flatten().filter(|condition| condition.status == "True");
        let is_met = conditions.clone().any(|condition| condition.type_ == "SuccessCriteriaMet");
        let failure = conditions.find(|condition| condition.type_ == "FailureTarget");
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        match is_met {
            true => Some(Verdict::Complete),
            false => failure.map(|condition| Verdict::failed(&text(&condition.reason), &text(&condition.message))),
        }
    }

    fn report(&self, job: &Job, context: &ReconcileContext<State>) {
        match self {
            Verdict::Running => {}
            Verdict::Complete => context.events.normal(job, "Completed", "Job completed"),
            Verdict::Failed { reason, message } => context.events.warning(job, reason, message.as_str()),
        }
    }
}

/// Decides in the order of `syncJob`: the number of failures, the deadline, the completions.
fn verdict(job: &Job, spec: &JobSpec, status: &JobStatus, owned: &[Arc<Pod>], clock: &Clock) -> Verdict {
    if let Some(reported) = Verdict::reported(status) {
        return reported;
    }
    let limit = spec.backoff_limit.unwrap_or(6);
    if status.failed.unwrap_or_default() > limit || restarts(spec, owned) >= limit.max(1) {
        return Verdict::failed("BackoffLimitExceeded", "Job has reached the specified backoff limit");
    }
    let started = job.status.as_ref().and_then(|status| status.start_time.as_ref());
    let is_late = spec
        .active_deadline_seconds
        .zip(started)
        .is_some_and(|(deadline, started)| clock.remaining(started, seconds(deadline)).is_none());
    if is_late {
        return Verdict::failed("DeadlineExceeded", "Job was active longer than specified deadline");
    }
    let succeeded = status.succeeded.unwrap_or_default();
    let is_complete = match spec.completions {
        Some(completions) => succeeded >= completions,
        // Without a number of completions, one success ends the job once no pod is active.
        None => succeeded > 0 && !owned.iter().any(|pod| is_active(pod)),
    };
    if is_complete {
        return Verdict::Complete;
    }
    Verdict::Running
}

/// Returns the restarts of containers in pods that run, which count as failures if containers restart in their pod
/// (`pastBackoffLimitOnFailure`).
fn restarts(spec: &JobSpec, owned: &[Arc<Pod>]) -> i32 {
    match spec.template.spec.as_ref().and_then(|spec| spec.restart_policy.as_deref()) {
        Some("OnFailure") => owned.iter().filter(|pod| !has_finished(pod)).map(|pod| tracking::restarts(pod)).sum(),
        _ => 0,
    }
}

/// Adds the conditions of a job that has ended: the first one at once, and the last one when all pods have ended.
fn finish(
    status: &mut JobStatus,
    verdict: &Verdict,
    spec: &JobSpec,
    has_ended: bool,
    context: &ReconcileContext<State>,
) {
    let (first, last, reason, message) = match verdict {
        Verdict::Running => {
            set_suspended(status, spec, context);
            return;
        }
        Verdict::Complete => {
            ("SuccessCriteriaMet", "Complete", "CompletionsReached", "Reached expected number of succeeded pods")
        }
        Verdict::Failed { reason, message } => ("FailureTarget", "Failed", reason.as_str(), message.as_str()),
    };
    add_condition(status, first, "True", reason, message, &context.clock);
    if has_ended {
        add_condition(status, last, "True", reason, message, &context.clock);
        if last == "Complete" {
            status.completion_time = Some(context.clock.time());
        }
    }
}

fn set_suspended(status: &mut JobStatus, spec: &JobSpec, context: &ReconcileContext<State>) {
    let is_suspended = spec.suspend == Some(true);
    let known = status.conditions.iter().flatten().find(|condition| condition.type_ == "Suspended");
    let was_suspended = known.is_some_and(|known| known.status == "True");
    if is_suspended && !was_suspended {
        status.start_time = None;
        add_condition(status, "Suspended", "True", "JobSuspended", "Job suspended", &context.clock);
    } else if !is_suspended && was_suspended {
        add_condition(status, "Suspended", "False", "JobResumed", "Job resumed", &context.clock);
    }
}

fn add_condition(status: &mut JobStatus, type_: &str, value: &str, reason: &str, message: &str, clock: &Clock) {
    let conditions = status.conditions.get_or_insert_default();
    if conditions.iter().any(|known| known.type_ == type_ && known.status == value) {
        return;
    }
    conditions.retain(|known| known.type_ != type_);
    conditions.push(JobCondition {
        type_: type_.to_owned(),
        status: value.to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message.to_owned()),
        last_probe_time: Some(clock.time()),
        last_transition_time: Some(clock.time()),
    });
}

fn has_condition(job: &Job, type_: &str) -> bool {
    let conditions = job.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.into_iter().any(|condition| condition.type_ == type_ && condition.status == "True")
}

fn is_indexed(spec: &JobSpec) -> bool {
    spec.completion_mode.as_deref() == Some("Indexed")
}

/// Creates missing pods, unless failed ones require a delay, and deletes surplus ones. Returns the rest of the delay.
async fn manage(
    job: &Job,
    spec: &JobSpec,
    status: &JobStatus,
    active: &[Arc<Pod>],
    owned: &[Arc<Pod>],
    context: &ReconcileContext<State>,
) -> Result<Option<Duration>, ReconcileError> {
    let parallelism = spec.parallelism.unwrap_or(1);
    let succeeded = status.succeeded.unwrap_or_default();
    let wanted = match spec.completions {
        Some(completions) => parallelism.min(completions - succeeded),
        None if succeeded > 0 => count(active.len()).min(parallelism),
        None => parallelism,
    };
    let wanted = usize::try_from(wanted).unwrap_or_default();
    if active.len() > wanted {
        let mut surplus = active.to_vec();
        pods::sort_for_deletion(&mut surplus);
        surplus.truncate(active.len() - wanted);
        return delete(job, &surplus, context).await.map(|()| None);
    }
    let delay = backoff(status, owned, &context.clock);
    if delay.is_some() || active.len() == wanted {
        return Ok(delay);
    }
    let missing = (wanted - active.len()).min(BURST);
    let client = context.typed::<Pod>();
    let pods = new_pods(job, spec, status, active, missing);
    let creations = pods.iter().map(|pod| children::create(&client, &context.events, job, pod));
    join_all(creations).await.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(None)
}

/// Returns the rest of the delay after the last failure.
fn backoff(status: &JobStatus, owned: &[Arc<Pod>], clock: &Clock) -> Option<Duration> {
    let doublings = u32::try_from(status.failed.unwrap_or_default()).ok()?.checked_sub(1)?.min(16);
    let delay = BACKOFF.saturating_mul(1 << doublings).min(MAX_BACKOFF);
    let last =
        owned.iter().filter(|pod| pods::phase(pod) == "Failed").filter_map(|pod| tracking::finished_at(pod)).max();
    last.and_then(|last| clock.remaining(&last, delay))
}

/// Returns new pods, with the lowest free indexes if the job is indexed.
fn new_pods(job: &Job, spec: &JobSpec, status: &JobStatus, active: &[Arc<Pod>], number: usize) -> Vec<Pod> {
    let pod = {
        let mut pod = pods::from_template(&spec.template, job);
        pod.finalizers_mut().push(FINALIZER.to_owned());
        pod
    };
    if !is_indexed(spec) {
        return vec![pod; number];
    }
    let mut used: BTreeSet<i32> = active.iter().filter_map(|pod| tracking::index(pod)).collect();
    used.extend(tracking::parse_indexes(status.completed_indexes.as_deref().unwrap_or_default()));
    let free = (0..spec.completions.unwrap_or_default()).filter(|index| !used.contains(index));
    free.take(number).map(|index| indexed(pod.clone(), job, index)).collect()
}

fn indexed(mut pod: Pod, job: &Job, index: i32) -> Pod {
    pod.metadata.generate_name = Some(format!("{}-{index}-", job.name_any()));
    pod.annotations_mut().insert(INDEX.to_owned(), index.to_string());
    pod.labels_mut().insert(INDEX.to_owned(), index.to_string());
    let spec = pod.spec.get_or_insert_default();
    spec.hostname = Some(format!("{}-{index}", job.name_any()));
    let field = ObjectFieldSelector { api_version: None, field_path: format!("metadata.labels['{INDEX}']") };
    for container in spec.containers.iter_mut().chain(spec.init_containers.iter_mut().flatten()) {
        container.env.get_or_insert_default().push(EnvVar {
            name: "JOB_COMPLETION_INDEX".to_owned(),
            value: None,
            value_from: Some(EnvVarSource { field_ref: Some(field.clone()), ..EnvVarSource::default() }),
        });
    }
    pod
}

async fn delete(job: &Job, pods: &[Arc<Pod>], context: &ReconcileContext<State>) -> Result<(), ReconcileError> {
    for pod in pods {
        children::delete(&context.typed(), &context.events, job, pod).await?;
    }
    Ok(())
}

/// Deletes a job that ended longer ago than its time to live.
async fn expire(job: &Job, spec: &JobSpec, context: &ReconcileContext<State>) -> Result<Action, ReconcileError> {
    let Some(ttl) = spec.ttl_seconds_after_finished.filter(|_| !is_terminating(job)) else { return Ok(Action::Done) };
    let ended = job.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let ended = ended.filter(|condition| condition.type_ == "Complete" || condition.type_ == "Failed");
    let Some(ended) = ended.filter_map(|condition| condition.last_transition_time.clone()).max() else {
        return Ok(Action::Done);
    };
    if let Some(remaining) = context.clock.remaining(&ended, seconds(ttl)) {
        return Ok(Action::RequeueAfter(remaining));
    }
    let params = Preconditions::uid(job).apply_to(DeleteParams::foreground());
    match context.typed::<Job>().delete(&job.name_any(), &params).await {
        Err(error) if !error.is_not_found() => Err(error.into()),
        _ => Ok(Action::Done),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn status(type_: &str, counts: Value) -> JobStatus {
        let condition = json!({"type": type_, "status": "True", "reason": "DeadlineExceeded", "message": "late"});
        let mut status: JobStatus = serde_json::from_value(counts).unwrap();
        status.conditions = Some(vec![serde_json::from_value(condition).unwrap()]);
        status
    }

    #[tokio::test(start_paused = true)]
    async fn pods_that_end_later_do_not_change_the_result() {
        let spec = json!({"completions": 1, "backoffLimit": 0, "template": {"spec": {"containers": []}}});
        let spec: JobSpec = serde_json::from_value(spec).unwrap();
        let verdict_of = |status: &JobStatus| verdict(&Job::default(), &spec, status, &[], &Clock::start());
        let failed = verdict_of(&status("FailureTarget", json!({"succeeded": 1})));
        let Verdict::Failed { reason, message } = failed else { panic!("not failed") };
        assert_eq!((&*reason, &*message), ("DeadlineExceeded", "late"));
        assert!(matches!(verdict_of(&status("SuccessCriteriaMet", json!({"failed": 1}))), Verdict::Complete));
        assert!(matches!(verdict_of(&status("Suspended", json!({"failed": 1}))), Verdict::Failed { .. }));
    }

    #[tokio::test(start_paused = true)]
    async fn failures_are_decisive_before_completions() {
        let clock = Clock::start();
        let pod = |restarts: i32| {
            let statuses = json!([{"name": "c", "restartCount": restarts, "ready": false, "image": "", "imageID": ""}]);
            let pod = json!({"status": {"phase": "Running", "containerStatuses": statuses}});
            Arc::new(serde_json::from_value::<Pod>(pod).unwrap())
        };
        let verdict_of = |limit: i32, counts: Value, restarts: i32| {
            let template = json!({"spec": {"containers": [], "restartPolicy": "OnFailure"}});
            let spec = json!({"completions": 1, "backoffLimit": limit, "template": template});
            let (spec, status) = (serde_json::from_value(spec).unwrap(), serde_json::from_value(counts).unwrap());
            verdict(&Job::default(), &spec, &status, &[pod(restarts)], &clock)
        };
        assert!(matches!(verdict_of(1, json!({"succeeded": 1, "failed": 2}), 0), Verdict::Failed { .. }));
        assert!(matches!(verdict_of(1, json!({"succeeded": 1, "failed": 1}), 0), Verdict::Complete));
        // Restarts count as failures from the limit on.
        assert!(matches!(verdict_of(0, json!({}), 0), Verdict::Running));
        assert!(matches!(verdict_of(0, json!({}), 1), Verdict::Failed { .. }));
        assert!(matches!(verdict_of(2, json!({}), 1), Verdict::Running));
        assert!(matches!(verdict_of(2, json!({}), 2), Verdict::Failed { .. }));
    }
}
