//! Start, sync and stop of an informer.

use std::time::Duration;

use kubewright_apiserver::{Fault, Verb};
use kubewright_runtime::informer::Stopped;
use tokio::{
    sync::watch,
    time::{Instant, timeout},
};

use super::fixture::{Fixture, TIMEOUT, alive_tasks, record_events, run_until_idle, start, start_synced};

const SHORT: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn i08_removal_is_idempotent_and_possible_before_start_and_after_stop() {
    let fixture = Fixture::new();
    let informer = fixture.informer();
    let (mut never, mut stays) = (record_events(&informer), record_events(&informer));
    never.registration.remove().await;
    never.registration.remove().await;
    let (cancelled, running) = start_synced(&informer).await;
    fixture.create("audit", 1).await;
    stays.expect_events(&["add audit=1"]).await;
    never.registration.remove().await;
    fixture.update("audit", 2).await;
    stays.expect_events(&["update audit 1->2"]).await;
    assert_eq!(never.drain(), [""; 0]);
    assert!(never.registration.wait_for_sync().await.is_err());
    cancelled.cancel();
    running.await.unwrap();
    stays.registration.remove().await;
    assert!(stays.registration.has_synced(), "a stop does not reset it");
}

#[tokio::test(start_paused = true)]
async fn i09_a_stopped_informer_rejects_handlers() {
    let fixture = Fixture::new();
    let informer = fixture.informer();
    let (cancelled, running) = start_synced(&informer).await;
    cancelled.cancel();
    running.await.unwrap();
    let expected = Stopped { resource: "configmaps".to_owned() };
    assert_eq!(informer.add_event_handler(|_| {}).unwrap_err(), expected);
    assert_eq!(informer.events().unwrap_err(), expected);
    assert_eq!(expected.to_string(), "the informer of configmaps is stopped and accepts no handlers; create a new one");
}

#[tokio::test(start_paused = true)]
async fn i09_a_second_run_returns_at_once() {
    let fixture = Fixture::new();
    let informer = fixture.informer();
    let (cancelled, first) = start_synced(&informer).await;
    let (_, second) = start(&informer);
    timeout(SHORT, second).await.expect("the second run returns while the first continues").unwrap();
    cancelled.cancel();
    timeout(SHORT, first).await.expect("the run ends").unwrap();
    let (_, third) = start(&informer);
    timeout(SHORT, third).await.expect("the third run returns").unwrap();
    assert_eq!((fixture.faults.count(Verb::List), fixture.faults.count(Verb::Watch)), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn i14_it_has_synced_when_the_store_and_every_handler_have_the_initial_list() {
    let fixture = Fixture::new();
    for name in ["a", "b", "c"] {
        fixture.create(name, 1).await;
    }
    let (open, gate) = watch::channel(false);
    fixture.faults.once(Verb::List, Fault::status(500, "InternalError", "etcd is down"));
    fixture.faults.once(Verb::List, Fault::gate(gate));
    let informer = fixture.informer();
    let mut received = [record_events(&informer), record_events(&informer)];
    start(&informer);
    fixture.faults.until(Verb::List, 2).await;
    run_until_idle().await;
    assert!(!informer.has_synced() && informer.store().is_empty());
    let error = informer.wait_for_sync_within(SHORT).await.unwrap_err();
    assert_eq!(error.reasons, ["cannot list configmaps: etcd is down"]);

    open.send_replace(true);
    informer.wait_for_sync_within(TIMEOUT).await.unwrap();
    assert_eq!((informer.has_synced(), informer.store().len()), (true, 3));
    for received in &mut received {
        received.registration.wait_for_sync().await.unwrap();
        assert_eq!(received.drain().len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn i14_an_empty_list_syncs() {
    let fixture = Fixture::new();
    let informer = fixture.informer();
    let mut received = record_events(&informer);
    assert!(!informer.has_synced());
    start_synced(&informer).await;
    assert!(informer.has_synced() && informer.store().is_empty());
    fixture.create("audit", 1).await;
    received.expect_events(&["add audit=1"]).await;
}

#[tokio::test(start_paused = true)]
async fn i20_cancelling_a_run_ends_every_task_whatever_it_waits_for() {
    for (verb, fault) in [
        (Verb::Create, Fault::hang()),
        (Verb::List, Fault::hang()),
        (Verb::Watch, Fault::hang()),
        (Verb::List, Fault::connection_refused()),
        (Verb::Watch, Fault::connection_refused()),
    ] {
        let fixture = Fixture::new();
        fixture.faults.always(verb, fault);
        let informer = fixture.informer();
        run_until_idle().await;
        let before = alive_tasks();
        let mut received: Vec<_> = (0..3).map(|_| record_events(&informer)).collect();
        let _stream = informer.events().unwrap();
        let (cancelled, running) = start(&informer);
        run_until_idle().await;
        received.push(record_events(&informer));
        run_until_idle().await;
        assert_eq!(alive_tasks(), before + 5, "the run and one task per handler");
        let start = Instant::now();
        cancelled.cancel();
        timeout(SHORT, running).await.expect("the run ends").unwrap();
        assert_eq!(start.elapsed(), Duration::ZERO);
        assert_eq!(alive_tasks(), before);
        assert_eq!((fixture.faults.waiting(verb), fixture.faults.open(Verb::Watch)), (0, 0));
        fixture.faults.heal();
        fixture.create("audit", 1).await;
        let requests = (fixture.faults.count(Verb::List), fixture.faults.count(Verb::Watch));
        assert!(timeout(TIMEOUT, std::future::pending::<()>()).await.is_err());
        assert_eq!((fixture.faults.count(Verb::List), fixture.faults.count(Verb::Watch)), requests);
        assert!(received.iter_mut().all(|received| received.drain().is_empty()));
    }
}

#[tokio::test(start_paused = true)]
async fn i20_a_dropped_run_leaves_no_task() {
    let fixture = Fixture::new();
    let informer = fixture.informer();
    let received = record_events(&informer);
    run_until_idle().await;
    let before = alive_tasks();
    {
        let mut run = Box::pin(informer.run(tokio_util::sync::CancellationToken::new()));
        assert!(futures::poll!(&mut run).is_pending());
        assert!(alive_tasks() > before);
    }
    run_until_idle().await;
    assert_eq!(alive_tasks(), before);
    assert!(received.registration.is_removed());
    informer.add_event_handler(|_| {}).unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn the_reason_for_not_syncing_is_reported() {
    let fixture = Fixture::new();
    let informer = fixture.informer();
    assert_eq!(informer.why_not_synced().as_deref(), Some("configmaps: not started"));
    fixture.faults.always(Verb::List, Fault::hang());
    let (cancelled, running) = start(&informer);
    run_until_idle().await;
    let error = informer.wait_for_sync_within(SHORT).await.unwrap_err();
    assert_eq!(error.to_string(), "not synced after 1s: configmaps: no response yet");
    cancelled.cancel();
    running.await.unwrap();
    assert_eq!(informer.why_not_synced().as_deref(), Some("configmaps: stopped"));
}
