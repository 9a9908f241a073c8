//! Failing requests: what a leader survives, and how it ends its work in time.

use std::time::Duration;

use kubewright_apiserver::{ApiServer, Fault, Faults, Requests, Verb};
use kubewright_runtime::{
    CancellationToken,
    leader_election::{LeaderElectionError, LeaderElector, LossReason},
};
use tokio::time::{Instant, sleep};

use super::fixture::{LEASE, OnCancel, Running, SECOND, WorkState, config, edit, holder, leases};

const MARGIN: Duration = Duration::from_millis(750);

/// Starts an elector that leads, and returns the time of its acquisition.
async fn leader(server: &ApiServer, on_cancel: OnCancel) -> (Running, Instant) {
    let mut elector = Running::start_with(server, config("a"), Faults::new(), on_cancel);
    elector.wait_until_leading().await;
    (elector, Instant::now())
}

#[tokio::test(start_paused = true)]
async fn single_failures_of_every_kind_do_not_end_the_leadership() {
    let server = ApiServer::new();
    let (elector, _) = leader(&server, OnCancel::Ignore).await;
    for fault in [
        Fault::status(409, "Conflict", "the object has been modified"),
        Fault::status(500, "InternalError", "etcd is down"),
        Fault::too_many_requests(60),
        Fault::answer(503, "no endpoints"),
        Fault::answer(200, "<html>"),
        Fault::hang(),
        Fault::connection_refused(),
        Fault::reset(),
        Fault::lost_answer(),
    ] {
        elector.faults.once(Verb::Update, fault);
        sleep(20 * SECOND).await;
        assert_eq!((elector.state(), holder(&server).await.as_str()), (WorkState::Running, "a"));
    }
}

#[tokio::test(start_paused = true)]
async fn requests_that_take_4_s_do_not_end_the_leadership() {
    let server = ApiServer::new();
    let faults = Faults::new();
    faults.always(Requests::to("leases"), Fault::latency(4 * SECOND));
    let mut elector = Running::start_with(&server, config("a"), faults, OnCancel::Ignore);
    elector.wait_until_leading().await;
    sleep(300 * SECOND).await;
    assert_eq!((elector.state(), holder(&server).await.as_str()), (WorkState::Running, "a"));
}

