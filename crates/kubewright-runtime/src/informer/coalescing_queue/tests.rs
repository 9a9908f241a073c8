//! Tests of coalescing, as a table and with random histories.

use proptest::prelude::*;

use super::*;

type Events = [Option<Event<u32>>; 3];

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

/// Formats events: `+1!` is added (initial), `1>2` updated, `-2?` deleted (missed).
fn text(events: Events) -> String {
    let text = |event: Event<u32>| match event {
        Event::Added { object, initial } => format!("+{object}{}", if initial { "!" } else { "" }),
        Event::Updated { old, new } => format!("{old}>{new}"),
        Event::Deleted { object, final_state_unknown } => {
            format!("-{object}{}", if final_state_unknown { "?" } else { "" })
        }
    };
    events.into_iter().flatten().map(text).collect::<Vec<_>>().join(" ")
}

fn coalesced(events: Vec<Event<u32>>) -> PendingChange<u32> {
    let mut events = events.into_iter();
    let mut change = PendingChange::new(events.next().unwrap());
    events.for_each(|event| change.merge(event));
    change
}

#[test]
fn i22_pending_events_of_an_object_are_coalesced_from_the_seen_to_the_current_state() {
    let cases = [
        // The pending event is an addition.
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
        let input = format!("{events:?}");
        let change = coalesced(events);
        assert_eq!(change.is_empty(), expected.is_empty(), "{input}");
        assert_eq!(text(change.into_events(|_| true)), expected, "{input}");
    }
}

#[test]
fn a_filter_reports_objects_that_start_to_pass_as_added_and_that_stop_as_deleted() {
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
        // The final state does not pass, but the listener has seen the object; or the other way round.
        (vec![update(2, 3), delete(5)], "-2"),
        (vec![update(2, 4), delete(5)], "2>4 -5"),
        (vec![update(1, 2), delete(4)], ""),
        (vec![delete(2), add(3)], "-2"),
        (vec![delete(1), add(2)], "+2"),
        (vec![delete(2), add(4)], "-2 +4"),
    ];
    for (events, expected) in cases {
        let input = format!("{events:?}");
        assert_eq!(text(coalesced(events).into_events(even)), expected, "{input}");
    }
}

fn key(object: u8) -> ObjectKey {
    ObjectKey::cluster(&object.to_string())
}

fn drain(queue: &mut CoalescingQueue<u32>) -> Vec<String> {
    std::iter::from_fn(|| queue.pop()).map(|change| text(change.into_events(|_| true))).collect()
}

#[test]
fn i22_objects_are_returned_in_order_of_arrival_and_those_added_and_deleted_are_omitted() {
    let mut queue = CoalescingQueue::new(0);
    for (object, event) in [(1, add(10)), (2, add(20)), (3, update(30, 31)), (1, update(10, 11)), (2, delete(20))] {
        queue.push(&key(object), event);
    }
    queue.push(&key(2), add(21));
    assert_eq!(queue.len(), 3);
    assert_eq!(drain(&mut queue), ["+11", "30>31", "+21"]);
    assert_eq!(queue.len(), 0);
}

#[test]
fn i22_every_event_is_stored_up_to_the_cap_and_merged_beyond() {
    let mut queue = CoalescingQueue::new(3);
    for event in [add(1), update(1, 2), delete(2), add(3), update(3, 4)] {
        queue.push(&key(1), event);
    }
    queue.push(&key(2), add(9));
    assert_eq!(drain(&mut queue), ["+1", "1>2", "-2 +4", "+9"]);
    for event in [add(1), delete(1), add(2), delete(2), add(3)] {
        queue.push(&key(1), event);
    }
    assert_eq!(drain(&mut queue), ["+1", "-1", "+3"]);
}

#[test]
fn i22_a_change_beyond_the_cap_is_followed_by_an_event() {
    let mut queue = CoalescingQueue::new(2);
    for (object, event) in [(1, add(1)), (2, add(2)), (3, add(3)), (3, delete(3)), (2, delete(2))] {
        queue.push(&key(object), event);
        assert!(queue.len() > 0);
    }
    assert_eq!(drain(&mut queue), ["+1"]);
}

#[test]
fn i15_a_resync_sends_objects_without_pending_events() {
    let mut queue = CoalescingQueue::new(0);
    queue.push(&key(1), update(1, 2));
    for (object, state) in [(1, 2), (2, 7), (2, 7)] {
        queue.push_resync(&key(object), &Arc::new(state));
    }
    queue.push(&key(2), update(7, 8));
    assert_eq!(drain(&mut queue), ["1>2", "7>8"]);
}

