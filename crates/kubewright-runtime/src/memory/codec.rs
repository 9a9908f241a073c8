//! Encodes the objects of an informer as compact bytes, and decodes them.

use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering},
};

use kube::Resource;
use parking_lot::{Mutex, RwLockReadGuard};

use super::{
    compression::{Compressor, Decompressor, Dictionary, RETAINED_CAPACITY},
    hot_objects::HotObjects,
    label_table::{LabelTable, SharedPairs},
    packed_object::{EncodedJson, PackedObject},
};
use crate::{
    decode::{DecodeError, SkippedObject, decode_item},
    error::{ObjectError, SkippedObjects, catch_panic},
    object::{ApiObject, ObjectKey, name_of, namespace_of, resource_name},
};

/// The maximum number of idle decompressors. Each has a context of some 100 kB.
const MAX_IDLE_DECOMPRESSORS: usize = 4;

type Serialize<K> = fn(&K, &mut Vec<u8>) -> serde_json::Result<()>;
type Deserialize<K> = fn(&[u8]) -> Result<Result<K, Box<SkippedObject>>, DecodeError>;

/// Encodes and decodes the objects of one informer, and holds what they share.
///
/// Guarantees:
/// - while the dictionary is trained, each object is decoded once to verify that it can be; if one cannot, all further
///   objects are held decoded;
/// - an object that cannot be encoded is held decoded;
/// - its memory is bounded, apart from the objects.
pub(crate) struct Codec<K> {
    resource: String,
    serialize: Serialize<K>,
    deserialize: Deserialize<K>,
    encoder: Mutex<Encoder>,
    dictionary: OnceLock<Dictionary>,
    decompressors: Mutex<Vec<Decompressor>>,
    labels: LabelTable,
    hot: HotObjects<K>,
    undecodable: SkippedObjects,
    /// The number of encoded states so far.
    states: AtomicU64,
}

/// The part of a codec that encodes one object at a time.
#[derive(Default)]
struct Encoder {
    compressor: Compressor,
    /// The serialized object.
    json: Vec<u8>,
    /// The packed object.
    packed: Vec<u8>,
    /// The lengths of the samples as received and as serialized.
    sampled: (usize, usize),
    /// Whether the type cannot decode what it serializes.
    is_disabled: bool,
}

impl<K: ApiObject> Codec<K> {
    pub(super) fn new() -> Self {
        Codec {
            resource: resource_name::<K>(),
            serialize: |object, json| serde_json::to_writer(json, object),
            deserialize: decode_item,
            encoder: Mutex::default(),
            dictionary: OnceLock::new(),
            decompressors: Mutex::default(),
            labels: LabelTable::default(),
            hot: HotObjects::default(),
            undecodable: SkippedObjects::default(),
            states: AtomicU64::new(0),
        }
    }
}

impl<K: Resource> Codec<K> {
    /// Encodes an object; `None` if this is not possible. `text` is the JSON from which it was decoded, unless it was
    /// changed since.
    pub(super) fn encode(&self, object: &K, text: Option<&[u8]>) -> Option<PackedObject> {
        let mut encoder = self.encoder.lock();
        if encoder.is_disabled {
            return None;
        }
        let (is_sample, uses_received) = (encoder.compressor.is_sampling(), encoder.uses_received());
        let Encoder { compressor, json, packed, sampled, is_disabled } = &mut *encoder;
        let json = match text.filter(|_| uses_received) {
            Some(text) => text,
            None => self.serialize(object, json)?,
        };
        if is_sample && let Some(text) = text {
            *sampled = (sampled.0 + text.len(), sampled.1 + json.len());
        }
        let (encoding, bytes) = compressor.compress(json, &self.dictionary);
        let encoded = EncodedJson { encoding, bytes, len: json.len() };
        let packed = PackedObject::new(object.meta(), &self.labels, encoded, packed)?;
        if is_sample && let Err(error) = self.decode(&packed) {
            *is_disabled = true;
            let (resource, error) = (&self.resource, error.to_string());
            tracing::warn!(resource, error, "the type cannot decode what it serializes; the objects are held decoded");
            return None;
        }
        Some(packed)
    }

    /// Serializes an object into a buffer.
    fn serialize<'a>(&self, object: &K, json: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        json.clear();
        json.shrink_to(RETAINED_CAPACITY);
        let result = catch_panic(|| (self.serialize)(object, json).map_err(|error| error.to_string()));
        match result.flatten() {
            Ok(()) => Some(&json[..]),
            Err(error) => {
                let (namespace, name) = (namespace_of(object), name_of(object));
                let resource = &self.resource;
                tracing::debug!(resource, namespace, name, error, "an object cannot be serialized; it is held decoded");
                None
            }
        }
    }
}

impl<K> Codec<K> {
    /// Decodes an object.
    ///
    /// # Errors
    /// Fails if the bytes or the JSON cannot be decoded, or decoding panicked.
    pub(super) fn decode(&self, packed: &PackedObject) -> Result<K, ObjectError> {
        let EncodedJson { encoding, bytes, len } = packed.json();
        let key = || ObjectKey::namespaced(packed.namespace(), packed.name());
        let failed = |message| ObjectError::Decode { object: key(), field: String::new(), message };
        let mut decompressor = self.decompressors.lock().pop().unwrap_or_default();
        let result = match decompressor.decompress(encoding, bytes, len, self.dictionary.get()) {
            Ok(json) => match (self.deserialize)(json) {
                Ok(result) => result.map_err(|skipped| skipped.error),
                Err(error) => Err(failed(error.to_string())),
            },
            Err(message) => Err(failed(message.to_owned())),
        };
        let mut idle = self.decompressors.lock();
        if idle.len() < MAX_IDLE_DECOMPRESSORS {
            idle.push(decompressor);
        }
        result
    }

    /// Reports an object that cannot be decoded, until it changes or is deleted.
    pub(super) fn report(&self, key: ObjectKey, error: ObjectError) {
        let text = error.to_string();
        if self.undecodable.insert(key, error) {
            tracing::warn!(resource = self.resource, error = text, "an object remains stored as bytes");
        }
    }

    /// Returns the number of a new state.
    pub(super) fn next_state(&self) -> u64 {
        self.states.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn undecodable(&self) -> &SkippedObjects {
        &self.undecodable
    }

    pub(super) fn hot(&self) -> &HotObjects<K> {
        &self.hot
    }

    pub(super) fn labels(&self) -> RwLockReadGuard<'_, SharedPairs> {
        self.labels.read()
    }

    /// Returns whether there is a dictionary.
    #[cfg(test)]
    pub(super) fn has_dictionary(&self) -> bool {
        self.dictionary.get().is_some()
    }
}

impl Encoder {
    /// Returns whether the received text is encoded as it is, which saves the serialization. Samples are serialized: if
    /// that makes them much smaller, as of a type with few of the fields, all objects are.
    fn uses_received(&self) -> bool {
        let (received, serialized) = self.sampled;
        !self.compressor.is_sampling() && serialized * 8 >= received * 7
    }
}
