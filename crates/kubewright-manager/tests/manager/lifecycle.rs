//! The order of starts and stops, and the ends of runnables.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kubewright_apiserver::{ApiServer, Faults, Verb};
use kubewright_manager::{
    BoxError, CancellationToken, LeaderElectionConfig, Manager, ManagerError, Replicas, Runnable, Stage,
};
use tokio::{
    runtime::Handle,
    time::{Instant, sleep},
};

use crate::fixture::{Log, Running, SECOND, STEP_TIME, Step, ending_after, step};

#[tokio::test(start_paused = true)]
async fn m01_stages_start_in_order_and_stop_in_the_reverse_order_and_the_lease_is_released_last() {
    let (server, faults, log) = (ApiServer::new(), Faults::new(), Log::default());
    let step = |name, stage| Step { name, stage, log: log.clone() };
    let manager = Manager::builder(server.client_with(faults.layer()))
        .leader_election(LeaderElectionConfig::new("operator", "a"))
        .add(Replicas::Leader, "leader", step("leader", Stage::Others))
        .add(Replicas::All, "others", step("others", Stage::Others))
        .add(Replicas::All, "caches", step("caches", Stage::Caches))
        .add(Replicas::All, "webhooks", step("webhooks", Stage::Webhooks))
        .add(Replicas::All, "servers", step("servers", Stage::Servers))
        .build()
        .unwrap();
    let running = Running::start(manager);
    running.wait_until(|_| log.contains("+leader")).await;
    running.stop().await.unwrap();
    let expected = [
        "+servers",
        "=servers",
        "+webhooks",
        "=webhooks",
        "+caches",
        "=caches",
        "+others",
        "=others",
        "+leader",
        "-leader",
        "-others",
        "-caches",
        "-webhooks",
        "-servers",
    ];
    assert_eq!(log.entries(), expected);
    let release = faults.seen(Verb::Update).pop().expect("the lease is released");
    assert!(release.at >= log.time("-servers"));
}

#[tokio::test(start_paused = true)]
async fn m01_the_leader_group_is_last_without_an_election() {
    let log = Log::default();
    let manager = Manager::builder(ApiServer::new().client())
        .add(Replicas::Leader, "leader", step("leader", &log))
        .add(Replicas::All, "others", step("others", &log))
        .build()
        .unwrap();
    let running = Running::start(manager);
    running.wait_until(|_| log.contains("+leader")).await;
    running.stop().await.unwrap();
    assert_eq!(log.entries(), ["+others", "=others", "+leader", "-leader", "-others"]);
}

/// Runs a manager with a runnable, in all replicas or in the leader, until it fails. Another runnable is stopped
/// gracefully meanwhile.
async fn failure_of(replicas: Replicas, election: bool, runnable: impl Runnable) -> (ManagerError, String) {
    let log = Log::default();
    let mut builder = Manager::builder(ApiServer::new().client());
    if election {
        builder = builder.leader_election(LeaderElectionConfig::new("operator", "a"));
    }
    let health = builder.health().clone();
    let manager = builder
        .add(Replicas::All, "good", step("good", &log))
        .add(replicas, "bad", runnable)
        .add(Replicas::All, "observer", {
            let log = log.clone();
            move |stop: CancellationToken| async move {
                stop.cancelled().await;
                log.push(health.respond("/livez", "").1);
                Ok::<_, BoxError>(())
            }
        })
        .build()
        .unwrap();
    let error = Running::start(manager).result().await.unwrap_err();
    assert!(log.contains("-good"), "the others are stopped gracefully");
    let text = log.entries().into_iter().find(|entry| entry.contains("livez check")).unwrap_or_default();
    (error, text)
}

const REPLICAS: [(Replicas, bool); 3] = [(Replicas::All, false), (Replicas::Leader, false), (Replicas::Leader, true)];

#[tokio::test(start_paused = true)]
async fn m02_a_runnable_that_ends_early_stops_the_manager() {
    for (replicas, election) in REPLICAS {
        let (error, probe) = failure_of(replicas, election, ending_after(5 * SECOND)).await;
        assert!(matches!(&error, ManagerError::Ended { name } if name == "bad"), "{error}");
        assert_eq!(error.to_string(), "`bad` ended although it was not stopped");
        assert!(probe.contains("[-]bad failed: `bad` ended although it was not stopped\n"), "{probe}");
    }
}

