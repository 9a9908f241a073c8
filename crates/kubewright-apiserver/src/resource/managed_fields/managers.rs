//! Field managers: decodes and encodes `metadata.managedFields`.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry, Time};

use super::{fields_v1, set::FieldSet};

const FIELDS_TYPE: &str = "FieldsV1";
/// The maximum number of entries of the operation `Update`; the oldest beyond it are merged.
const MAX_UPDATE_MANAGERS: usize = 10;
const ANCIENT_CHANGES: &str = "ancient-changes";

/// The operation by which a manager owns fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operation {
    Apply,
    Update,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// A field manager. Writes with equal values share an entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Manager {
    pub(crate) name: String,
    pub(crate) operation: Operation,
    /// Empty for `Apply`: an applier has one entry for all versions.
    pub(crate) api_version: String,
    pub(crate) subresource: String,
}

impl Manager {
    pub(crate) fn new(name: &str, operation: Operation, api_version: &str, subresource: &str) -> Self {
        let api_version = if operation == Operation::Apply { "" } else { api_version };
        Self {
            name: name.to_owned(),
            operation,
            api_version: api_version.to_owned(),
            subresource: subresource.to_owned(),
        }
    }
}

/// The fields of a manager.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Owned {
    pub(crate) set: FieldSet,
    /// The version of the fields.
    pub(crate) api_version: String,
    /// The time of the last change. A manager that only shares fields has none.
    pub(crate) time: Option<Time>,
}

pub(crate) type Managers = BTreeMap<Manager, Owned>;

/// Decodes entries.
pub(crate) fn decode(entries: &[ManagedFieldsEntry]) -> Result<Managers, String> {
    entries.iter().map(decode_entry).collect()
}

fn decode_entry(entry: &ManagedFieldsEntry) -> Result<(Manager, Owned), String> {
    let operation = match entry.operation.as_deref() {
        Some("Apply") => Operation::Apply,
        Some("Update") => Operation::Update,
        _ => return Err("operation must be `Apply` or `Update`".to_owned()),
    };
    let api_version = entry.api_version.clone().unwrap_or_default();
    if api_version.is_empty() {
        return Err("apiVersion must not be empty".to_owned());
    }
    if entry.fields_type.as_deref() != Some(FIELDS_TYPE) {
        return Err(format!("fieldsType must be {FIELDS_TYPE}"));
    }
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let manager = Manager::new(&text(&entry.manager), operation, &api_version, &text(&entry.subresource));
    let set =
        entry.fields_v1.as_ref().map_or_else(|| Ok(FieldSet::default()), |fields| fields_v1::decode(&fields.0))?;
    Ok((manager, Owned { set, api_version, time: entry.time.clone() }))
}

/// Encodes the entries: `Apply` first, then by time.
pub(crate) fn encode(managers: &Managers) -> Option<Vec<ManagedFieldsEntry>> {
    let mut sorted: Vec<(&Manager, &Owned)> = managers.iter().collect();
    sorted.sort_by(|(left, left_owned), (right, right_owned)| {
        let key = |manager: &'_ Manager, owned: &Owned| (manager.operation, seconds(owned));
        key(left, left_owned)
            .cmp(&key(right, right_owned))
            .then_with(|| left.name.cmp(&right.name))
            .then_with(|| left_owned.api_version.cmp(&right_owned.api_version))
            .then_with(|| left.subresource.cmp(&right.subresource))
    });
    let entries = sorted.into_iter().map(|(manager, owned)| encode_entry(manager, owned)).collect();
    (!managers.is_empty()).then_some(entries)
}

fn encode_entry(manager: &Manager, owned: &Owned) -> ManagedFieldsEntry {
    let set = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    ManagedFieldsEntry {
        api_version: Some(owned.api_version.clone()),
        fields_type: Some(FIELDS_TYPE.to_owned()),
        fields_v1: Some(FieldsV1(fields_v1::encode(&owned.set))),
        manager: set(&manager.name),
        operation: Some(manager.operation.name().to_owned()),
        subresource: set(&manager.subresource),
        time: owned.time.clone(),
    }
}

