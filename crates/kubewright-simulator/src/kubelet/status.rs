//! The status of a pod, from what a kubelet knows of its containers.

use k8s_openapi::{
    api::core::v1::{
        ContainerState, ContainerStateWaiting, ContainerStatus, HostIP, Pod, PodCondition, PodIP, PodStatus,
    },
    apimachinery::pkg::apis::meta::v1::Time,
};

use serde_json::{Value, json};

use super::records::{Record, Records};
use crate::model::{clock::Clock, pods};

/// The addresses of a pod, and when the kubelet saw it first.
#[derive(Clone, Debug)]
pub(super) struct Addresses {
    pub(super) host: String,
    pub(super) pod: String,
    pub(super) start_time: Time,
}

/// Returns the status of a pod, with the times of unchanged conditions.
pub(super) fn build(pod: &Pod, records: &Records, addresses: &Addresses, clock: &Clock) -> PodStatus {
    let phase = phase(pod, records);
    let start_time = pod.status.as_ref().and_then(|status| status.start_time.clone());
    PodStatus {
        phase: Some(phase.to_owned()),
        conditions: Some(conditions(pod, records, phase, clock)),
        host_ip: Some(addresses.host.clone()),
        host_ips: Some(vec![HostIP { ip: addresses.host.clone() }]),
        pod_ip: Some(addresses.pod.clone()),
        pod_ips: Some(vec![PodIP { ip: addresses.pod.clone() }]),
        start_time: start_time.or_else(|| Some(addresses.start_time.clone())),
        container_statuses: Some(records.main.iter().map(|record| container(record, records)).collect()),
        init_container_statuses: Some(records.init.iter().map(|record| init_container(record, records)).collect())
            .filter(|statuses: &Vec<_>| !statuses.is_empty()),
        ..PodStatus::default()
    }
}

fn phase(pod: &Pod, records: &Records) -> &'static str {
    let exits = || records.main.iter().filter_map(|record| record.state.terminated.as_ref());
    if records.has_ended {
        let has_succeeded = records.is_initialized && exits().all(|exit| exit.exit_code == 0);
        return if has_succeeded && exits().count() == records.main.len() { "Succeeded" } else { "Failed" };
    }
    let is_new =
        |record: &Record| record.state.running.is_none() && record.state.terminated.is_none() && record.last.is_none();
    if !records.is_initialized || records.main.iter().any(is_new) {
        return "Pending";
    }
    let all_ended = exits().count() == records.main.len();
    match pods::restart_policy(pod) {
        "Never" if all_ended && exits().any(|exit| exit.exit_code != 0) => "Failed",
        "Never" | "OnFailure" if all_ended && exits().all(|exit| exit.exit_code == 0) => "Succeeded",
        _ => "Running",
    }
}

fn conditions(pod: &Pod, records: &Records, phase: &str, clock: &Clock) -> Vec<PodCondition> {
    let has_finished = phase == "Succeeded" || phase == "Failed";
    let unready: Vec<_> =
        records.main.iter().filter(|record| !record.is_ready).map(|record| record.name.as_str()).collect();
    let incomplete = records.init.iter().filter(|record| record.state.terminated.is_none());
    let incomplete: Vec<_> = incomplete.map(|record| record.name.as_str()).collect();
    let ready = match (unready.is_empty(), has_finished) {
        (_, true) => Some(("PodCompleted", String::new())),
        (true, _) => None,
        (false, _) => Some(("ContainersNotReady", format!("containers with unready status: [{}]", unready.join(" ")))),
    };
    let initialized = match records.is_initialized {
        true => None,
        false => {
            let message = format!("containers with incomplete status: [{}]", incomplete.join(" "));
            Some(("ContainersNotInitialized", message))
        }
    };
    vec![
        condition(pod, "PodReadyToStartContainers", (has_finished).then(|| ("", String::new())), clock),
        condition(pod, "Initialized", initialized, clock),
        condition(pod, pods::READY, ready.clone(), clock),
        condition(pod, "ContainersReady", ready, clock),
    ]
}

/// Returns a status as the content of a strategic merge patch, which removes former addresses, and the reasons of
/// conditions that have none.
pub(super) fn patch(status: &PodStatus) -> Value {
    let mut patch = json!(status);
    if let Some(ips) = patch["podIPs"].as_array_mut() {
        ips.insert(0, json!({"$patch": "replace"}));
    }
    for condition in patch["conditions"].as_array_mut().into_iter().flatten() {
        for field in ["reason", "message"] {
            // Reading an absent field adds it as null.
            let _ = &mut condition[field];
        }
    }
    patch
}

/// Returns a condition, which is true without a reason why it is not.
fn condition(pod: &Pod, type_: &str, why_not: Option<(&str, String)>, clock: &Clock) -> PodCondition {
    let status = if why_not.is_none() { "True" } else { "False" };
    let known = pods::condition(pod, type_).filter(|known| known.status == status);
    let transition = known.and_then(|known| known.last_transition_time.clone());
    let non_empty = |text: String| Some(text).filter(|text| !text.is_empty());
    PodCondition {
        type_: type_.to_owned(),
        status: status.to_owned(),
        reason: why_not.as_ref().and_then(|(reason, _)| non_empty((*reason).to_owned())),
        message: why_not.and_then(|(_, message)| non_empty(message)),
        last_transition_time: transition.or_else(|| Some(clock.time())),
        ..PodCondition::default()
    }
}

