//! A share of the objects of a kind, by the hash of their UID or namespace.

use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::slot::{SLOTS, Slot, SlotSet};
use crate::object::ObjectKey;

/// The objects whose hash is in a range, so that several replicas can partition the objects of a kind.
///
/// A server with the feature gate `ShardedListAndWatch` (KEP-5866, alpha in Kubernetes 1.36) sends only these objects.
/// Other servers ignore the selector and send all. The reflector therefore filters by the same hash: its events are the
/// same with every server, and only the traffic differs.
///
/// The hash is 64-bit FNV-1a, as in apimachinery's `pkg/sharding/hash.go`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    field: Field,
    /// Disjoint ranges in ascending order, the ends exclusive.
    ranges: Vec<(u128, u128)>,
}

/// The field whose hash assigns objects to shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Uid,
    Namespace,
}

impl Field {
    /// Returns the name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Field::Uid => "uid",
            Field::Namespace => "namespace",
        }
    }

    fn hash_of(self, meta: &ObjectMeta) -> u64 {
        let value = match self {
            Field::Uid => &meta.uid,
            Field::Namespace => &meta.namespace,
        };
        fnv1a(value.as_deref().unwrap_or_default())
    }

    /// Returns the slot of an object.
    pub(crate) fn slot_of(self, meta: &ObjectMeta) -> Slot {
        Slot::from_hash(self.hash_of(meta))
    }

    /// Returns the slot of a key; `None` if it depends on the object.
    pub(crate) fn slot_of_key(self, key: &ObjectKey) -> Option<Slot> {
        match self {
            Field::Uid => None,
            Field::Namespace => Some(Slot::from_hash(fnv1a(key.namespace()))),
        }
    }
}

/// The number of hash values.
const HASH_COUNT: u128 = 1 << 64;

impl Shard {
    /// Creates the shard with this index, from 0, of `count` equal shards by UID. Each object is in exactly one shard.
    ///
    /// Returns `None` if the index is out of range.
    pub fn by_uid(index: u32, count: u32) -> Option<Self> {
        Self::new(Field::Uid, index, count)
    }

    /// Creates the shard with this index, from 0, of `count` equal shards by namespace. All objects of a namespace are
    /// in one shard, and so are all cluster-scoped objects.
    ///
    /// Returns `None` if the index is out of range.
    pub fn by_namespace(index: u32, count: u32) -> Option<Self> {
        Self::new(Field::Namespace, index, count)
    }

    fn new(field: Field, index: u32, count: u32) -> Option<Self> {
        (index < count).then(|| Shard { field, ranges: vec![(bound(index, count), bound(index + 1, count))] })
    }

    /// Creates the shard of these slots.
    pub(crate) fn from_slots(field: Field, slots: SlotSet) -> Self {
        let start = |slot: u8| bound(u32::from(slot), u32::from(SLOTS));
        let ranges = slots.runs().into_iter().map(|(first, last)| (start(first), start(last + 1))).collect();
        Shard { field, ranges }
    }

    /// Returns whether an object is in this shard. This never changes for an object.
    pub fn contains(&self, meta: &ObjectMeta) -> bool {
        let hash = u128::from(self.field.hash_of(meta));
        self.ranges.iter().any(|(start, end)| (*start..*end).contains(&hash))
    }
}

fn bound(index: u32, count: u32) -> u128 {
    HASH_COUNT * u128::from(index) / u128::from(count)
}

/// Formats the shard as the query parameter `shardSelector`.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = match self.field {
            Field::Uid => "object.metadata.uid",
            Field::Namespace => "object.metadata.namespace",
        };
        for (position, (start, end)) in self.ranges.iter().enumerate() {
            let or = if position == 0 { "" } else { " || " };
            write!(f, "{or}shardRange({field}, '{start:#018x}', '{end:#018x}')")?;
        }
        Ok(())
    }
}

pub(super) fn fnv1a(text: &str) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    text.bytes().fold(BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        // From the published test vectors of FNV.
        for (text, hash) in
            [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            assert_eq!(fnv1a(text), hash, "{text}");
        }
    }

    #[test]
    fn selectors_have_the_format_that_kubernetes_documents() {
        let text = |index, count| Shard::by_uid(index, count).unwrap().to_string();
        assert_eq!(text(0, 2), "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')");
        assert_eq!(text(1, 2), "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')");
        let namespaces = Shard::by_namespace(2, 4).unwrap().to_string();
        assert_eq!(namespaces, "shardRange(object.metadata.namespace, '0x8000000000000000', '0xc000000000000000')");
    }

    #[test]
    fn each_object_is_in_exactly_one_shard() {
        for count in [1, 2, 3, 7] {
            for uid in 0..100 {
                let meta = ObjectMeta { uid: Some(format!("uid-{uid}")), ..ObjectMeta::default() };
                let shards = (0..count).filter(|&index| Shard::by_uid(index, count).unwrap().contains(&meta));
                assert_eq!(shards.count(), 1, "{uid} of {count}");
            }
        }
    }

    #[test]
    fn the_shard_of_slots_has_a_range_for_each_run() {
        let slots: SlotSet = "0-1,4,62-63".parse().unwrap();
        let expected = "shardRange(object.metadata.uid, '0x0000000000000000', '0x0800000000000000') || \
                        shardRange(object.metadata.uid, '0x1000000000000000', '0x1400000000000000') || \
                        shardRange(object.metadata.uid, '0xf800000000000000', '0x10000000000000000')";
        let shard = Shard::from_slots(Field::Uid, slots);
        assert_eq!(shard.to_string(), expected);
        for uid in 0..1000 {
            let meta = ObjectMeta { uid: Some(format!("uid-{uid}")), ..ObjectMeta::default() };
            assert_eq!(shard.contains(&meta), slots.contains(Field::Uid.slot_of(&meta)), "{uid}");
        }
    }

    #[test]
    fn there_is_no_shard_outside_the_count() {
        assert_eq!(Shard::by_uid(2, 2), None);
        assert_eq!(Shard::by_namespace(0, 0), None);
    }
}
