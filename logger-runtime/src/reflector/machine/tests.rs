//! The rules for versions, retries and waits, without a server.

use proptest::prelude::*;

use super::*;
use crate::reflector::backoff::ExponentialBackoff;
use crate::reflector::failure::Silence;

/// A machine and its time: waits pass at once and are noted.
struct Driven {
    machine: Machine,
    now: Instant,
    waits: Vec<Duration>,
}

const MS: fn(u64) -> Duration = Duration::from_millis;

fn rules() -> Rules {
    let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
    Rules {
        page_size: None,
        watch_list: false,
        watch_timeout: (minutes(5), minutes(10)),
        idle_timeout: None,
        internal_retry: Duration::from_secs(30),
    }
}

fn driven(rules: Rules) -> Driven {
    let backoff = ExponentialBackoff::default().jitter(0.0);
    let now = Instant::now();
    Driven { machine: Machine::new(rules, Box::new(backoff), fastrand::Rng::with_seed(6), now), now, waits: Vec::new() }
}

fn begun() -> Driven {
    driven(rules())
}

/// One that has listed once, as of this version, and is to watch.
fn synced(version: &str) -> Driven {
    let mut driven = begun();
    driven.list();
    driven.listed(version);
    driven
}

fn streaming() -> Driven {
    driven(Rules { watch_list: true, ..rules() })
}

impl Driven {
    fn next(&mut self) -> Do {
        loop {
            match self.machine.next(self.now) {
                Do::Wait(wait) => {
                    self.waits.push(wait);
                    self.now += wait;
                }
                request => return request,
            }
        }
    }

    /// The version (empty for the newest) and the limit of the list that comes next.
    fn list(&mut self) -> (String, Option<u32>) {
        let Do::List(options) = self.next() else { panic!("a list was to come") };
        (version(&options), options.limit)
    }

    fn watch(&mut self) -> ListOptions {
        let Do::Watch(options) = self.next() else { panic!("a watch was to come") };
        self.machine.watching(self.now);
        options
    }

    fn watch_version(&mut self) -> String {
        version(&self.watch())
    }

    fn listed(&mut self, version: &str) {
        assert!(self.machine.page(self.now, version, None));
    }

    fn page(&mut self, token: &str) {
        assert!(!self.machine.page(self.now, "7", Some(token.into())));
    }

    fn list_fails(&mut self, failure: Failure) {
        self.machine.list_failed(self.now, failure);
    }

    fn watch_fails(&mut self, failure: Failure) {
        self.machine.watch_failed(self.now, failure);
    }

    fn told(&mut self, told: Told, version: &str) -> Meaning {
        self.machine.event(self.now, told, version)
    }

    fn ended_after(&mut self, time: Duration) -> Option<Silence> {
        self.now += time;
        self.machine.watch_ended(self.now)
    }
}

fn version(options: &ListOptions) -> String {
    options.resource_version.as_ref().map(|version| version.as_str().to_owned()).unwrap_or_default()
}

const BOOKMARK: Told = Told::Bookmark { ends_initial_events: false };
const INITIAL_END: Told = Told::Bookmark { ends_initial_events: true };

#[test]
fn r01_the_first_list_takes_any_version_in_pages_and_a_relist_the_last_seen_in_one() {
    let mut driven = begun();
    assert_eq!(driven.list(), ("0".into(), Some(500)));
    driven.listed("10");
    assert_eq!(driven.watch_version(), "10");
    driven.told(Told::Modified, "12");
    driven.watch_fails(Failure::Expired);
    assert_eq!(driven.list(), ("12".into(), None));
}

#[test]
fn r01_where_the_first_list_came_in_pages_relists_do_too() {
    let mut driven = begun();
    driven.list();
    driven.page("next");
    let Do::List(second) = driven.next() else { panic!("a list was to come") };
    assert_eq!(
        (second.continue_token.as_deref(), second.limit, version(&second)),
        (Some("next"), Some(500), String::new())
    );
    driven.listed("10");
    driven.watch();
    driven.watch_fails(Failure::Other);
    assert_eq!(driven.list(), ("10".into(), Some(500)));
}

