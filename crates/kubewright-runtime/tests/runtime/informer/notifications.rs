//! The events of a handler: states in order, after the store has changed, from the initial objects on.

use kubewright_runtime::informer::HandlerOptions;

use super::fixture::{
    Fixture, describe, name, record_events, record_events_with, run_until_idle, start, start_synced, state,
};

#[tokio::test(start_paused = true)]
async fn i01_a_recreated_object_has_the_same_key_and_is_deleted_and_added() {
    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&["audit"]).await;
    let mut received = record_events(&informer);
    received.expect_events(&["add audit=1 (initial)"]).await;
    fixture.delete("audit").await;
    fixture.create("audit", 2).await;
    received.expect_events(&["delete audit=1", "add audit=2"]).await;
    assert_eq!(informer.store().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn i02_states_of_an_object_are_an_ordered_subsequence_of_the_servers_across_reconnects() {
    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&["audit"]).await;
    let mut received = record_events(&informer);
    let mut slow = informer.events().unwrap();
    received.expect_events(&["add audit=1 (initial)"]).await;
    for state in 1..30 {
        if state % 7 == 0 {
            fixture.faults.cut(kubewright_apiserver::Verb::Watch);
        }
        fixture.update("audit", state + 1).await;
        if state % 5 == 0 {
            run_until_idle().await;
        }
    }
    let mut last = 1;
    while last < 30 {
        let event = received.next().await;
        let (old, new) = event.strip_prefix("update audit ").and_then(|states| states.split_once("->")).unwrap();
        assert_eq!(old.parse(), Ok(last), "{event}");
        let new: i32 = new.parse().unwrap();
        assert!(new > last, "{event}");
        last = new;
    }
    let first = futures::StreamExt::next(&mut slow).await.unwrap();
    assert_eq!(describe(&first), "add audit=30 (initial)", "a slow handler receives the latest state");
    assert_eq!(fixture.faults.count(kubewright_apiserver::Verb::List), 1, "an interrupted watch is resumed");
}

#[tokio::test(start_paused = true)]
async fn i03_the_store_and_its_indexes_change_before_handlers_are_called() {
    let fixture = Fixture::new();
    fixture.create("early", 1).await;
    let informer = fixture.informer();
    let mut received: Vec<_> = (0..2)
        .map(|_| {
            let store = informer.store();
            record_events_with(&informer, HandlerOptions::new(), move |event| {
                let stored = store.get("default", name(event));
                format!("{}; store: {:?}", describe(event), stored.map(|map| state(&map).to_owned()))
            })
        })
        .collect();
    start_synced(&informer).await;
    run_until_idle().await;
    fixture.create("late", 1).await;
    run_until_idle().await;
    fixture.update("late", 2).await;
    run_until_idle().await;
    fixture.delete("early").await;
    for received in &mut received {
        received
            .expect_events(&[
                "add early=1 (initial); store: Some(\"1\")",
                "add late=1; store: Some(\"1\")",
                "update late 1->2; store: Some(\"2\")",
                "delete early=1; store: None",
            ])
            .await;
    }
}

#[tokio::test(start_paused = true)]
async fn one_watch_serves_all_handlers_streams_and_listers() {
    let fixture = Fixture::new();
    let informer = fixture.informer();
    let mut early: Vec<_> = (0..3).map(|_| record_events(&informer.clone())).collect();
    start_synced(&informer).await;
    let mut late: Vec<_> = (0..3).map(|_| record_events(&informer)).collect();
    let _streams: Vec<_> = (0..3).map(|_| informer.events().unwrap()).collect();
    fixture.create("audit", 1).await;
    for received in early.iter_mut().chain(&mut late) {
        received.expect_events(&["add audit=1"]).await;
    }
    let (lists, watches) = (kubewright_apiserver::Verb::List, kubewright_apiserver::Verb::Watch);
    assert_eq!((fixture.faults.count(lists), fixture.faults.count(watches)), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn i05_a_late_handler_receives_the_store_and_then_changes() {
    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&["a", "b", "gone"]).await;
    let mut first = record_events(&informer);
    first.expect_unordered(&["add a=1 (initial)", "add b=1 (initial)", "add gone=1 (initial)"]).await;
    fixture.update("b", 2).await;
    fixture.delete("gone").await;
    first.expect_events(&["update b 1->2", "delete gone=1"]).await;

    let mut late = record_events(&informer);
    late.expect_unordered(&["add a=1 (initial)", "add b=2 (initial)"]).await;
    fixture.update("a", 3).await;
    fixture.create("c", 1).await;
    late.expect_events(&["update a 1->3", "add c=1"]).await;
    first.expect_events(&["update a 1->3", "add c=1"]).await;
    assert_eq!(first.drain(), [""; 0], "only the late handler receives the replay");
}

#[tokio::test(start_paused = true)]
async fn i05_a_handler_added_during_the_initial_list_receives_each_object_once() {
    let fixture = Fixture::new();
    fixture.create("a", 1).await;
    let informer = fixture.informer();
    let mut before = record_events(&informer);
    start(&informer);
    let mut during = record_events(&informer);
    for received in [&mut before, &mut during] {
        received.expect_events(&["add a=1 (initial)"]).await;
        received.registration.wait_for_sync().await.unwrap();
        received.expect_none().await;
    }
}

#[tokio::test(start_paused = true)]
async fn i07_adding_a_handler_twice_makes_two_registrations() {
    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&[]).await;
    let (sender, mut received) = tokio::sync::mpsc::unbounded_channel();
    let both = [(); 2].map(|()| {
        let sender = sender.clone();
        informer.add_event_handler(move |event| sender.send(describe(event)).unwrap()).unwrap()
    });
    fixture.create("audit", 1).await;
    run_until_idle().await;
    assert_eq!([received.recv().await, received.recv().await], [(); 2].map(|()| Some("add audit=1".to_owned())));
    both[0].remove().await;
    fixture.update("audit", 2).await;
    run_until_idle().await;
    assert_eq!(received.recv().await.as_deref(), Some("update audit 1->2"));
    assert!(received.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn objects_that_start_or_stop_matching_a_filter_are_added_or_deleted() {
    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&["a", "b"]).await;
    fixture.update("b", 2).await;
    run_until_idle().await;
    let even = HandlerOptions::new().filter(|map| state(map).parse::<i32>().unwrap() % 2 == 0);
    let mut received = record_events_with(&informer, even, describe);
    received.expect_events(&["add b=2 (initial)"]).await;
    received.registration.wait_for_sync().await.unwrap();
    for (name, state) in [("a", 4), ("b", 3), ("a", 6), ("b", 5)] {
        fixture.update(name, state).await;
        run_until_idle().await;
    }
    fixture.delete("b").await;
    fixture.delete("a").await;
    received.expect_events(&["add a=4", "delete b=2", "update a 4->6", "delete a=6"]).await;
}
