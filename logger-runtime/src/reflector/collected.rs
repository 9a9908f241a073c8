//! The objects that are told one by one until they are all there.

use std::collections::HashMap;
use std::sync::Arc;

use kube::Resource;

use crate::key::ObjectKey;

/// Objects of pages, or of the beginning of a watch.
///
/// Almost always each comes once. Places are only noted when an object changes or goes while others still come.
#[derive(Debug)]
pub(super) struct Collected<K> {
    objects: Vec<Arc<K>>,
    places: Option<HashMap<ObjectKey, usize>>,
}

impl<K> Default for Collected<K> {
    fn default() -> Self {
        Collected { objects: Vec::new(), places: None }
    }
}

impl<K: Resource> Collected<K> {
    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    /// All that came; nothing is left here.
    pub(super) fn take(&mut self) -> Vec<Arc<K>> {
        self.places = None;
        std::mem::take(&mut self.objects)
    }

    /// One that was not there yet.
    pub(super) fn add(&mut self, object: Arc<K>) {
        match self.places {
            Some(_) => self.put(object),
            None => self.objects.push(object),
        }
    }

    /// One that may have been there.
    pub(super) fn put(&mut self, object: Arc<K>) {
        let key = ObjectKey::of(&*object);
        let place = self.places().get(&key).copied();
        if let Some(known) = place.and_then(|place| self.objects.get_mut(place)) {
            *known = object;
            return;
        }
        let place = self.objects.len();
        self.places().insert(key, place);
        self.objects.push(object);
    }

    /// One that is gone.
    pub(super) fn remove(&mut self, object: &K) {
        let Some(place) = self.places().remove(&ObjectKey::of(object)) else {
            return;
        };
        self.objects.swap_remove(place);
        if let Some(moved) = self.objects.get(place).map(|object| ObjectKey::of(&**object)) {
            self.places().insert(moved, place);
        }
    }

    fn places(&mut self) -> &mut HashMap<ObjectKey, usize> {
        let places = |(place, object): (usize, &Arc<K>)| (ObjectKey::of(&**object), place);
        self.places.get_or_insert_with(|| self.objects.iter().enumerate().map(places).collect())
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    fn named(name: &str, version: &str) -> Arc<ConfigMap> {
        let mut object = ConfigMap::default();
        object.metadata.name = Some(name.into());
        object.metadata.resource_version = Some(version.into());
        Arc::new(object)
    }

    fn versions(collected: &mut Collected<ConfigMap>) -> Vec<(String, String)> {
        let meta = |object: &Arc<ConfigMap>| object.metadata.clone();
        let name = |object| (meta(object).name.unwrap(), meta(object).resource_version.unwrap());
        let mut all: Vec<_> = collected.take().iter().map(name).collect();
        all.sort();
        all
    }

    #[test]
    fn r09_what_changes_or_goes_while_the_rest_comes_is_as_it_was_last() {
        let mut collected = Collected::default();
        ["a", "b", "c"].iter().for_each(|name| collected.add(named(name, "1")));
        collected.put(named("b", "4"));
        collected.remove(&named("a", "5"));
        collected.remove(&named("unknown", "5"));
        collected.add(named("d", "6"));
        collected.add(named("a", "7"));
        collected.remove(&named("c", "8"));
        let left = [("a", "7"), ("b", "4"), ("d", "6")].map(|(name, version)| (name.to_owned(), version.to_owned()));
        assert_eq!(versions(&mut collected), left);
        assert_eq!(collected.len(), 0);
    }
}
