//! Updates the ownership of fields on writes, and applies configurations.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use serde_json::Value;

use super::{
    check::{Duplicates, check},
    collect::collect,
    compare::{Comparison, compare},
    conflict::Conflicts,
    last_applied::ignored_fields,
    managers::{Manager, Managers, Operation, Owned, cap},
    merge::merge,
    path::fields,
    reconcile::reconcile,
    remove::{with_named_fields, without},
    set::FieldSet,
    types::Type,
};
use crate::api::object::now;

/// The manager of fields that had none before the first apply.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Fields that are never owned: they are set by the server, or identify the object.
static NEVER_OWNED: LazyLock<FieldSet> = LazyLock::new(|| {
    let metadata = [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    ];
    let roots = ["apiVersion", "kind", "metadata"].map(|name| fields(&[name]));
    FieldSet::from_paths(roots.into_iter().chain(metadata.map(|name| fields(&["metadata", name]))))
});

/// Converts an object to an `apiVersion`.
pub(crate) type Convert<'a> = dyn Fn(&Value, &str) -> Result<Value, String> + 'a;

/// The parameters of a write that determine ownership.
pub(crate) struct Writer<'a> {
    pub(crate) name: &'a str,
    /// The version of the written object.
    pub(crate) api_version: &'a str,
    /// Empty for the main resource.
    pub(crate) subresource: &'a str,
    /// The type by version.
    pub(crate) types: &'a BTreeMap<String, Type>,
    /// The fields that the endpoint does not change, by version.
    pub(crate) reset: &'a BTreeMap<String, FieldSet>,
    /// Whether an unknown version is an error. Otherwise its managers are removed.
    pub(crate) versions_are_known: bool,
    /// Converts an object to another version.
    pub(crate) convert: &'a Convert<'a>,
}

/// The error of an apply.
#[derive(Debug)]
pub(crate) enum Failure {
    Conflicts(Conflicts),
    Internal(String),
}

impl From<String> for Failure {
    fn from(error: String) -> Self {
        Self::Internal(error)
    }
}

