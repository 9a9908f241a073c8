//! The keys of a sharded controller: which of them this replica processes.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::description::KindDescription;

use super::key_states::KeyStates;
use crate::{
    object::{ApiObject, ObjectKey},
    sharding::{Admission, Field, Participant, Sharding, Slot},
    store::Store,
};

type SlotFn = dyn Fn(&ObjectKey) -> Option<Slot> + Send + Sync;

/// The keys of a controller that are in the slots of this replica.
///
/// Guarantees:
/// - a key without an object is in the slot of the deleted object until its deletion is processed, and otherwise, by
///   UID, in none: an object that is added later is queued by its own event.
pub(super) struct ShardedKeys {
    pub(super) sharding: Sharding,
    /// Returns the slot of the object of a key, if it is in the cache.
    slot_in_cache: Box<SlotFn>,
    /// Contains the slots of deleted objects.
    states: Arc<KeyStates>,
}

impl ShardedKeys {
    /// Creates the keys of the controller of this name, whose objects are in this cache.
    pub(super) fn new<K: ApiObject>(
        controller: &str,
        sharding: Sharding,
        store: Store<K>,
        states: Arc<KeyStates>,
    ) -> Self {
        sharding.add_controller(controller);
        let field = sharding.field();
        let slot_in_cache = Box::new(move |key: &ObjectKey| Some(field.slot_of(store.get_by_key(key)?.meta())));
        ShardedKeys { sharding, slot_in_cache, states }
    }

    /// Returns whether this replica processes a key.
    pub(super) fn is_owned(&self, key: &ObjectKey) -> bool {
        self.slot(key).is_some_and(|slot| self.sharding.ownership().is_active(slot))
    }

    /// Starts the processing of a key, if this replica processes it.
    pub(super) fn admit(&self, key: &ObjectKey) -> Admission {
        self.slot(key).map_or(Admission::NotOwned, |slot| self.sharding.ownership().admit(slot))
    }

    /// Adds the controller to those that must run before slots are acquired.
    pub(super) fn participate(&self) -> Participant {
        self.sharding.ownership().participate()
    }

    /// Records the slot of an object that is no longer in the cache. Returns whether this replica processes its key.
    pub(super) fn object_deleted(&self, key: &ObjectKey, meta: &ObjectMeta) -> bool {
        let field = self.sharding.field();
        let slot = field.slot_of(meta);
        let is_owned = self.sharding.ownership().is_active(slot);
        if is_owned && field.slot_of_key(key).is_none() {
            self.states.set_deleted_slot(key, slot);
        }
        is_owned
    }

    fn slot(&self, key: &ObjectKey) -> Option<Slot> {
        let by_key = self.sharding.field().slot_of_key(key);
        by_key.or_else(|| (self.slot_in_cache)(key)).or_else(|| self.states.deleted_slot(key))
    }
}

/// The shardings of the watches of a controller. The first is that of the reconciled kind.
#[derive(Default)]
pub(super) struct ShardedWatches {
    watches: Vec<(KindDescription, Option<Sharding>)>,
    /// The sharding that was set for the keys.
    of_keys: Option<Sharding>,
}

impl ShardedWatches {
    pub(super) fn add(&mut self, kind: KindDescription, sharding: Option<Sharding>) {
        self.watches.push((kind, sharding));
    }

    pub(super) fn set(&mut self, sharding: &Sharding) {
        self.of_keys = Some(sharding.clone());
    }

    /// Returns the sharding of the keys.
    pub(super) fn sharding(&self) -> Option<Sharding> {
        self.of_keys.clone().or_else(|| self.watches.first()?.1.clone())
    }

    /// Returns why the caches would not contain what the reconciler needs, and what to change; `None` if they do.
    pub(super) fn conflict(&self) -> Option<String> {
        let (reconciled, _) = self.watches.first()?;
        let sharding = self.sharding();
        let field = sharding.as_ref().map(Sharding::field);
        if field == Some(Field::Namespace) && !reconciled.namespaced {
            let plural = &reconciled.plural;
            return Some(format!("`{plural}` have no namespace, so one replica would have all; shard them by UID"));
        }
        let conflict = |(kind, other): &(KindDescription, Option<Sharding>)| {
            let (plural, other) = (&kind.plural, other.as_ref()?);
            let is_same = sharding.as_ref().is_some_and(|sharding| sharding.is_same(other));
            match field {
                _ if !is_same => Some(format!(
                    "`{plural}` is sharded differently from `{}`; use one `Sharding` for both",
                    reconciled.plural
                )),
                Some(Field::Uid) if kind != reconciled => Some(format!(
                    "`{plural}` are sharded by UID, so their cache does not contain those of the reconciled `{}`; shard \
                     only these, or all by namespace",
                    reconciled.plural
                )),
                Some(Field::Namespace) if !kind.namespaced => Some(format!(
                    "`{plural}` have no namespace, so their cache is empty in most replicas; do not shard it"
                )),
                _ => None,
            }
        };
        self.watches.iter().find_map(conflict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leader_election::LeaderElectionConfig;

    fn kind(plural: &str, namespaced: bool) -> KindDescription {
        let (group, version, kind) = ("example.com".to_owned(), "v1".to_owned(), plural.to_owned());
        KindDescription { group, version, kind, plural: plural.to_owned(), namespaced }
    }

    fn conflict(watches: &[(&str, bool, Option<&Sharding>)]) -> Option<String> {
        let mut sharded = ShardedWatches::default();
        for (plural, namespaced, sharding) in watches {
            sharded.add(kind(plural, *namespaced), sharding.cloned());
        }
        sharded.conflict()
    }

    #[test]
    fn watches_whose_caches_would_be_incomplete_are_conflicts() {
        let config = || LeaderElectionConfig::new("web", "a");
        let (uid, namespace) = (Sharding::by_uid(config()), Sharding::by_namespace(config()));
        assert_eq!(conflict(&[("widgets", true, Some(&uid)), ("parts", true, None)]), None);
        assert_eq!(conflict(&[("widgets", true, Some(&namespace)), ("parts", true, Some(&namespace))]), None);
        assert_eq!(conflict(&[("widgets", false, Some(&uid))]), None);
        let children = conflict(&[("widgets", true, Some(&uid)), ("parts", true, Some(&uid))]).unwrap();
        assert!(children.contains("`parts` are sharded by UID") && children.contains("only these"), "{children}");
        let cluster = conflict(&[("widgets", false, Some(&namespace))]).unwrap();
        assert_eq!(cluster, "`widgets` have no namespace, so one replica would have all; shard them by UID");
        let watched = conflict(&[("widgets", true, Some(&namespace)), ("nodes", false, Some(&namespace))]).unwrap();
        assert!(watched.ends_with("; do not shard it"), "{watched}");
        let other = conflict(&[("widgets", true, None), ("parts", true, Some(&uid))]).unwrap();
        assert_eq!(other, "`parts` is sharded differently from `widgets`; use one `Sharding` for both");
    }
}
