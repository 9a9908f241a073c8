//! The life of one container: image, start, probes, end, and the back-off of its restarts.

use std::time::Duration;

use k8s_openapi::api::core::v1::{
    Container, ContainerState, ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting,
};
use kube::ResourceExt;
use tokio::time::{Instant, timeout_at};

use super::{
    lifecycle::{Exit, Start},
    pod_context::PodContext,
    probes,
    records::Slot,
    runtime::Running,
};
use crate::model::{clock::seconds, pods::restart_policy};

/// The first delay of a restart or of another pull. It doubles up to the maximum.
const MIN_BACKOFF: Duration = Duration::from_secs(10);
const MAX_BACKOFF: Duration = Duration::from_secs(300);
/// A container that ran for this time is restarted without a delay.
const BACKOFF_RESET: Duration = Duration::from_secs(600);

/// Runs all containers of a pod until they have ended and are not restarted.
pub(super) async fn run_all(context: &PodContext) {
    let spec = context.pod.spec.clone().unwrap_or_default();
    for (index, container) in spec.init_containers.iter().flatten().enumerate() {
        if !run(context, container, Slot::Init(index)).await {
            return;
        }
    }
    context.records.send_modify(|records| records.is_initialized = true);
    let containers = spec.containers.iter().enumerate();
    let runs = containers.map(|(index, container)| run(context, container, Slot::Main(index)));
    futures::future::join_all(runs).await;
}

/// Runs a container until it is not restarted anymore. Returns whether it succeeded.
async fn run(context: &PodContext, container: &Container, slot: Slot) -> bool {
    let mut backoff = Backoff::default();
    loop {
        if context.is_stopping() || !pull(context, container, slot).await {
            return false;
        }
        let started = Instant::now();
        let exit = match start(context, container, slot) {
            Ok(running) => supervise(context, container, slot, running).await,
            Err(message) => {
                context.update(slot, |record| record.state = waiting("CreateContainerError", message.clone()));
                context.node.warning(&*context.pod, "Failed", format!("Error: {message}"));
                if !context.delay(backoff.next(Duration::ZERO).max(MIN_BACKOFF)).await {
                    return false;
                }
                continue;
            }
        };
        if context.is_stopping() || !is_restarted(context, slot, exit) {
            return exit.code == 0;
        }
        let delay = backoff.next(started.elapsed());
        if !delay.is_zero() && !wait_for_restart(context, container, slot, delay).await {
            return false;
        }
        context.update(slot, |record| {
            record.last = record.state.terminated.take().or(record.last.take());
            record.restarts += 1;
        });
    }
}

fn is_restarted(context: &PodContext, slot: Slot, exit: Exit) -> bool {
    match (slot, restart_policy(&context.pod)) {
        // An init container that succeeded is done.
        (Slot::Init(_), "Always") => exit.code != 0,
        (_, "Always") => true,
        (_, "OnFailure") => exit.code != 0,
        _ => false,
    }
}

/// Pulls the image, with a back-off. Returns whether it is present.
async fn pull(context: &PodContext, container: &Container, slot: Slot) -> bool {
    let (image, node) = (container.image.clone().unwrap_or_default(), &context.node);
    let mut backoff = MIN_BACKOFF;
    loop {
        let Some(error) = node.runtime.image_error(&context.pod, container) else {
            let note = format!("Container image {image:?} already present on machine");
            node.normal(&*context.pod, "Pulled", note);
            return true;
        };
        node.normal(&*context.pod, "Pulling", format!("Pulling image {image:?}"));
        node.warning(&*context.pod, "Failed", format!("Failed to pull image {image:?}: {error}"));
        context.update(slot, |record| record.state = waiting("ErrImagePull", error));
        // The reason is visible before that of the back-off replaces it.
        if !context.delay(Duration::from_secs(1)).await {
            return false;
        }
        let message = format!("Back-off pulling image {image:?}");
        node.normal(&*context.pod, "BackOff", message.clone());
        context.update(slot, |record| record.state = waiting("ImagePullBackOff", message));
        if !context.delay(backoff).await {
            return false;
        }
        backoff = backoff.saturating_mul(2).min(MAX_BACKOFF);
    }
}

fn start(context: &PodContext, container: &Container, slot: Slot) -> Result<Running, String> {
    let restarts = context.records.borrow().get(slot).map_or(0, |record| record.restarts);
    let start = Start {
        node: &context.node.name,
        pod: &context.pod,
        container,
        pod_ip: &context.pod_ip,
        host_ip: &context.node.ip,
        restarts,
    };
    let running = context.node.runtime.start(&start).map_err(|error| error.to_string())?;
    let node = &context.node;
    node.normal(&*context.pod, "Created", format!("Created container: {}", container.name));
    node.normal(&*context.pod, "Started", format!("Started container {}", container.name));
    let started_at = Some(context.node.environment.clock.time());
    context.update(slot, |record| {
        record.state =
            ContainerState { running: Some(ContainerStateRunning { started_at }), ..ContainerState::default() };
    });
    Ok(running)
}

