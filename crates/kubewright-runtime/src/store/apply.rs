//! Applies the events of a reflector to the store, one at a time, and returns the changes.

use hashbrown::HashMap;
use kube::Resource;

use super::{MAX_PANICS, Objects, SourceVersion, Store, Table, index::State};
#[cfg(test)]
use crate::{memory::Origin, reflector::Event};
use crate::{
    memory::Stored,
    reflector::{ObjectEvent, StoredEvent},
};

/// A change of one object. An object that arrives in the stored version is not a change.
#[derive(Debug)]
pub(crate) enum Change<K> {
    Added(Stored<K>),
    Updated {
        old: Stored<K>,
        new: Stored<K>,
    },
    Deleted {
        /// The final state, or the last known one.
        object: Stored<K>,
        /// Whether the deletion itself was missed.
        final_state_unknown: bool,
    },
}

/// The difference between a list and the stored objects. Objects that are stored in the same version are in neither
/// part.
struct Difference<K> {
    deleted: Vec<Stored<K>>,
    changed: Vec<Stored<K>>,
}

impl<K: Resource + 'static> Store<K> {
    /// Applies an event in one step and returns the changes: deletions first, then the others.
    ///
    /// An object that is stored in the same version is retained, and its new copy is dropped. An object that was
    /// deleted and recreated unnoticed is a different object: the old one is deleted, the new one added.
    #[cfg(test)]
    pub(crate) fn apply(&self, event: Event<K>) -> Vec<Change<K>> {
        let (version, packer) = (event.version().clone(), self.packer());
        let event: StoredEvent<K> = match event {
            ObjectEvent::Deleted { object, version } => ObjectEvent::Deleted { object: object.into(), version },
            event => event.filter_map(|object| Some(packer.pack(object, Origin::Changed, None))),
        };
        self.apply_from(event, vec![(0, version)])
    }

    /// Applies an event that advances these watches.
    ///
    /// If a list is older than its watch, the versions of the server went back: then equal versions do not mean equal
    /// objects.
    pub(crate) fn apply_from(&self, event: StoredEvent<K>, versions: Vec<SourceVersion>) -> Vec<Change<K>> {
        let _writing = self.0.writing.lock();
        let goes_back = matches!(event, ObjectEvent::Replaced { .. }) && self.0.progress.goes_back(&versions);
        let changes = match event {
            ObjectEvent::Replaced { objects, .. } => {
                self.replace(objects, if goes_back { is_identical } else { is_same })
            }
            ObjectEvent::Applied { object, .. } => self.0.objects.write().upsert(object, is_same).into_iter().collect(),
            ObjectEvent::Deleted { object, .. } => self.0.objects.write().delete(object).into_iter().collect(),
            ObjectEvent::Bookmark { .. } => Vec::new(),
        };
        self.0.progress.advance(versions, goes_back);
        changes
    }

    /// Computes the difference under the read lock. It stays valid under the write lock, as there is one writer.
    fn replace(&self, objects: Vec<Stored<K>>, is_same: IsSame<K>) -> Vec<Change<K>> {
        let Difference { deleted, changed } = Difference::new(&self.0.objects.read().table, objects, is_same);
        let mut changes = Vec::with_capacity(deleted.len() + changed.len());
        let mut all = self.0.objects.write();
        for object in deleted {
            all.remove(&object);
            changes.push(Change::Deleted { object, final_state_unknown: true });
        }
        changes.extend(changed.into_iter().filter_map(|object| all.upsert(object, is_same)));
        changes
    }
}

impl<K: Resource> Difference<K> {
    fn new(table: &Table<K>, mut listed: Vec<Stored<K>>, is_same: IsSame<K>) -> Self {
        if table.len() == 0 {
            return Difference { deleted: Vec::new(), changed: listed };
        }
        // The stored objects that are in the list, by address, and whether they are retained. If a key is listed
        // repeatedly, only its first object is compared with the stored one.
        let mut seen = HashMap::with_capacity(table.len());
        listed.retain(|new| {
            let Some(old) = table.get_by_key_of(new) else { return true };
            let is_first = !seen.contains_key(&old.address());
            *seen.entry(old.address()).or_default() |= old.uid() == new.uid();
            !(is_first && is_same(old, new))
        });
        let deleted = table.all().filter(|old| seen.get(&old.address()) != Some(&true)).cloned().collect();
        Difference { deleted, changed: listed }
    }
}

impl<K: Resource + 'static> Objects<K> {
    /// Adds or replaces an object; `None` if it is stored in the same version.
    fn upsert(&mut self, new: Stored<K>, is_same: IsSame<K>) -> Option<Change<K>> {
        if self.table.get_by_key_of(&new).is_some_and(|old| is_same(old, &new)) {
            return None;
        }
        let old = self.table.insert(new.clone());
        old.iter().for_each(Stored::supersede);
        self.update_indexes(old.as_ref(), Some(&new));
        Some(match old {
            Some(old) => Change::Updated { old, new },
            None => Change::Added(new),
        })
    }

    /// Deletes an object. The change contains the final state, not the stored one.
    fn delete(&mut self, object: Stored<K>) -> Option<Change<K>> {
        self.remove(&object).map(|_| Change::Deleted { object, final_state_unknown: false })
    }

    /// Removes the stored object with the key of this object.
    fn remove(&mut self, object: &Stored<K>) -> Option<Stored<K>> {
        let removed = self.table.remove_by_key_of(object)?;
        removed.supersede();
        self.update_indexes(Some(&removed), None);
        Some(removed)
    }

    /// Decodes both states once for all indexes.
    fn update_indexes(&mut self, old: Option<&Stored<K>>, new: Option<&Stored<K>>) {
        let Objects { indexes, panics, .. } = self;
        if indexes.is_empty() {
            return;
        }
        let (old, new) = (old.map(State::load), new.map(State::load));
        indexes.iter_mut().for_each(|index| index.update(old.as_ref(), new.as_ref(), panics));
        panics.truncate(MAX_PANICS);
    }
}

/// Compares a stored object with a received one.
type IsSame<K> = fn(&Stored<K>, &Stored<K>) -> bool;

fn is_identical<K>(old: &Stored<K>, new: &Stored<K>) -> bool {
    old.is(new)
}

/// Returns whether both are the same version of the same object. Without a version this is unknown and `false`.
fn is_same<K: Resource>(old: &Stored<K>, new: &Stored<K>) -> bool {
    let same_version = || old.version().is_some() && old.version() == new.version();
    old.is(new) || (same_version() && old.uid() == new.uid())
}
