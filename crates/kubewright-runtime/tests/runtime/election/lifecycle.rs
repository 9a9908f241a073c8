//! Acquisition, observation, health and release.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::LeaseSpec;
use kube::Client;
use kubewright_apiserver::{ApiServer, Fault, Faults, Requests, Verb};
use kubewright_runtime::{
    CancellationToken,
    leader_election::{ConfigError, LeaderElector},
};
use tokio::{
    runtime::Handle,
    time::{Instant, sleep},
};

use super::fixture::{OnCancel, Running, SECOND, WorkState, config, holder, spec};

#[tokio::test(start_paused = true)]
async fn one_of_several_electors_leads() {
    let server = ApiServer::new();
    let mut electors: Vec<_> = ["a", "b", "c"].map(|identity| Running::start(&server, identity)).into();
    sleep(60 * SECOND).await;
    let leading = |elector: &Running| elector.state() == WorkState::Running;
    assert_eq!(electors.iter().filter(|elector| leading(elector)).count(), 1);
    assert_eq!(electors.iter().filter(|elector| elector.status.is_leader()).count(), 1);
    let leader = electors.remove(electors.iter().position(leading).unwrap());
    leader.stop().await.unwrap();
    sleep(5 * SECOND).await;
    assert_eq!(electors.iter().filter(|elector| leading(elector)).count(), 1);
    for elector in electors {
        elector.stop().await.unwrap();
    }
    assert_eq!(holder(&server).await, "");
}

#[tokio::test(start_paused = true)]
async fn l01_invalid_options_are_errors() {
    let client: Client = ApiServer::new().client();
    let error = LeaderElector::new(client.clone(), config("")).unwrap_err();
    assert_eq!(error, ConfigError::MissingIdentity);
    let error = LeaderElector::new(client, config("a").namespace("")).unwrap_err();
    assert_eq!(error, ConfigError::MissingNamespace);
}

#[tokio::test(start_paused = true)]
async fn l02_a_held_lease_is_acquired_after_its_duration_whatever_its_times() {
    let server = ApiServer::new();
    let mut first = Running::start(&server, "a");
    first.wait_until_leading().await;
    first.task.abort();
    // The wall clock stands still in this test.
    let began = Instant::now();
    let mut second = Running::start(&server, "b");
    second.wait_until_leading().await;
    let waited = began.elapsed();
    assert!(waited >= 15 * SECOND && waited < 16 * SECOND, "{waited:?}");
    let LeaseSpec { lease_transitions, lease_duration_seconds, .. } = spec(&server).await;
    assert_eq!((lease_transitions, lease_duration_seconds), (Some(1), Some(15)));
}

#[tokio::test(start_paused = true)]
async fn l04_the_leader_renews_without_reading() {
    let server = ApiServer::new();
    let mut elector = Running::start(&server, "a");
    elector.wait_until_leading().await;
    sleep(5 * SECOND).await;
    let verbs: Vec<_> = elector.faults.seen(Requests::all()).iter().map(|seen| seen.info.verb).collect();
    assert_eq!(verbs, [Verb::Get, Verb::Create, Verb::Update, Verb::Update]);
}

#[tokio::test(start_paused = true)]
async fn l05_the_lease_is_renewed_until_the_work_has_ended_and_then_released() {
    let server = ApiServer::new();
    let on_cancel = OnCancel::EndAfter(100 * SECOND);
    let mut first = Running::start_with(&server, config("a"), Faults::new(), on_cancel);
    first.wait_until_leading().await;
    let mut second = Running::start(&server, "b");
    first.stop.cancel();
    sleep(99 * SECOND).await;
    assert_eq!((holder(&server).await.as_str(), second.state()), ("a", WorkState::NotStarted));
    sleep(2 * SECOND).await;
    assert!(matches!(first.state(), WorkState::Ended(_)));
    first.result().await.unwrap();
    let released = Instant::now();
    second.wait_until_leading().await;
    assert!(released.elapsed() <= Duration::from_millis(4400));
}

#[tokio::test(start_paused = true)]
async fn l05_a_released_lease_has_no_holder_and_a_duration_of_one_second() {
    let server = ApiServer::new();
    let mut elector = Running::start(&server, "a");
    elector.wait_until_leading().await;
    let faults = elector.faults.clone();
    faults.forget();
    elector.stop().await.unwrap();
    let verbs: Vec<_> = faults.seen(Requests::all()).iter().map(|seen| seen.info.verb).collect();
    assert_eq!(verbs, [Verb::Get, Verb::Update], "it reads first");
    let LeaseSpec { holder_identity, lease_duration_seconds, lease_transitions, .. } = spec(&server).await;
    assert_eq!((holder_identity.as_deref(), lease_duration_seconds, lease_transitions), (Some(""), Some(1), Some(0)));
}

#[tokio::test(start_paused = true)]
async fn l05_a_release_is_optional() {
    let server = ApiServer::new();
    let config = config("a").release_on_stop(false);
    let mut elector = Running::start_with(&server, config, Faults::new(), OnCancel::EndAfter(Duration::ZERO));
    elector.wait_until_leading().await;
    elector.stop().await.unwrap();
    assert_eq!(holder(&server).await, "a");
}