#[test]
fn i22_objects_that_are_added_and_deleted_leave_no_gaps_behind() {
    let mut queue = CoalescingQueue::new(0);
    queue.push(&key(0), add(0));
    for round in 0..10_000 {
        queue.push(&key(1), add(round));
        queue.push(&key(1), delete(round));
    }
    assert!(queue.entries.len() <= 2 * queue.len() + RETAINED_CAPACITY + 1, "{}", queue.entries.len());
    for object in 0..u8::MAX {
        queue.push(&key(object), update(0, 1));
        queue.push(&key(object), add(7));
    }
    assert_eq!(queue.len(), usize::from(u8::MAX));
    assert_eq!(drain(&mut queue).len(), usize::from(u8::MAX));
    assert_eq!((queue.entries.capacity(), queue.last_entries.len()), (0, 0), "buffers are released");
}

/// A step of a random history: an object changes, or the listener receives some items.
#[derive(Clone, Debug)]
enum Step {
    Change { object: u8, deletes: bool },
    Receive(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let change = (0..6u8, any::<bool>()).prop_map(|(object, deletes)| Step::Change { object, deletes });
    let receive = (1..4u8).prop_map(Step::Receive);
    prop::collection::vec(prop_oneof![4 => change, 1 => receive], 0..400)
}

/// A server with consecutive states, a queue of all its events, and the state of a listener that receives them.
struct Simulation {
    existing: [Option<u32>; 6],
    seen: [Option<u32>; 6],
    /// The last delivered state of each object.
    delivered: [u32; 6],
    queue: CoalescingQueue<u32>,
    cap: usize,
    now: u32,
}

impl Simulation {
    fn new(cap: usize) -> Self {
        Simulation {
            existing: [None; 6],
            seen: [None; 6],
            delivered: [0; 6],
            queue: CoalescingQueue::new(cap),
            cap,
            now: 0,
        }
    }

    /// The states of object `o` are `o` modulo 6, so that an event identifies its object.
    fn change(&mut self, object: u8, deletes: bool) {
        let index = usize::from(object);
        self.now += 6;
        let state = self.now + u32::from(object);
        let event = match (self.existing[index], deletes) {
            (None, true) => return,
            (None, false) => add(state),
            (Some(old), false) => update(old, state),
            (Some(_), true) => delete(state),
        };
        self.existing[index] = (!deletes).then_some(state);
        self.queue.push(&key(object), event);
    }

    fn receive(&mut self) -> Result<bool, TestCaseError> {
        let Some(change) = self.queue.pop() else { return Ok(false) };
        for event in change.into_events(|_| true).into_iter().flatten() {
            let state = **event.object();
            let index = usize::try_from(state % 6).unwrap();
            prop_assert!(state > self.delivered[index], "states ascend: {event:?} after {}", self.delivered[index]);
            self.delivered[index] = state;
            let seen = self.seen[index];
            let is_valid = match &event {
                Event::Added { .. } => seen.is_none(),
                Event::Updated { old, .. } => seen == Some(**old),
                Event::Deleted { .. } => seen.is_some(),
            };
            prop_assert!(is_valid, "{event:?} does not follow {seen:?}");
            self.seen[index] = (!matches!(event, Event::Deleted { .. })).then_some(state);
        }
        Ok(true)
    }

    fn is_bounded(&self) -> bool {
        let objects = (0..6).filter(|index| self.existing[*index].is_some() || self.seen[*index].is_some()).count();
        self.queue.len() <= self.cap + objects
    }
}

proptest! {
    #[test]
    fn i02_delivered_events_are_consistent_and_a_subsequence_of_all_events(steps in steps(), cap in 0..5usize) {
        let mut simulation = Simulation::new(cap);
        for step in steps {
            match step {
                Step::Change { object, deletes } => simulation.change(object, deletes),
                Step::Receive(count) => for _ in 0..count { simulation.receive()?; },
            }
            prop_assert!(simulation.is_bounded(), "{} are pending", simulation.queue.len());
        }
        while simulation.receive()? {}
        prop_assert_eq!(simulation.seen, simulation.existing, "finally the listener has seen all existing objects");
        prop_assert_eq!(simulation.queue.len(), 0);
    }

    #[test]
    fn every_event_below_the_cap_is_delivered_unchanged(steps in steps()) {
        let mut simulation = Simulation::new(usize::MAX);
        let mut count = 0;
        for step in steps {
            if let Step::Change { object, deletes } = step {
                count += usize::from(!deletes || simulation.existing[usize::from(object)].is_some());
                simulation.change(object, deletes);
            }
        }
        prop_assert_eq!(simulation.queue.len(), count);
        while simulation.receive()? {}
        prop_assert_eq!(simulation.seen, simulation.existing);
    }
}
