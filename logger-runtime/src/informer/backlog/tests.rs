//! The algebra of what is unheard, as a table and against random histories.

use proptest::prelude::*;

use super::*;

type Told = [Option<Event<u32>>; 3];

fn add(object: u32) -> Event<u32> {
    Event::Added { object: Arc::new(object), initial: false }
}

fn initial(object: u32) -> Event<u32> {
    Event::Added { object: Arc::new(object), initial: true }
}

fn update(old: u32, new: u32) -> Event<u32> {
    Event::Updated { old: Arc::new(old), new: Arc::new(new) }
}

fn delete(object: u32) -> Event<u32> {
    Event::Deleted { object: Arc::new(object), final_state_unknown: false }
}

fn missed(object: u32) -> Event<u32> {
    Event::Deleted { object: Arc::new(object), final_state_unknown: true }
}

/// `+1! 1>2 -2?`: added (initial), updated, deleted (missed).
fn text(told: Told) -> String {
    let text = |event: Event<u32>| match event {
        Event::Added { object, initial } => format!("+{object}{}", if initial { "!" } else { "" }),
        Event::Updated { old, new } => format!("{old}>{new}"),
        Event::Deleted { object, final_state_unknown } => {
            format!("-{object}{}", if final_state_unknown { "?" } else { "" })
        }
    };
    told.into_iter().flatten().map(text).collect::<Vec<_>>().join(" ")
}

fn joined(events: Vec<Event<u32>>) -> Unheard<u32> {
    let mut events = events.into_iter();
    let mut unheard = Unheard::new(events.next().unwrap());
    events.for_each(|event| unheard.then(event));
    unheard
}

#[test]
fn i22_of_each_object_what_is_unheard_is_from_the_state_known_to_the_latest() {
    let cases = [
        // What waits is an addition.
        (vec![add(1)], "+1"),
        (vec![add(1), add(2)], "+2"),
        (vec![add(1), update(1, 2)], "+2"),
        (vec![add(1), delete(2)], ""),
        (vec![initial(1), update(1, 2)], "+2!"),
        (vec![initial(1), delete(2)], ""),
        // An update.
        (vec![update(1, 2)], "1>2"),
        (vec![update(1, 2), add(3)], "1>3"),
        (vec![update(1, 2), update(2, 3)], "1>3"),
        (vec![update(1, 2), delete(3)], "1>2 -3"),
        (vec![update(1, 2), missed(2)], "1>2 -2?"),
        (vec![update(1, 2), update(2, 3), delete(4), add(5)], "1>3 -4 +5"),
        // A deletion.
        (vec![delete(1)], "-1"),
        (vec![missed(1)], "-1?"),
        (vec![delete(1), add(2)], "-1 +2"),
        (vec![delete(1), update(1, 2)], "-1 +2"),
        (vec![delete(1), delete(2)], "-1"),
        (vec![missed(1), delete(2)], "-1?"),
        // A deletion and an addition.
        (vec![delete(1), add(2), add(3)], "-1 +3"),
        (vec![delete(1), add(2), update(2, 3)], "-1 +3"),
        (vec![delete(1), add(2), delete(3)], "-1"),
        (vec![delete(1), add(2), delete(3), add(4)], "-1 +4"),
    ];
    for (events, expected) in cases {
        let shown = format!("{events:?}");
        let unheard = joined(events);
        assert_eq!(unheard.is_nothing(), expected.is_empty(), "{shown}");
        assert_eq!(text(unheard.tell(|_| true)), expected, "{shown}");
    }
}

#[test]
fn a_filter_makes_additions_and_deletions_of_what_comes_to_pass_and_does_no_more() {
    let even = |object: &u32| object.is_multiple_of(2);
    let cases = [
        (vec![add(1)], ""),
        (vec![initial(2)], "+2!"),
        (vec![update(1, 3)], ""),
        (vec![update(1, 2)], "+2"),
        (vec![update(2, 4)], "2>4"),
        (vec![update(2, 3)], "-2"),
        (vec![delete(1)], ""),
        (vec![delete(2)], "-2"),
        // The final state does not pass, but the listener knows of the object; or it does, and the listener does not.
        (vec![update(2, 3), delete(5)], "-2"),
        (vec![update(2, 4), delete(5)], "2>4 -5"),
        (vec![update(1, 2), delete(4)], ""),
        (vec![delete(2), add(3)], "-2"),
        (vec![delete(1), add(2)], "+2"),
        (vec![delete(2), add(4)], "-2 +4"),
    ];
    for (events, expected) in cases {
        let shown = format!("{events:?}");
        assert_eq!(text(joined(events).tell(even)), expected, "{shown}");
    }
}

fn key(object: u8) -> ObjectKey {
    ObjectKey::cluster(&object.to_string())
}

fn drained(backlog: &mut Backlog<u32>) -> Vec<String> {
    std::iter::from_fn(|| backlog.pop()).map(|unheard| text(unheard.tell(|_| true))).collect()
}

#[test]
fn i22_objects_come_out_in_the_order_they_came_and_what_came_and_went_does_not() {
    let mut backlog = Backlog::new(0);
    for (object, event) in [(1, add(10)), (2, add(20)), (3, update(30, 31)), (1, update(10, 11)), (2, delete(20))] {
        backlog.push(&key(object), event);
    }
    backlog.push(&key(2), add(21));
    assert_eq!(backlog.len(), 3);
    assert_eq!(drained(&mut backlog), ["+11", "30>31", "+21"]);
    assert_eq!(backlog.len(), 0);
}