/// Merges the oldest entries of the operation `Update` beyond the maximum, so that the list is bounded.
pub(crate) fn cap(managers: &mut Managers) {
    let updaters = managers.keys().filter(|manager| manager.operation == Operation::Update);
    let mut excess = updaters.clone().count().saturating_sub(MAX_UPDATE_MANAGERS);
    if excess == 0 {
        return;
    }
    let mut updaters: Vec<Manager> = updaters.cloned().collect();
    updaters.sort_by_key(|manager| (managers.get(manager).map(seconds), manager.clone()));
    let mut first_of_version: BTreeMap<String, Manager> = BTreeMap::new();
    for manager in updaters {
        let Some(owned) = managers.get(&manager).cloned().filter(|_| excess > 0) else {
            return;
        };
        let Some(first) = first_of_version.get(&owned.api_version) else {
            first_of_version.insert(owned.api_version, manager);
            continue;
        };
        let bucket = Manager::new(ANCIENT_CHANGES, Operation::Update, &owned.api_version, "");
        let old = managers.remove(&bucket).or_else(|| managers.remove(first));
        managers.remove(&manager);
        let set = old.map_or_else(|| owned.set.clone(), |old| old.set.union(&owned.set));
        managers.insert(bucket, Owned { set, ..owned });
        excess -= 1;
    }
}

fn seconds(owned: &Owned) -> i64 {
    owned.time.as_ref().map_or(0, |time| time.0.as_second())
}

#[cfg(test)]
mod tests {
    use super::{super::path::fields, *};

    fn owned(field: &str, second: i64) -> Owned {
        let time = jiff::Timestamp::from_second(second).ok().map(Time);
        Owned { set: FieldSet::from_paths([fields(&[field])]), api_version: "v1".into(), time }
    }

    #[test]
    fn entries_are_encoded_with_appliers_first_and_decoded() {
        let managers: Managers = [
            (Manager::new("a", Operation::Update, "v1", ""), owned("x", 2)),
            (Manager::new("b", Operation::Update, "v1", "status"), owned("y", 1)),
            (Manager::new("c", Operation::Apply, "v1", ""), owned("z", 3)),
        ]
        .into();
        let entries = encode(&managers).unwrap();
        let names: Vec<&str> = entries.iter().filter_map(|entry| entry.manager.as_deref()).collect();
        assert_eq!(names, ["c", "b", "a"]);
        assert_eq!(decode(&entries), Ok(managers));
        assert_eq!(encode(&Managers::new()), None);
    }

    #[test]
    fn incomplete_entries_are_errors() {
        let valid = encode(&[(Manager::new("a", Operation::Update, "v1", ""), owned("x", 2))].into()).unwrap();
        let incomplete: [fn(&mut ManagedFieldsEntry); 3] =
            [|entry| entry.operation = None, |entry| entry.api_version = None, |entry| entry.fields_type = None];
        for remove in incomplete {
            let mut entries = valid.clone();
            remove(&mut entries[0]);
            assert!(decode(&entries).is_err(), "{entries:?}");
        }
    }

    #[test]
    fn the_oldest_update_managers_are_merged() {
        let updater = |number: i64| (Manager::new(&format!("m{number:02}"), Operation::Update, "v1", ""), number);
        let mut managers: Managers =
            (1..=12).map(updater).map(|(manager, number)| (manager, owned(&format!("f{number}"), number))).collect();
        cap(&mut managers);
        assert_eq!(managers.len(), MAX_UPDATE_MANAGERS);
        let old = &managers[&Manager::new(ANCIENT_CHANGES, Operation::Update, "v1", "")];
        assert_eq!(old.set, FieldSet::from_paths([fields(&["f1"]), fields(&["f2"]), fields(&["f3"])]));
        assert_eq!(seconds(old), 3);
    }
}
