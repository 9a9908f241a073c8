//! Encodes the events of watches as JSON lines or protobuf frames.

use std::{mem, sync::Arc};

use bytes::Bytes;
use futures::Stream;

use crate::{
    api::object::Object,
    handlers::watch::{Frame, Watch, WatchEvent},
    resource::registry::Resource,
    response::table::Table,
    storage::{encoded_events::EventKey, shared::SharedState},
    wire::{content::Encoding, negotiation::Representation},
};

/// Encodes the events of a watch in the requested representation.
pub(crate) fn frames(watch: Watch, shared: Arc<SharedState>) -> impl Stream<Item = Frame> + Send + 'static {
    let mut encoder = Encoder {
        kind: watch.kind.clone(),
        representation: watch.representation,
        encoding: watch.encoding,
        sent_headers: false,
        shared: shared.clone(),
    };
    watch.frames(shared, move |event| encoder.encode(event))
}

/// Encodes the events of one watch.
struct Encoder {
    kind: Arc<Resource>,
    representation: Representation,
    encoding: Encoding,
    /// Whether the column definitions of a table are sent. Only the first event has them.
    sent_headers: bool,
    shared: Arc<SharedState>,
}

impl Encoder {
    /// Encodes an event. Returns `None` for an error without a `Status`.
    fn encode(&mut self, event: &WatchEvent) -> Option<Bytes> {
        match event {
            WatchEvent::Object { type_, object, version } => Some(self.object(type_, object, *version)),
            WatchEvent::Bookmark(bookmark) => Some(self.bookmark(bookmark)),
            WatchEvent::Error(error) => error.clone().into_status().map(|status| self.encoding.error_event(&status)),
        }
    }

    /// Encodes an event. Watches with the same representation share those of the log, which have a version. Tables are
    /// not shared: the first one of a watch differs.
    fn object(&mut self, type_: &'static str, object: &Object, version: Option<u64>) -> Bytes {
        if let Representation::Table(options) = self.representation {
            let with_headers = !mem::replace(&mut self.sent_headers, true);
            return self.encoding.event(type_, &Table::from_object(&self.kind, options, object, with_headers));
        }
        let Some(version) = version else {
            return self.untabulated(type_, object);
        };
        let (kind, representation, encoding) = (&self.kind, self.representation, self.encoding);
        let key = EventKey { version, type_, kind, representation, encoding };
        self.shared.encoded_events.get_or_encode(key, || self.untabulated(type_, object))
    }

    /// Encodes an event that is not a table.
    fn untabulated(&self, type_: &str, object: &Object) -> Bytes {
        match self.representation {
            Representation::Metadata(version) => self.encoding.event(type_, &object.partial_object_metadata(version)),
            Representation::Object | Representation::MetadataList(_) | Representation::Table(_) => {
                self.encoding.event(type_, &object.encodable_as(&self.kind))
            }
        }
    }

    fn bookmark(&mut self, bookmark: &Object) -> Bytes {
        let Representation::Table(options) = self.representation else {
            return self.object("BOOKMARK", bookmark, None);
        };
        let with_headers = !mem::replace(&mut self.sent_headers, true);
        self.encoding.event("BOOKMARK", &Table::from_bookmark(&self.kind, options, bookmark, with_headers))
    }
}
