//! The encoded events that watches share.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::{
    resource::registry::Resource,
    wire::{content::Encoding, negotiation::Representation},
};

/// The maximum number of events.
const MAX_EVENTS: usize = 64;
/// The maximum total size of the events, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// What the bytes of an event depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventKey<'a> {
    /// The version of the event, which no other event has.
    pub(crate) version: u64,
    pub(crate) type_: &'static str,
    pub(crate) kind: &'a Arc<Resource>,
    pub(crate) representation: Representation,
    pub(crate) encoding: Encoding,
}

/// The latest encoded events. Watches that receive the same event share its bytes.
///
/// The memory is bounded: further events replace the oldest ones, which are encoded again if a watch is slow.
#[derive(Debug, Default)]
pub(crate) struct EncodedEvents(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    queue: VecDeque<Entry>,
    /// The total size of the events in the queue.
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    version: u64,
    type_: &'static str,
    kind: Arc<Resource>,
    representation: Representation,
    encoding: Encoding,
    encoded: Bytes,
}

impl Entry {
    fn has_key(&self, key: EventKey<'_>) -> bool {
        self.version == key.version
            && self.type_ == key.type_
            && self.representation == key.representation
            && self.encoding == key.encoding
            && self.kind.is_same(key.kind)
    }
}

impl EncodedEvents {
    /// Returns the bytes of an event, which are encoded unless another watch has done so.
    pub(crate) fn get_or_encode(&self, key: EventKey<'_>, encode: impl FnOnce() -> Bytes) -> Bytes {
        let shared = self.0.lock().get(key);
        shared.unwrap_or_else(|| {
            // Without the lock: another watch may encode the same event.
            let encoded = encode();
            self.0.lock().insert(key, &encoded);
            encoded
        })
    }
}

impl Entries {
    /// Returns the bytes of an event. Most watches need one of the latest events.
    fn get(&self, key: EventKey<'_>) -> Option<Bytes> {
        self.queue.iter().rev().find(|entry| entry.has_key(key)).map(|entry| entry.encoded.clone())
    }

    fn insert(&mut self, key: EventKey<'_>, encoded: &Bytes) {
        if encoded.len() > MAX_BYTES || self.get(key).is_some() {
            return;
        }
        let EventKey { version, type_, kind, representation, encoding } = key;
        let (kind, encoded) = (Arc::clone(kind), encoded.clone());
        self.bytes += encoded.len();
        self.queue.push_back(Entry { version, type_, kind, representation, encoding, encoded });
        while (self.queue.len() > MAX_EVENTS || self.bytes > MAX_BYTES)
            && let Some(oldest) = self.queue.pop_front()
        {
            self.bytes -= oldest.encoded.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(version: u64, kind: &Arc<Resource>) -> EventKey<'_> {
        EventKey { version, type_: "ADDED", kind, representation: Representation::Object, encoding: Encoding::Json }
    }

    /// Returns the number and the total size of the events.
    fn size(events: &EncodedEvents) -> (usize, usize) {
        let entries = events.0.lock();
        (entries.queue.len(), entries.bytes)
    }

    /// Returns the number of times that an event is encoded.
    fn encoded(events: &EncodedEvents, key: EventKey<'_>, bytes: usize) -> usize {
        let mut count = 0;
        for _ in 0..2 {
            let encode = || {
                count += 1;
                Bytes::from(vec![b'x'; bytes])
            };
            assert_eq!(events.get_or_encode(key, encode).len(), bytes);
        }
        count
    }

    #[test]
    fn an_event_is_encoded_once_for_each_type_kind_and_encoding() {
        let (events, kind) = (EncodedEvents::default(), Arc::new(Resource::namespace()));
        let other_kind = Arc::new(Resource::definition());
        let first = key(1, &kind);
        let others = [
            EventKey { version: 2, ..first },
            EventKey { type_: "MODIFIED", ..first },
            EventKey { kind: &other_kind, ..first },
            EventKey { encoding: Encoding::Protobuf, ..first },
        ];
        for (index, key) in std::iter::once(first).chain(others).enumerate() {
            assert_eq!(encoded(&events, key, index), 1);
        }
        assert_eq!(events.get_or_encode(first, || Bytes::from_static(b"again")), "");
    }

    #[test]
    fn the_number_and_the_size_of_the_events_are_bounded() {
        let (events, kind) = (EncodedEvents::default(), Arc::new(Resource::namespace()));
        for version in 0..=MAX_EVENTS as u64 {
            encoded(&events, key(version, &kind), 1);
        }
        assert_eq!(size(&events), (MAX_EVENTS, MAX_EVENTS));
        assert_eq!(encoded(&events, key(0, &kind), 1), 1, "the oldest event was replaced");
        for version in 100..104 {
            encoded(&events, key(version, &kind), MAX_BYTES / 2);
        }
        assert_eq!(size(&events), (2, MAX_BYTES));
        assert_eq!(encoded(&events, key(200, &kind), MAX_BYTES + 1), 2, "a larger event is not shared");
    }
}
