//! The limits of etcd for the requests that store objects.
//!
//! The real server stores objects of built-in kinds as protobuf, and custom objects, definitions and API services as
//! JSON. The size of a request is that of a transaction, which contains the object and several times its key.

use serde_json::Value;

use crate::{
    api::{
        error::{ApiError, Result},
        go,
        kind::group_version,
        object::Object,
    },
    resource::registry::Resource,
    wire::protobuf,
};

/// The maximum size of a request that etcd accepts (`DefaultMaxRequestBytes`).
const MAX_REQUEST_BYTES: usize = 3 << 19;
/// The maximum size of a request that the client of etcd sends.
const MAX_SENT_BYTES: usize = 2 << 20;
/// The size of what etcd adds to a request before it compares the size: mainly an identifier.
const HEADER_BYTES: usize = 16;
/// The size of the JSON of an object up to which its request is not too large. Protobuf is larger than JSON only for
/// fields with empty values.
const MAX_UNCHECKED_BYTES: usize = MAX_REQUEST_BYTES / 8;
/// The maximum size of the JSON of a byte of memory: that of an escaped character.
const MAX_JSON_PER_BYTE: usize = 6;
/// The maximum size of the JSON of metadata fields that need no memory, such as times.
const MAX_FIXED_BYTES: usize = 1 << 10;
/// The memory of an object up to which its JSON is not encoded to determine its size.
const MAX_UNCHECKED_MEMORY: usize = (MAX_UNCHECKED_BYTES - MAX_FIXED_BYTES) / MAX_JSON_PER_BYTE;

/// Rejects an object, in the stored representation, that is too large to be stored. `replaced` is the object that it
/// replaces.
pub(crate) fn check(kind: &Resource, object: &Object, replaced: Option<&Object>) -> Result<()> {
    if object.memory_of_values() <= MAX_UNCHECKED_MEMORY || json_size(object) <= MAX_UNCHECKED_BYTES {
        return Ok(());
    }
    let size = request_size(kind, object, replaced);
    if size > MAX_SENT_BYTES {
        let problem = format!("trying to send message larger than max ({size} vs. {MAX_SENT_BYTES})");
        return Err(ApiError::internal(format!("rpc error: code = ResourceExhausted desc = {problem}")));
    }
    if size + HEADER_BYTES > MAX_REQUEST_BYTES { Err(ApiError::request_too_large()) } else { Ok(()) }
}

/// Returns the size of the JSON of the metadata and the body.
fn json_size(object: &Object) -> usize {
    go::json_size(&object.metadata).saturating_add(go::json_size(&object.body))
}

/// Returns the size of the transaction (`TxnRequest`): if the version of the key is the expected one, it puts the
/// value, and otherwise it gets the value that an update conflicts with.
fn request_size(kind: &Resource, object: &Object, replaced: Option<&Object>) -> usize {
    let namespace = Some(object.namespace()).filter(|namespace| !namespace.is_empty());
    let namespace = namespace.map(|namespace| format!("{namespace}/")).unwrap_or_default();
    let prefix = if kind.is_custom { format!("{}/{}", kind.group, kind.plural) } else { kind.plural.clone() };
    let key = field(format!("/registry/{prefix}/{namespace}{}", object.name()).len());
    let version: u64 = replaced.and_then(|replaced| replaced.resource_version().parse().ok()).unwrap_or_default();
    // The target of the comparison has two bytes, and the tag of the version one.
    let compare = key + 3 + varint(version);
    let put = key + field(value_size(kind, object));
    let get = if replaced.is_some() { field(field(key)) } else { 0 };
    field(compare) + field(field(put)) + get
}

/// Returns the size of the stored representation, which has no resource version.
fn value_size(kind: &Resource, object: &Object) -> usize {
    let version = object.written.version.as_deref().unwrap_or(&kind.version);
    let mut json = object.to_json(&group_version(&kind.storage_group, version), &kind.kind);
    if let Some(metadata) = json.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
    }
    let is_json = kind.is_custom || matches!(kind.group.as_str(), "apiextensions.k8s.io" | "apiregistration.k8s.io");
    let encoded = if is_json { None } else { protobuf::encode(&json) };
    // A line break ends stored JSON.
    encoded.map_or_else(|| go::json_size(&json) + 1, |bytes| bytes.len())
}

/// Returns the size of a field of this length: its tag, its length and its content.
fn field(length: usize) -> usize {
    1 + varint(length as u64) + length
}

/// Returns the size of a number.
fn varint(number: u64) -> usize {
    let bits = u64::BITS - number.leading_zeros();
    bits.div_ceil(7).max(1) as usize
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_json_of_an_object_is_bounded_by_its_memory() {
        let text = "\u{1}<>&".repeat(1_000);
        let escaped = json!({ (text.as_str()): text });
        for metadata in
            [json!({}), json!({ "labels": escaped, "name": text, "creationTimestamp": "2026-01-01T00:00:00Z" })]
        {
            for data in [json!(null), json!([vec![true; 1_000], vec![-1.5e300; 1_000]]), escaped.clone()] {
                let fields = json!({ "metadata": metadata, "data": data });
                let object = Object::from_json(fields.as_object().unwrap().clone()).unwrap();
                let (size, memory) = (json_size(&object), object.memory_of_values());
                assert!(
                    size <= memory * MAX_JSON_PER_BYTE + MAX_FIXED_BYTES,
                    "{size} bytes of JSON, {memory} of memory"
                );
            }
        }
    }

    #[test]
    fn numbers_have_seven_bits_per_byte() {
        let sizes = [0, 127, 128, 16_383, 16_384, u64::MAX].map(varint);
        assert_eq!(sizes, [1, 1, 2, 2, 3, 10]);
        assert_eq!(field(300), 303);
    }
}
