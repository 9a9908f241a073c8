//! Leader election: who runs what, and the end of a leadership.

use std::time::Duration;

use futures::FutureExt;
use k8s_openapi::api::{coordination::v1::Lease, core::v1::ConfigMap};
use kube::Api;
use kubewright_apiserver::{ApiServer, Fault, Faults, Requests};
use kubewright_manager::{
    BoxError, CancellationToken, LeaderElectionConfig, Manager, ManagerBuilder, ManagerError, Replicas,
};
use kubewright_runtime::{
    Controller, InformerFactory, ObjectKey, ReconcileError,
    leader_election::{LeaderElectionError, fenced},
};
use tokio::time::{Instant, advance, sleep};

use crate::fixture::{Log, Running, SECOND, create_config_map, ending_after, ignore_stop, step};

fn builder(server: &ApiServer, faults: &Faults, identity: &str) -> ManagerBuilder {
    let builder = Manager::builder(server.client_with(faults.layer()));
    builder.leader_election(LeaderElectionConfig::new("operator", identity))
}

async fn holder(server: &ApiServer) -> String {
    let lease = Api::<Lease>::namespaced(server.client(), "default").get("operator").await.unwrap();
    lease.spec.unwrap().holder_identity.unwrap_or_default()
}

/// Starts a manager with a step in all replicas and in the leader, which is ready.
async fn replica(server: &ApiServer, faults: &Faults, identity: &str, log: &Log) -> Running {
    let manager = builder(server, faults, identity)
        .add(Replicas::All, "always", step("always", log))
        .add(Replicas::Leader, "leader", step("leader", log))
        .build()
        .unwrap();
    Running::ready(manager).await
}

