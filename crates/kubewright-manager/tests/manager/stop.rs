//! The graceful shutdown, and runnables that do not end.

use std::{sync::mpsc, time::Duration};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use kubewright_apiserver::ApiServer;
use kubewright_manager::{
    BoxError, CancellationToken, LeaderElectionConfig, Manager, ManagerBuilder, ManagerError, Replicas, Runnable,
    Stage,
    serving::{Router, Server, ServerConfig, handler::text},
};
use tokio::time::{Instant, sleep};

use crate::fixture::{Log, Running, SECOND, STEP_TIME, ignore_stop, step};

async fn echo(_: Request<Bytes>) -> Response<Bytes> {
    text(StatusCode::OK, "ok")
}

#[tokio::test(start_paused = true)]
async fn a_stop_makes_the_process_unready_at_once_and_is_graceful() {
    let log = Log::default();
    let slow = |stop: CancellationToken| async move {
        stop.cancelled().await;
        sleep(20 * SECOND).await;
        Ok::<_, BoxError>(())
    };
    let manager = Manager::builder(ApiServer::new().client())
        .add(Replicas::All, "slow", slow)
        .add(Replicas::All, "step", step("step", &log))
        .build()
        .unwrap();
    let running = Running::ready(manager).await;
    let began = Instant::now();
    running.stop.cancel();
    let expected = "[+]ping ok\n[+]startup ok\n[-]shutdown failed: process is shutting down\nreadyz check failed\n";
    assert_eq!(running.probe("/readyz"), expected);
    sleep(10 * SECOND).await;
    assert_eq!(running.probe("/livez"), "ok", "a runnable that has been stopped has not failed");
    running.result().await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 20);
}

#[tokio::test(start_paused = true)]
async fn m02_runnables_that_do_not_stop_are_aborted_and_named() {
    for election in [false, true] {
        let log = Log::default();
        let mut builder = Manager::builder(ApiServer::new().client()).graceful_shutdown_timeout(3 * SECOND);
        if election {
            builder = builder.leader_election(LeaderElectionConfig::new("operator", "a"));
        }
        let (always, leader) = (log.clone(), log.clone());
        let manager = builder
            .add(Replicas::All, "always", move |_: CancellationToken| ignore_stop("always", always))
            .add(Replicas::Leader, "leader", move |_: CancellationToken| ignore_stop("leader", leader))
            .build()
            .unwrap();
        let running = Running::start(manager);
        running.wait_until(|_| log.contains("+leader")).await;
        let began = Instant::now();
        let error = running.stop().await.unwrap_err();
        let expected = "stopped, but aborted what did not end within 3s: `always`, `leader`";
        assert_eq!(error.to_string(), expected);
        let ManagerError::NotStopped { aborted, blocked, .. } = &error else { panic!("{error}") };
        assert_eq!((aborted.len(), blocked.len(), began.elapsed().as_secs()), (2, 0, 3));
        assert!(log.contains("dropped always") && log.contains("dropped leader"));
    }
}

#[tokio::test(start_paused = true)]
async fn m02_the_graceful_shutdown_timeout_can_be_zero_or_unlimited() {
    let build = |log: &Log, timeout| {
        let builder = Manager::builder(ApiServer::new().client()).graceful_shutdown_timeout(timeout);
        builder.add(Replicas::All, "step", step("step", log)).build().unwrap()
    };
    let log = Log::default();
    let running = Running::ready(build(&log, Duration::ZERO)).await;
    let began = Instant::now();
    assert!(matches!(running.stop().await, Err(ManagerError::NotStopped { .. })));
    assert!(began.elapsed() < STEP_TIME && !log.contains("-step"));

    let slow = |stop: CancellationToken| async move {
        stop.cancelled().await;
        sleep(1800 * SECOND).await;
        Ok::<_, BoxError>(())
    };
    let builder = Manager::builder(ApiServer::new().client()).graceful_shutdown_timeout(Duration::MAX);
    let running = Running::ready(builder.add(Replicas::All, "slow", slow).build().unwrap()).await;
    let began = Instant::now();
    running.stop().await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 1800);
}

