//! What the reflector tells, done to the store: one writer, one step at a time, and each change is told.

use std::sync::Arc;

use hashbrown::HashMap;
use kube::Resource;

use super::{Objects, Store, Table};
use crate::reflector::Event;

/// What became of one object. A version that is there already is no change.
#[derive(Debug)]
pub(crate) enum Change<K> {
    Added(Arc<K>),
    Updated {
        old: Arc<K>,
        new: Arc<K>,
    },
    Deleted {
        /// The final state, or the last one known.
        object: Arc<K>,
        /// The deletion itself was missed.
        final_state_unknown: bool,
    },
}

/// What a list of all objects changes: nothing of what is there in the same version.
struct Difference<K> {
    gone: Vec<Arc<K>>,
    news: Vec<Arc<K>>,
}

impl<K: Resource + 'static> Store<K> {
    /// Does to the store what the reflector tells, in one step, and says what changed: deletions first, then the rest.
    ///
    /// An object that is there in the same version stays, and the new copy of it is dropped. One that was made anew under
    /// its name while that was missed is another one: the old is deleted, the new added.
    pub(crate) fn receive(&self, event: Event<K>) -> Vec<Change<K>> {
        let _writing = self.writing();
        let (changes, version) = match event {
            Event::Replaced { objects, version } => (self.replace(objects), version),
            Event::Applied { object, version } => (self.write().put(object).into_iter().collect(), version),
            Event::Deleted { object, version } => (self.write().delete(object).into_iter().collect(), version),
            Event::Bookmark { version } => (Vec::new(), version),
        };
        self.0.progress.moved(version);
        changes
    }

    /// Nobody else writes: what is found while others read still holds when they must wait.
    fn replace(&self, objects: Vec<Arc<K>>) -> Vec<Change<K>> {
        let Difference { gone, news } = Difference::of(&self.read().table, objects);
        let mut changes = Vec::with_capacity(gone.len() + news.len());
        let mut all = self.write();
        for object in gone {
            all.take(&object);
            changes.push(Change::Deleted { object, final_state_unknown: true });
        }
        changes.extend(news.into_iter().filter_map(|object| all.put(object)));
        changes
    }
}

impl<K: Resource> Difference<K> {
    fn of(table: &Table<K>, mut news: Vec<Arc<K>>) -> Self {
        if table.len() == 0 {
            return Difference { gone: Vec::new(), news };
        }
        // Which objects were met in the list, by their addresses, and whether they stay. One whose key was met before is not
        // judged by what is in the table now.
        let mut met = HashMap::with_capacity(table.len());
        news.retain(|new| {
            let Some(old) = table.get_like(new) else { return true };
            let is_first = !met.contains_key(&Arc::as_ptr(old));
            *met.entry(Arc::as_ptr(old)).or_default() |= old.meta().uid == new.meta().uid;
            !(is_first && is_same(old, new))
        });
        let gone = table.all().filter(|old| met.get(&Arc::as_ptr(old)) != Some(&true)).cloned().collect();
        Difference { gone, news }
    }
}

impl<K: Resource + 'static> Objects<K> {
    /// `None` if the same version is there already.
    fn put(&mut self, new: Arc<K>) -> Option<Change<K>> {
        if self.table.get_like(&new).is_some_and(|old| is_same(old, &new)) {
            return None;
        }
        let old = self.table.insert(Arc::clone(&new));
        self.indexes.iter_mut().for_each(|index| index.changed(old.as_ref(), Some(&new)));
        Some(match old {
            Some(old) => Change::Updated { old, new },
            None => Change::Added(new),
        })
    }

    /// The change carries the final state.
    fn delete(&mut self, object: Arc<K>) -> Option<Change<K>> {
        self.take(&object).map(|_| Change::Deleted { object, final_state_unknown: false })
    }

    /// Takes out what has the key of this object.
    fn take(&mut self, object: &K) -> Option<Arc<K>> {
        let taken = self.table.remove_like(object)?;
        self.indexes.iter_mut().for_each(|index| index.changed(Some(&taken), None));
        Some(taken)
    }
}

/// Whether this is the same state of the same object. What a transform took the version from is never known to be.
fn is_same<K: Resource>(old: &Arc<K>, new: &Arc<K>) -> bool {
    let (was, is) = (old.meta(), new.meta());
    let same_version = was.resource_version.is_some() && was.resource_version == is.resource_version;
    Arc::ptr_eq(old, new) || (same_version && was.uid == is.uid)
}