impl Writer<'_> {
    /// Returns the managers after `new` replaces `live`.
    pub(crate) fn update(&self, live: &Value, new: &Value, managers: Managers) -> Result<Managers, String> {
        let type_ = self.type_of(self.api_version)?;
        check(new, type_, Duplicates::Allowed)
            .map_err(|error| format!("failed to create typed new object: {error}"))?;
        check(live, type_, Duplicates::Allowed)
            .map_err(|error| format!("failed to create typed live object: {error}"))?;
        self.update_as(self.name, live, new, managers)
    }

    /// As [`update`](Self::update), for a manager with this name.
    fn update_as(&self, name: &str, live: &Value, new: &Value, managers: Managers) -> Result<Managers, String> {
        let mut managers = self.reconciled(managers)?;
        let changes = self.changes(live, new, &mut managers, None)?;
        let mut taken = changes.get(self.api_version).map(Comparison::written).unwrap_or_default();
        self.remove_reset_fields(&mut taken);
        taken.subtract(&NEVER_OWNED);
        release_changed(&mut managers, &changes, None);
        if !taken.is_empty() {
            let manager = Manager::new(name, Operation::Update, self.api_version, self.subresource);
            let mut set = managers.remove(&manager).map(|owned| owned.set).unwrap_or_default();
            set.merge(taken);
            managers.insert(manager, Owned { set, api_version: self.api_version.to_owned(), time: Some(now()) });
        }
        cap(&mut managers);
        Ok(managers)
    }

    /// Applies a configuration to the live object. Returns the result, or `None` if nothing changes, and the managers.
    /// Both are typed.
    pub(crate) fn apply(
        &self,
        live: &Value,
        applied: &Value,
        managers: Managers,
        force: bool,
    ) -> Result<(Option<Value>, Managers), Failure> {
        let type_ = self.type_of(self.api_version)?;
        let mut managers = self.reconciled(managers)?;
        let manager = Manager::new(self.name, Operation::Apply, self.api_version, self.subresource);
        let last = managers.remove(&manager);
        let mut set = collect(applied, type_);
        self.remove_reset_fields(&mut set);
        let time = last.as_ref().and_then(|last| last.time.clone());
        managers.insert(manager.clone(), Owned { set, api_version: self.api_version.to_owned(), time });
        let merged = merge(live, applied, type_);
        let merged = match last.filter(|last| !last.set.is_empty()) {
            Some(last) => self.pruned(&merged, &last, &managers)?,
            None => merged,
        };
        let changes = self.changes(live, &merged, &mut managers, Some(&manager))?;
        let ignored = || ignored_fields(self.name, live, type_);
        if !force && let Some(found) = Conflicts::find(&managers, &changes, &manager, &ignored()) {
            return Err(Failure::Conflicts(found));
        }
        release_changed(&mut managers, &changes, Some(&manager));
        let outcome = Some(merged).filter(|merged| merged != live);
        finish_apply(&manager, outcome.is_some(), &mut managers);
        Ok((outcome, managers))
    }

    /// Returns the managers before an apply: an object without managers gets one for all its fields.
    pub(crate) fn before_apply(&self, live: &Value, empty: &Value, managers: Managers) -> Result<Managers, String> {
        if managers.is_empty() { self.update_as(BEFORE_FIRST_APPLY, empty, live, managers) } else { Ok(managers) }
    }

    /// Returns the comparison in each version. Managers of unknown versions are removed.
    fn changes(
        &self,
        live: &Value,
        new: &Value,
        managers: &mut Managers,
        current: Option<&Manager>,
    ) -> Result<BTreeMap<String, Comparison>, String> {
        let mut changes = BTreeMap::new();
        let others = managers.iter().filter(|(manager, _)| Some(*manager) != current);
        let versions = others.map(|(_, owned)| owned.api_version.as_str()).chain([self.api_version]);
        for version in versions.collect::<BTreeSet<_>>() {
            let Some(type_) = self.known_type(version)? else {
                continue;
            };
            let old =
                self.converted(live, version).map_err(|error| format!("failed to convert old object: {error}"))?;
            let new = self.converted(new, version).map_err(|error| format!("failed to convert new object: {error}"))?;
            let mut comparison = compare(&old, &new, type_);
            if let Some(reset) = self.reset.get(version) {
                comparison.exclude(reset);
            }
            changes.insert(version.to_owned(), comparison);
        }
        managers.retain(|_, owned| changes.contains_key(&owned.api_version));
        Ok(changes)
    }

    /// Removes fields that the manager no longer applies, unless another manager owns them.
    fn pruned(&self, merged: &Value, last: &Owned, managers: &Managers) -> Result<Value, String> {
        let version = &last.api_version;
        let Some(type_) = self.known_type(version)? else {
            return Ok(merged.clone());
        };
        let merged = self.converted(merged, version)?;
        let named = |set: &FieldSet| with_named_fields(set, Some(type_));
        let pruned = without(&merged, &named(&last.set), type_);
        let pruned = self.add_back_owned(&merged, pruned, version, managers)?;
        // Fields that this manager did not own are retained.
        let removed = named(&collect(&merged, type_)).difference(&named(&collect(&pruned, type_)));
        let pruned = without(&merged, &removed.intersection(&named(&last.set)), type_);
        self.converted(&pruned, self.api_version).map(Cow::into_owned)
    }

    /// Restores fields that any manager owns, this one included (`addBackOwnedItems`).
    fn add_back_owned(
        &self,
        merged: &Value,
        mut pruned: Value,
        first: &str,
        managers: &Managers,
    ) -> Result<Value, String> {
        let mut owned: BTreeMap<&str, FieldSet> = BTreeMap::new();
        for manager_fields in managers.values() {
            let set = owned.entry(&manager_fields.api_version).or_default();
            *set = set.union(&manager_fields.set);
        }
        let first_owned = owned.remove_entry(first);
        for (version, owned) in first_owned.into_iter().chain(owned) {
            let Some(type_) = self.known_type(version)? else {
                continue;
            };
            let named = |set: &FieldSet| with_named_fields(set, Some(type_));
            let (object, rest) = (self.converted(merged, version)?, self.converted(&pruned, version)?);
            let retained = named(&collect(&rest, type_)).union(&named(&owned));
            pruned = without(&object, &named(&collect(&object, type_)).difference(&retained), type_);
        }
        self.converted(&pruned, first).map(Cow::into_owned)
    }

    /// Adapts the field sets of managers to the current types.
    fn reconciled(&self, managers: Managers) -> Result<Managers, String> {
        let mut reconciled = Managers::new();
        for (manager, mut owned) in managers {
            if let Some(type_) = self.known_type(&owned.api_version)? {
                owned.set = reconcile(owned.set, type_);
                reconciled.insert(manager, owned);
            }
        }
        Ok(reconciled)
    }

    fn remove_reset_fields(&self, set: &mut FieldSet) {
        if let Some(reset) = self.reset.get(self.api_version) {
            set.subtract_recursively(reset);
        }
    }

    fn type_of(&self, version: &str) -> Result<&Type, String> {
        self.types.get(version).ok_or_else(|| unknown_version(version))
    }

    /// Returns the type in a version, or `None` if the version can be skipped.
    fn known_type(&self, version: &str) -> Result<Option<&Type>, String> {
        let type_ = self.types.get(version);
        if type_.is_none() && self.versions_are_known { Err(unknown_version(version)) } else { Ok(type_) }
    }

    /// Converts the object to another version, and validates it against the type of that version.
    fn converted<'a>(&self, object: &'a Value, version: &str) -> Result<Cow<'a, Value>, String> {
        if object.get("apiVersion").and_then(Value::as_str).is_none_or(|present| present == version) {
            return Ok(Cow::Borrowed(object));
        }
        let converted = (self.convert)(object, version)?;
        check(&converted, self.type_of(version)?, Duplicates::Rejected)?;
        Ok(Cow::Owned(converted))
    }
}

/// Removes fields from managers that others changed or removed.
fn release_changed(managers: &mut Managers, changes: &BTreeMap<String, Comparison>, current: Option<&Manager>) {
    for (_, owned) in managers.iter_mut().filter(|(manager, _)| Some(*manager) != current) {
        if let Some(comparison) = changes.get(&owned.api_version) {
            for changed in [&comparison.modified, &comparison.added, &comparison.removed] {
                owned.set.subtract(changed);
            }
        }
    }
    managers.retain(|_, owned| !owned.set.is_empty());
}

/// Removes unowned fields from an applier, and an applier without fields. Updates its time if the object changed.
fn finish_apply(manager: &Manager, has_changed: bool, managers: &mut Managers) {
    let Some(mut owned) = managers.remove(manager) else {
        return;
    };
    owned.set.subtract(&NEVER_OWNED);
    if has_changed {
        owned.time = Some(now());
    }
    if !owned.set.is_empty() {
        managers.insert(manager.clone(), owned);
    }
}

fn unknown_version(version: &str) -> String {
    format!("request to convert CR to an invalid group/version: {version}")
}
