//! The status of a Logger, from what is observed.

use std::sync::Arc;

use k8s_openapi::api::{
    apps::v1::{DaemonSet, Deployment, StatefulSet},
    core::v1::Pod,
    policy::v1::PodDisruptionBudget,
};
use kubewright_core::Conditions;
use logger_operator::{
    readiness::{Report, Reports},
    reason,
    status::{AVAILABLE, DEGRADED, Observed, PROGRESSING, Problem, Workload, is_warning, observe, transitions},
};
use logger_types::v2::{Logger, LoggerPlacement, LoggerState, LoggerStatus, LoggerStorage, LoggerWorkload};
use serde_json::{Value, json};

use crate::fixture::logger;

fn logger_with(replicas: i32) -> Logger {
    let mut logger = logger("audit");
    logger.metadata.namespace = Some("default".to_owned());
    logger.metadata.generation = Some(3);
    logger.spec.replicas = Some(replicas);
    logger
}

/// A Deployment whose agents are up to date, of which some are available.
fn deployment(desired: i32, available: i32) -> Deployment {
    let status = json!({
        "observedGeneration": 1, "replicas": desired, "updatedReplicas": desired, "availableReplicas": available,
    });
    let spec = json!({"replicas": desired, "selector": {}, "template": {}});
    from(json!({"metadata": {"generation": 1}, "spec": spec, "status": status}))
}

fn stalled(desired: i32) -> Deployment {
    let mut deployment = deployment(desired, 0);
    let condition = json!({"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"});
    deployment.status.as_mut().unwrap().conditions = Some(vec![from(condition)]);
    deployment
}

fn budget(healthy: i32, allowed: i32) -> PodDisruptionBudget {
    let status = json!({
        "observedGeneration": 1, "currentHealthy": healthy, "desiredHealthy": 1, "disruptionsAllowed": allowed,
        "expectedPods": 2,
    });
    from(json!({"metadata": {"generation": 1}, "status": status}))
}

fn from<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn pod(status: Value) -> Arc<Pod> {
    Arc::new(from(json!({"metadata": {"name": "a"}, "status": status})))
}

fn ready() -> Arc<Pod> {
    pod(json!({"conditions": [{"type": "Ready", "status": "True"}]}))
}

fn waiting(reason: &str) -> Arc<Pod> {
    crashing(reason, 0)
}

fn crashing(reason: &str, restarts: i32) -> Arc<Pod> {
    pod(json!({
        "conditions": [{"type": "Ready", "status": "False"}],
        "containerStatuses": [{
            "name": "agent", "image": "a", "imageID": "", "ready": false, "restartCount": restarts,
            "state": {"waiting": {"reason": reason}},
        }],
    }))
}

