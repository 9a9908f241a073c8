//! An index that a store keeps: for each value the objects that are found under it.

use std::any::Any;
use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::Arc;

use hashbrown::hash_map::EntryRef;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable, hash_table};
use kube::Resource;

use super::{Index, IndexFunction, IndexValue};
use crate::store::{fit, key_of, name_of, namespace_of, put};

/// A kept index, whatever its values are.
pub(crate) trait AnyKept<K>: Any + Send + Sync {
    fn name(&self) -> &'static str;

    /// An object came (it has no old state), changed, or went (it has no new one). Both states have one key.
    fn changed(&mut self, old: Option<&Arc<K>>, new: Option<&Arc<K>>);
}

/// An index with the objects that are found in it.
pub(crate) struct Kept<K, V> {
    name: &'static str,
    values: Box<dyn IndexFunction<K, V>>,
    /// No value is without objects.
    found: HashMap<V, Found<K>>,
    /// Hashes the keys of objects.
    hasher: DefaultHashBuilder,
}

/// The objects under one value. Values that one object has, such as an owner's uid, take no table.
enum Found<K> {
    One(Arc<K>),
    Many(HashTable<Arc<K>>),
}

impl<K: Resource, V: IndexValue> Kept<K, V> {
    pub(crate) fn new<'a, F>(index: Index<K, V, F>, objects: impl Iterator<Item = &'a Arc<K>>) -> Self
    where
        K: 'a,
        F: IndexFunction<K, V>,
    {
        let Index { name, values, .. } = index;
        let hasher = DefaultHashBuilder::default();
        let mut kept = Kept { name, values: Box::new(values), found: HashMap::new(), hasher };
        objects.for_each(|object| kept.insert(object));
        kept
    }

    /// The objects under this value, in no order.
    pub(crate) fn find<Q: Eq + Hash + ?Sized>(&self, value: &Q) -> impl ExactSizeIterator<Item = &Arc<K>>
    where
        V: Borrow<Q>,
    {
        self.found.get(value).map_or(Objects::One([].iter()), Found::objects)
    }

    /// The values under which there is an object, in no order.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.found.keys()
    }

    fn values_of(&self, object: &K) -> Vec<V> {
        catch_unwind(AssertUnwindSafe(|| (self.values)(object))).unwrap_or_else(|_| {
            let (index, namespace, name) = (self.name, namespace_of(object), name_of(object));
            tracing::error!(index, namespace, name, "the index's function panicked: the object is not found in it");
            Vec::new()
        })
    }

    fn insert(&mut self, object: &Arc<K>) {
        for value in self.values_of(object) {
            match self.found.get_mut(&value) {
                Some(found) => found.insert(Arc::clone(object), &self.hasher),
                None => {
                    self.found.insert(value, Found::One(Arc::clone(object)));
                }
            }
        }
    }

    /// Takes out what is this very object: where its new state came already, that stays.
    fn remove(&mut self, object: &Arc<K>) {
        for value in self.values_of(object) {
            if let EntryRef::Occupied(mut found) = self.found.entry_ref(&value)
                && found.get_mut().remove(object, &self.hasher)
            {
                found.remove();
            }
        }
    }
}

impl<K: Resource + Send + Sync + 'static, V: IndexValue> AnyKept<K> for Kept<K, V> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn changed(&mut self, old: Option<&Arc<K>>, new: Option<&Arc<K>>) {
        new.into_iter().for_each(|new| self.insert(new));
        old.into_iter().for_each(|old| self.remove(old));
    }
}

impl<K: Resource> Found<K> {
    fn objects(&self) -> Objects<'_, K> {
        match self {
            Found::One(object) => Objects::One(slice::from_ref(object).iter()),
            Found::Many(objects) => Objects::Many(objects.iter()),
        }
    }

    fn insert(&mut self, object: Arc<K>, hasher: &DefaultHashBuilder) {
        match self {
            Found::One(known) if key_of(known) == key_of(&object) => *known = object,
            Found::One(known) => {
                let mut objects = HashTable::new();
                put(&mut objects, Arc::clone(known), hasher);
                put(&mut objects, object, hasher);
                *self = Found::Many(objects);
            }
            Found::Many(objects) => drop(put(objects, object, hasher)),
        }
    }

    /// Whether nothing is left.
    fn remove(&mut self, object: &Arc<K>, hasher: &DefaultHashBuilder) -> bool {
        match self {
            Found::One(known) => Arc::ptr_eq(known, object),
            Found::Many(objects) => {
                let is_it = |known: &Arc<K>| Arc::ptr_eq(known, object);
                if let Ok(known) = objects.find_entry(hasher.hash_one(key_of(object)), is_it) {
                    known.remove();
                    fit(objects, |object| hasher.hash_one(key_of(object)));
                }
                objects.is_empty()
            }
        }
    }
}

/// Goes through the objects under a value.
enum Objects<'a, K> {
    One(slice::Iter<'a, Arc<K>>),
    Many(hash_table::Iter<'a, Arc<K>>),
}

impl<'a, K> Iterator for Objects<'a, K> {
    type Item = &'a Arc<K>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Objects::One(objects) => objects.next(),
            Objects::Many(objects) => objects.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Objects::One(objects) => objects.size_hint(),
            Objects::Many(objects) => objects.size_hint(),
        }
    }
}

impl<K> ExactSizeIterator for Objects<'_, K> {}
