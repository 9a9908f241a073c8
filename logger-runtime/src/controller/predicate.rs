//! Which events of a watch count.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use kube::Resource;

use crate::informer::Event;

/// Says of an event whether a controller should hear of it. Cloning shares it.
///
/// The ready ones speak of updates only: what comes and what goes always counts, or a controller would miss objects.
pub struct Predicate<K>(Arc<Is<K>>);

type Is<K> = dyn Fn(&Event<K>) -> bool + Send + Sync;

impl<K> Predicate<K> {
    /// One of your own. It is asked on the informer's side, so it must be quick.
    pub fn new(is: impl Fn(&Event<K>) -> bool + Send + Sync + 'static) -> Self {
        Predicate(Arc::new(is))
    }

    /// Whether this event counts.
    pub fn is_met(&self, event: &Event<K>) -> bool {
        (self.0)(event)
    }

    /// Both must be met.
    #[must_use]
    pub fn and(self, other: Self) -> Self
    where
        K: 'static,
    {
        Self::new(move |event| self.is_met(event) && other.is_met(event))
    }

    /// One must be met.
    #[must_use]
    pub fn or(self, other: Self) -> Self
    where
        K: 'static,
    {
        Self::new(move |event| self.is_met(event) || other.is_met(event))
    }

    fn updated(is: impl Fn(&K, &K) -> bool + Send + Sync + 'static) -> Self {
        Self::new(move |event| match event {
            Event::Updated { old, new } => is(old, new),
            Event::Added { .. } | Event::Deleted { .. } => true,
        })
    }
}

impl<K: Resource> Predicate<K> {
    /// The spec changed, or deletion began: not when only status, labels, annotations, finalizers or owners did.
    ///
    /// The server counts generations for most kinds; custom resources need the status subresource for it. An object without a
    /// generation, such as a ConfigMap, counts whenever it changed: controller-runtime would never hear of it.
    pub fn generation_changed() -> Self {
        Self::updated(|old, new| {
            let generation = new.meta().generation;
            generation.is_none() || generation != old.meta().generation || is_another(old, new)
        })
    }

    /// The labels changed.
    pub fn labels_changed() -> Self {
        Self::updated(|old, new| !is_same(&old.meta().labels, &new.meta().labels) || is_another(old, new))
    }

    /// The annotations changed.
    pub fn annotations_changed() -> Self {
        Self::updated(|old, new| !is_same(&old.meta().annotations, &new.meta().annotations) || is_another(old, new))
    }

    /// The finalizers changed. kube's `finalizer` adds one and returns, and waits to be called again for that.
    pub fn finalizers_changed() -> Self {
        let finalizers = |object: &K| object.meta().finalizers.clone().unwrap_or_default();
        Self::updated(move |old, new| finalizers(old) != finalizers(new) || is_another(old, new))
    }

    /// Anything changed: not when an informer only tells again what it holds.
    pub fn version_changed() -> Self {
        Self::updated(|old, new| old.meta().resource_version != new.meta().resource_version)
    }
}

/// Deleted and made anew, while only the last state was seen.
fn is_another<K: Resource>(old: &K, new: &K) -> bool {
    old.meta().uid != new.meta().uid
}

/// None and an empty map are the same to the server.
fn is_same(old: &Option<BTreeMap<String, String>>, new: &Option<BTreeMap<String, String>>) -> bool {
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
    use k8s_openapi::api::core::v1::ConfigMap;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

    use super::*;

    fn object(change: impl FnOnce(&mut ObjectMeta)) -> Arc<ConfigMap> {
        let mut object = ConfigMap::default();
        object.metadata.generation = Some(1);
        change(&mut object.metadata);
        Arc::new(object)
    }

    fn updated(change: impl FnOnce(&mut ObjectMeta)) -> Event<ConfigMap> {
        Event::Updated { old: object(|_| {}), new: object(change) }
    }

    fn map() -> Option<BTreeMap<String, String>> {
        Some(BTreeMap::from([("a".to_owned(), "b".to_owned())]))
    }

    fn is(predicate: &Predicate<ConfigMap>, change: impl FnOnce(&mut ObjectMeta)) -> bool {
        predicate.is_met(&updated(change))
    }

    #[test]
    fn each_hears_of_its_own_change_and_of_an_object_made_anew() {
        let (generation, labels) = (Predicate::generation_changed(), Predicate::labels_changed());
        let annotations = Predicate::annotations_changed();
        for (predicate, expected) in [(&generation, [true, false, false]), (&labels, [false, true, false])] {
            let met = [
                is(predicate, |meta| meta.generation = Some(2)),
                is(predicate, |meta| meta.labels = map()),
                is(predicate, |meta| meta.annotations = map()),
            ];
            assert_eq!(met, expected);
            assert!(is(predicate, |meta| meta.uid = Some("another".to_owned())));
        }
        assert!(is(&annotations, |meta| meta.annotations = map()) && !is(&annotations, |meta| meta.labels = map()));
        assert!(!is(&labels, |meta| meta.labels = Some(BTreeMap::new())), "an empty map is none");
        let finalizers = Predicate::finalizers_changed();
        assert!(is(&finalizers, |meta| meta.finalizers = Some(vec!["a/b".to_owned()])));
        assert!(
            !is(&finalizers, |meta| meta.finalizers = Some(Vec::new())) && !is(&finalizers, |meta| meta.labels = map())
        );
    }

    #[test]
    fn an_object_without_a_generation_counts_whenever_it_changed() {
        assert!(is(&Predicate::generation_changed(), |meta| meta.generation = None));
    }

    #[test]
    fn what_is_only_told_again_is_no_change_of_version() {
        let predicate = Predicate::version_changed();
        assert!(!is(&predicate, |_| {}) && is(&predicate, |meta| meta.resource_version = Some("2".to_owned())));
    }

    #[test]
    fn what_comes_and_goes_always_counts() {
        let both = || Predicate::<ConfigMap>::generation_changed().and(Predicate::labels_changed());
        assert!(both().is_met(&Event::Added { object: object(|_| {}), initial: false }));
        assert!(both().is_met(&Event::Deleted { object: object(|_| {}), final_state_unknown: true }));
    }

    #[test]
    fn and_wants_both_or_wants_one() {
        let (generation, labels) = (Predicate::<ConfigMap>::generation_changed(), Predicate::labels_changed());
        let (both, one) = (generation.clone().and(labels.clone()), generation.or(labels));
        assert!(is(&one, |meta| meta.labels = map()) && !is(&both, |meta| meta.labels = map()));
        assert!(!is(&one, |meta| meta.annotations = map()));
        assert!(is(&both, |meta| (meta.generation, meta.labels) = (Some(2), map())));
    }
}
