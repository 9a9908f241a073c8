//! Audit events of an API server: `POST /audit` with an `EventList`, as `--audit-webhook-config-file` sends them.
//!
//! The API server sends events at least once. The id of a record is the audit id and the stage of its event, so that an
//! event that is sent again is not written again. No event is a reason to reject those of others: the API server does
//! not repeat a rejected list.

use std::fmt;

use http::HeaderMap;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error, SeqAccess, Visitor},
};
use serde_json::value::{RawValue, to_raw_value};

use super::{ActivitySource, error::SourceError, json::is_portable};
use crate::record::{Draft, Source};

const API_VERSION: &str = "audit.k8s.io/v1";
const KIND: &str = "EventList";

/// The maximum length of an id. Audit ids have up to 256 characters, and stages up to 16.
pub const MAX_ID: usize = 288;

/// The maximum number of events in a list. An API server sends 400 by default.
pub const MAX_EVENTS: usize = 20_000;

/// The maximum size of an event that becomes a string, so that its record does not exceed the size of a line.
const MAX_ENCODED: usize = 4 << 20;

/// API servers that send their audit events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Audit;

/// A list of events. Their content is not interpreted.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EventList {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    items: Items,
}

/// The drafts of at most [`MAX_EVENTS`] events, which are created one by one.
#[derive(Debug, Default)]
struct Items(Vec<Draft>);

/// An event as a string.
#[derive(Debug, Serialize)]
struct Encoded<'a> {
    text: &'a str,
}

/// What identifies an event.
#[derive(Debug, Deserialize)]
struct Event {
    #[serde(rename = "auditID")]
    audit_id: String,
    stage: String,
}

impl ActivitySource for Audit {
    fn drafts(&self, _: &HeaderMap, body: &[u8]) -> Result<Vec<Draft>, SourceError> {
        let EventList { api_version, kind, items } = serde_json::from_slice(body)?;
        if (api_version.as_str(), kind.as_str()) != (API_VERSION, KIND) {
            return Err(SourceError::NotAnEventList { kind, api_version });
        }
        Ok(items.0)
    }
}

/// Returns the draft of an event. One that other parsers reject becomes a string: requests of clients can have any
/// depth.
fn draft(event: &RawValue) -> Draft {
    let text = event.get();
    let is_encoded = !is_portable(text) && text.len() <= MAX_ENCODED;
    let encoded = is_encoded.then(|| to_raw_value(&Encoded { text }).ok()).flatten();
    Draft::new(Source::Audit, id(event), encoded.as_deref().unwrap_or(event))
}

/// Returns the id of an event; `None` if it has none, or one that no API server sends.
fn id(event: &RawValue) -> Option<String> {
    let Event { audit_id, stage } = serde_json::from_str(event.get()).ok()?;
    let id = format!("{audit_id}/{stage}");
    // The last slash separates the stage.
    (id.len() <= MAX_ID && !stage.contains('/')).then_some(id)
}

impl<'de> Deserialize<'de> for Items {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ItemsVisitor)
    }
}

struct ItemsVisitor;

impl<'de> Visitor<'de> for ItemsVisitor {
    type Value = Items;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Items, A::Error> {
        let mut drafts = Vec::new();
        while let Some(event) = list.next_element::<&RawValue>()? {
            if drafts.len() == MAX_EVENTS {
                return Err(A::Error::custom(format_args!("a list has at most {MAX_EVENTS} events")));
            }
            // No API server sends another value.
            if !event.get().starts_with('{') {
                return Err(A::Error::custom("an event is a JSON object"));
            }
            drafts.push(draft(event));
        }
        Ok(Items(drafts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drafts(body: &str) -> Result<Vec<Draft>, String> {
        Audit.drafts(&HeaderMap::new(), body.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn an_event_is_identified_by_its_audit_id_and_stage() {
        let body = r#"{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[
            {"level":"Metadata","auditID":"7","stage":"RequestReceived","verb":"get"},
            {"level":"Metadata","auditID":"7","stage":"ResponseComplete","verb":"get"}]}"#;
        let drafts = drafts(body).unwrap();
        let ids: Vec<_> = drafts.iter().map(Draft::id).collect();
        assert_eq!(ids, [Some("7/RequestReceived"), Some("7/ResponseComplete")]);
        let expected = r#"{"level":"Metadata","auditID":"7","stage":"RequestReceived","verb":"get"}"#;
        assert_eq!(drafts[0].body(), expected, "the complete event");
    }

    #[test]
    fn an_event_without_a_valid_id_is_not_a_reason_to_reject_the_others() {
        let longest = "a".repeat(256);
        let body = format!(
            r#"{{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[
            {{"auditID":"7","stage":"Panic"}},{{"auditID":"8"}},{{"auditID":"{longest}a{longest}","stage":"Panic"}},
            {{"auditID":"{longest}","stage":"ResponseComplete"}}]}}"#
        );
        let drafts = drafts(&body).unwrap();
        let last = format!("{longest}/ResponseComplete");
        let ids: Vec<_> = drafts.iter().map(Draft::id).collect();
        assert_eq!(ids, [Some("7/Panic"), None, None, Some(last.as_str())]);
        assert_eq!(drafts[1].body(), r#"{"auditID":"8"}"#);
    }

    #[test]
    fn an_event_that_other_parsers_reject_becomes_a_string() {
        let event = format!(
            r#"{{"auditID":"7","stage":"Panic","requestObject":{}{}}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        let body = format!(r#"{{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[{event}]}}"#);
        let drafts = drafts(&body).unwrap();
        assert_eq!(drafts[0].id(), Some("7/Panic"));
        assert_eq!(drafts[0].body(), serde_json::json!({ "text": event }).to_string());
    }

    #[test]
    fn two_events_do_not_have_one_id() {
        let body = r#"{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[
            {"auditID":"a/b","stage":"c"},{"auditID":"a","stage":"b/c"}]}"#;
        let drafts = drafts(body).unwrap();
        assert_eq!(drafts.iter().map(Draft::id).collect::<Vec<_>>(), [Some("a/b/c"), None]);
    }

    #[test]
    fn other_bodies_are_rejected() {
        let list = |items: &str| format!(r#"{{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[{items}]}}"#);
        assert_eq!(drafts(&list("")), Ok(Vec::new()));
        let error = drafts(&list(&"{},".repeat(MAX_EVENTS + 1))).unwrap_err();
        assert!(error.starts_with("the body is not valid JSON: a list has at most 20000 events"), "{error}");
        for item in ["0", "[\"7\",\"Panic\"]"] {
            let error = drafts(&list(item)).unwrap_err();
            assert!(error.starts_with("the body is not valid JSON: an event is a JSON object"), "{error}");
        }
        let error = drafts(r#"{"kind":"EventList","apiVersion":"audit.k8s.io/v1beta1"}"#).unwrap_err();
        assert_eq!(error, "expected an EventList of audit.k8s.io/v1, found `EventList` of `audit.k8s.io/v1beta1`");
        assert!(drafts("{").unwrap_err().starts_with("the body is not valid JSON: "));
    }
}
