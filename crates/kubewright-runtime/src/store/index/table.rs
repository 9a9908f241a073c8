//! The table of an index: the objects of each value.

use std::{
    any::Any,
    borrow::Borrow,
    hash::{BuildHasher, Hash},
    slice,
    sync::Arc,
};

use hashbrown::{DefaultHashBuilder, HashMap, HashTable, hash_map::EntryRef, hash_table};
use kube::Resource;

use super::{Index, IndexFunc, IndexValue};
use crate::{
    error::{UserCodePanicked, catch_panic},
    memory::Stored,
    store::{insert, shrink_if_sparse},
};

/// A state of an object, decoded for the index functions.
pub(in crate::store) struct State<'a, K> {
    stored: &'a Stored<K>,
    /// `None` if it cannot be decoded.
    object: Option<Arc<K>>,
}

impl<'a, K> State<'a, K> {
    pub(in crate::store) fn load(stored: &'a Stored<K>) -> Self {
        State { stored, object: stored.load() }
    }
}

/// The table of an index, with its value type erased.
pub(in crate::store) trait AnyIndexTable<K>: Any + Send + Sync {
    fn name(&self) -> &'static str;

    /// Updates the table for an object that was added (`old` is `None`), changed or deleted (`new` is `None`). Both
    /// states have the same key. Adds the panics of the index function for new states.
    fn update(&mut self, old: Option<&State<'_, K>>, new: Option<&State<'_, K>>, panics: &mut Vec<UserCodePanicked>);
}

/// The objects of an index by value.
pub(in crate::store) struct IndexTable<K, V> {
    name: &'static str,
    values: Box<dyn IndexFunc<K, V>>,
    /// Each value has at least one object.
    by_value: HashMap<V, Objects<K>>,
    /// Hashes the keys of the objects.
    hasher: DefaultHashBuilder,
}

/// The objects of one value. A value with a single object, such as the UID of an owner, needs no table.
enum Objects<K> {
    One(Stored<K>),
    Many(HashTable<Stored<K>>),
}

impl<K: Resource, V: IndexValue> IndexTable<K, V> {
    pub(in crate::store) fn new<'a, F>(
        index: Index<K, V, F>,
        objects: impl Iterator<Item = &'a Stored<K>>,
        panics: &mut Vec<UserCodePanicked>,
    ) -> Self
    where
        K: 'a,
        F: IndexFunc<K, V>,
    {
        let Index { name, values, .. } = index;
        let hasher = DefaultHashBuilder::default();
        let mut table = IndexTable { name, values: Box::new(values), by_value: HashMap::new(), hasher };
        objects.for_each(|object| panics.extend(table.insert(&State::load(object))));
        table
    }

    /// Returns the objects of this value, in no order.
    pub(in crate::store) fn find<Q: Eq + Hash + ?Sized>(&self, value: &Q) -> impl ExactSizeIterator<Item = &Stored<K>>
    where
        V: Borrow<Q>,
    {
        self.by_value.get(value).map_or(ObjectsIter::One([].iter()), Objects::iter)
    }

    /// Returns the values that have objects, in no order.
    pub(in crate::store) fn values(&self) -> impl Iterator<Item = &V> {
        self.by_value.keys()
    }

    /// Indexes an object, or returns the panic of the index function.
    fn insert(&mut self, State { stored, object }: &State<'_, K>) -> Option<UserCodePanicked> {
        let object = object.as_ref()?;
        let values = match catch_panic(|| (self.values)(object.as_ref())) {
            Ok(values) => values,
            Err(panic) => {
                let what = format!("the function of index `{}`", self.name);
                return Some(UserCodePanicked::new(what, Some(stored.object_key()), panic));
            }
        };
        for value in values {
            match self.by_value.get_mut(&value) {
                Some(objects) => objects.insert((*stored).clone(), &self.hasher),
                None => {
                    self.by_value.insert(value, Objects::One((*stored).clone()));
                }
            }
        }
        None
    }

    /// Removes this state of an object. If its new state was already inserted, that is retained.
    fn remove(&mut self, State { stored, object }: &State<'_, K>) {
        let Some(object) = object else {
            self.by_value.retain(|_, objects| !objects.remove(stored, &self.hasher));
            return;
        };
        // A state for which the function panics is not in the table.
        for value in catch_panic(|| (self.values)(object.as_ref())).unwrap_or_default() {
            if let EntryRef::Occupied(mut objects) = self.by_value.entry_ref(&value)
                && objects.get_mut().remove(stored, &self.hasher)
            {
                objects.remove();
            }
        }
    }
}

impl<K: Resource + Send + Sync + 'static, V: IndexValue> AnyIndexTable<K> for IndexTable<K, V> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn update(&mut self, old: Option<&State<'_, K>>, new: Option<&State<'_, K>>, panics: &mut Vec<UserCodePanicked>) {
        panics.extend(new.and_then(|new| self.insert(new)));
        old.into_iter().for_each(|old| self.remove(old));
    }
}

impl<K: Resource> Objects<K> {
    fn iter(&self) -> ObjectsIter<'_, K> {
        match self {
            Objects::One(object) => ObjectsIter::One(slice::from_ref(object).iter()),
            Objects::Many(objects) => ObjectsIter::Many(objects.iter()),
        }
    }

    fn insert(&mut self, object: Stored<K>, hasher: &DefaultHashBuilder) {
        match self {
            Objects::One(known) if known.key() == object.key() => *known = object,
            Objects::One(known) => {
                let mut objects = HashTable::new();
                insert(&mut objects, known.clone(), hasher);
                insert(&mut objects, object, hasher);
                *self = Objects::Many(objects);
            }
            Objects::Many(objects) => drop(insert(objects, object, hasher)),
        }
    }

    /// Removes a state of an object and returns whether no object is left.
    fn remove(&mut self, object: &Stored<K>, hasher: &DefaultHashBuilder) -> bool {
        match self {
            Objects::One(known) => known.is(object),
            Objects::Many(objects) => {
                if let Ok(known) = objects.find_entry(hasher.hash_one(object.key()), |known| known.is(object)) {
                    known.remove();
                    shrink_if_sparse(objects, |object| hasher.hash_one(object.key()));
                }
                objects.is_empty()
            }
        }
    }
}

/// Iterates over the objects of a value.
enum ObjectsIter<'a, K> {
    One(slice::Iter<'a, Stored<K>>),
    Many(hash_table::Iter<'a, Stored<K>>),
}

impl<'a, K> Iterator for ObjectsIter<'a, K> {
    type Item = &'a Stored<K>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            ObjectsIter::One(objects) => objects.next(),
            ObjectsIter::Many(objects) => objects.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            ObjectsIter::One(objects) => objects.size_hint(),
            ObjectsIter::Many(objects) => objects.size_hint(),
        }
    }
}

impl<K> ExactSizeIterator for ObjectsIter<'_, K> {}