#[test]
fn r01_a_page_size_holds_for_every_list() {
    let mut driven = driven(Rules { page_size: Some(10), ..rules() });
    assert_eq!(driven.list(), ("0".into(), Some(10)));
    driven.listed("10");
    driven.watch();
    driven.watch_fails(Failure::Other);
    let Do::List(options) = driven.next() else { panic!("a list was to come") };
    assert_eq!((version(&options), options.limit), ("10".into(), Some(10)));
    assert_eq!(options.resource_version_match, Some("NotOlderThan"));
    driven.page("next");
    let Do::List(options) = driven.next() else { panic!("a list was to come") };
    assert_eq!((options.resource_version, options.resource_version_match), (None, None));
}

#[test]
fn r02_when_the_last_version_expired_the_newest_is_listed_at_once_and_then_the_last_again() {
    let mut driven = synced("10");
    driven.watch();
    driven.watch_fails(Failure::Other);
    assert_eq!(driven.list(), ("10".into(), None));
    let waited = driven.waits.len();
    driven.list_fails(Failure::Expired);
    assert_eq!(driven.list(), (String::new(), Some(500)));
    assert_eq!(driven.waits.len(), waited, "at once");
    driven.listed("30");
    driven.watch();
    driven.watch_fails(Failure::Other);
    assert_eq!(driven.list(), ("30".into(), None));
}

#[test]
fn r03_a_version_too_large_for_the_server_has_the_newest_listed_each_time() {
    let mut driven = begun();
    let mut versions = vec![driven.list().0];
    driven.listed("20");
    for next in ["30", "40", "50"] {
        driven.watch();
        driven.watch_fails(Failure::Other);
        versions.push(driven.list().0);
        driven.list_fails(Failure::TooLarge);
        versions.push(driven.list().0);
        driven.listed(next);
    }
    assert_eq!(versions, ["0", "20", "", "30", "", "40", ""]);
}

#[test]
fn r04_a_busy_or_refusing_server_is_watched_from_the_same_version_without_a_list() {
    let mut driven = synced("10");
    for failure in [Failure::Busy(None), Failure::Refused, Failure::Busy(None), Failure::Refused] {
        assert_eq!(driven.watch_version(), "10");
        driven.watch_fails(failure);
    }
    assert_eq!(driven.watch_version(), "10");
    assert_eq!(driven.waits, [MS(800), MS(1600), MS(3200), MS(6400)]);
}

#[test]
fn r04_a_busy_server_is_left_alone_as_long_as_it_asks_but_a_minute_at_most() {
    let mut driven = synced("10");
    for wish in [5, 3600] {
        driven.watch();
        driven.watch_fails(Failure::Busy(Some(Duration::from_secs(wish))));
    }
    driven.watch();
    assert_eq!(driven.waits, [MS(5000), MS(60_000)]);
}

#[test]
fn r05_a_broken_watch_is_tried_again_for_half_a_minute_and_then_all_is_listed() {
    let mut driven = synced("10");
    let mut watches = 0;
    while let Do::Watch(options) = driven.next() {
        assert_eq!(version(&options), "10");
        driven.watch_fails(Failure::Broken);
        watches += 1;
    }
    // After 0, 0.8, 2.4, 5.6, 12 and 24.8 seconds, and, too late, 50.4.
    assert_eq!((watches, driven.waits.len()), (7, 7));
    driven.listed("20");
    driven.now += Duration::from_secs(300);
    driven.watch();
    driven.watch_fails(Failure::Broken);
    assert_eq!(driven.watch_version(), "20", "a new disturbance");
}

#[test]
fn r05_a_watch_that_ran_and_was_cut_is_begun_again_at_once_and_then_backs_off() {
    let mut driven = synced("10");
    driven.watch();
    driven.now += MS(1000);
    driven.watch_fails(Failure::Broken);
    assert_eq!((driven.watch_version(), driven.waits.len()), ("10".into(), 0));
    driven.watch_fails(Failure::Broken);
    assert_eq!((driven.watch_version(), driven.waits.len()), ("10".into(), 1));
}

