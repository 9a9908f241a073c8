//! The bytes of a compact object.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::{
    compression::{Encoding, RETAINED_CAPACITY},
    label_table::LabelTable,
};

/// The encoded JSON of an object, after what is read without decoding it.
pub(super) struct PackedObject {
    /// The namespace, the name, the UID, the version, the labels and the encoded JSON, without gaps.
    bytes: Box<[u8]>,
    /// Where the namespace, the name, the UID and the version end.
    ends: [u16; 4],
    labels_end: u32,
    json_len: u32,
    encoding: Encoding,
}

/// The encoded JSON of an object.
#[derive(Clone, Copy)]
pub(super) struct EncodedJson<'a> {
    pub(super) encoding: Encoding,
    pub(super) bytes: &'a [u8],
    /// The length of the JSON.
    pub(super) len: usize,
}

impl PackedObject {
    /// Packs an object. Returns `None` if its metadata is larger than the API server permits, as a transform can make
    /// it.
    pub(super) fn new(
        meta: &ObjectMeta,
        labels: &LabelTable,
        json: EncodedJson<'_>,
        buffer: &mut Vec<u8>,
    ) -> Option<Self> {
        buffer.clear();
        buffer.shrink_to(RETAINED_CAPACITY);
        let mut ends = [0; 4];
        for (text, end) in [&meta.namespace, &meta.name, &meta.uid, &meta.resource_version].into_iter().zip(&mut ends) {
            buffer.extend_from_slice(text.as_deref().unwrap_or_default().as_bytes());
            *end = u16::try_from(buffer.len()).ok()?;
        }
        if meta.labels.as_ref().is_some_and(|all| !labels.encode(all, buffer)) {
            return None;
        }
        let labels_end = u32::try_from(buffer.len()).ok()?;
        buffer.extend_from_slice(json.bytes);
        let json_len = u32::try_from(json.len).ok()?;
        Some(PackedObject { bytes: buffer.as_slice().into(), ends, labels_end, json_len, encoding: json.encoding })
    }

    pub(super) fn namespace(&self) -> &str {
        self.text(0)
    }

    pub(super) fn name(&self) -> &str {
        self.text(1)
    }

    pub(super) fn uid(&self) -> &str {
        self.text(2)
    }

    pub(super) fn version(&self) -> &str {
        self.text(3)
    }

    /// Returns the labels, for the table that encoded them.
    pub(super) fn labels(&self) -> &[u8] {
        let [.., start] = self.ends;
        self.bytes.get(usize::from(start)..self.labels_end as usize).unwrap_or_default()
    }

    pub(super) fn json(&self) -> EncodedJson<'_> {
        let bytes = self.bytes.get(self.labels_end as usize..).unwrap_or_default();
        EncodedJson { encoding: self.encoding, bytes, len: self.json_len as usize }
    }

    fn text(&self, field: usize) -> &str {
        let start = field.checked_sub(1).map_or(0, |before| self.ends[before]);
        let text = self.bytes.get(usize::from(start)..usize::from(self.ends[field])).unwrap_or_default();
        std::str::from_utf8(text).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn pack(meta: &ObjectMeta, table: &LabelTable) -> Option<PackedObject> {
        let json = EncodedJson { encoding: Encoding::Json, bytes: b"{}", len: 2 };
        PackedObject::new(meta, table, json, &mut Vec::new())
    }

    #[test]
    fn metadata_is_read_without_decoding() {
        let table = LabelTable::default();
        let meta = ObjectMeta {
            namespace: Some("default".to_owned()),
            name: Some("audit-ü".to_owned()),
            resource_version: Some("7".to_owned()),
            labels: Some(BTreeMap::from([("app".to_owned(), "web".to_owned())])),
            ..ObjectMeta::default()
        };
        let packed = pack(&meta, &table).unwrap();
        assert_eq!((packed.namespace(), packed.name()), ("default", "audit-ü"));
        assert_eq!((packed.uid(), packed.version()), ("", "7"));
        assert_eq!(table.read().find(packed.labels(), "app"), Some("web"));
        assert_eq!((packed.json().bytes, packed.json().len), (&b"{}"[..], 2));
    }

    #[test]
    fn metadata_that_is_too_large_is_not_packed() {
        let meta = ObjectMeta { name: Some("a".repeat(70_000)), ..ObjectMeta::default() };
        assert!(pack(&meta, &LabelTable::default()).is_none());
        assert!(pack(&ObjectMeta::default(), &LabelTable::default()).is_some_and(|packed| packed.labels().is_empty()));
    }
}
