//! Predicates: filters on the events of a watch.

use std::{collections::BTreeMap, fmt, sync::Arc};

use kube::Resource;

use crate::informer::Event;

/// A filter on the events of a watch. Clones share it.
///
/// The predefined predicates only filter updates: additions and deletions always match, as a controller would otherwise
/// miss objects.
pub struct Predicate<K>(Arc<Filter<K>>);

type Filter<K> = dyn Fn(&Event<K>) -> bool + Send + Sync;

impl<K> Predicate<K> {
    /// Creates a custom predicate. It runs in the handler of the informer's events, so it must be fast. An event for
    /// which it panics matches, and the panic is reported by the informer.
    pub fn new(matches: impl Fn(&Event<K>) -> bool + Send + Sync + 'static) -> Self {
        Predicate(Arc::new(matches))
    }

    /// Returns whether this event matches.
    pub fn matches(&self, event: &Event<K>) -> bool {
        (self.0)(event)
    }

    /// Combines two predicates that must both match.
    #[must_use]
    pub fn and(self, other: Self) -> Self
    where
        K: 'static,
    {
        Self::new(move |event| self.matches(event) && other.matches(event))
    }

    /// Combines two predicates of which one must match.
    #[must_use]
    pub fn or(self, other: Self) -> Self
    where
        K: 'static,
    {
        Self::new(move |event| self.matches(event) || other.matches(event))
    }

    fn updates(matches: impl Fn(&K, &K) -> bool + Send + Sync + 'static) -> Self {
        Self::new(move |event| match event {
            Event::Updated { old, new } => matches(old, new),
            Event::Added { .. } | Event::Deleted { .. } => true,
        })
    }
}

impl<K: Resource> Predicate<K> {
    /// Matches updates of the spec and the start of a deletion, but not updates of only the status, labels,
    /// annotations, finalizers or owners.
    ///
    /// The server increments the generation of most kinds; custom resources need the status subresource for it. An
    /// object without a generation, such as a ConfigMap, matches at every update; controller-runtime would filter all
    /// of them.
    pub fn generation_changed() -> Self {
        Self::updates(|old, new| {
            let generation = new.meta().generation;
            generation.is_none() || generation != old.meta().generation || is_recreated(old, new)
        })
    }

    /// Matches updates of the labels.
    pub fn labels_changed() -> Self {
        Self::updates(|old, new| !is_equal(&old.meta().labels, &new.meta().labels) || is_recreated(old, new))
    }

    /// Matches updates of the finalizers. kube's `finalizer` needs it: it adds a finalizer, returns, and expects
    /// another call.
    pub fn finalizers_changed() -> Self {
        let finalizers = |object: &K| object.meta().finalizers.clone().unwrap_or_default();
        Self::updates(move |old, new| finalizers(old) != finalizers(new) || is_recreated(old, new))
    }
}

/// Returns whether the object was deleted and recreated unnoticed.
fn is_recreated<K: Resource>(old: &K, new: &K) -> bool {
    old.meta().uid != new.meta().uid
}

/// Compares maps. `None` and an empty map are equal, as in the server.
fn is_equal(old: &Option<BTreeMap<String, String>>, new: &Option<BTreeMap<String, String>>) -> bool {
    let count = |map: &Option<BTreeMap<_, _>>| map.as_ref().map_or(0, BTreeMap::len);
    old == new || count(old) + count(new) == 0
}

impl<K> Clone for Predicate<K> {
    fn clone(&self) -> Self {
        Predicate(Arc::clone(&self.0))
    }
}

impl<K> fmt::Debug for Predicate<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Predicate")
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};

    use super::*;

    fn object(change: impl FnOnce(&mut ObjectMeta)) -> Arc<ConfigMap> {
        let mut object = ConfigMap::default();
        object.metadata.generation = Some(1);
        change(&mut object.metadata);
        Arc::new(object)
    }

    fn update(change: impl FnOnce(&mut ObjectMeta)) -> Event<ConfigMap> {
        Event::Updated { old: object(|_| {}), new: object(change) }
    }

    fn map() -> Option<BTreeMap<String, String>> {
        Some(BTreeMap::from([("a".to_owned(), "b".to_owned())]))
    }

    fn matches(predicate: &Predicate<ConfigMap>, change: impl FnOnce(&mut ObjectMeta)) -> bool {
        predicate.matches(&update(change))
    }

    #[test]
    fn each_predicate_matches_its_change_and_a_recreated_object() {
        let (generation, labels) = (Predicate::generation_changed(), Predicate::labels_changed());
        for (predicate, expected) in [(&generation, [true, false, false]), (&labels, [false, true, false])] {
            let matched = [
                matches(predicate, |meta| meta.generation = Some(2)),
                matches(predicate, |meta| meta.labels = map()),
                matches(predicate, |meta| meta.annotations = map()),
            ];
            assert_eq!(matched, expected);
            assert!(matches(predicate, |meta| meta.uid = Some("another".to_owned())));
        }
        assert!(!matches(&labels, |meta| meta.labels = Some(BTreeMap::new())), "an empty map equals none");
        let finalizers = Predicate::finalizers_changed();
        assert!(matches(&finalizers, |meta| meta.finalizers = Some(vec!["a/b".to_owned()])));
        assert!(
            !matches(&finalizers, |meta| meta.finalizers = Some(Vec::new()))
                && !matches(&finalizers, |meta| meta.labels = map())
        );
    }

    #[test]
    fn an_object_without_a_generation_matches_at_every_update() {
        assert!(matches(&Predicate::generation_changed(), |meta| meta.generation = None));
    }

    #[test]
    fn additions_and_deletions_always_match() {
        let both = || Predicate::<ConfigMap>::generation_changed().and(Predicate::labels_changed());
        assert!(both().matches(&Event::Added { object: object(|_| {}), initial: false }));
        assert!(both().matches(&Event::Deleted { object: object(|_| {}), final_state_unknown: true }));
    }

    #[test]
    fn and_requires_both_and_or_requires_one() {
        let (generation, labels) = (Predicate::<ConfigMap>::generation_changed(), Predicate::labels_changed());
        let (both, either) = (generation.clone().and(labels.clone()), generation.or(labels));
        assert!(matches(&either, |meta| meta.labels = map()) && !matches(&both, |meta| meta.labels = map()));
        assert!(!matches(&either, |meta| meta.annotations = map()));
        assert!(matches(&both, |meta| (meta.generation, meta.labels) = (Some(2), map())));
    }
}
