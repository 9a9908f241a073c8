//! A share of a kind's objects, by the hash of their uid or namespace.

use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// The objects whose hash is in a range: so several replicas share the objects of a kind, each seeing its part alone.
///
/// A server with the gate `ShardedListAndWatch` (KEP-5866, alpha in Kubernetes 1.36) sends only these. Any other server
/// ignores the selector and sends all. So the reflector goes by the same hash itself: what it tells is the same on every
/// server, and only the traffic differs.
///
/// The hash is FNV-1a with 64 bits, as in apimachinery's `pkg/sharding/hash.go`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    by: By,
    start: u128,
    end: u128,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Uid,
    Namespace,
}

/// One more than the largest hash.
const HASHES: u128 = 1 << 64;

impl Shard {
    /// Of `count` equal parts, the one of this index, from 0, by the objects' uid. Each object is in exactly one part.
    ///
    /// `None` if there is no such part.
    pub fn by_uid(index: u32, count: u32) -> Option<Self> {
        Self::part(By::Uid, index, count)
    }

    /// The same by the objects' namespace: all objects of a namespace are in one part. Objects of the cluster are all
    /// in the same.
    pub fn by_namespace(index: u32, count: u32) -> Option<Self> {
        Self::part(By::Namespace, index, count)
    }

    fn part(by: By, index: u32, count: u32) -> Option<Self> {
        let edge = |index: u32| HASHES * u128::from(index) / u128::from(count);
        (index < count).then(|| Shard { by, start: edge(index), end: edge(index + 1) })
    }

    /// Whether an object is in this part. It is for ever: neither uid nor namespace change.
    pub fn contains(&self, meta: &ObjectMeta) -> bool {
        let hashed = match self.by {
            By::Uid => &meta.uid,
            By::Namespace => &meta.namespace,
        };
        let hash = u128::from(fnv1a(hashed.as_deref().unwrap_or_default()));
        (self.start..self.end).contains(&hash)
    }
}

/// As the server takes it in `shardSelector`.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = match self.by {
            By::Uid => "object.metadata.uid",
            By::Namespace => "object.metadata.namespace",
        };
        write!(f, "shardRange({field}, '{:#018x}', '{:#018x}')", self.start, self.end)
    }
}

fn fnv1a(text: &str) -> u64 {
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
    fn selectors_are_as_kubernetes_documents_them() {
        let text = |index, count| Shard::by_uid(index, count).unwrap().to_string();
        assert_eq!(text(0, 2), "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')");
        assert_eq!(text(1, 2), "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')");
        let namespaces = Shard::by_namespace(2, 4).unwrap().to_string();
        assert_eq!(namespaces, "shardRange(object.metadata.namespace, '0x8000000000000000', '0xc000000000000000')");
    }

    #[test]
    fn each_object_is_in_exactly_one_part() {
        for count in [1, 2, 3, 7] {
            for uid in 0..100 {
                let meta = ObjectMeta { uid: Some(format!("uid-{uid}")), ..ObjectMeta::default() };
                let parts = (0..count).filter(|&index| Shard::by_uid(index, count).unwrap().contains(&meta));
                assert_eq!(parts.count(), 1, "{uid} of {count}");
            }
        }
    }

    #[test]
    fn there_is_no_part_outside_the_count() {
        assert_eq!(Shard::by_uid(2, 2), None);
        assert_eq!(Shard::by_namespace(0, 0), None);
    }
}
