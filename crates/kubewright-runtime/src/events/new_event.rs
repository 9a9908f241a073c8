//! An event as the caller records it.

use std::fmt;

use k8s_openapi::api::core::v1::ObjectReference;

use super::name::{MAX_NOTE, MAX_WORD, cut};

/// The reason of an event that was recorded without one.
const UNKNOWN_REASON: &str = "Unknown";

/// Whether an event needs attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    /// Something happened as expected.
    Normal,
    /// Something did not happen as expected.
    Warning,
}

impl EventType {
    /// Returns the type as the API server names it.
    pub fn as_str(self) -> &'static str {
        match self {
            EventType::Normal => "Normal",
            EventType::Warning => "Warning",
        }
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// An event to [record](super::EventRecorder::record).
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::Resource;
/// use kubewright_runtime::events::{EventType, NewEvent};
///
/// let object = ConfigMap::default();
/// let note = "attempt 3: volume `data` is locked";
/// let event = NewEvent::new(object.object_ref(&()), EventType::Warning, "FailedMount", "Mounting", note);
/// // All attempts are one series, although their notes differ.
/// let event = event.series_key("data");
/// # drop(event);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    pub(super) regarding: ObjectReference,
    pub(super) related: Option<ObjectReference>,
    pub(super) type_: EventType,
    pub(super) reason: String,
    pub(super) action: String,
    pub(super) note: String,
    pub(super) series_key: Option<String>,
}

impl NewEvent {
    /// Creates an event about the object that the reference identifies; `object_ref` of kube's `Resource` returns the
    /// reference of an object.
    ///
    /// The reason and the action are identifiers in Pascal case, such as `FailedMount` and `Mounting`. They are cut to
    /// 128 bytes, and the note to 1024. The API server rejects empty ones: an empty reason is replaced by `Unknown`,
    /// and an empty action by the reason. The note can be empty.
    pub fn new(
        regarding: ObjectReference,
        type_: EventType,
        reason: impl Into<String>,
        action: impl Into<String>,
        note: impl Into<String>,
    ) -> Self {
        let reason = non_empty(reason.into(), UNKNOWN_REASON);
        let action = non_empty(action.into(), &reason);
        let [reason, action] = [reason, action].map(|word| cut(word, MAX_WORD));
        let note = cut(note.into(), MAX_NOTE);
        NewEvent { regarding, related: None, type_, reason, action, note, series_key: None }
    }

    /// Sets the related object, such as the Pod that an action created.
    #[must_use]
    pub fn related(mut self, related: ObjectReference) -> Self {
        self.related = Some(related);
        self
    }

    /// Sets what distinguishes the series of otherwise equal events, instead of their notes. The series has the note of
    /// its first event: the API server does not accept changes of it.
    #[must_use]
    pub fn series_key(mut self, key: impl Into<String>) -> Self {
        self.series_key = Some(key.into());
        self
    }
}

fn non_empty(text: String, default: &str) -> String {
    match text.is_empty() {
        true => default.to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(reason: &str, action: &str, note: &str) -> NewEvent {
        NewEvent::new(ObjectReference::default(), EventType::Normal, reason, action, note)
    }

    #[test]
    fn empty_reasons_and_actions_are_replaced() {
        for (reason, action, expected) in [
            ("Created", "Creating", ("Created", "Creating")),
            ("Created", "", ("Created", "Created")),
            ("", "Creating", ("Unknown", "Creating")),
            ("", "", ("Unknown", "Unknown")),
        ] {
            let event = event(reason, action, "");
            assert_eq!((event.reason.as_str(), event.action.as_str()), expected);
        }
    }

    #[test]
    fn texts_are_cut_to_what_the_server_accepts() {
        let event = event(&"é".repeat(100), &"a".repeat(129), &"語".repeat(400));
        assert_eq!((event.reason.len(), event.action.len(), event.note.len()), (128, 128, 1023));
    }
}
