//! The request that a webhook reviews: its user, its object and its options.

use std::collections::BTreeMap;

use k8s_openapi::api::authentication::v1::UserInfo;
use kubewright_core::{GroupVersionKind, description::Operation};
use parking_lot::Mutex;

/// The maximum length of a warning, in characters: the API server truncates longer ones.
const MAX_WARNING_LENGTH: usize = 256;
/// The maximum length of all warnings of a response, in characters, as in the API server.
const MAX_WARNINGS_LENGTH: usize = 4 << 10;

/// A request that a [`Defaulter`](super::Defaulter) or a [`Validator`](super::Validator) reviews.
///
/// Tests of validators create one with [`new`](Self::new).
#[derive(Debug)]
#[non_exhaustive]
pub struct AdmissionRequest {
    /// The identifier of the review, for logs.
    pub uid: String,
    /// The operation.
    pub operation: Operation,
    /// The name of the object; empty for a creation whose name is generated, in a mutating webhook.
    pub name: String,
    /// The namespace of the object.
    pub namespace: Option<String>,
    /// The subresource, such as `status`.
    pub subresource: Option<String>,
    /// The kind that the client sent, which can have another version than the reviewed object.
    pub request_kind: Option<GroupVersionKind>,
    /// The user of the request.
    pub user_info: UserInfo,
    /// Whether nothing will be stored. Side effects must not happen then.
    pub dry_run: bool,
    /// The options of the operation, such as `DeleteOptions`, as JSON.
    pub options: Option<serde_json::Value>,
    notes: Mutex<Notes>,
}

/// What the response contains besides the decision.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    pub(super) warnings: Vec<String>,
    pub(super) audit_annotations: BTreeMap<String, String>,
    /// The length of all warnings, in characters.
    length: usize,
}

impl AdmissionRequest {
    /// Creates the request of an operation, without a user.
    #[must_use]
    pub fn new(operation: Operation) -> Self {
        AdmissionRequest {
            uid: String::new(),
            operation,
            name: String::new(),
            namespace: None,
            subresource: None,
            request_kind: None,
            user_info: UserInfo::default(),
            dry_run: false,
            options: None,
            notes: Mutex::default(),
        }
    }

    /// Adds a warning, which clients such as kubectl show, whether the request is denied or not. Use at most 120
    /// characters.
    ///
    /// A warning is one line of at most 256 characters, and all warnings together have at most 4096: further ones are
    /// dropped.
    pub fn warn(&self, text: impl AsRef<str>) {
        let line = one_line(text.as_ref());
        let (length, mut notes) = (line.chars().count(), self.notes.lock());
        if length == 0 || notes.length + length > MAX_WARNINGS_LENGTH {
            tracing::debug!(uid = self.uid, warning = line, "a warning is dropped");
            return;
        }
        notes.length += length;
        notes.warnings.push(line);
    }

    /// Adds an annotation to the audit event of the request. The API server adds the name of the webhook to the key.
    pub fn annotate_audit(&self, key: impl Into<String>, value: impl Into<String>) {
        self.notes.lock().audit_annotations.insert(key.into(), value.into());
    }

    /// Returns the warnings.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.notes.lock().warnings.clone()
    }

    pub(super) fn take_notes(&self) -> Notes {
        std::mem::take(&mut *self.notes.lock())
    }
}

/// Returns a text as one line without control characters: it becomes a header. A long text is truncated.
fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_WARNING_LENGTH) {
        Some((end, _)) => line[..end].to_owned(),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(texts: impl IntoIterator<Item = String>) -> Vec<String> {
        let request = AdmissionRequest::new(Operation::Create);
        texts.into_iter().for_each(|text| request.warn(text));
        request.warnings()
    }

    #[test]
    fn a_warning_is_one_line() {
        assert_eq!(warnings(["two\r\nlines\u{7}".to_owned()]), ["two lines"]);
        assert_eq!(warnings([" \n".to_owned()]), Vec::<String>::new());
    }

    #[test]
    fn warnings_are_limited() {
        let long = warnings(["ü".repeat(300)]);
        assert_eq!(long[0].chars().count(), MAX_WARNING_LENGTH);
        let many = warnings((0..100).map(|_| "a".repeat(MAX_WARNING_LENGTH)));
        assert_eq!(many.len(), MAX_WARNINGS_LENGTH / MAX_WARNING_LENGTH);
    }
}