/// Runs the probes of a container until it ends, and stops it if the pod is stopped or it is not alive.
async fn supervise(context: &PodContext, container: &Container, slot: Slot, mut running: Running) -> Exit {
    let prober = running.prober();
    let ended = tokio::select! {
        exit = running.wait() => Ok(exit),
        deadline = context.stopping() => Err(deadline),
        () = probes::run(context, container, slot, &prober) => {
            let spec = context.pod.spec.as_ref();
            let grace = spec.and_then(|spec| spec.termination_grace_period_seconds).unwrap_or(30);
            Err(Instant::now() + seconds(grace))
        }
    };
    let exit = match ended {
        Ok(exit) => exit,
        Err(deadline) => {
            context.node.normal(&*context.pod, "Killing", format!("Stopping container {}", container.name));
            running.terminate();
            terminate(context, &mut running, deadline).await
        }
    };
    let finished_at = Some(context.node.environment.clock.time());
    let has_fallback = container.termination_message_policy.as_deref() == Some("FallbackToLogsOnError");
    let message = if exit.code != 0 && has_fallback { running.log_tail() } else { None };
    context.update(slot, |record| {
        let started_at = record.state.running.take().and_then(|running| running.started_at);
        let terminated = ContainerStateTerminated {
            exit_code: exit.code,
            signal: exit.signal,
            reason: Some(if exit.code == 0 { "Completed" } else { "Error" }.to_owned()),
            message,
            started_at,
            finished_at,
            ..ContainerStateTerminated::default()
        };
        (record.is_ready, record.is_started) = (false, false);
        record.state = ContainerState { terminated: Some(terminated), ..ContainerState::default() };
    });
    exit
}

/// Waits until a container ends after SIGTERM, and kills it at the deadline. A second deletion can shorten the
/// deadline.
async fn terminate(context: &PodContext, running: &mut Running, mut deadline: Instant) -> Exit {
    let mut stop = context.stop.clone();
    loop {
        tokio::select! {
            biased;
            ended = timeout_at(deadline, running.wait()) => {
                let Ok(exit) = ended else { break };
                return exit;
            }
            Ok(()) = stop.changed() => {
                let shorter = *stop.borrow_and_update();
                deadline = shorter.map_or(deadline, |shorter| shorter.min(deadline));
            }
        }
    }
    running.kill();
    running.wait().await
}

/// Waits for the back-off of a restart. Returns whether the container is restarted.
async fn wait_for_restart(context: &PodContext, container: &Container, slot: Slot, delay: Duration) -> bool {
    let pod = &context.pod;
    let subject =
        format!("{}_{}({})", pod.name_any(), pod.namespace().unwrap_or_default(), pod.uid().unwrap_or_default());
    let message = format!("back-off {}s restarting failed container={} pod={subject}", delay.as_secs(), container.name);
    let note = format!("Back-off restarting failed container {} in pod {subject}", container.name);
    context.node.warning(&**pod, "BackOff", note);
    context.update(slot, |record| {
        record.last = record.state.terminated.take().or(record.last.take());
        record.state = waiting("CrashLoopBackOff", message);
    });
    context.delay(delay).await
}

fn waiting(reason: &str, message: String) -> ContainerState {
    let waiting = ContainerStateWaiting { reason: Some(reason.to_owned()), message: Some(message) };
    ContainerState { waiting: Some(waiting), ..ContainerState::default() }
}

/// The delays of restarts: none at first, then 10 s, doubled up to 5 minutes.
#[derive(Default)]
struct Backoff {
    next: Duration,
}

impl Backoff {
    fn next(&mut self, ran: Duration) -> Duration {
        let delay = if ran >= BACKOFF_RESET { Duration::ZERO } else { self.next };
        self.next = delay.saturating_mul(2).clamp(MIN_BACKOFF, MAX_BACKOFF);
        delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_until_a_container_runs_long_enough() {
        let mut backoff = Backoff::default();
        let delays: Vec<_> = (0..8).map(|_| backoff.next(Duration::ZERO).as_secs()).collect();
        assert_eq!(delays, [0, 10, 20, 40, 80, 160, 300, 300]);
        assert_eq!(backoff.next(BACKOFF_RESET).as_secs(), 0);
    }
}
