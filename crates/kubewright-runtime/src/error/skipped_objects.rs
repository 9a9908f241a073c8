//! Objects that are skipped: they cannot be decoded, or their transform panics.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;

use super::ObjectError;
use crate::object::ObjectKey;

/// The maximum number of skipped objects whose error is stored. Of further ones only the key is stored.
const MAX_ERRORS: usize = 100;

/// The objects that are skipped at present. Clones share the set.
#[derive(Clone, Debug, Default)]
pub(crate) struct SkippedObjects(Arc<Mutex<Skipped>>);

#[derive(Debug, Default)]
struct Skipped {
    objects: BTreeMap<ObjectKey, Option<ObjectError>>,
    /// The number of stored errors.
    errors: usize,
}

impl SkippedObjects {
    /// Adds an object, or replaces its error. Returns whether it was not in the set.
    pub(crate) fn insert(&self, key: ObjectKey, error: ObjectError) -> bool {
        self.0.lock().insert(key, Some(error))
    }

    /// Removes an object that was decoded or deleted. Returns whether it was skipped.
    pub(crate) fn remove(&self, key: impl FnOnce() -> ObjectKey) -> bool {
        let mut skipped = self.0.lock();
        !skipped.objects.is_empty() && skipped.remove(&key())
    }

    /// Removes all objects of a namespace, or of all namespaces. Returns whether there were any.
    pub(crate) fn clear(&self, namespace: Option<&str>) -> bool {
        let mut skipped = self.0.lock();
        let before = skipped.objects.len();
        skipped.objects.retain(|key, _| namespace.is_some_and(|namespace| key.namespace() != namespace));
        skipped.errors = skipped.objects.values().flatten().count();
        before > skipped.objects.len()
    }

    /// Adds the objects of another set, and calls a function for each.
    pub(crate) fn append(&self, other: Self, each: impl Fn()) {
        let Skipped { objects, .. } = std::mem::take(&mut *other.0.lock());
        let mut skipped = self.0.lock();
        for (key, error) in objects {
            each();
            skipped.insert(key, error);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().objects.len()
    }

    /// Returns the stored errors, by object.
    pub(crate) fn errors(&self) -> Vec<ObjectError> {
        self.0.lock().objects.values().flatten().cloned().collect()
    }
}

impl Skipped {
    fn insert(&mut self, key: ObjectKey, error: Option<ObjectError>) -> bool {
        let is_known = self.remove(&key);
        let error = error.filter(|_| self.errors < MAX_ERRORS);
        self.errors += usize::from(error.is_some());
        self.objects.insert(key, error);
        !is_known
    }

    fn remove(&mut self, key: &ObjectKey) -> bool {
        let removed = self.objects.remove(key);
        self.errors -= usize::from(matches!(removed, Some(Some(_))));
        removed.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::UserCodePanicked;

    fn key(number: usize) -> ObjectKey {
        ObjectKey::namespaced(["a", "b"][number % 2], &number.to_string())
    }

    fn insert(skipped: &SkippedObjects, number: usize) {
        let panicked = UserCodePanicked::new("the transform", Some(key(number)), "failed".to_owned());
        skipped.insert(key(number), panicked.into());
    }

    #[test]
    fn all_skipped_objects_are_counted_and_the_number_of_errors_is_bounded() {
        let skipped = SkippedObjects::default();
        (0..300).chain(0..300).for_each(|number| insert(&skipped, number));
        assert_eq!((skipped.len(), skipped.errors().len()), (300, MAX_ERRORS));
        assert!((0..300).all(|number| skipped.remove(|| key(number))));
        assert!(!skipped.remove(|| key(0)));
        insert(&skipped, 7);
        assert_eq!((skipped.len(), skipped.errors().len()), (1, 1));
    }

    #[test]
    fn a_namespace_is_cleared_without_the_others() {
        let skipped = SkippedObjects::default();
        (0..4).for_each(|number| insert(&skipped, number));
        assert!(skipped.clear(Some("a")) && !skipped.clear(Some("a")));
        assert_eq!((skipped.len(), skipped.errors().len()), (2, 2));
        assert!(skipped.clear(None));
        assert_eq!(skipped.len(), 0);
    }
}