#[tokio::test(start_paused = true)]
async fn m02_a_runnable_that_fails_stops_the_manager() {
    for (replicas, election) in REPLICAS {
        let failing = |_: CancellationToken| async {
            sleep(SECOND).await;
            Err::<(), _>("port 8443 is in use")
        };
        let (error, probe) = failure_of(replicas, election, failing).await;
        assert!(matches!(&error, ManagerError::Failed { name, .. } if name == "bad"), "{error}");
        assert_eq!(error.to_string(), "`bad` failed: port 8443 is in use");
        assert!(probe.contains("[-]bad failed: `bad` failed: port 8443 is in use\n"), "{probe}");
    }
}

#[tokio::test(start_paused = true)]
async fn m02_a_runnable_that_panics_stops_the_manager() {
    for (replicas, election) in REPLICAS {
        let panicking = |_: CancellationToken| async {
            sleep(SECOND).await;
            if true {
                panic!("index out of bounds");
            }
            Ok::<_, BoxError>(())
        };
        let (error, probe) = failure_of(replicas, election, panicking).await;
        assert!(matches!(&error, ManagerError::Panicked { name, .. } if name == "bad"), "{error}");
        assert_eq!(error.to_string(), "`bad` panicked: index out of bounds");
        assert!(probe.contains("[-]bad failed: `bad` panicked: index out of bounds\n"), "{probe}");
    }
}

#[tokio::test(start_paused = true)]
async fn managers_in_one_process_are_independent() {
    let (first_log, second_log) = (Log::default(), Log::default());
    let manager = |log: &Log| {
        let builder = Manager::builder(ApiServer::new().client());
        let builder = builder.leader_election(LeaderElectionConfig::new("operator", "a"));
        builder.add(Replicas::Leader, "work", step("work", log))
    };
    let second = Running::ready(manager(&second_log).build().unwrap()).await;
    second.wait_until(|_| second_log.contains("+work")).await;
    let first = manager(&first_log).add(Replicas::All, "bad", ending_after(SECOND)).build().unwrap();
    let error = Running::start(first).result().await.unwrap_err();
    assert!(matches!(error, ManagerError::Ended { name } if name == "bad"));
    sleep(60 * SECOND).await;
    assert!(first_log.contains("-work") && !second_log.contains("-work"));
    assert_eq!((second.probe("/livez").as_str(), second.probe("/readyz").as_str()), ("ok", "ok"));
    second.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn no_task_outlives_a_run_that_ends_or_is_dropped() {
    let alive = || Handle::current().metrics().num_alive_tasks();
    let client = ApiServer::builder().collects_garbage(false).build().client();
    let manager = |log: &Log| {
        Manager::builder(client.clone())
            .leader_election(LeaderElectionConfig::new("operator", "a"))
            .add(Replicas::All, "always", step("always", log))
            .add(Replicas::Leader, "leader", step("leader", log))
            .build()
            .unwrap()
    };
    let before = alive();
    let log = Log::default();
    let running = Running::start(manager(&log));
    running.wait_until(|_| log.contains("+leader")).await;
    running.stop().await.unwrap();
    sleep(SECOND).await;
    assert_eq!(alive(), before);

    let log = Log::default();
    let running = Running::start(manager(&log));
    running.wait_until(|_| log.contains("+leader")).await;
    running.task.abort();
    sleep(SECOND).await;
    assert_eq!(alive(), before, "after a drop");
    assert!(!log.contains("-always") && !log.contains("-leader"));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_dropped_is_not_ready() {
    let manager = Manager::builder(ApiServer::new().client()).add(Replicas::All, "step", step("step", &Log::default()));
    let running = Running::ready(manager.build().unwrap()).await;
    running.task.abort();
    let text = "internal server error: process is shutting down\n";
    running.wait_until(|running| running.probe("/readyz/shutdown") == text).await;
}

#[tokio::test(start_paused = true)]
async fn a_manager_without_runnables_runs_until_it_is_stopped() {
    let running = Running::ready(Manager::builder(ApiServer::new().client()).build().unwrap()).await;
    sleep(60 * SECOND).await;
    assert!(!running.task.is_finished());
    let began = Instant::now();
    running.stop().await.unwrap();
    assert!(began.elapsed() < STEP_TIME + Duration::from_millis(100));
}

#[tokio::test(start_paused = true)]
async fn a_manager_ends_when_credentials_expire_that_its_client_cannot_renew() {
    let valid_until = Timestamp::now() + SignedDuration::from_mins(1);
    let client = || ApiServer::new().client().with_valid_until(Some(valid_until));
    let manager = Manager::builder(client()).build().unwrap();
    let running = Running::start(manager);
    sleep(50 * SECOND).await;
    running.stop().await.unwrap();

    let manager = Manager::builder(client()).build().unwrap();
    let error = manager.run(CancellationToken::new()).await.unwrap_err();
    let expected = "`client-credentials` failed: the certificate of the client expired at ";
    assert!(error.to_string().starts_with(expected), "{error}");
}
