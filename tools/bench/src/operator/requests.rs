//! The requests of a program by verb, from the audit log of the API server.

use anyhow::{Context, Result};
use serde::Deserialize;

/// The figures and their verbs. A server-side apply is a patch.
const VERBS: [(&str, &str); 6] = [
    ("requests_list", "list"),
    ("requests_watch", "watch"),
    ("requests_get", "get"),
    ("requests_create", "create"),
    ("requests_patch", "patch"),
    ("requests_update", "update"),
];

/// The part of an audit event that is counted.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuditEvent {
    stage: String,
    verb: String,
    response_status: Option<ResponseStatus>,
}

#[derive(Deserialize)]
struct ResponseStatus {
    #[serde(default)]
    code: u16,
}

/// Counts the requests of an audit log: those of each verb, all, and those that were rejected.
pub(super) fn count(log: &str) -> Result<Vec<(&'static str, f64)>> {
    let events = log.lines().map(serde_json::from_str::<AuditEvent>).collect::<Result<Vec<_>, _>>();
    let mut requests = events.context("the audit log is invalid")?;
    requests.retain(AuditEvent::is_request);
    let number =
        |is_counted: &dyn Fn(&AuditEvent) -> bool| requests.iter().filter(|request| is_counted(request)).count() as f64;
    let mut counts: Vec<_> =
        VERBS.iter().map(|(figure, verb)| (*figure, number(&|request| request.verb == *verb))).collect();
    counts.push(("requests", number(&|_| true)));
    counts.push(("requests_rejected", number(&AuditEvent::is_rejected)));
    Ok(counts)
}

impl AuditEvent {
    /// Returns whether this is the one event that counts the request: a watch has an event at its start and its end.
    fn is_request(&self) -> bool {
        self.stage == if self.verb == "watch" { "ResponseStarted" } else { "ResponseComplete" }
    }

    fn is_rejected(&self) -> bool {
        self.response_status.as_ref().is_some_and(|status| status.code >= 400)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(verb: &str, stage: &str, code: u16) -> String {
        format!(r#"{{"kind":"Event","stage":"{stage}","verb":"{verb}","responseStatus":{{"code":{code}}}}}"#)
    }

    #[test]
    fn requests_are_counted_once_by_verb() {
        let log = [
            event("list", "ResponseComplete", 200),
            event("watch", "ResponseStarted", 200),
            event("watch", "ResponseComplete", 200),
            event("patch", "ResponseComplete", 201),
            event("update", "ResponseComplete", 409),
            event("delete", "ResponseComplete", 200),
        ];
        let counts = count(&log.join("\n")).unwrap();
        let expected = [1, 1, 0, 0, 1, 1, 5, 1].map(f64::from);
        assert_eq!(counts.iter().map(|(_, number)| *number).collect::<Vec<_>>(), expected);
        assert_eq!(counts[6], ("requests", 5.0));
    }

    #[test]
    fn an_incomplete_log_is_an_error() {
        assert!(count(r#"{"stage":"#).is_err());
        assert!(count("").unwrap().iter().all(|(_, number)| *number == 0.0));
    }
}