fn container(record: &Record, records: &Records) -> ContainerStatus {
    let is_new = record.state == ContainerState::default();
    let waiting = || ContainerState {
        waiting: Some(ContainerStateWaiting {
            reason: Some(if records.is_initialized { "ContainerCreating" } else { "PodInitializing" }.to_owned()),
            message: None,
        }),
        ..ContainerState::default()
    };
    ContainerStatus {
        name: record.name.clone(),
        image: record.image.clone(),
        image_id: if is_new { String::new() } else { format!("simulator://{}", record.image) },
        ready: record.is_ready,
        started: Some(record.is_started),
        restart_count: record.restarts,
        state: Some(if is_new { waiting() } else { record.state.clone() }),
        last_state: record
            .last
            .clone()
            .map(|terminated| ContainerState { terminated: Some(terminated), ..ContainerState::default() }),
        ..ContainerStatus::default()
    }
}

/// Returns the status of an init container, which is ready once it has succeeded.
fn init_container(record: &Record, records: &Records) -> ContainerStatus {
    let ready = record.state.terminated.as_ref().is_some_and(|ended| ended.exit_code == 0);
    ContainerStatus { ready, ..container(record, records) }
}

/// Returns what distinguishes two statuses: the server can change their representation.
pub(super) fn digest(status: Option<&PodStatus>) -> Vec<String> {
    let Some(status) = status else { return Vec::new() };
    let mut digest = vec![format!("{:?} {:?}", status.phase, status.pod_ip)];
    const OWN: [&str; 4] = ["PodReadyToStartContainers", "Initialized", pods::READY, "ContainersReady"];
    for type_ in OWN {
        let condition = status.conditions.iter().flatten().find(|condition| condition.type_ == type_);
        digest.push(format!(
            "{:?}",
            condition.map(|condition| (&condition.status, &condition.reason, &condition.message))
        ));
    }
    let containers = status.init_container_statuses.iter().flatten().chain(status.container_statuses.iter().flatten());
    digest.extend(containers.map(|container| {
        let state = container.state.clone().unwrap_or_default();
        let waiting = state.waiting.and_then(|waiting| waiting.reason);
        let ended = state.terminated.map(|ended| (ended.exit_code, ended.reason));
        let key = (container.ready, container.started, container.restart_count, state.running.is_some());
        format!("{} {} {key:?} {waiting:?} {ended:?}", container.name, container.image)
    }));
    digest
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ContainerStateRunning, ContainerStateTerminated};
    use serde_json::json;

    use super::*;

    fn pod(policy: &str) -> Pod {
        let spec = json!({"restartPolicy": policy, "containers": [{"name": "a", "image": "x"}, {"name": "b"}]});
        serde_json::from_value(json!({"metadata": {"name": "p"}, "spec": spec})).unwrap()
    }

    fn running() -> ContainerState {
        ContainerState { running: Some(ContainerStateRunning::default()), ..ContainerState::default() }
    }

    fn ended(code: i32) -> ContainerState {
        let terminated = Some(ContainerStateTerminated { exit_code: code, ..ContainerStateTerminated::default() });
        ContainerState { terminated, ..ContainerState::default() }
    }

    #[test]
    fn the_phase_follows_the_containers() {
        let waiting = ContainerState::default();
        for (policy, first, second, expected) in [
            ("Always", waiting.clone(), waiting.clone(), "Pending"),
            ("Always", running(), waiting, "Pending"),
            ("Always", running(), running(), "Running"),
            ("Always", ended(1), running(), "Running"),
            ("Never", ended(0), ended(0), "Succeeded"),
            ("Never", ended(0), ended(1), "Failed"),
            ("OnFailure", ended(0), ended(1), "Running"),
        ] {
            let mut records = Records::new(&pod(policy));
            (records.main[0].state, records.main[1].state) = (first, second);
            assert_eq!(phase(&pod(policy), &records), expected, "{policy} {records:?}");
        }
    }

    #[test]
    fn an_init_container_is_ready_once_it_has_succeeded() {
        for (state, expected) in [(running(), false), (ended(1), false), (ended(0), true)] {
            let record = Record { state, is_ready: true, ..Record::default() };
            assert_eq!(init_container(&record, &Records::default()).ready, expected, "{record:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn containers_that_are_not_ready_are_named() {
        let (pod, clock) = (pod("Always"), Clock::start());
        let mut records = Records::new(&pod);
        records.main[0].is_ready = true;
        let conditions = conditions(&pod, &records, "Running", &clock);
        let ready = conditions.iter().find(|condition| condition.type_ == "Ready").unwrap();
        assert_eq!(ready.message.as_deref(), Some("containers with unready status: [b]"));
    }
}
