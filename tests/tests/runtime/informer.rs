//! The promises of the shared informer, one after the other. The clock is paused.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use logger_runtime::{Event, SharedInformer};
use logger_types::v1::Logger;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::hearing::{Heard, World, hear, hear_as, informer, name, run, synced, told};
use crate::line::{Answer, Asked, Line, PATIENCE};

const MOMENT: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn one_watch_however_many_handlers_and_listers_use_it() {
    let line = Line::new().await;
    let informer = informer(&line);
    let mut early: Vec<_> = (0..3).map(|_| hear(&informer.clone())).collect();
    synced(&informer).await;
    let mut late: Vec<_> = (0..3).map(|_| hear(&informer)).collect();
    let listers: Vec<_> = (0..3).map(|_| informer.lister()).collect();

    World::of(&line).create("audit", 1).await;
    for heard in early.iter_mut().chain(&mut late) {
        heard.these(&["add audit=1"]).await;
    }
    for lister in listers {
        assert_eq!(lister.list().len(), 1);
    }
    assert_eq!((line.count(Asked::List), line.count(Asked::Watch)), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn the_store_has_changed_before_any_handler_hears() {
    let line = Line::new().await;
    let world = World::of(&line);
    world.create("early", 1).await;
    let informer = informer(&line);
    let mut heard: Vec<_> = (0..2)
        .map(|_| {
            let lister = informer.lister().namespace("default");
            hear_as(&informer, move |event| {
                let stored = lister.get(name(event)).map(|logger| logger.spec.time_interval);
                format!("{}; the store has {:?}", told(event), stored.ok())
            })
        })
        .collect();
    synced(&informer).await;
    world.create("late", 1).await;
    world.set("late", 2).await;
    world.delete("early").await;
    for heard in &mut heard {
        heard
            .these(&[
                "add early=1 (initial); the store has Some(1)",
                "add late=1; the store has Some(1)",
                "update late 1->2; the store has Some(2)",
                "delete early=1; the store has None",
            ])
            .await;
    }
}

#[tokio::test(start_paused = true)]
async fn states_of_an_object_are_heard_in_the_servers_order_also_across_cuts() {
    let line = Line::new().await;
    let world = World::of(&line);
    let informer = informer(&line);
    let mut heard = hear(&informer);
    synced(&informer).await;
    world.create("audit", 1).await;
    heard.these(&["add audit=1"]).await;
    for state in 1..30 {
        if state % 7 == 0 {
            line.cut();
        }
        world.set("audit", state + 1).await;
        if state % 5 == 0 {
            tokio::task::yield_now().await;
        }
    }
    for state in 1..30 {
        heard.these(&[&format!("update audit {state}->{}", state + 1)]).await;
    }
    assert_eq!(line.count(Asked::List), 1, "a cut watch goes on where it was");
    assert!(line.count(Asked::Watch) > 1);
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_comes_late_first_hears_of_everything_in_the_store() {
    let line = Line::new().await;
    let world = World::of(&line);
    let informer = informer(&line);
    let mut first = hear(&informer);
    synced(&informer).await;
    for name in ["a", "b", "gone"] {
        world.create(name, 1).await;
    }
    world.set("b", 2).await;
    world.delete("gone").await;
    while first.next().await != "delete gone=1" {}

    let mut late = hear(&informer);
    let mut replayed = late.now();
    replayed.sort();
    assert_eq!(replayed, ["add a=1 (initial)", "add b=2 (initial)"], "when it is added");
    world.set("a", 3).await;
    world.create("c", 1).await;
    late.these(&["update a 1->3", "add c=1"]).await;
    first.these(&["update a 1->3", "add c=1"]).await;
    assert_eq!(first.now(), [""; 0], "the replay is for the late handler alone");
}

#[tokio::test(start_paused = true)]
async fn a_deletion_missed_while_the_connection_was_down_is_told_when_the_watch_resumes() {
    let line = Line::new().await;
    let (world, _informer, mut heard) = follow_two(&line).await;
    line.always(Asked::Watch, Answer::Refused);
    line.cut();
    world.set("gone", 2).await;
    world.delete("gone").await;
    line.until(Asked::Watch, 3).await;
    assert_eq!(heard.now(), [""; 0]);
    line.heal();
    heard.these(&["update gone 1->2", "delete gone=2"]).await;
    assert_eq!(line.count(Asked::List), 1);
}

#[tokio::test(start_paused = true)]
async fn a_deletion_missed_is_told_when_the_server_forgot_it_and_ends_the_watch_with_410() {
    deletion_is_told_after(Answer::expired_event()).await;
}

#[tokio::test(start_paused = true)]
async fn a_deletion_missed_is_told_when_the_server_forgot_it_and_refuses_the_watch_with_410() {
    deletion_is_told_after(Answer::expired()).await;
}

#[tokio::test(start_paused = true)]
async fn a_deletion_missed_is_told_also_where_the_name_was_taken_again() {
    let line = Line::new().await;
    let (world, _informer, mut heard) = follow_two(&line).await;
    line.once(Asked::Watch, Answer::expired_event());
    line.cut();
    world.delete("gone").await;
    world.create("gone", 7).await;
    heard.these(&["delete gone=1", "add gone=7"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_refused_with_410_again_and_again_does_not_hammer_the_server() {
    let line = Line::new().await;
    line.always(Asked::Watch, Answer::expired());
    synced(&informer(&line)).await;
    line.until(Asked::List, 6).await;
    for (earlier, later) in gaps(&line) {
        assert!(later - earlier >= Duration::from_millis(800), "{:?}", later - earlier);
    }
}

#[tokio::test(start_paused = true)]
async fn errors_are_retried_not_too_soon_and_not_too_late() {
    let line = Line::new().await;
    line.always(Asked::List, Answer::status(500, "InternalError", "etcd is down"));
    let informer = informer(&line);
    run(&informer);
    line.until(Asked::List, 3).await;
    assert_eq!(informer.last_error().as_deref(), Some("cannot list loggers.example.com: etcd is down"));
    timeout(20 * PATIENCE, line.until(Asked::List, 10)).await.unwrap();
    for (earlier, later) in gaps(&line) {
        let gap = (later - earlier).as_secs_f64();
        assert!((0.8..=60.0).contains(&gap), "{gap}");
    }
    line.heal();
    timeout(PATIENCE + MOMENT, informer.wait_for_sync()).await.unwrap();
    assert_eq!(informer.last_error(), None);
}

#[tokio::test(start_paused = true)]
async fn a_relist_of_the_same_versions_tells_nothing() {
    let line = Line::new().await;
    let (world, _informer, mut heard) = follow_two(&line).await;
    line.once(Asked::Watch, Answer::expired_event());
    line.cut();
    line.until(Asked::List, 2).await;
    line.until(Asked::Watch, 3).await;
    assert_eq!(heard.now(), [""; 0]);
    world.create("new", 1).await;
    heard.these(&["add new=1"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_is_logged_and_goes_on_and_the_others_hear() {
    let log = Log::default();
    let _logging = log.install();
    let line = Line::new().await;
    let world = World::of(&line);
    let informer = informer(&line);
    let mut before = hear(&informer);
    let mut panics = hear_as(&informer, |event| match event {
        Event::Added { .. } => panic!("this handler fails"),
        _ => told(event),
    });
    let mut after = hear(&informer);
    synced(&informer).await;
    world.create("audit", 1).await;
    world.set("audit", 2).await;
    panics.these(&["update audit 1->2"]).await;
    for heard in [&mut before, &mut after] {
        heard.these(&["add audit=1", "update audit 1->2"]).await;
    }
    assert_eq!(log.count("an event handler panicked"), 1);

    let mut late = hear_as(&informer, |event| match event {
        Event::Added { .. } => panic!("this one fails at its replay"),
        _ => told(event),
    });
    assert_eq!(log.count("an event handler panicked"), 2);
    world.set("audit", 3).await;
    late.these(&["update audit 2->3"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_removed_handler_is_not_called_again_and_a_second_removal_does_nothing() {
    let line = Line::new().await;
    let world = World::of(&line);
    let informer = informer(&line);
    let mut removed = hear(&informer);
    let mut stays = hear(&informer);
    synced(&informer).await;
    world.create("audit", 1).await;
    removed.these(&["add audit=1"]).await;
    stays.these(&["add audit=1"]).await;

    informer.remove_event_handler(removed.registration);
    let mut after = hear(&informer);
    informer.remove_event_handler(removed.registration);
    world.set("audit", 2).await;
    stays.these(&["update audit 1->2"]).await;
    after.these(&["add audit=1 (initial)", "update audit 1->2"]).await;
    assert_eq!(removed.now(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_second_run_returns_at_once() {
    let line = Line::new().await;
    let informer = informer(&line);
    let (cancelled, first) = run(&informer);
    timeout(PATIENCE, informer.wait_for_sync()).await.unwrap();
    let (_, second) = run(&informer);
    timeout(MOMENT, second).await.expect("it returns while the first goes on").unwrap();
    cancelled.cancel();
    timeout(MOMENT, first).await.expect("it ends").unwrap();
    let (_, third) = run(&informer);
    timeout(MOMENT, third).await.expect("it returns after the first ended").unwrap();
    assert_eq!((line.count(Asked::List), line.count(Asked::Watch)), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn cancelling_ends_the_run_whatever_it_waits_for() {
    for (asked, answer) in [
        (Asked::Other, Answer::Never),
        (Asked::List, Answer::Never),
        (Asked::Watch, Answer::Never),
        (Asked::List, Answer::Refused),
        (Asked::Watch, Answer::Refused),
    ] {
        let line = Line::new().await;
        let world = World::of(&line);
        line.always(asked, answer);
        let informer = informer(&line);
        let mut heard = hear(&informer);
        let (cancelled, running) = run(&informer);
        line.until(if asked == Asked::List { asked } else { Asked::Watch }, 1).await;
        let before = Instant::now();
        cancelled.cancel();
        timeout(MOMENT, running).await.expect("it ends").unwrap();
        assert_eq!(before.elapsed(), Duration::ZERO);
        line.heal();
        world.create("audit", 1).await;
        let asked_before = (line.count(Asked::List), line.count(Asked::Watch));
        assert!(timeout(PATIENCE, std::future::pending::<()>()).await.is_err());
        assert_eq!((line.count(Asked::List), line.count(Asked::Watch)), asked_before);
        assert_eq!(heard.now(), [""; 0]);
        assert_eq!(line.hanging(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn has_synced_only_after_the_first_list_is_in_the_store_and_every_handler_heard_of_it() {
    let line = Line::new().await;
    let world = World::of(&line);
    for name in ["a", "b", "c"] {
        world.create(name, 1).await;
    }
    let (open, gate) = watch::channel(false);
    line.once(Asked::List, Answer::status(500, "InternalError", "etcd is down"));
    line.once(Asked::List, Answer::After(gate));
    let informer = informer(&line);
    let calls = Arc::new(AtomicUsize::new(0));
    let synced_too_soon = Arc::new(AtomicBool::new(false));
    for _ in 0..2 {
        let (calls, too_soon, seen) = (calls.clone(), synced_too_soon.clone(), informer.clone());
        informer.add_event_handler(move |_| {
            calls.fetch_add(1, Ordering::SeqCst);
            too_soon.fetch_or(seen.has_synced(), Ordering::SeqCst);
        });
    }
    run(&informer);
    line.until(Asked::List, 2).await;
    assert!(timeout(MOMENT, informer.wait_for_sync()).await.is_err());
    assert!(!informer.has_synced() && informer.store().is_empty());

    open.send_replace(true);
    timeout(PATIENCE, informer.wait_for_sync()).await.unwrap();
    assert!(informer.has_synced());
    assert_eq!(informer.store().len(), 3);
    assert_eq!(calls.load(Ordering::SeqCst), 6);
    assert!(!synced_too_soon.load(Ordering::SeqCst));
}

#[tokio::test(start_paused = true)]
async fn an_empty_list_syncs() {
    let line = Line::new().await;
    let informer = informer(&line);
    let mut heard = hear(&informer);
    synced(&informer).await;
    assert!(informer.has_synced() && informer.store().is_empty());
    World::of(&line).create("audit", 1).await;
    heard.these(&["add audit=1"]).await;
}

#[tokio::test(start_paused = true)]
async fn the_last_error_is_gone_when_the_server_is_heard_again() {
    let line = Line::new().await;
    let (world, informer, mut heard) = follow_two(&line).await;
    assert_eq!(informer.last_error(), None);
    line.once(Asked::Watch, Answer::status(403, "Forbidden", "no watching"));
    line.cut();
    line.until(Asked::Watch, 3).await;
    let error = informer.last_error().expect("the watch was refused");
    assert!(error.starts_with("cannot watch loggers.example.com: no watching; "), "{error}");
    world.create("new", 1).await;
    heard.these(&["add new=1"]).await;
    assert_eq!(informer.last_error(), None);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_no_list_is_an_error_and_retried() {
    let line = Line::new().await;
    for text in ["{\"kind\": ", "<html>\n<body>hello</body></html>", "{}"] {
        line.once(Asked::List, Answer::Text(200, text.into()));
    }
    line.once(Asked::List, Answer::Torn("{\"apiVersion\": \"example.com/v1\", "));
    line.once(Asked::List, Answer::Text(502, "<html>\n<body>bad gateway</body></html>".into()));
    let informer = informer(&line);
    run(&informer);
    for count in 2..=5 {
        line.until(Asked::List, count).await;
        let error = informer.last_error().expect("the list before was none");
        assert!(error.starts_with("cannot list loggers.example.com: "), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
    timeout(PATIENCE, informer.wait_for_sync()).await.unwrap();
    assert_eq!(line.count(Asked::List), 6);
}

/// An informer that has synced with `stays` and `gone`, and a handler that heard of them.
async fn follow_two(line: &Line) -> (World, SharedInformer<Logger>, Heard) {
    let world = World::of(line);
    world.create("gone", 1).await;
    world.create("stays", 1).await;
    let informer = informer(line);
    let mut heard = hear(&informer);
    synced(&informer).await;
    line.until(Asked::Watch, 1).await;
    heard.these(&["add gone=1 (initial)", "add stays=1 (initial)"]).await;
    (world, informer, heard)
}

/// The watch is cut and cannot be taken up again: the deletion is told by comparing lists, once.
async fn deletion_is_told_after(refusal: Answer) {
    let line = Line::new().await;
    let (world, _informer, mut heard) = follow_two(&line).await;
    line.once(Asked::Watch, refusal);
    line.cut();
    world.delete("gone").await;
    heard.these(&["delete gone=1"]).await;
    assert_eq!(line.count(Asked::List), 2);
    world.delete("stays").await;
    heard.these(&["delete stays=1"]).await;
    assert_eq!(heard.now(), [""; 0]);
}

/// The moments of each list and the next one.
fn gaps(line: &Line) -> Vec<(Instant, Instant)> {
    let lists = line.seen(Asked::List);
    lists.windows(2).map(|pair| (pair[0].at, pair[1].at)).collect()
}

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Takes what this thread logs, until it is dropped.
    fn install(&self) -> impl Sized {
        use tracing_subscriber::util::SubscriberInitExt;
        let log = self.clone();
        let subscriber = tracing_subscriber::fmt().with_writer(move || log.clone());
        subscriber.finish().set_default()
    }

    fn count(&self, text: &str) -> usize {
        String::from_utf8_lossy(&self.0.lock().unwrap()).matches(text).count()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
