//! Audit events of an API server: `POST /audit` with an `EventList`, as `--audit-webhook-config-file` sends them.
//!
//! The API server sends events at least once. The id of a record is the audit id and the stage of its event, so that
//! each is written once.

use http::HeaderMap;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{ActivitySource, error::SourceError};
use crate::record::{Draft, Source};

const API_VERSION: &str = "audit.k8s.io/v1";
const KIND: &str = "EventList";

/// The maximum length of an id. The ids of API servers have 36 characters, and stages up to 16.
pub const MAX_ID: usize = 256;

/// API servers that send their audit events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Audit;

/// A list of events. Their content is not interpreted.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EventList<'a> {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    #[serde(borrow, default)]
    items: Vec<&'a RawValue>,
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
        items.into_iter().enumerate().map(|(index, event)| draft(index, event)).collect()
    }
}

fn draft(index: usize, event: &RawValue) -> Result<Draft, SourceError> {
    let identity = serde_json::from_str(event.get());
    let Event { audit_id, stage } = identity.map_err(|source| SourceError::InvalidEvent { index, source })?;
    let id = format!("{audit_id}/{stage}");
    if id.len() > MAX_ID {
        return Err(SourceError::LongId { index });
    }
    Ok(Draft::new(Source::Audit, Some(id), event))
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
    fn other_bodies_are_rejected() {
        let list = |items: &str| format!(r#"{{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[{items}]}}"#);
        assert_eq!(drafts(&list("")), Ok(Vec::new()));
        let error = drafts(&list(r#"{"auditID":"7","stage":"Panic"},{"auditID":"8"}"#)).unwrap_err();
        assert!(error.starts_with("invalid audit event: items[1]: missing field `stage`"), "{error}");
        let error = drafts(&list(&format!(r#"{{"auditID":"{}","stage":"Panic"}}"#, "a".repeat(251)))).unwrap_err();
        assert_eq!(error, "invalid audit event: items[0]: `auditID` and `stage` are longer than 256 bytes");
        let error = drafts(r#"{"kind":"EventList","apiVersion":"audit.k8s.io/v1beta1"}"#).unwrap_err();
        assert_eq!(error, "expected an EventList of audit.k8s.io/v1, found `EventList` of `audit.k8s.io/v1beta1`");
        assert!(drafts("{").unwrap_err().starts_with("the body is not valid JSON: "));
    }
}