#[tokio::test(start_paused = true)]
async fn m04_only_runnables_of_the_leader_wait_for_the_election() {
    let (server, faults) = (ApiServer::new(), Faults::new());
    let (first_log, second_log) = (Log::default(), Log::default());
    let first = replica(&server, &faults, "a", &first_log).await;
    first.wait_until(|_| first_log.contains("+leader")).await;
    let second = replica(&server, &faults, "b", &second_log).await;
    sleep(60 * SECOND).await;
    assert!(second_log.contains("+always") && !second_log.contains("+leader"));
    assert_eq!((second.probe("/readyz").as_str(), second.probe("/livez").as_str()), ("ok", "ok"));
    let (is_leader, is_second) = (first.manager.leader_status().unwrap(), second.manager.leader_status().unwrap());
    assert!(is_leader.is_leader() && !is_second.is_leader());
    let began = Instant::now();
    first.stop().await.unwrap();
    second.wait_until(|_| second_log.contains("+leader")).await;
    assert!(began.elapsed() < 5 * SECOND, "the lease was released: {:?}", began.elapsed());
    assert!(first_log.time("-leader") < second_log.time("+leader"));
    second.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn m03_a_lost_lease_cancels_the_work_of_the_leader_and_stops_the_manager() {
    let (server, faults, log) = (ApiServer::new(), Faults::new(), Log::default());
    let running = replica(&server, &faults, "a", &log).await;
    running.wait_until(|_| log.contains("+leader")).await;
    faults.always(Requests::to("leases"), Fault::status(500, "InternalError", "etcd is down"));
    let began = Instant::now();
    let error = running.result().await.unwrap_err();
    assert!(matches!(error, ManagerError::LeaderElection(LeaderElectionError::Lost { .. })), "{error}");
    let expected = "leader election lost: lease `default/operator` was not renewed within the renew deadline";
    assert!(error.to_string().starts_with(expected), "{error}");
    assert!(log.contains("-leader") && log.contains("-always"), "{:?}", log.entries());
    assert!(began.elapsed() > 7 * SECOND && began.elapsed() < 13 * SECOND, "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn m03_a_lost_lease_is_the_error_even_if_the_work_fails_at_its_stop() {
    let (server, faults) = (ApiServer::new(), Faults::new());
    let failing = |stop: CancellationToken| async move {
        stop.cancelled().await;
        Err::<(), _>("a reconciliation was cancelled")
    };
    let manager = builder(&server, &faults, "a").add(Replicas::Leader, "failing", failing).build().unwrap();
    let running = Running::ready(manager).await;
    running.wait_until(|running| running.manager.leader_status().unwrap().is_leader()).await;
    faults.always(Requests::to("leases"), Fault::connection_refused());
    let error = running.result().await.unwrap_err();
    assert!(matches!(error, ManagerError::LeaderElection(LeaderElectionError::Lost { .. })), "{error}");
}

#[tokio::test(start_paused = true)]
async fn m03_work_that_ignores_a_lost_lease_is_aborted_before_another_process_takes_over() {
    let (server, faults, log) = (ApiServer::new(), Faults::new(), Log::default());
    let work = log.clone();
    let manager = builder(&server, &faults, "a")
        .add(Replicas::Leader, "leader", move |_: CancellationToken| ignore_stop("leader", work))
        .build()
        .unwrap();
    let first = Running::ready(manager).await;
    first.wait_until(|_| log.contains("+leader")).await;
    let second_log = Log::default();
    let second = replica(&server, &Faults::new(), "b", &second_log).await;
    faults.always(Requests::to("leases"), Fault::connection_refused());
    let error = first.result().await.unwrap_err();
    assert!(matches!(error, ManagerError::LeaderElection(_)), "{error}");
    second.wait_until(|_| second_log.contains("+leader")).await;
    assert!(log.time("dropped leader") < second_log.time("+leader"));
    second.stop().await.unwrap();
}

/// As after a pause of the process: the timers of the reconciliation and of the elector have passed.
#[tokio::test(start_paused = true)]
async fn m03_a_reconciliation_does_not_continue_after_the_lease_expired() {
    let (server, faults, log) = (ApiServer::new(), Faults::new(), Log::default());
    create_config_map(server.client(), "a").await;
    let factory = InformerFactory::namespaced(server.client(), "default");
    let reconciled = log.clone();
    let reconcile = move |key: ObjectKey| {
        let log = reconciled.clone();
        async move {
            log.push(format!("+{key}"));
            sleep(SECOND).await;
            log.push(format!("-{key}"));
            Ok::<_, ReconcileError>(())
        }
    };
    let controller = Controller::new("config-maps", &factory.informer::<ConfigMap>()).build(reconcile);
    let manager = builder(&server, &faults, "a")
        .add(Replicas::All, "informers", factory)
        .add(Replicas::Leader, "config-maps", controller)
        .build()
        .unwrap();
    let running = Running::ready(manager).await;
    running.wait_until(|_| log.contains("+default/a")).await;
    advance(60 * SECOND).await;
    let error = running.result().await.unwrap_err();
    assert!(matches!(error, ManagerError::LeaderElection(LeaderElectionError::Lost { .. })), "{error}");
    assert_eq!(log.entries(), ["+default/a"]);
}

/// The clock advances while the first reconciliation is polled, as if the process were paused.
#[tokio::test(start_paused = true)]
async fn m03_no_reconciliation_starts_in_a_poll_in_which_the_lease_expired() {
    let (server, faults, log) = (ApiServer::new(), Faults::new(), Log::default());
    create_config_map(server.client(), "a").await;
    create_config_map(server.client(), "b").await;
    let factory = InformerFactory::namespaced(server.client(), "default");
    let reconciled = log.clone();
    let reconcile = move |_: ObjectKey| {
        let log = reconciled.clone();
        async move {
            log.push("reconciled");
            advance(60 * SECOND).now_or_never();
            Ok::<_, ReconcileError>(())
        }
    };
    let controller =
        Controller::new("config-maps", &factory.informer::<ConfigMap>()).max_concurrent_reconciles(1).build(reconcile);
    let manager = builder(&server, &faults, "a")
        .add(Replicas::All, "informers", factory)
        .add(Replicas::Leader, "config-maps", controller)
        .build()
        .unwrap();
    let error = Running::start(manager).result().await.unwrap_err();
    assert!(matches!(error, ManagerError::LeaderElection(LeaderElectionError::Lost { .. })), "{error}");
    assert_eq!(log.entries(), ["reconciled"]);
}

/// As after a pause of the process.
#[tokio::test(start_paused = true)]
async fn m03_a_fenced_task_of_a_runnable_does_not_continue_after_the_lease_expired() {
    let (server, faults, log) = (ApiServer::new(), Faults::new(), Log::default());
    let started = log.clone();
    let runnable = move |stop: CancellationToken| async move {
        let task = fenced(async move {
            started.push("+task");
            sleep(SECOND).await;
            started.push("-task");
        });
        drop(tokio::spawn(task).await);
        stop.cancelled().await;
        Ok::<_, BoxError>(())
    };
    let manager = builder(&server, &faults, "a").add(Replicas::Leader, "runnable", runnable).build().unwrap();
    let running = Running::ready(manager).await;
    running.wait_until(|_| log.contains("+task")).await;
    advance(60 * SECOND).await;
    let error = running.result().await.unwrap_err();
    assert!(matches!(error, ManagerError::LeaderElection(LeaderElectionError::Lost { .. })), "{error}");
    assert_eq!(log.entries(), ["+task"]);
}

#[tokio::test(start_paused = true)]
async fn m03_the_lease_is_released_after_the_runnables_stopped() {
    let (server, faults, log) = (ApiServer::new(), Faults::new(), Log::default());
    let slow = |stop: CancellationToken| async move {
        stop.cancelled().await;
        sleep(20 * SECOND).await;
        Ok::<_, BoxError>(())
    };
    let manager = builder(&server, &faults, "a").add(Replicas::Leader, "slow", slow);
    let manager = manager.add(Replicas::Leader, "step", step("step", &log)).build().unwrap();
    let running = Running::ready(manager).await;
    running.wait_until(|_| log.contains("+step")).await;
    running.stop.cancel();
    sleep(18 * SECOND).await;
    assert_eq!(holder(&server).await, "a", "it is renewed while the work ends");
    running.result().await.unwrap();
    assert_eq!(holder(&server).await, "");
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_the_leader_releases_the_lease() {
    let (server, faults) = (ApiServer::new(), Faults::new());
    let manager = builder(&server, &faults, "a").add(Replicas::Leader, "bad", ending_after(SECOND));
    let error = Running::start(manager.build().unwrap()).result().await.unwrap_err();
    assert!(matches!(error, ManagerError::Ended { name } if name == "bad"));
    assert_eq!(holder(&server).await, "");
}

#[tokio::test(start_paused = true)]
async fn a_stop_before_the_lease_is_acquired_starts_nothing() {
    let (server, faults, log) = (ApiServer::new(), Faults::new(), Log::default());
    faults.always(Requests::to("leases"), Fault::hang());
    let running = replica(&server, &faults, "a", &log).await;
    sleep(SECOND).await;
    running.stop().await.unwrap();
    assert!(!log.contains("+leader") && log.contains("-always"));
}

#[tokio::test(start_paused = true)]
async fn missing_permissions_for_the_lease_stop_the_manager() {
    let (server, faults, log) = (ApiServer::new(), Faults::new(), Log::default());
    faults.always(Requests::to("leases"), Fault::status(403, "Forbidden", "leases is forbidden"));
    let error = replica(&server, &faults, "a", &log).await.result().await.unwrap_err();
    assert!(matches!(error, ManagerError::LeaderElection(LeaderElectionError::Rejected { .. })), "{error}");
    assert!(error.to_string().contains("kubectl auth can-i"), "{error}");
}

/// The work blocks the thread of the elector: the clock advances while it is polled.
#[tokio::test(start_paused = true)]
async fn an_overdue_elector_is_not_live() {
    let (server, faults, log) = (ApiServer::new(), Faults::new(), Log::default());
    let builder = builder(&server, &faults, "a");
    let (health, probes) = (builder.health().clone(), log.clone());
    let blocking = move |stop: CancellationToken| async move {
        probes.push(health.respond("/livez/leaderElection", "").1);
        futures::FutureExt::now_or_never(advance(Duration::from_secs(60)));
        probes.push(health.respond("/livez/leaderElection", "").1);
        stop.cancelled().await;
        Ok::<_, BoxError>(())
    };
    let manager = builder.add(Replicas::Leader, "blocking", blocking).build().unwrap();
    let error = Running::start(manager).result().await.unwrap_err();
    assert!(matches!(error, ManagerError::LeaderElection(_)), "{error}");
    let entries = log.entries();
    let [before, after] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!(before, "ok");
    let expected = "internal server error: leader election is overdue: lease `default/operator` was not renewed for 4";
    assert!(after.starts_with(expected), "{after}");
}