#[test]
fn r05_lists_that_break_off_twice_come_in_pages_until_one_is_whole() {
    let mut driven = begun();
    for _ in 0..2 {
        assert_eq!(driven.list().0, "0");
        driven.list_fails(Failure::Broken);
    }
    assert_eq!(driven.list(), (String::new(), Some(500)), "pages, which end sooner");
    driven.listed("10");
    driven.watch();
    driven.watch_fails(Failure::Other);
    assert_eq!(driven.list(), ("10".into(), None));
}

#[test]
fn r06_failures_back_off_and_begin_anew_after_two_quiet_minutes() {
    let mut driven = begun();
    for _ in 0..8 {
        driven.list();
        driven.list_fails(Failure::Other);
    }
    driven.list();
    assert_eq!(driven.waits, [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000].map(MS));
    driven.now += Duration::from_secs(121);
    driven.list_fails(Failure::Other);
    driven.list();
    assert_eq!(driven.waits.last(), Some(&MS(800)));
}

#[test]
fn r06_a_list_that_works_does_not_reset_the_back_off_while_watches_fail() {
    let mut driven = begun();
    for version in ["1", "2", "3"] {
        driven.list();
        driven.listed(version);
        driven.watch();
        driven.watch_fails(Failure::Expired);
    }
    driven.list();
    assert_eq!(driven.waits, [800, 1600, 3200].map(MS));
}

#[test]
fn r07_watches_last_five_to_ten_minutes_by_chance() {
    let mut driven = synced("10");
    let timeouts: Vec<_> = (0..100)
        .map(|_| {
            let options = driven.watch();
            assert!(options.allow_watch_bookmarks);
            driven.ended_after(Duration::from_secs(300));
            options.timeout.unwrap().as_secs()
        })
        .collect();
    assert!(timeouts.iter().all(|timeout| (300..=600).contains(timeout)));
    assert!(timeouts.iter().any(|timeout| *timeout < 400) && timeouts.iter().any(|timeout| *timeout > 500));
    assert!(driven.waits.is_empty(), "the end of a watch is no failure");
}

#[test]
fn r07_a_watch_that_ends_within_a_second_and_told_nothing_is_an_error_and_backs_off() {
    let mut driven = synced("10");
    driven.watch();
    assert!(matches!(driven.ended_after(MS(999)), Some(Silence::Short)));
    assert_eq!(driven.watch_version(), "10");
    assert_eq!(driven.waits, [MS(800)]);
    assert!(driven.ended_after(MS(1000)).is_none());
}

#[test]
fn r07_a_server_that_never_lets_watch_is_listed_from_time_to_time() {
    let mut driven = synced("10");
    for _ in 0..2 {
        driven.watch();
        driven.ended_after(MS(1));
    }
    assert_eq!(driven.list(), ("10".into(), None));
    assert_eq!(driven.waits, [MS(800), MS(1600)]);
}

#[test]
fn r07_a_short_watch_that_told_something_is_no_error_but_backs_off() {
    let mut driven = synced("10");
    for version in ["11", "12", "13"] {
        driven.watch();
        driven.told(Told::Added, version);
        assert!(driven.ended_after(MS(1)).is_none());
    }
    assert_eq!(driven.watch_version(), "13");
    assert_eq!(driven.waits, [800, 1600, 3200].map(MS));
}

#[test]
fn r07_a_watch_outlives_its_timeout_by_no_more_than_half_a_minute() {
    let mut driven = synced("10");
    let timeout = driven.watch().timeout.unwrap();
    let deadline = driven.machine.deadline().unwrap();
    assert_eq!(deadline, driven.now + timeout + Duration::from_secs(30));
    driven.now = deadline;
    assert!(matches!(driven.machine.silent(deadline), Some(Silence::Dead(_))));
    assert_eq!(driven.watch_version(), "10");
}

#[test]
fn r07_with_an_idle_timeout_silence_is_noticed_sooner() {
    let idle = Duration::from_secs(90);
    let mut driven = driven(Rules { idle_timeout: Some(idle), ..rules() });
    driven.list();
    driven.listed("10");
    driven.watch();
    driven.now += Duration::from_secs(60);
    driven.told(BOOKMARK, "11");
    assert_eq!(driven.machine.deadline(), Some(driven.now + idle));
    driven.machine.silent(driven.now + idle);
    assert_eq!(driven.watch_version(), "11");
}

