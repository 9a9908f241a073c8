//! The garbage collector and the namespace controller of kube-controller-manager.
//!
//! Guarantees:
//! - All effects of a request are applied before its response is sent, in a deterministic order. Nothing runs in the
//!   background.
//! - Owners are identified by UID. An object without a remaining owner is deleted, by the propagation policy of the
//!   delete; an object with other owners loses the references to absent ones.
//! - A change that does not touch owner references deletes nothing: an object that was loaded without its owners
//!   remains until its references change.

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

/// The garbage collector: an index of the dependents of each owner.
#[derive(Debug, Default)]
pub(crate) struct GarbageCollector {
    /// The keys of the dependents, by the UID of the owner.
    dependents: BTreeMap<String, BTreeSet<ObjectKey>>,
}

/// The resource, namespace and name of an object, whether it exists or not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ObjectKey {
    resource: Arc<str>,
    namespace: String,
    name: String,
}

impl ObjectKey {
    fn new(resource: &Arc<str>, object: &Object) -> Self {
        Self { resource: resource.clone(), namespace: object.namespace().to_owned(), name: object.name().to_owned() }
    }

    fn object(&self, state: &State) -> Option<Stored> {
        state.store.get(&self.resource, &self.namespace, &self.name)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    /// An object whose owners or dependents changed.
    Process(ObjectKey),
    /// A namespace that may be terminating, by name.
    DeleteContents(String),
}

/// A deduplicating first-in, first-out queue of tasks.
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
    /// Creates a collector that indexes the objects of a store.
    pub(crate) fn new(store: &Store) -> Self {
        let mut collector = Self::default();
        store.objects().for_each(|(resource, object)| collector.add(resource, object));
        collector
    }

    /// Indexes changes without acting on them.
    pub(crate) fn observe(&mut self, changes: &[Arc<Event>]) {
        changes.iter().for_each(|event| self.index(event));
    }

    /// Applies the effects of the latest changes of the store, and returns these changes together with its own. Each
    /// task that changes something deletes or marks an object, or removes a finalizer or an owner reference, so this
    /// terminates.
    pub(crate) fn collect(&mut self, state: &mut State) -> Vec<Arc<Event>> {
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
                Some(Task::Process(key)) => self.process(state, &key),
                Some(Task::DeleteContents(namespace)) => namespaces::delete_contents(state, &namespace),
                None => return changes,
            }
            changes.extend(state.store.take_events());
        }
    }

    /// Indexes one change.
    fn index(&mut self, event: &Event) {
        if event.before.is_some() && owners::are_the_same(event.before.as_deref(), event.after.as_deref()) {
            return;
        }
        if let Some(before) = &event.before {
            let key = ObjectKey::new(&event.resource, before);
            for uid in owners::uids(before) {
                if let Some(keys) = self.dependents.get_mut(uid) {
                    keys.remove(&key);
                    if keys.is_empty() {
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
        let key = ObjectKey::new(resource, object);
        for uid in owners::uids(object) {
            self.dependents.entry(uid.to_owned()).or_default().insert(key.clone());
        }
    }

    /// Enqueues the tasks of a change.
    fn enqueue(&self, state: &State, event: &Event, tasks: &mut Tasks) {
        let (before, after) = (event.before.as_deref(), event.after.as_deref());
        if !owners::are_the_same(before, after) {
            // An owner that waits for its dependents may have lost the last one.
            before.into_iter().flat_map(|before| owners::keys(state, before)).for_each(|owner| {
                tasks.push(Task::Process(owner));
            });
            after.into_iter().for_each(|after| tasks.push(Task::Process(ObjectKey::new(&event.resource, after))));
        }
        match (before, after) {
            (Some(before), None) => {
                self.enqueue_dependents(before, tasks);
                if !before.namespace().is_empty() {
                    tasks.push(Task::DeleteContents(before.namespace().to_owned()));
                }
            }
            (_, Some(after)) if after.is_terminating() => self.enqueue_terminating(event, before, after, tasks),
            _ => {}
        }
    }

    fn enqueue_terminating(&self, event: &Event, before: Option<&Object>, after: &Object, tasks: &mut Tasks) {
        let was_terminating = before.is_some_and(Object::is_terminating);
        if &*event.resource == "namespaces" {
            tasks.push(Task::DeleteContents(after.name().to_owned()));
        }
        if has(after, FOREGROUND) && !was_terminating {
            self.enqueue_dependents(after, tasks);
        }
        if has(after, FOREGROUND) || has(after, ORPHAN) {
            tasks.push(Task::Process(ObjectKey::new(&event.resource, after)));
        }
    }

    fn enqueue_dependents(&self, owner: &Object, tasks: &mut Tasks) {
        self.dependents_of(owner).cloned().map(Task::Process).for_each(|task| tasks.push(task));
    }

    fn dependents_of(&self, owner: &Object) -> impl Iterator<Item = &ObjectKey> {
        self.dependents.get(owner.uid()).into_iter().flatten()
    }
}

fn has(object: &Object, finalizer: &str) -> bool {
    object.finalizers().iter().any(|other| other == finalizer)
}