#[test]
fn i22_every_event_waits_on_its_own_up_to_the_cap_and_is_joined_beyond() {
    let mut backlog = Backlog::new(3);
    for event in [add(1), update(1, 2), delete(2), add(3), update(3, 4)] {
        backlog.push(&key(1), event);
    }
    backlog.push(&key(2), add(9));
    assert_eq!(drained(&mut backlog), ["+1", "1>2", "-2 +4", "+9"]);
    for event in [add(1), delete(1), add(2), delete(2), add(3)] {
        backlog.push(&key(1), event);
    }
    assert_eq!(drained(&mut backlog), ["+1", "-1", "+3"]);
}

#[test]
fn i15_a_resync_tells_of_what_nothing_waits_of() {
    let mut backlog = Backlog::new(0);
    backlog.push(&key(1), update(1, 2));
    for (object, state) in [(1, 2), (2, 7), (2, 7)] {
        backlog.resync(&key(object), &Arc::new(state));
    }
    backlog.push(&key(2), update(7, 8));
    assert_eq!(drained(&mut backlog), ["1>2", "7>8"]);
}

#[test]
fn i22_objects_that_come_and_go_leave_no_gaps_behind() {
    let mut backlog = Backlog::new(0);
    backlog.push(&key(0), add(0));
    for round in 0..10_000 {
        backlog.push(&key(1), add(round));
        backlog.push(&key(1), delete(round));
    }
    assert!(backlog.entries.len() <= 2 * backlog.len() + KEPT + 1, "{}", backlog.entries.len());
    for object in 0..u8::MAX {
        backlog.push(&key(object), update(0, 1));
        backlog.push(&key(object), add(7));
    }
    assert_eq!(backlog.len(), usize::from(u8::MAX));
    assert_eq!(drained(&mut backlog).len(), usize::from(u8::MAX));
    assert_eq!((backlog.entries.capacity(), backlog.last.len()), (0, 0), "and buffers are given back");
}

/// What happens in a random history: to which object, or that the listener hears some.
#[derive(Clone, Debug)]
enum Step {
    Change { object: u8, deletes: bool },
    Hear(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let change = (0..6u8, any::<bool>()).prop_map(|(object, deletes)| Step::Change { object, deletes });
    let hear = (1..4u8).prop_map(Step::Hear);
    prop::collection::vec(prop_oneof![4 => change, 1 => hear], 0..400)
}

/// A server whose states are numbered in order, a backlog that hears all of it, and what a listener knows by it.
struct World {
    there: [Option<u32>; 6],
    known: [Option<u32>; 6],
    /// Of each object, the last state that was told.
    told: [u32; 6],
    backlog: Backlog<u32>,
    cap: usize,
    now: u32,
}

impl World {
    fn new(cap: usize) -> Self {
        World { there: [None; 6], known: [None; 6], told: [0; 6], backlog: Backlog::new(cap), cap, now: 0 }
    }

    /// States of object `o` are `o` modulo 6, so that an event tells whose it is.
    fn change(&mut self, object: u8, deletes: bool) {
        let place = usize::from(object);
        self.now += 6;
        let state = self.now + u32::from(object);
        let event = match (self.there[place], deletes) {
            (None, true) => return,
            (None, false) => add(state),
            (Some(old), false) => update(old, state),
            (Some(_), true) => delete(state),
        };
        self.there[place] = (!deletes).then_some(state);
        self.backlog.push(&key(object), event);
    }

    fn hear(&mut self) -> Result<bool, TestCaseError> {
        let Some(unheard) = self.backlog.pop() else { return Ok(false) };
        for event in unheard.tell(|_| true).into_iter().flatten() {
            let state = **event.object();
            let place = usize::try_from(state % 6).unwrap();
            prop_assert!(state > self.told[place], "states go on: {event:?} after {}", self.told[place]);
            self.told[place] = state;
            let known = self.known[place];
            let fits = match &event {
                Event::Added { .. } => known.is_none(),
                Event::Updated { old, .. } => known == Some(**old),
                Event::Deleted { .. } => known.is_some(),
            };
            prop_assert!(fits, "{event:?} does not follow {known:?}");
            self.known[place] = (!matches!(event, Event::Deleted { .. })).then_some(state);
        }
        Ok(true)
    }

    fn is_bounded(&self) -> bool {
        let there = (0..6).filter(|place| self.there[*place].is_some() || self.known[*place].is_some()).count();
        self.backlog.len() <= self.cap + there
    }
}

proptest! {
    #[test]
    fn i02_what_a_listener_hears_follows_and_is_a_subsequence_of_what_happened(steps in steps(), cap in 0..5usize) {
        let mut world = World::new(cap);
        for step in steps {
            match step {
                Step::Change { object, deletes } => world.change(object, deletes),
                Step::Hear(count) => for _ in 0..count { world.hear()?; },
            }
            prop_assert!(world.is_bounded(), "{} wait", world.backlog.len());
        }
        while world.hear()? {}
        prop_assert_eq!(world.known, world.there, "in the end it knows what is there");
        prop_assert_eq!(world.backlog.len(), 0);
    }

    #[test]
    fn every_event_below_the_cap_comes_out_as_it_came(steps in steps()) {
        let mut world = World::new(usize::MAX);
        let mut count = 0;
        for step in steps {
            if let Step::Change { object, deletes } = step {
                count += usize::from(!deletes || world.there[usize::from(object)].is_some());
                world.change(object, deletes);
            }
        }
        prop_assert_eq!(world.backlog.len(), count);
        while world.hear()? {}
        prop_assert_eq!(world.known, world.there);
    }
}
