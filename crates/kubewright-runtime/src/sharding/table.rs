//! The slot table: which replica holds which slot, as an annotation of one Lease.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::coordination::v1::Lease;
use serde::{Deserialize, Serialize};

use super::{
    shard::Field,
    slot::{SLOTS, SlotSet},
};

/// The annotation of the Lease.
const SLOTS_ANNOTATION: &str = "kubewright-runtime/slots";

/// What replicas that share the slots have in common.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Fleet {
    /// The field that assigns objects to slots.
    by: String,
    /// The number of slots.
    slots: u32,
    /// The names of the sharded controllers.
    #[serde(default)]
    controllers: BTreeSet<String>,
}

impl Fleet {
    pub(super) fn new(field: Field, controllers: BTreeSet<String>) -> Self {
        Fleet { by: field.name().to_owned(), slots: u32::from(SLOTS), controllers }
    }

    /// Returns whether replicas of both can share the slots. Two versions of a program have a controller in common; two
    /// programs have none.
    pub(super) fn is_compatible(&self, other: &Fleet) -> bool {
        let is_same_program =
            self.controllers == other.controllers || !self.controllers.is_disjoint(&other.controllers);
        (&self.by, self.slots) == (&other.by, other.slots) && is_same_program
    }

    /// Describes it in messages.
    pub(super) fn describe(&self) -> String {
        let controllers: Vec<_> = self.controllers.iter().map(|name| format!("`{name}`")).collect();
        format!("{} slots by {} of the controllers {}", self.slots, self.by, controllers.join(", "))
    }
}

/// The content of the annotation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Table {
    #[serde(flatten)]
    pub(super) fleet: Fleet,
    /// The slots by holder, as text: another version can have other slots.
    #[serde(default)]
    holders: BTreeMap<String, String>,
}

/// An annotation that is not a slot table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid annotation `{name}`: {0}; delete the Lease when no replica runs", name = SLOTS_ANNOTATION)]
pub(super) struct TableError(String);

impl Table {
    pub(super) fn new(fleet: Fleet, held: &BTreeMap<String, SlotSet>) -> Self {
        let holders = held.iter().filter(|(_, slots)| !slots.is_empty());
        Table { fleet, holders: holders.map(|(holder, slots)| (holder.clone(), slots.to_string())).collect() }
    }

    /// Reads the table of a Lease. A Lease without the annotation has an empty one of this fleet.
    pub(super) fn read(lease: &Lease, fleet: &Fleet) -> Result<Self, TableError> {
        let annotations = lease.metadata.annotations.as_ref();
        match annotations.and_then(|annotations| annotations.get(SLOTS_ANNOTATION)) {
            Some(text) => serde_json::from_str(text).map_err(|error| TableError(error.to_string())),
            None => Ok(Table::new(fleet.clone(), &BTreeMap::new())),
        }
    }

    /// Writes the table into a Lease.
    pub(super) fn write(&self, lease: &mut Lease) {
        // A map of texts has a representation.
        let text = serde_json::to_string(self).unwrap_or_default();
        lease.metadata.annotations.get_or_insert_default().insert(SLOTS_ANNOTATION.to_owned(), text);
    }

    /// Returns the names of all holders.
    pub(super) fn holders(&self) -> impl Iterator<Item = &str> {
        self.holders.keys().map(String::as_str)
    }

    /// Returns the slots of each holder.
    ///
    /// # Errors
    /// Fails if a text is invalid, or a slot has two holders.
    pub(super) fn slots(&self) -> Result<BTreeMap<String, SlotSet>, TableError> {
        let (mut slots, mut all) = (BTreeMap::new(), SlotSet::EMPTY);
        for (holder, text) in &self.holders {
            let held: SlotSet = text.parse().map_err(|error| TableError(format!("holder `{holder}`: {error}")))?;
            let shared = held.intersection(all);
            if !shared.is_empty() {
                return Err(TableError(format!("holder `{holder}`: slots {shared} have another holder, too")));
            }
            all = all.union(held);
            slots.insert(holder.clone(), held);
        }
        Ok(slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fleet(field: Field, controllers: &[&str]) -> Fleet {
        Fleet::new(field, controllers.iter().map(|name| (*name).to_owned()).collect())
    }

    fn lease(annotation: &str) -> Lease {
        let mut lease = Lease::default();
        let annotations = [(SLOTS_ANNOTATION.to_owned(), annotation.to_owned())];
        lease.metadata.annotations = Some(annotations.into_iter().collect());
        lease
    }

    #[test]
    fn tables_round_trip_and_are_readable() {
        let fleet = fleet(Field::Uid, &["loggers"]);
        let held = [("a", "0-31"), ("b", "32-62"), ("c", "")];
        let held: BTreeMap<_, SlotSet> =
            held.iter().map(|(holder, slots)| ((*holder).to_owned(), slots.parse().unwrap())).collect();
        let (table, mut lease) = (Table::new(fleet.clone(), &held), Lease::default());
        table.write(&mut lease);
        let text = &lease.metadata.annotations.as_ref().unwrap()[SLOTS_ANNOTATION];
        let expected = r#"{"by":"uid","slots":64,"controllers":["loggers"],"holders":{"a":"0-31","b":"32-62"}}"#;
        assert_eq!(text, expected);
        let read = Table::read(&lease, &fleet).unwrap();
        assert_eq!(read, table);
        assert_eq!(read.holders().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(read.slots().unwrap()["b"].len(), 31);
    }

    #[test]
    fn versions_of_one_program_are_compatible_and_others_are_not() {
        let is_compatible = |a: Fleet, b: Fleet| a.is_compatible(&b);
        let uid = |controllers: &[&str]| fleet(Field::Uid, controllers);
        assert!(is_compatible(uid(&["a"]), uid(&["a", "b"])) && is_compatible(uid(&[]), uid(&[])));
        assert!(!is_compatible(uid(&["a"]), uid(&["b"])), "two programs with one name");
        assert!(!is_compatible(uid(&["a"]), fleet(Field::Namespace, &["a"])), "another field");
        let other = Fleet { slots: 128, ..uid(&["a"]) };
        assert!(!is_compatible(uid(&["a"]), other.clone()), "another number of slots");
        assert_eq!(other.describe(), "128 slots by uid of the controllers `a`");
    }

    #[test]
    fn invalid_tables_are_errors_that_name_the_holder() {
        let fleet = fleet(Field::Uid, &["a"]);
        let error = |annotation: &str| {
            let table = Table::read(&lease(annotation), &fleet);
            table.and_then(|table| table.slots()).unwrap_err().to_string()
        };
        assert!(error("{").starts_with("invalid annotation `kubewright-runtime/slots`: EOF"), "{}", error("{"));
        let twice = error(r#"{"by":"uid","slots":64,"holders":{"a":"0-3","b":"3"}}"#);
        let expected = "invalid annotation `kubewright-runtime/slots`: holder `b`: slots 3 have another holder, too; delete \
                        the Lease when no replica runs";
        assert_eq!(twice, expected);
        assert!(error(r#"{"by":"uid","slots":64,"holders":{"a":"99"}}"#).contains("holder `a`: invalid slots `99`"));
        assert_eq!(Table::read(&Lease::default(), &fleet).unwrap(), Table::new(fleet.clone(), &BTreeMap::new()));
    }
}
