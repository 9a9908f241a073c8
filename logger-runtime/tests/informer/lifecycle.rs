//! Before, while and after an informer runs.

use std::time::Duration;

use logger_apiserver::{Fault, Verb};
use logger_runtime::informer::Stopped;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::world::{PATIENCE, World, alive, hear, run, settle, synced};

const MOMENT: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn i08_a_second_removal_does_nothing_nor_does_one_before_the_start_or_after_the_end() {
    let world = World::new();
    let informer = world.informer();
    let (mut never, mut stays) = (hear(&informer), hear(&informer));
    never.registration.remove().await;
    never.registration.remove().await;
    let (cancelled, running) = synced(&informer).await;
    world.create("audit", 1).await;
    stays.these(&["add audit=1"]).await;
    never.registration.remove().await;
    world.set("audit", 2).await;
    stays.these(&["update audit 1->2"]).await;
    assert_eq!(never.now(), [""; 0]);
    assert!(never.registration.wait_for_sync().await.is_err());
    cancelled.cancel();
    running.await.unwrap();
    stays.registration.remove().await;
    assert!(stays.registration.has_synced(), "what was, was");
}

#[tokio::test(start_paused = true)]
async fn i09_an_informer_that_stopped_takes_no_handlers() {
    let world = World::new();
    let informer = world.informer();
    let (cancelled, running) = synced(&informer).await;
    cancelled.cancel();
    running.await.unwrap();
    let expected = Stopped { resource: "configmaps".to_owned() };
    assert_eq!(informer.add_event_handler(|_| {}).unwrap_err(), expected);
    assert_eq!(informer.events().unwrap_err(), expected);
    assert_eq!(
        expected.to_string(),
        "the informer of configmaps has stopped and takes no handlers any more; make a new one"
    );
}

#[tokio::test(start_paused = true)]
async fn i09_a_second_run_returns_at_once() {
    let world = World::new();
    let informer = world.informer();
    let (cancelled, first) = synced(&informer).await;
    let (_, second) = run(&informer);
    timeout(MOMENT, second).await.expect("it returns while the first goes on").unwrap();
    cancelled.cancel();
    timeout(MOMENT, first).await.expect("it ends").unwrap();
    let (_, third) = run(&informer);
    timeout(MOMENT, third).await.expect("it returns after the first ended").unwrap();
    assert_eq!((world.faults.count(Verb::List), world.faults.count(Verb::Watch)), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn i14_it_has_synced_when_the_first_list_is_in_the_store_and_handed_to_every_handler() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.create(name, 1).await;
    }
    let (open, gate) = watch::channel(false);
    world.faults.once(Verb::List, Fault::status(500, "InternalError", "etcd is down"));
    world.faults.once(Verb::List, Fault::gate(gate));
    let informer = world.informer();
    let mut heard = [hear(&informer), hear(&informer)];
    run(&informer);
    world.faults.until(Verb::List, 2).await;
    settle().await;
    assert!(!informer.has_synced() && informer.store().is_empty());
    let error = informer.wait_for_sync_within(MOMENT).await.unwrap_err();
    assert_eq!(error.reasons, ["cannot list configmaps: etcd is down"]);

    open.send_replace(true);
    informer.wait_for_sync_within(PATIENCE).await.unwrap();
    assert_eq!((informer.has_synced(), informer.store().len()), (true, 3));
    for heard in &mut heard {
        heard.registration.wait_for_sync().await.unwrap();
        assert_eq!(heard.now().len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn i14_an_empty_list_syncs() {
    let world = World::new();
    let informer = world.informer();
    let mut heard = hear(&informer);
    assert!(!informer.has_synced());
    synced(&informer).await;
    assert!(informer.has_synced() && informer.store().is_empty());
    world.create("audit", 1).await;
    heard.these(&["add audit=1"]).await;
}

#[tokio::test(start_paused = true)]
async fn i20_the_end_of_a_run_is_the_end_of_every_task_whatever_it_waits_for() {
    for (verb, fault) in [
        (Verb::Create, Fault::hang()),
        (Verb::List, Fault::hang()),
        (Verb::Watch, Fault::hang()),
        (Verb::List, Fault::refused()),
        (Verb::Watch, Fault::refused()),
    ] {
        let world = World::new();
        world.faults.always(verb, fault);
        let informer = world.informer();
        settle().await;
        let before = alive();
        let mut heard: Vec<_> = (0..3).map(|_| hear(&informer)).collect();
        let _stream = informer.events().unwrap();
        let (cancelled, running) = run(&informer);
        settle().await;
        heard.push(hear(&informer));
        settle().await;
        assert_eq!(alive(), before + 5, "the run, and one for each handler");
        let start = Instant::now();
        cancelled.cancel();
        timeout(MOMENT, running).await.expect("it ends").unwrap();
        assert_eq!(start.elapsed(), Duration::ZERO);
        assert_eq!(alive(), before);
        assert_eq!((world.faults.waiting(verb), world.faults.open(Verb::Watch)), (0, 0));
        world.faults.heal();
        world.create("audit", 1).await;
        let asked = (world.faults.count(Verb::List), world.faults.count(Verb::Watch));
        assert!(timeout(PATIENCE, std::future::pending::<()>()).await.is_err());
        assert_eq!((world.faults.count(Verb::List), world.faults.count(Verb::Watch)), asked);
        assert!(heard.iter_mut().all(|heard| heard.now().is_empty()));
    }
}

#[tokio::test(start_paused = true)]
async fn i20_a_run_that_is_dropped_leaves_no_task() {
    let world = World::new();
    let informer = world.informer();
    let heard = hear(&informer);
    settle().await;
    let before = alive();
    {
        let mut run = Box::pin(informer.run(tokio_util::sync::CancellationToken::new()));
        assert!(futures::poll!(&mut run).is_pending());
        assert!(alive() > before);
    }
    settle().await;
    assert_eq!(alive(), before);
    assert!(heard.registration.is_removed());
    informer.add_event_handler(|_| {}).unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn what_keeps_it_from_syncing_is_told() {
    let world = World::new();
    let informer = world.informer();
    assert_eq!(informer.why_not_synced().as_deref(), Some("configmaps: not started"));
    world.faults.always(Verb::List, Fault::hang());
    let (cancelled, running) = run(&informer);
    settle().await;
    let error = informer.wait_for_sync_within(MOMENT).await.unwrap_err();
    assert_eq!(error.to_string(), "not synced after 1s: configmaps: no answer yet");
    cancelled.cancel();
    running.await.unwrap();
    assert_eq!(informer.why_not_synced().as_deref(), Some("configmaps: stopped"));
}