#[tokio::test(start_paused = true)]
async fn l05_an_acquisition_that_is_interrupted_by_the_stop_is_released() {
    let server = ApiServer::new();
    let faults = Faults::new();
    faults.once(Verb::Create, Fault::late(3 * SECOND));
    let elector = Running::start_with(&server, config("a"), faults, OnCancel::Ignore);
    sleep(SECOND).await;
    assert_eq!(holder(&server).await, "a", "the response is still on its way");
    elector.stop().await.unwrap();
    assert_eq!(holder(&server).await, "");
}

#[tokio::test(start_paused = true)]
async fn l06_an_elector_that_never_led_returns_on_stop() {
    let server = ApiServer::new();
    let mut first = Running::start(&server, "a");
    first.wait_until_leading().await;
    let second = Running::start(&server, "b");
    sleep(30 * SECOND).await;
    let work = second.work.clone();
    second.stop().await.unwrap();
    assert_eq!((*work.borrow(), holder(&server).await.as_str()), (WorkState::NotStarted, "a"));
}

#[tokio::test(start_paused = true)]
async fn l06_observers_are_notified_once_per_change_of_the_leader() {
    let server = ApiServer::new();
    let mut first = Running::start(&server, "a");
    first.wait_until_leading().await;
    let second = Running::start(&server, "b");
    let mut leader = second.status.leader();
    assert_eq!(*leader.borrow_and_update(), None);
    leader.changed().await.unwrap();
    assert_eq!(leader.borrow_and_update().as_deref(), Some("a"));
    sleep(60 * SECOND).await;
    assert!(!leader.has_changed().unwrap(), "renewals do not notify");
    first.stop().await.unwrap();
    leader.changed().await.unwrap();
    if leader.borrow_and_update().is_none() {
        // The candidate observed the release.
        leader.changed().await.unwrap();
    }
    assert_eq!(leader.borrow_and_update().as_deref(), Some("b"));
    sleep(60 * SECOND).await;
    assert!(!leader.has_changed().unwrap());
}

#[tokio::test(start_paused = true)]
async fn l07_the_check_fails_once_the_leader_is_overdue() {
    let server = ApiServer::new();
    let config = config("a");
    let elector = LeaderElector::new(server.client(), config).unwrap();
    let status = elector.status();
    assert!(status.check(Duration::ZERO).is_ok(), "it does not run yet");
    let mut run = Box::pin(elector.run(CancellationToken::new(), |leading| async move { leading.cancelled().await }));
    // The elector is polled for a while, and then it is not, as in a runtime that is stuck.
    drop(tokio::time::timeout(Duration::from_millis(5900), &mut run).await);
    assert!(status.is_leader() && status.check(Duration::ZERO).is_ok());
    tokio::time::advance(20 * SECOND).await;
    assert!(!status.is_leader());
    assert!(status.check(10 * SECOND).is_ok(), "within the tolerance");
    let error = status.check(5 * SECOND).unwrap_err();
    assert!(error.is_leader && error.overdue >= 6 * SECOND && error.overdue <= 7 * SECOND, "{error}");
    let expected = "leader election is overdue: lease `default/lease` was not renewed for ";
    assert!(error.to_string().starts_with(expected), "{error}");
    drop(run);
    assert!(status.check(Duration::ZERO).is_ok(), "it does not run any longer");
}

#[tokio::test(start_paused = true)]
async fn l07_a_candidate_that_fails_is_not_overdue() {
    let server = ApiServer::new();
    let faults = Faults::new();
    faults.always(Requests::all(), Fault::hang());
    let elector = Running::start_with(&server, config("a"), faults, OnCancel::Ignore);
    for _ in 0..100 {
        sleep(SECOND).await;
        elector.status.check(Duration::ZERO).unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn work_that_ends_by_itself_releases_the_lease() {
    let server = ApiServer::new();
    let elector = LeaderElector::new(server.client(), config("a")).unwrap();
    elector.run(CancellationToken::new(), |_| sleep(40 * SECOND)).await.unwrap();
    assert_eq!(holder(&server).await, "");
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_the_work_is_resumed_after_the_release() {
    let server = ApiServer::new();
    let elector = LeaderElector::new(server.client(), config("a")).unwrap();
    let run = elector.run(CancellationToken::new(), |_| async { panic!("the work failed") });
    let panic = tokio::spawn(run).await.unwrap_err().into_panic();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"the work failed"));
    assert_eq!(holder(&server).await, "");
}

#[tokio::test(start_paused = true)]
async fn no_task_outlives_an_elector() {
    let server = ApiServer::new();
    let client = server.client();
    let alive = || Handle::current().metrics().num_alive_tasks();
    let before = alive();
    let elector = || LeaderElector::new(client.clone(), config("a")).unwrap();
    let stop = CancellationToken::new();
    let cancelled = stop.clone();
    let run = elector().run(stop, move |leading| async move {
        cancelled.cancel();
        leading.cancelled().await;
    });
    run.await.unwrap();
    assert_eq!(alive(), before, "after a stop");
    let run = elector().run(CancellationToken::new(), |_| std::future::pending());
    drop(tokio::time::timeout(10 * SECOND, run).await);
    sleep(SECOND).await;
    assert_eq!(alive(), before, "after a drop");
    assert_eq!(holder(&server).await, "a", "the lease of a dropped elector expires");
}
