//! What kube-controller-manager does beside a real server: garbage collection, and the emptying of namespaces
//!
//! It promises:
//! - All that follows from a request is done before the request is answered, in one order: nothing runs in the background.
//! - Owners are told by their uid. Who has none left goes, as the policy it was given says; who has some left loses the others.
//! - A change of anything but owners takes nobody away: what was loaded without its owners stays until it is given others.

mod namespaces;
mod owners;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use crate::{
    api::object::{Object, Stored},
    lifecycle::deletion::{FOREGROUND, ORPHAN},
    storage::{
        state::State,
        store::{Event, Store},
    },
};

/// Who depends on whom.
#[derive(Debug, Default)]
pub(crate) struct GarbageCollector {
    /// Those who name a uid as that of an owner.
    dependents: BTreeMap<String, BTreeSet<Place>>,
}

/// Where an object is, whether or not it is there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    resource: Arc<str>,
    namespace: String,
    name: String,
}

impl Place {
    fn of(resource: &Arc<str>, object: &Object) -> Self {
        Self { resource: resource.clone(), namespace: object.namespace().to_owned(), name: object.name().to_owned() }
    }

    fn object(&self, state: &State) -> Option<Stored> {
        state.store.get(&self.resource, &self.namespace, &self.name)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    /// Something changed for an object: it is let go, freed or deleted, if it is to be.
    Visit(Place),
    /// Something changed in a namespace that may be on its way out.
    Empty(String),
}

/// Tasks in the order they came, none of them twice at a time.
#[derive(Debug, Default)]
struct Tasks {
    queue: VecDeque<Task>,
    queued: BTreeSet<Task>,
}

impl Tasks {
    fn push(&mut self, task: Task) {
        if self.queued.insert(task.clone()) {
            self.queue.push_back(task);
        }
    }

    fn pop(&mut self) -> Option<Task> {
        let task = self.queue.pop_front()?;
        self.queued.remove(&task);
        Some(task)
    }
}

impl GarbageCollector {
    /// One that knows who depends on whom in a store.
    pub(crate) fn new(store: &Store) -> Self {
        let mut collector = Self::default();
        store.objects().for_each(|(resource, object)| collector.add(resource, object));
        collector
    }

    /// Indexes changes without acting on them.
    pub(crate) fn observe(&mut self, changes: &[Event]) {
        changes.iter().for_each(|event| self.index(event));
    }

    /// Collects what the latest changes of the store make collectable, and returns these changes and its own. Each task that changes
    /// something deletes an object, marks it, or removes a finalizer or an owner, so this terminates.
    pub(crate) fn collect(&mut self, state: &mut State) -> Vec<Event> {
        let mut changes = state.store.take_events();
        let mut tasks = Tasks::default();
        let mut enqueued = 0;
        loop {
            for event in &changes[enqueued..] {
                self.index(event);
                self.enqueue(state, event, &mut tasks);
            }
            enqueued = changes.len();
            match tasks.pop() {
                Some(Task::Visit(place)) => self.visit(state, &place),
                Some(Task::Empty(namespace)) => namespaces::empty(state, &namespace),
                None => return changes,
            }
            changes.extend(state.store.take_events());
        }
    }

    /// Keeps who depends on whom.
    fn index(&mut self, event: &Event) {
        if event.before.is_some() && owners::are_the_same(event.before.as_deref(), event.after.as_deref()) {
            return;
        }
        if let Some(before) = &event.before {
            let place = Place::of(&event.resource, before);
            for uid in owners::uids(before) {
                if let Some(places) = self.dependents.get_mut(uid) {
                    places.remove(&place);
                    if places.is_empty() {
                        self.dependents.remove(uid);
                    }
                }
            }
        }
        if let Some(after) = &event.after {
            self.add(&event.resource, after);
        }
    }

    fn add(&mut self, resource: &Arc<str>, object: &Object) {
        let place = Place::of(resource, object);
        for uid in owners::uids(object) {
            self.dependents.entry(uid.to_owned()).or_default().insert(place.clone());
        }
    }

    /// Finds out what a change may mean to whom.
    fn enqueue(&self, state: &State, event: &Event, tasks: &mut Tasks) {
        let (before, after) = (event.before.as_deref(), event.after.as_deref());
        if !owners::are_the_same(before, after) {
            // Who waits for dependents has perhaps one less to wait for.
            before.into_iter().flat_map(|before| owners::places(state, before)).for_each(|owner| {
                tasks.push(Task::Visit(owner));
            });
            after.into_iter().for_each(|after| tasks.push(Task::Visit(Place::of(&event.resource, after))));
        }
        match (before, after) {
            (Some(before), None) => {
                self.visit_dependents(before, tasks);
                if !before.namespace().is_empty() {
                    tasks.push(Task::Empty(before.namespace().to_owned()));
                }
            }
            (_, Some(after)) if after.is_terminating() => self.enqueue_terminating(event, before, after, tasks),
            _ => {}
        }
    }

    fn enqueue_terminating(&self, event: &Event, before: Option<&Object>, after: &Object, tasks: &mut Tasks) {
        let was_terminating = before.is_some_and(Object::is_terminating);
        if &*event.resource == "namespaces" {
            tasks.push(Task::Empty(after.name().to_owned()));
        }
        if has(after, FOREGROUND) && !was_terminating {
            self.visit_dependents(after, tasks);
        }
        if has(after, FOREGROUND) || has(after, ORPHAN) {
            tasks.push(Task::Visit(Place::of(&event.resource, after)));
        }
    }

    fn visit_dependents(&self, owner: &Object, tasks: &mut Tasks) {
        self.dependents_of(owner).cloned().map(Task::Visit).for_each(|task| tasks.push(task));
    }

    fn dependents_of(&self, owner: &Object) -> impl Iterator<Item = &Place> {
        self.dependents.get(owner.uid()).into_iter().flatten()
    }
}

fn has(object: &Object, finalizer: &str) -> bool {
    object.finalizers().iter().any(|other| other == finalizer)
}