#[test]
fn r07_a_server_that_sent_bookmarks_and_stops_is_gone_after_three_minutes() {
    let mut driven = synced("10");
    let timeout = driven.watch().timeout.unwrap();
    driven.now += Duration::from_secs(60);
    driven.told(Told::Modified, "11");
    assert_eq!(
        driven.machine.deadline(),
        Some(driven.now - Duration::from_secs(60) + timeout + Duration::from_secs(30))
    );
    driven.told(BOOKMARK, "11");
    assert_eq!(driven.machine.deadline(), Some(driven.now + Duration::from_secs(180)));
}

#[test]
fn r07_no_timeout_is_too_long() {
    let watch_timeout = (Duration::MAX, Duration::MAX);
    let mut driven = driven(Rules { watch_timeout, idle_timeout: Some(Duration::MAX), ..rules() });
    driven.list();
    driven.listed("10");
    driven.watch();
    assert_eq!(driven.machine.deadline(), None);
}

#[test]
fn r08_the_version_follows_every_event_that_is_known() {
    let mut driven = synced("5");
    driven.watch();
    let events = [(Told::Added, "10"), (Told::Modified, "20"), (Told::Deleted, "30"), (BOOKMARK, "40")];
    for (told, version) in events {
        assert_eq!(driven.told(told, version), Meaning::Change);
    }
    assert_eq!(driven.told(Told::Unknown, "50"), Meaning::Nothing);
    driven.ended_after(Duration::from_secs(60));
    assert_eq!(driven.watch_version(), "40");
}

#[test]
fn r08_a_watch_from_no_version_gives_one_only_after_what_is_there() {
    let mut driven = synced("");
    assert_eq!(driven.watch_version(), "");
    driven.told(Told::Added, "90");
    driven.told(Told::Added, "20");
    driven.ended_after(Duration::from_secs(60));
    assert_eq!(driven.watch_version(), "");
    driven.told(Told::Added, "90");
    driven.told(Told::Modified, "95");
    driven.told(Told::Added, "96");
    driven.ended_after(Duration::from_secs(60));
    assert_eq!(driven.watch_version(), "96");
}

#[test]
fn r09_a_streamed_list_is_collected_to_its_bookmark_and_the_same_watch_goes_on() {
    let mut driven = streaming();
    let options = driven.watch();
    assert!(options.send_initial_events && options.allow_watch_bookmarks);
    assert_eq!((options.resource_version_match, version(&options)), (Some("NotOlderThan"), String::new()));
    assert_eq!(driven.told(Told::Added, "9"), Meaning::Collect);
    assert_eq!(driven.told(Told::Added, "3"), Meaning::Collect);
    assert_eq!(driven.told(Told::Modified, "11"), Meaning::Collect);
    assert_eq!(driven.told(BOOKMARK, "11"), Meaning::Nothing);
    assert_eq!(driven.told(INITIAL_END, "12"), Meaning::Complete);
    assert_eq!(driven.told(Told::Added, "14"), Meaning::Change);
    driven.ended_after(Duration::from_secs(300));
    let next = driven.watch();
    assert_eq!((version(&next), next.send_initial_events), ("14".into(), false));
}

#[test]
fn r09_where_everything_is_needed_again_it_is_streamed_from_the_last_version() {
    let mut driven = streaming();
    driven.watch();
    driven.told(INITIAL_END, "12");
    driven.watch_fails(Failure::Expired);
    let again = driven.watch();
    assert_eq!((version(&again), again.send_initial_events), ("12".into(), true));
    driven.watch_fails(Failure::Expired);
    let newest = driven.watch();
    assert_eq!((version(&newest), newest.send_initial_events), (String::new(), true));
    assert_eq!(driven.waits, [MS(800)], "the newest at once");
}

#[test]
fn r09_a_server_that_does_not_stream_lists_is_listed_and_not_asked_again() {
    let mut driven = streaming();
    driven.watch();
    driven.watch_fails(Failure::NotTaken);
    assert_eq!(driven.list(), ("0".into(), Some(500)));
    driven.listed("10");
    driven.watch();
    driven.watch_fails(Failure::Expired);
    assert_eq!(driven.list(), ("10".into(), None));
}