#[tokio::test(start_paused = true)]
async fn acquisitions_retry_failures_of_every_kind() {
    for fault in [
        Fault::status(500, "InternalError", "etcd is down"),
        Fault::too_many_requests(60),
        Fault::hang(),
        Fault::reset(),
        Fault::lost_answer(),
    ] {
        for verb in [Verb::Get, Verb::Create] {
            let (server, faults) = (ApiServer::new(), Faults::new());
            faults.once(verb, fault.clone());
            let mut elector = Running::start_with(&server, config("a"), faults, OnCancel::EndAfter(Duration::ZERO));
            let began = Instant::now();
            elector.wait_until_leading().await;
            assert!(began.elapsed() < 10 * SECOND, "{fault:?} of {verb:?}: {:?}", began.elapsed());
            elector.stop().await.unwrap();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn l08_work_that_ends_when_it_is_cancelled_ends_before_the_takeover() {
    let server = ApiServer::new();
    let (mut first, acquired) = leader(&server, OnCancel::EndAfter(2 * SECOND)).await;
    first.faults.always(Requests::all(), Fault::hang());
    let mut second = Running::start(&server, "b");
    let state = first.wait_for(|state| matches!(state, WorkState::Cancelled(_))).await;
    let WorkState::Cancelled(cancelled) = state else { panic!("{state:?}") };
    assert_eq!((cancelled - acquired).as_millis() / 100, 120, "at the renew deadline of the renewal after 2 s");
    assert_eq!(second.state(), WorkState::NotStarted);
    let state = first.wait_for(|state| matches!(state, WorkState::Ended(_))).await;
    let WorkState::Ended(ended) = state else { panic!("{state:?}") };
    assert_eq!((ended - cancelled).as_secs(), 2, "the work has time for a clean end");
    let error = first.result().await.unwrap_err();
    let LeaderElectionError::Lost { lease, reason, last_error } = &error else { panic!("{error}") };
    assert_eq!((lease.as_str(), reason), ("default/lease", &LossReason::RenewDeadlineExceeded));
    assert!(last_error.is_some());
    let expected = "leader election lost: lease `default/lease` was not renewed within the renew deadline: cannot ";
    assert!(error.to_string().starts_with(expected), "{error}");
    second.wait_until_leading().await;
    assert!(acquired.elapsed() >= 15 * SECOND && acquired.elapsed() < 16 * SECOND, "{:?}", acquired.elapsed());
}

#[tokio::test(start_paused = true)]
async fn l08_work_that_ignores_the_cancellation_is_aborted_before_the_takeover() {
    let server = ApiServer::new();
    let (mut first, acquired) = leader(&server, OnCancel::Ignore).await;
    first.faults.always(Requests::all(), Fault::status(500, "InternalError", "etcd is down"));
    let mut second = Running::start(&server, "b");
    let state = first.wait_for(|state| matches!(state, WorkState::Dropped(_))).await;
    let WorkState::Dropped(dropped) = state else { panic!("{state:?}") };
    let time = dropped - acquired;
    assert!(time > 14 * SECOND && time < 15 * SECOND - MARGIN + Duration::from_millis(10), "{time:?}");
    assert_eq!(second.state(), WorkState::NotStarted);
    assert!(matches!(first.result().await, Err(LeaderElectionError::Lost { .. })));
    second.wait_until_leading().await;
}

#[tokio::test(start_paused = true)]
async fn l08_an_outage_of_the_server_leaves_one_leader() {
    let server = ApiServer::new();
    let faults = Faults::new();
    let start =
        |identity| Running::start_with(&server, config(identity), faults.clone(), OnCancel::EndAfter(Duration::ZERO));
    let electors = ["a", "b"].map(start);
    sleep(30 * SECOND).await;
    faults.always(Requests::all(), Fault::connection_refused());
    sleep(60 * SECOND).await;
    let is_running = |elector: &&Running| elector.state() == WorkState::Running;
    assert_eq!(electors.iter().filter(is_running).count(), 0);
    faults.heal();
    sleep(30 * SECOND).await;
    assert_eq!(electors.iter().filter(is_running).count(), 1, "the candidate that did not lead before");
}

#[tokio::test(start_paused = true)]
async fn l09_a_request_without_a_response_times_out() {
    let server = ApiServer::new();
    let (elector, _) = leader(&server, OnCancel::Ignore).await;
    elector.faults.forget();
    elector.faults.once(Verb::Update, Fault::hang());
    let began = Instant::now();
    sleep(9 * SECOND).await;
    let seen = elector.faults.seen(Requests::all());
    let times: Vec<_> = seen.iter().map(|seen| (seen.info.verb, (seen.at - began).as_secs())).collect();
    assert_eq!(times[..3], [(Verb::Update, 2), (Verb::Get, 7), (Verb::Update, 7)]);
    assert_eq!(elector.state(), WorkState::Running);
}

#[tokio::test(start_paused = true)]
async fn work_is_aborted_at_once_if_another_client_takes_the_lease() {
    let server = ApiServer::new();
    let (mut elector, _) = leader(&server, OnCancel::Ignore).await;
    edit(&server, |spec| spec.holder_identity = Some("intruder".into())).await;
    let began = Instant::now();
    elector.wait_for(|state| matches!(state, WorkState::Dropped(_))).await;
    assert!(began.elapsed() <= 2 * SECOND, "{:?}", began.elapsed());
    let error = elector.result().await.unwrap_err();
    let expected = "leader election lost: lease `default/lease` is held by `intruder`";
    assert!(error.to_string().starts_with(expected), "{error}");
    assert_eq!(holder(&server).await, "intruder", "the lease of another holder is not released");
}

#[tokio::test(start_paused = true)]
async fn the_leader_creates_a_deleted_lease_again() {
    let server = ApiServer::new();
    let (elector, _) = leader(&server, OnCancel::Ignore).await;
    leases(&server).delete(LEASE, &Default::default()).await.unwrap();
    sleep(3 * SECOND).await;
    assert_eq!((elector.state(), holder(&server).await.as_str()), (WorkState::Running, "a"));
}

#[test]
fn work_that_blocks_its_thread_is_reported() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let run = async {
        let (server, faults) = (ApiServer::new(), Faults::new());
        let config = config("a")
            .lease_duration(2 * SECOND)
            .renew_deadline(Duration::from_millis(500))
            .retry_period(Duration::from_millis(100));
        let elector = LeaderElector::new(server.client_with(faults.layer()), config).unwrap();
        let broken = faults.clone();
        let work = move |_| async move {
            broken.always(Requests::all(), Fault::connection_refused());
            std::thread::sleep(6 * SECOND);
        };
        elector.run(CancellationToken::new(), work).await.unwrap_err()
    };
    let error = runtime.block_on(async { tokio::spawn(run).await.unwrap() });
    assert!(matches!(error, LeaderElectionError::WorkStillRuns { .. }), "{error}");
    assert!(error.to_string().ends_with("still runs: end the process"), "{error}");
    runtime.shutdown_background();
}
