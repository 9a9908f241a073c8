//! What a handler hears of objects: their states, in order, the store first, and everything from the start.

use logger_runtime::informer::HandlerOptions;

use crate::world::{World, hear, hear_as, name, run, settle, state, synced, told};

#[tokio::test(start_paused = true)]
async fn i01_an_object_made_anew_has_the_same_key_and_is_told_as_deleted_and_added() {
    let world = World::new();
    let informer = world.following(&["audit"]).await;
    let mut heard = hear(&informer);
    heard.these(&["add audit=1 (initial)"]).await;
    world.delete("audit").await;
    world.create("audit", 2).await;
    heard.these(&["delete audit=1", "add audit=2"]).await;
    assert_eq!(informer.store().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn i02_states_of_an_object_are_a_subsequence_of_the_servers_in_order_also_across_cuts() {
    let world = World::new();
    let informer = world.following(&["audit"]).await;
    let mut heard = hear(&informer);
    let mut slow = informer.events().unwrap();
    heard.these(&["add audit=1 (initial)"]).await;
    for state in 1..30 {
        if state % 7 == 0 {
            world.faults.cut(logger_apiserver::Verb::Watch);
        }
        world.set("audit", state + 1).await;
        if state % 5 == 0 {
            settle().await;
        }
    }
    let mut last = 1;
    while last < 30 {
        let said = heard.next().await;
        let (old, new) = said.strip_prefix("update audit ").and_then(|said| said.split_once("->")).unwrap();
        assert_eq!(old.parse(), Ok(last), "{said}");
        let new: i32 = new.parse().unwrap();
        assert!(new > last, "{said}");
        last = new;
    }
    let first = futures::StreamExt::next(&mut slow).await.unwrap();
    assert_eq!(told(&first), "add audit=30 (initial)", "who does not keep up hears of the latest");
    assert_eq!(world.faults.count(logger_apiserver::Verb::List), 1, "a cut watch goes on where it was");
}

#[tokio::test(start_paused = true)]
async fn i03_the_store_and_its_indexes_have_changed_before_any_handler_hears() {
    let world = World::new();
    world.create("early", 1).await;
    let informer = world.informer();
    let mut heard: Vec<_> = (0..2)
        .map(|_| {
            let store = informer.store();
            hear_as(&informer, HandlerOptions::new(), move |event| {
                let stored = store.get("default", name(event));
                format!("{}; the store has {:?}", told(event), stored.map(|map| state(&map).to_owned()))
            })
        })
        .collect();
    synced(&informer).await;
    settle().await;
    world.create("late", 1).await;
    settle().await;
    world.set("late", 2).await;
    settle().await;
    world.delete("early").await;
    for heard in &mut heard {
        heard
            .these(&[
                "add early=1 (initial); the store has Some(\"1\")",
                "add late=1; the store has Some(\"1\")",
                "update late 1->2; the store has Some(\"2\")",
                "delete early=1; the store has None",
            ])
            .await;
    }
}

#[tokio::test(start_paused = true)]
async fn one_watch_however_many_handlers_streams_and_listers_use_it() {
    let world = World::new();
    let informer = world.informer();
    let mut early: Vec<_> = (0..3).map(|_| hear(&informer.clone())).collect();
    synced(&informer).await;
    let mut late: Vec<_> = (0..3).map(|_| hear(&informer)).collect();
    let _streams: Vec<_> = (0..3).map(|_| informer.events().unwrap()).collect();
    world.create("audit", 1).await;
    for heard in early.iter_mut().chain(&mut late) {
        heard.these(&["add audit=1"]).await;
    }
    let (lists, watches) = (logger_apiserver::Verb::List, logger_apiserver::Verb::Watch);
    assert_eq!((world.faults.count(lists), world.faults.count(watches)), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn i05_a_handler_that_comes_late_first_hears_of_everything_in_the_store_and_then_what_changes() {
    let world = World::new();
    let informer = world.following(&["a", "b", "gone"]).await;
    let mut first = hear(&informer);
    first.all_of(&["add a=1 (initial)", "add b=1 (initial)", "add gone=1 (initial)"]).await;
    world.set("b", 2).await;
    world.delete("gone").await;
    first.these(&["update b 1->2", "delete gone=1"]).await;

    let mut late = hear(&informer);
    late.all_of(&["add a=1 (initial)", "add b=2 (initial)"]).await;
    world.set("a", 3).await;
    world.create("c", 1).await;
    late.these(&["update a 1->3", "add c=1"]).await;
    first.these(&["update a 1->3", "add c=1"]).await;
    assert_eq!(first.now(), [""; 0], "the replay is for the late handler alone");
}

#[tokio::test(start_paused = true)]
async fn i05_a_handler_added_while_the_first_list_is_on_its_way_hears_of_each_object_once() {
    let world = World::new();
    world.create("a", 1).await;
    let informer = world.informer();
    let mut before = hear(&informer);
    run(&informer);
    let mut during = hear(&informer);
    for heard in [&mut before, &mut during] {
        heard.these(&["add a=1 (initial)"]).await;
        heard.registration.wait_for_sync().await.unwrap();
        heard.nothing().await;
    }
}

#[tokio::test(start_paused = true)]
async fn i07_the_same_handler_twice_is_two_registrations() {
    let world = World::new();
    let informer = world.following(&[]).await;
    let (tell, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let both = [(); 2].map(|()| {
        let tell = tell.clone();
        informer.add_event_handler(move |event| tell.send(told(event)).unwrap()).unwrap()
    });
    world.create("audit", 1).await;
    settle().await;
    assert_eq!([heard.recv().await, heard.recv().await], [(); 2].map(|()| Some("add audit=1".to_owned())));
    both[0].remove().await;
    world.set("audit", 2).await;
    settle().await;
    assert_eq!(heard.recv().await.as_deref(), Some("update audit 1->2"));
    assert!(heard.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_filtered_handler_hears_of_what_comes_to_pass_as_added_and_of_what_does_no_more_as_deleted() {
    let world = World::new();
    let informer = world.following(&["a", "b"]).await;
    world.set("b", 2).await;
    settle().await;
    let even = HandlerOptions::new().filter(|map| state(map).parse::<i32>().unwrap() % 2 == 0);
    let mut heard = hear_as(&informer, even, told);
    heard.these(&["add b=2 (initial)"]).await;
    heard.registration.wait_for_sync().await.unwrap();
    for (name, state) in [("a", 4), ("b", 3), ("a", 6), ("b", 5)] {
        world.set(name, state).await;
        settle().await;
    }
    world.delete("b").await;
    world.delete("a").await;
    heard.these(&["add a=4", "delete b=2", "update a 4->6", "delete a=6"]).await;
}