#[test]
fn r09_a_server_that_takes_it_for_an_ordinary_watch_is_listed_and_asked_twice_at_most() {
    let mut driven = streaming();
    for listed in ["10", "20"] {
        assert!(driven.watch().send_initial_events);
        driven.told(Told::Added, "9");
        driven.now = driven.machine.deadline().unwrap();
        assert!(matches!(driven.machine.silent(driven.now), Some(Silence::Endless)));
        driven.list();
        driven.listed(listed);
        driven.watch();
        driven.watch_fails(Failure::Other);
    }
    assert_eq!(driven.list(), ("20".into(), None));
}

#[test]
fn r09_a_stream_that_breaks_off_is_listed_this_time() {
    let mut driven = streaming();
    driven.watch();
    driven.told(Told::Added, "9");
    assert!(matches!(driven.ended_after(MS(5)), Some(Silence::Endless)));
    driven.list();
    driven.listed("10");
    driven.watch();
    driven.watch_fails(Failure::Other);
    assert!(driven.watch().send_initial_events);
}

#[test]
fn r11_an_object_the_server_cannot_read_has_all_listed_from_the_last_version() {
    let mut driven = synced("3");
    driven.watch();
    driven.watch_fails(Failure::of_status(&kube::core::Status::failure("", "StorageReadError").with_code(500)));
    assert_eq!(driven.list(), ("3".into(), None));
}

#[test]
fn r12_410_to_the_start_of_a_watch_takes_one_relist() {
    let mut driven = synced("10");
    driven.watch();
    driven.watch_fails(Failure::Expired);
    assert_eq!(driven.list(), ("10".into(), None));
    driven.listed("50");
    assert_eq!(driven.watch_version(), "50");
}

#[test]
fn r12_an_expired_continue_token_takes_one_list_in_one_piece() {
    let mut driven = begun();
    driven.list();
    driven.page("next");
    driven.next();
    driven.list_fails(Failure::Expired);
    assert_eq!(driven.list(), ("0".into(), None));
    assert!(driven.waits.is_empty());
    driven.listed("50");
    assert_eq!(driven.watch_version(), "50");
}

#[test]
fn r12_pages_that_lead_nowhere_are_followed_by_one_list_in_one_piece() {
    let mut driven = begun();
    driven.list();
    driven.page("next");
    driven.next();
    driven.page("next");
    assert_eq!(driven.list(), ("0".into(), None));
}

#[test]
fn i19_a_watch_that_begins_again_tells_changes_and_not_everything() {
    let mut driven = synced("10");
    driven.watch();
    driven.told(Told::Modified, "12");
    driven.ended_after(Duration::from_secs(2));
    let again = driven.watch();
    assert_eq!((version(&again), again.send_initial_events), ("12".into(), false));
    assert_eq!(driven.told(Told::Modified, "13"), Meaning::Change);
}

proptest! {
    /// However a server fails, few requests in a row go without a wait, and the machine never gives up.
    #[test]
    fn r04_nothing_is_tried_in_a_tight_loop(watch_list: bool, failures in prop::collection::vec(0..9usize, 1..200)) {
        let mut driven = driven(Rules { watch_list, ..rules() });
        let mut in_a_row = 0;
        for failure in failures {
            let waited = driven.waits.len();
            let request = driven.next();
            in_a_row = if driven.waits.len() > waited { 1 } else { in_a_row + 1 };
            // Lists that work, pages of them, and streams that are none are followed by another request.
            prop_assert!(in_a_row <= 12, "{in_a_row} requests in a row");
            let kinds = [Failure::Expired, Failure::TooLarge, Failure::Busy(None), Failure::Refused];
            let others = [Failure::Broken, Failure::NotTaken, Failure::Other];
            let kind = kinds.iter().chain(&others).nth(failure).copied();
            match (request, kind) {
                (Do::Wait(_), _) => unreachable!("waits are passed over"),
                (Do::List(_), Some(kind)) => driven.list_fails(kind),
                (Do::List(_), None) if failure == 7 => driven.page("next"),
                (Do::List(_), None) => driven.listed("10"),
                (Do::Watch(_), Some(kind)) => driven.watch_fails(kind),
                (Do::Watch(_), None) => drop(driven.machine.watch_ended(driven.now)),
            }
        }
    }
}