fn unschedulable() -> Arc<Pod> {
    pod(json!({"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}))
}

fn terminating() -> Arc<Pod> {
    let mut pod = Arc::unwrap_or_clone(ready());
    pod.metadata.deletion_timestamp = Some(from(json!("2026-01-01T00:00:00Z")));
    Arc::new(pod)
}

/// A case: desired replicas, what is observed, and the expected ready agents and reasons of the conditions. The reason
/// of a true condition starts with `+`.
struct Case {
    name: &'static str,
    desired: i32,
    deployment: Option<Deployment>,
    budget: Option<PodDisruptionBudget>,
    pods: Vec<Arc<Pod>>,
    expected: (i32, [&'static str; 3]),
}

fn case(name: &'static str, desired: i32, pods: Vec<Arc<Pod>>, expected: (i32, [&'static str; 3])) -> Case {
    let available = i32::try_from(pods.len()).unwrap();
    Case { name, desired, deployment: Some(deployment(desired, available)), budget: None, pods, expected }
}

fn observed(case: &Case) -> Observed<'_> {
    Observed {
        workload: case.deployment.as_ref().map(Workload::from),
        disruption_budget: case.budget.as_ref(),
        pods: &case.pods,
        ..Observed::default()
    }
}

fn status(case: &Case) -> LoggerStatus {
    observe(&logger_with(case.desired), &observed(case))
}

fn reasons(status: &LoggerStatus) -> [String; 3] {
    [AVAILABLE, PROGRESSING, DEGRADED].map(|type_| {
        let condition = status.conditions.condition(type_).unwrap();
        assert_eq!(condition.observed_generation, Some(3), "{type_}");
        let sign = if condition.status == "True" { "+" } else { "" };
        format!("{sign}{}", condition.reason)
    })
}

fn cases() -> Vec<Case> {
    vec![
        case("all ready", 2, vec![ready(), ready()], (2, ["+AgentsReady", "RolloutComplete", "AsDesired"])),
        case("single", 1, vec![ready()], (1, ["+AgentsReady", "RolloutComplete", "+SingleReplica"])),
        case("none desired", 0, vec![], (0, ["NoReplicas", "RolloutComplete", "+NoReplicas"])),
        Case {
            deployment: None,
            ..case("no Deployment", 2, vec![], (0, ["AgentsNotReady", "+RollingOut", "AsDesired"]))
        },
        Case {
            deployment: Some(deployment(2, 0)),
            ..case("declared, but not ready", 2, vec![], (0, ["AgentsNotReady", "+RollingOut", "AsDesired"]))
        },
        Case {
            deployment: Some(deployment(1, 0)),
            ..case("single and not ready", 1, vec![], (0, ["AgentsNotReady", "+RollingOut", "+SingleReplica"]))
        },
        Case {
            deployment: Some(deployment(2, 1)),
            ..case("one ready", 2, vec![ready()], (1, ["+AgentsReady", "+RollingOut", "AsDesired"]))
        },
        Case {
            deployment: Some(deployment(2, 1)),
            ..case("terminating", 2, vec![ready(), terminating()], (1, ["+AgentsReady", "+RollingOut", "AsDesired"]))
        },
        Case {
            deployment: Some(deployment(2, 0)),
            ..case(
                "bad image",
                2,
                vec![waiting("ErrImagePull"), waiting("ImagePullBackOff")],
                (0, ["ImageUnavailable", "+RollingOut", "+ImageUnavailable"]),
            )
        },
        Case {
            deployment: Some(deployment(2, 1)),
            ..case(
                "crash",
                2,
                vec![ready(), crashing("CrashLoopBackOff", 1)],
                (1, ["+AgentsReady", "+RollingOut", "+AgentCrashes"]),
            )
        },
        Case {
            deployment: Some(deployment(2, 1)),
            ..case("restarts", 2, vec![ready(), crashing("", 3)], (1, ["+AgentsReady", "+RollingOut", "+AgentCrashes"]))
        },
        Case {
            deployment: Some(deployment(2, 1)),
            ..case(
                "unschedulable",
                2,
                vec![ready(), unschedulable()],
                (1, ["+AgentsReady", "+RollingOut", "+Unschedulable"]),
            )
        },
        Case {
            deployment: Some(stalled(2)),
            ..case(
                "stalled",
                2,
                vec![],
                (0, ["ProgressDeadlineExceeded", "ProgressDeadlineExceeded", "+ProgressDeadlineExceeded"]),
            )
        },
        Case {
            budget: Some(budget(2, 0)),
            ..case("budget", 2, vec![ready(), ready()], (2, ["+AgentsReady", "RolloutComplete", "+BudgetBlocks"]))
        },
        Case {
            budget: Some(budget(1, 0)),
            ..case("outdated budget", 2, vec![ready(), ready()], (2, ["+AgentsReady", "RolloutComplete", "AsDesired"]))
        },
        Case {
            deployment: Some(deployment(2, 1)),
            budget: Some(budget(1, 0)),
            ..case("starting", 2, vec![ready()], (1, ["+AgentsReady", "+RollingOut", "AsDesired"]))
        },
    ]
}

#[test]
fn conditions_follow_the_observed_objects() {
    for case in cases() {
        let status = status(&case);
        assert_eq!(reasons(&status), case.expected.1.map(str::to_owned), "{}", case.name);
        assert_eq!(status.ready_replicas, Some(case.expected.0), "{}", case.name);
        let is_available = status.state == Some(LoggerState::Available);
        assert_eq!(is_available, case.expected.0 > 0, "{}", case.name);
        assert_eq!(status.observed_generation, Some(3), "{}", case.name);
        assert!(status.selector.unwrap().contains("app.kubernetes.io/instance=audit"), "{}", case.name);
    }
}

#[test]
fn a_degraded_condition_lists_all_problems() {
    let case = Case {
        budget: Some(budget(1, 0)),
        ..case("", 2, vec![ready(), unschedulable()], (1, ["+AgentsReady", "+RollingOut", "+Unschedulable"]))
    };
    let message = status(&case).conditions.condition(DEGRADED).unwrap().message.clone();
    assert!(message.contains("no node is available") && message.contains("drains wait"), "{message}");
}

#[test]
fn the_error_of_an_agent_is_part_of_the_message() {
    let message = |pods: &[Arc<Pod>], reports: Reports| {
        let observed = Observed { pods, reports, ..Observed::default() };
        let status = observe(&logger_with(2), &observed);
        let degraded = status.conditions.condition(DEGRADED).unwrap();
        (degraded.reason.clone(), degraded.message.clone())
    };
    let unready = pod(json!({"conditions": [{"type": "Ready", "status": "False"}]}));
    let not_durable = Some("No space left on device (os error 28)".to_owned());
    let reports = Reports::from([("a".to_owned(), Report { not_durable, ..Report::default() })]);
    let (reason, text) = message(&[ready(), unready], reports.clone());
    assert_eq!(reason, reason::RECORDS_NOT_DURABLE);
    assert_eq!(text, "records cannot be made durable: No space left on device (os error 28) (agents: 1)");
    assert_eq!(message(&[ready()], reports).0, reason::AS_DESIRED, "an agent that is ready has recovered");

    let terminated = json!({"exitCode": 2, "message": "starting\nerror: cannot write to the directory\n"});
    let ended = pod(json!({
        "conditions": [{"type": "Ready", "status": "False"}],
        "containerStatuses": [{
            "name": "agent", "image": "a", "imageID": "", "ready": false, "restartCount": 1,
            "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": terminated},
        }],
    }));
    let (reason, text) = message(&[ended], Reports::new());
    assert_eq!(reason, reason::AGENT_CRASHES);
    assert!(text.contains("cannot be started: error: cannot write to the directory (agents: 1)"), "{text}");
}

#[test]
fn a_corrupt_segment_and_a_clock_step_degrade_a_logger_that_is_available() {
    let degraded = |desired: i32, pods: &[Arc<Pod>], report: &Report| {
        let reports = Reports::from([("a".to_owned(), report.clone()), ("gone".to_owned(), report.clone())]);
        let observed = Observed { pods, reports, ..Observed::default() };
        let status = observe(&logger_with(desired), &observed);
        let message = status.conditions.condition(DEGRADED).unwrap().message.clone();
        (reasons(&status), message)
    };
    let corrupt_segment = Some("log-a-0.ndjson: 1 of 2 lines are not valid records".to_owned());
    let clock_step = Some("log-a-2.ndjson: from 2 to 1".to_owned());
    let step = Report { clock_step, ..Report::default() };
    let both = Report { corrupt_segment, ..step.clone() };

    let (reasons, message) = degraded(2, &[ready()], &step);
    assert_eq!(reasons, ["+AgentsReady", "+RollingOut", "+ClockSteppedBack"]);
    let clock = "the clock was set back, and sequence numbers order the records: a: log-a-2.ndjson: from 2 to 1 \
                 (agents: 1)";
    assert_eq!(message, clock);

    let (reasons, message) = degraded(1, &[ready()], &both);
    assert_eq!(reasons, ["+AgentsReady", "+RollingOut", "+CorruptSegment"]);
    let corrupt = "records of a file cannot be read, and its other records remain: a: log-a-0.ndjson: 1 of 2 lines \
                   are not valid records (agents: 1)";
    assert!(message.starts_with(&format!("{corrupt}; {clock}; one agent")), "{message}");

    let unready = pod(json!({"conditions": [{"type": "Ready", "status": "False"}]}));
    assert_eq!(degraded(2, &[unready], &both).0, ["AgentsNotReady", "+RollingOut", "+CorruptSegment"]);
    assert_eq!(degraded(2, &[], &both).0[2], "AsDesired", "the agents were deleted");
}

#[test]
fn an_invalid_spec_is_a_problem_and_running_agents_remain_available() {
    let problem = Problem { reason: reason::INVALID_NAME, message: "bad".to_owned() };
    let pods = [ready()];
    let observed = Observed { problem: Some(problem), pods: &pods, ..Observed::default() };
    let status = observe(&logger_with(2), &observed);
    assert_eq!(reasons(&status), ["+AgentsReady", "InvalidName", "+InvalidName"]);
}

#[test]
fn the_status_of_an_equal_observation_is_equal() {
    for case in cases() {
        let mut logger = logger_with(case.desired);
        let first = status(&case);
        logger.status = Some(first.clone());
        let second = observe(&logger, &observed(&case));
        assert_eq!(second, first, "{}", case.name);
        assert!(transitions(Some(&first), &second).is_empty(), "{}", case.name);
    }
}

#[test]
fn transitions_are_changes_of_the_status_or_the_reason() {
    let status_of = |name: &str| cases().iter().find(|case| case.name == name).map(status).unwrap();
    let types = |before: Option<&LoggerStatus>, after: &LoggerStatus| {
        let all = transitions(before, after);
        all.iter().map(|condition| (condition.type_.clone(), is_warning(condition))).collect::<Vec<_>>()
    };
    let owned = |type_: &str, is_warning: bool| (type_.to_owned(), is_warning);
    let (starting, ready, bad) = (status_of("declared, but not ready"), status_of("all ready"), status_of("bad image"));
    assert_eq!(types(None, &starting), [owned(PROGRESSING, false)]);
    assert_eq!(types(Some(&starting), &ready), [owned(AVAILABLE, false), owned(PROGRESSING, false)]);
    let expected = [owned(AVAILABLE, true), owned(PROGRESSING, false), owned(DEGRADED, true)];
    assert_eq!(types(Some(&ready), &bad), expected);
}

/// Returns the numbers of desired, existing, ready and updated agents.
fn numbers(status: &LoggerStatus) -> [Option<i32>; 4] {
    [status.desired_replicas, status.replicas, status.ready_replicas, status.updated_replicas]
}

#[test]
fn agents_of_nodes_are_desired_by_their_daemon_set() {
    let mut logger = logger_with(5);
    logger.spec.placement = Some(LoggerPlacement::PerNode);
    let pods = [ready(), ready()];
    let observe = |status: Value| {
        let daemon_set: DaemonSet = from(json!({"metadata": {"generation": 1}, "status": status}));
        observe(&logger, &Observed { workload: Some((&daemon_set).into()), pods: &pods, ..Observed::default() })
    };
    let report = |observed: i64, nodes: i32, available: i32| {
        json!({
            "observedGeneration": observed, "desiredNumberScheduled": nodes, "currentNumberScheduled": nodes,
            "updatedNumberScheduled": nodes, "numberAvailable": available, "numberReady": available,
            "numberMisscheduled": 0,
        })
    };
    let complete = observe(report(1, 2, 2));
    assert_eq!(reasons(&complete), ["+AgentsReady", "RolloutComplete", "AsDesired"]);
    assert_eq!(numbers(&complete), [Some(2); 4]);
    assert_eq!(complete.workload, Some(LoggerWorkload::DaemonSet));
    let running = observe(report(1, 3, 2));
    assert_eq!(reasons(&running), ["+AgentsReady", "+RollingOut", "AsDesired"]);
    assert_eq!(numbers(&running), [Some(3), Some(2), Some(2), Some(3)]);
    let unknown = observe(report(0, 0, 0));
    assert_eq!(reasons(&unknown), ["+AgentsReady", "+RollingOut", "AsDesired"]);
    assert_eq!(numbers(&unknown), [None, Some(2), Some(2), None]);
    let message = observe(report(1, 1, 1)).conditions.condition(DEGRADED).unwrap().message.clone();
    assert!(message.ends_with("; add nodes on which agents can run"), "{message}");
}

#[test]
fn agents_with_claims_are_observed_by_their_stateful_set() {
    let mut logger = logger_with(2);
    logger.spec.storage = Some(from::<LoggerStorage>(json!({"volumeClaim": {"size": "1Gi"}})));
    let pods = [ready()];
    let observe = |available: i32| {
        let status = json!({
            "observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "readyReplicas": available,
            "availableReplicas": available,
        });
        let spec = json!({"replicas": 2, "selector": {}, "template": {}, "serviceName": "a"});
        let stateful_set: StatefulSet = from(json!({"metadata": {"generation": 1}, "spec": spec, "status": status}));
        observe(&logger, &Observed { workload: Some((&stateful_set).into()), pods: &pods, ..Observed::default() })
    };
    assert_eq!(reasons(&observe(1)), ["+AgentsReady", "+RollingOut", "AsDesired"]);
    assert_eq!(reasons(&observe(2)), ["+AgentsReady", "RolloutComplete", "AsDesired"]);
    assert_eq!(observe(2).workload, Some(LoggerWorkload::StatefulSet));
    assert_eq!(numbers(&observe(2)), [Some(2), Some(1), Some(1), Some(2)]);
}
