//! Garbage collection of one object: by its owners, and by its dependents.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{DeleteOptions, OwnerReference};

use super::{GarbageCollector, ObjectKey, has};
use crate::{
    api::object::{Object, Stored},
    lifecycle::{
        commit,
        deletion::{self, FOREGROUND, ORPHAN},
    },
    resource::registry::Resource,
    storage::state::State,
};

/// Returns the UIDs of the owner references of an object.
pub(super) fn uids(object: &Object) -> impl Iterator<Item = &str> {
    references(object).iter().map(|owner| owner.uid.as_str())
}

/// Returns whether a change preserves the owner references. An object that does not exist has none.
pub(super) fn are_the_same(before: Option<&Object>, after: Option<&Object>) -> bool {
    before.map_or(&[][..], references) == after.map_or(&[][..], references)
}

/// Returns the keys of the owners of an object, whether they exist or not.
pub(super) fn keys(state: &State, object: &Object) -> Vec<ObjectKey> {
    references(object).iter().filter_map(|owner| key(state, object, owner)).collect()
}

fn references(object: &Object) -> &[OwnerReference] {
    object.metadata.owner_references.as_deref().unwrap_or_default()
}

/// Resolves an owner reference. Returns `None` for a kind that is not served, and for a namespaced owner of a
/// cluster-scoped object.
fn key(state: &State, object: &Object, owner: &OwnerReference) -> Option<ObjectKey> {
    let kind = state.registry.named(&owner.api_version, &owner.kind)?;
    let namespace = match object.namespace() {
        "" if kind.namespaced => return None,
        namespace if kind.namespaced => namespace,
        _ => "",
    };
    Some(ObjectKey { resource: kind.storage_key().into(), namespace: namespace.to_owned(), name: owner.name.clone() })
}

/// The owners of an object, by their state (`classifyReferences` of the garbage collector).
#[derive(Debug, Default)]
struct Owners {
    /// The number of owners that exist and are not waiting for dependents.
    solid: usize,
    /// The UIDs of owners that do not exist.
    dangling: Vec<String>,
    /// The UIDs of owners that wait for their dependents.
    waiting: Vec<String>,
}

impl Owners {
    /// Returns `None` if an owner cannot be resolved.
    fn from_object(state: &State, object: &Object) -> Option<Self> {
        let mut owners = Self::default();
        for reference in references(object) {
            let uid = reference.uid.clone();
            match key(state, object, reference)?.object(state).filter(|owner| owner.uid() == uid) {
                None => owners.dangling.push(uid),
                Some(owner) if owner.is_terminating() && has(&owner, FOREGROUND) => owners.waiting.push(uid),
                Some(_) => owners.solid += 1,
            }
        }
        Some(owners)
    }
}

impl GarbageCollector {
    /// Processes an object (`attemptToDeleteItem`).
    pub(super) fn process(&self, state: &mut State, key: &ObjectKey) {
        let (Some(object), Some(kind)) = (key.object(state), state.registry.of_resource(&key.resource)) else {
            return;
        };
        if !object.is_terminating() {
            self.attempt_to_delete(state, &kind, &object);
        } else if has(&object, ORPHAN) {
            self.orphan(state, &kind, &object);
        } else if has(&object, FOREGROUND) && !self.is_blocked(state, &object) {
            remove_finalizer(state, &kind, &object, FOREGROUND);
        }
    }

    /// Deletes an object without a remaining owner; removes references to absent owners otherwise.
    fn attempt_to_delete(&self, state: &mut State, kind: &Resource, object: &Stored) {
        let Some(owners) = Owners::from_object(state, object).filter(|_| !references(object).is_empty()) else {
            return;
        };
        let stale: Vec<String> = owners.dangling.iter().chain(&owners.waiting).cloned().collect();
        if owners.solid > 0 {
            if !stale.is_empty() {
                remove_owner_references(state, kind, object, &stale);
            }
            return;
        }
        if !owners.waiting.is_empty() && self.dependents_of(object).next().is_some() {
            self.delete_in_foreground(state, kind, object);
            return;
        }
        let policy = [(ORPHAN, "Orphan"), (FOREGROUND, "Foreground")].into_iter().find(|(name, _)| has(object, name));
        delete(state, kind, object, policy.map_or("Background", |(_, policy)| policy));
    }

    /// Deletes an object that blocks its owners and has dependents itself. If a dependent is waiting as well, this
    /// breaks the cycle: the object no longer blocks its owners.
    fn delete_in_foreground(&self, state: &mut State, kind: &Resource, object: &Stored) {
        let is_waiting = |key: &ObjectKey| {
            key.object(state).is_some_and(|dependent| dependent.is_terminating() && has(&dependent, FOREGROUND))
        };
        let mut object = object.clone();
        if self.dependents_of(&object).any(is_waiting) {
            let mut updated = Object::clone(&object);
            for owner in updated.metadata.owner_references.iter_mut().flatten() {
                owner.block_owner_deletion = Some(false);
            }
            if updated != *object {
                object = state.store.put(&kind.group_resource(), updated);
            }
        }
        delete(state, kind, &object, "Foreground");
    }

    /// Returns whether an existing dependent blocks the deletion of the owner.
    fn is_blocked(&self, state: &State, owner: &Object) -> bool {
        let blocks = |dependent: Stored| {
            let mut references = references(&dependent).iter().filter(|reference| reference.uid == owner.uid());
            references.any(|reference| reference.block_owner_deletion == Some(true))
        };
        self.dependents_of(owner).filter_map(|key| key.object(state)).any(blocks)
    }

    /// Removes the owner references of all dependents, and then the `orphan` finalizer.
    fn orphan(&self, state: &mut State, kind: &Resource, owner: &Stored) {
        let uid = owner.uid().to_owned();
        let dependents: Vec<ObjectKey> = self.dependents_of(owner).cloned().collect();
        for key in dependents {
            if let (Some(object), Some(kind)) = (key.object(state), state.registry.of_resource(&key.resource)) {
                remove_owner_references(state, &kind, &object, std::slice::from_ref(&uid));
            }
        }
        remove_finalizer(state, kind, owner, ORPHAN);
    }
}

fn delete(state: &mut State, kind: &Resource, object: &Stored, policy: &str) {
    let options = DeleteOptions { propagation_policy: Some(policy.to_owned()), ..DeleteOptions::default() };
    // An object that cannot be converted remains.
    drop(deletion::delete(state, kind, object, &options));
}

/// Removes owner references of an object.
fn remove_owner_references(state: &mut State, kind: &Resource, object: &Stored, uids: &[String]) {
    let mut updated = Object::clone(object);
    let owners = updated.metadata.owner_references.get_or_insert_default();
    owners.retain(|owner| !uids.contains(&owner.uid));
    if owners.is_empty() {
        updated.metadata.owner_references = None;
    }
    state.store.put(&kind.group_resource(), updated);
}

/// Removes a finalizer, and the object if this was its last finalizer.
fn remove_finalizer(state: &mut State, kind: &Resource, object: &Stored, finalizer: &str) {
    let mut updated = Object::clone(object);
    let finalizers = updated.metadata.finalizers.get_or_insert_default();
    finalizers.retain(|other| other != finalizer);
    if finalizers.is_empty() {
        updated.metadata.finalizers = None;
    }
    commit::commit(state, kind, updated);
}
