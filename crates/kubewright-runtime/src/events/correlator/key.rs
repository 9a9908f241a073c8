//! What makes events equal, similar, or events of one object.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use k8s_openapi::api::core::v1::ObjectReference;

use super::Occurrence;
use crate::events::{
    new_event::{EventType, NewEvent},
    reporter::Reporter,
};

/// An object, for one reporter. Neither the version of the API nor that of the object is part of it.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct ObjectId {
    reporter: Arc<Reporter>,
    kind: String,
    namespace: String,
    name: String,
    uid: String,
}

/// The key of a group of similar events: they differ in their notes only.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct GroupKey {
    pub(super) object: Arc<ObjectId>,
    type_: EventType,
    reason: String,
    action: String,
    related_uid: String,
}

/// The key of a series of equal events.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct SeriesKey {
    pub(super) group: Arc<GroupKey>,
    /// The hash of the note or of the series key; `None` for the event that represents the remaining similar ones.
    pub(super) note: Option<u64>,
}

impl GroupKey {
    pub(super) fn new(occurrence: &Occurrence) -> Self {
        let event = &occurrence.event;
        GroupKey {
            object: Arc::new(ObjectId::new(Arc::clone(&occurrence.reporter), &event.regarding)),
            type_: event.type_,
            reason: event.reason.clone(),
            action: event.action.clone(),
            related_uid: event.related.as_ref().and_then(|related| related.uid.clone()).unwrap_or_default(),
        }
    }
}

impl ObjectId {
    fn new(reporter: Arc<Reporter>, object: &ObjectReference) -> Self {
        let [kind, namespace, name, uid] =
            [&object.kind, &object.namespace, &object.name, &object.uid].map(|part| part.clone().unwrap_or_default());
        ObjectId { reporter, kind, namespace, name, uid }
    }
}

/// Returns the hash of what distinguishes an event from similar ones: its series key, or its note.
pub(super) fn note_hash(event: &NewEvent) -> u64 {
    let mut hasher = DefaultHasher::new();
    match &event.series_key {
        Some(key) => (true, key).hash(&mut hasher),
        None => (false, &event.note).hash(&mut hasher),
    }
    hasher.finish()
}