#[tokio::test(start_paused = true)]
async fn an_error_during_the_stop_is_returned() {
    let failing = |stop: CancellationToken| async move {
        stop.cancelled().await;
        Err::<(), _>("events are lost")
    };
    let builder = Manager::builder(ApiServer::new().client());
    let running = Running::ready(builder.add(Replicas::All, "events", failing).build().unwrap()).await;
    assert_eq!(running.stop().await.unwrap_err().to_string(), "`events` failed: events are lost");
}

/// Not on paused time: a thread is blocked.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_runnable_that_blocks_its_thread_is_named() {
    let (log, (release, released)) = (Log::default(), mpsc::channel::<()>());
    let blocking = {
        let log = log.clone();
        move |_: CancellationToken| async move {
            log.push("+blocking");
            assert!(released.recv().is_err(), "released by the end of the test");
            std::future::pending::<Result<(), BoxError>>().await
        }
    };
    let builder = Manager::builder(ApiServer::new().client()).graceful_shutdown_timeout(Duration::from_millis(50));
    let running = Running::start(builder.add(Replicas::All, "blocking", blocking).build().unwrap());
    running.wait_until(|_| log.contains("+blocking")).await;
    let error = running.stop().await.unwrap_err();
    drop(release);
    let expected = "stopped, but these block their thread and still run: `blocking`; end the process";
    assert_eq!(error.to_string(), expected);
}

#[tokio::test(start_paused = true)]
async fn servers_and_caches_continue_for_the_shutdown_delay_while_the_process_is_not_ready() {
    let (api, log) = (ApiServer::new(), Log::default());
    let server = Server::bind(ServerConfig::new("web", 0), Router::new().get("/", echo)).unwrap();
    let (address, caches) = (server.local_address(), step("caches", &log).at_stage(Stage::Caches));
    let manager = Manager::builder(api.client())
        .leader_election(LeaderElectionConfig::new("operator", "a"))
        .add(Replicas::All, "web", server)
        .add(Replicas::All, "caches", caches)
        .add(Replicas::Leader, "leader", step("leader", &log))
        .build()
        .unwrap();
    let running = Running::ready(manager).await;
    running.wait_until(|_| log.contains("+leader")).await;
    let began = Instant::now();
    running.stop.cancel();
    sleep(4 * SECOND).await;
    // Blocking: a timer would advance the clock while it waits for the connection.
    assert!(std::net::TcpStream::connect(address).is_ok(), "the server accepts connections");
    assert!(running.probe("/readyz").contains("[-]shutdown failed"));
    assert!(log.contains("-leader") && !log.contains("-caches"), "{:?}", log.entries());
    let lease: Lease = Api::namespaced(api.client(), "default").get("operator").await.unwrap();
    assert_eq!(lease.spec.unwrap().holder_identity.as_deref(), Some(""), "the lease is released");
    running.result().await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 5);
    assert!(log.contains("-caches") && std::net::TcpStream::connect(address).is_err());
}

#[tokio::test(start_paused = true)]
async fn the_shutdown_delay_is_configurable_and_only_for_servers_to_which_others_connect() {
    let health = || Manager::builder(ApiServer::new().client()).serve_health(ServerConfig::new("health", 0));
    let web = || Server::bind(ServerConfig::new("web", 0), Router::new().get("/", echo)).unwrap();
    let delay = async |builder: ManagerBuilder| {
        let running = Running::ready(builder.build().unwrap()).await;
        let began = Instant::now();
        running.stop().await.unwrap();
        began.elapsed().as_secs()
    };
    assert_eq!(delay(health()).await, 0);
    assert_eq!(delay(health().add(Replicas::All, "web", web())).await, 5);
    assert_eq!(delay(health().add(Replicas::All, "web", web()).shutdown_delay(Duration::ZERO)).await, 0);
    let short = health().add(Replicas::All, "web", web()).graceful_shutdown_timeout(2 * SECOND);
    let running = Running::ready(short.build().unwrap()).await;
    assert!(matches!(running.stop().await, Err(ManagerError::NotStopped { .. })), "the timeout includes the delay");
}
