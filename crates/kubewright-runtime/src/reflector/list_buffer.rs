//! A buffer for the objects of a list that is not complete yet.

use std::collections::HashMap;

use kube::Resource;

use crate::{memory::Stored, object::ObjectKey};

/// The objects of a paginated or streamed list.
///
/// Almost always each object is added once. Positions are only indexed when an object changes or is deleted meanwhile.
#[derive(Debug)]
pub(super) struct ListBuffer<K> {
    objects: Vec<Stored<K>>,
    positions: Option<HashMap<ObjectKey, usize>>,
}

impl<K> Default for ListBuffer<K> {
    fn default() -> Self {
        ListBuffer { objects: Vec::new(), positions: None }
    }
}

impl<K: Resource> ListBuffer<K> {
    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    /// Empties the buffer and returns its objects.
    pub(super) fn take(&mut self) -> Vec<Stored<K>> {
        self.positions = None;
        std::mem::take(&mut self.objects)
    }

    /// Adds an object that is not in the buffer.
    pub(super) fn push(&mut self, object: Stored<K>) {
        match self.positions {
            Some(_) => self.upsert(object),
            None => self.objects.push(object),
        }
    }

    /// Adds or replaces an object.
    pub(super) fn upsert(&mut self, object: Stored<K>) {
        let key = object.object_key();
        let position = self.positions().get(&key).copied();
        if let Some(known) = position.and_then(|position| self.objects.get_mut(position)) {
            *known = object;
            return;
        }
        let position = self.objects.len();
        self.positions().insert(key, position);
        self.objects.push(object);
    }

    /// Adds the last known state of an object that is skipped, unless the buffer has a state of it.
    pub(super) fn add_last_known(&mut self, object: Stored<K>) {
        if !self.positions().contains_key(&object.object_key()) {
            self.upsert(object);
        }
    }

    /// Removes a deleted object.
    pub(super) fn remove(&mut self, key: &ObjectKey) {
        let Some(position) = self.positions().remove(key) else {
            return;
        };
        self.objects.swap_remove(position);
        if let Some(moved) = self.objects.get(position).map(Stored::object_key) {
            self.positions().insert(moved, position);
        }
    }

    fn positions(&mut self) -> &mut HashMap<ObjectKey, usize> {
        let positions = |(position, object): (usize, &Stored<K>)| (object.object_key(), position);
        self.positions.get_or_insert_with(|| self.objects.iter().enumerate().map(positions).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    fn named(name: &str, version: &str) -> Stored<ConfigMap> {
        let mut object = ConfigMap::default();
        object.metadata.name = Some(name.into());
        object.metadata.resource_version = Some(version.into());
        Arc::new(object).into()
    }

    fn versions(buffer: &mut ListBuffer<ConfigMap>) -> Vec<(String, String)> {
        let name = |object: &Stored<ConfigMap>| (object.key().1.to_owned(), object.version().unwrap().to_owned());
        let mut all: Vec<_> = buffer.take().iter().map(name).collect();
        all.sort();
        all
    }

    #[test]
    fn r09_objects_that_change_or_are_deleted_during_a_list_have_their_last_state() {
        let mut buffer = ListBuffer::default();
        ["a", "b", "c"].iter().for_each(|name| buffer.push(named(name, "1")));
        buffer.upsert(named("b", "4"));
        buffer.remove(&ObjectKey::cluster("a"));
        buffer.remove(&ObjectKey::cluster("unknown"));
        buffer.push(named("d", "6"));
        buffer.push(named("a", "7"));
        buffer.remove(&ObjectKey::cluster("c"));
        buffer.add_last_known(named("d", "2"));
        buffer.add_last_known(named("e", "3"));
        let expected = [("a", "7"), ("b", "4"), ("d", "6"), ("e", "3")]
            .map(|(name, version)| (name.to_owned(), version.to_owned()));
        assert_eq!(versions(&mut buffer), expected);
        assert_eq!(buffer.len(), 0);
    }
}
