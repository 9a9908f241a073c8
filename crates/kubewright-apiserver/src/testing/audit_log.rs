//! Authorizations from the audit log of a real API server.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::authorization::recorder::Authorization;

/// The annotation with the decision of the authorizer: `allow` or `forbid`.
const DECISION: &str = "authorization.k8s.io/decision";

/// An event of the audit log, of the level `Metadata` or a higher one.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    verb: String,
    user: User,
    impersonated_user: Option<User>,
    #[serde(default, rename = "requestURI")]
    uri: String,
    object_ref: Option<ObjectReference>,
    response_status: Option<ResponseStatus>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
struct User {
    #[serde(default)]
    username: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ObjectReference {
    api_group: String,
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResponseStatus {
    code: u16,
    message: String,
}

/// Returns the authorizations in the audit log of a kube-apiserver, without duplicates, sorted by user: the same as
/// those of [`ApiServer::authorizations`](crate::ApiServer::authorizations). An incomplete last line is ignored.
///
/// The server needs `--audit-log-path` and an `--audit-policy-file` with the level `Metadata`. A patch or an update
/// that creates its object also needs the verb `create`, which the log does not contain; it follows from the response.
///
/// # Errors
/// A line is not an event.
pub fn audited_authorizations(log: &str) -> Result<Vec<Authorization>, serde_json::Error> {
    let mut authorizations = BTreeSet::new();
    for line in log.split_inclusive('\n').filter(|line| line.ends_with('\n') && !line.trim().is_empty()) {
        authorizations.extend(serde_json::from_str::<Event>(line)?.into_authorizations());
    }
    Ok(authorizations.into_iter().collect())
}

impl Event {
    /// Returns the authorizations of the request and of the creation of its object. A request whose event has no
    /// decision is not authorized yet.
    fn into_authorizations(self) -> Vec<Authorization> {
        let Some(allowed) = self.annotations.get(DECISION).map(|decision| decision == "allow") else {
            return Vec::new();
        };
        let status = self.response_status.unwrap_or_default();
        let created = match (self.verb.as_str(), status.code) {
            ("patch" | "update", 201) => Some(true),
            ("patch" | "update", 403) if allowed && status.message.contains(" cannot create resource ") => Some(false),
            _ => None,
        };
        let is_resource = self.object_ref.is_some();
        let object = self.object_ref.unwrap_or_default();
        // The log contains the name of a created object, and the request does not.
        let has_name = self.verb != "create" || !object.subresource.is_empty();
        let path = self.uri.split('?').next().unwrap_or_default();
        let authorization = Authorization {
            user: self.impersonated_user.unwrap_or(self.user).username,
            verb: self.verb,
            group: object.api_group,
            resource: object.resource,
            subresource: object.subresource,
            namespace: object.namespace,
            name: if has_name { object.name } else { String::new() },
            path: if is_resource { String::new() } else { path.to_owned() },
            allowed,
        };
        let created =
            created.map(|allowed| Authorization { verb: "create".to_owned(), allowed, ..authorization.clone() });
        [authorization].into_iter().chain(created).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn event(verb: &str, decision: &str, changes: Value) -> String {
        let mut event = json!({
            "kind": "Event",
            "stage": "ResponseComplete",
            "requestURI": "/apis/apps/v1/namespaces/ns/deployments/web?fieldManager=operator",
            "verb": verb,
            "user": { "username": "jane", "groups": ["system:authenticated"] },
            "objectRef": { "resource": "deployments", "namespace": "ns", "name": "web", "apiGroup": "apps" },
            "responseStatus": { "metadata": {}, "code": 200 },
            "annotations": { DECISION: decision, "authorization.k8s.io/reason": "" },
        });
        json_patch::merge(&mut event, &changes);
        format!("{event}\n")
    }

    /// Returns each authorization as user, verb, resource or path, name, and whether it was allowed.
    fn read(log: &str) -> Vec<String> {
        let show = |authorization: Authorization| {
            let Authorization { user, verb, resource, subresource, path, name, allowed, .. } = authorization;
            format!("{user} {verb} {resource}{path}{subresource} {name} {allowed}")
        };
        audited_authorizations(log).unwrap().into_iter().map(show).collect()
    }

    #[test]
    fn authorizations_are_read_once() {
        let log = [event("get", "allow", json!({})), event("get", "allow", json!({ "stage": "ResponseStarted" }))];
        assert_eq!(read(&log.concat()), ["jane get deployments web true"]);
    }

    #[test]
    fn impersonated_users_paths_and_denials_are_read() {
        let other = json!({ "impersonatedUser": { "username": "john" } });
        let path = json!({ "objectRef": null, "requestURI": "/metrics?a=b" });
        let log = [event("list", "forbid", other), event("get", "forbid", path)];
        assert_eq!(read(&log.concat()), ["jane get /metrics  false", "john list deployments web false"]);
    }

    #[test]
    fn a_created_object_has_no_name() {
        assert_eq!(read(&event("create", "allow", json!({}))), ["jane create deployments  true"]);
        let bound = event("create", "allow", json!({ "objectRef": { "subresource": "eviction" } }));
        assert_eq!(read(&bound), ["jane create deploymentseviction web true"]);
    }

    #[test]
    fn an_apply_that_creates_an_object_needs_both_verbs() {
        let created = event("patch", "allow", json!({ "responseStatus": { "code": 201 } }));
        assert_eq!(read(&created), ["jane create deployments web true", "jane patch deployments web true"]);
        let message = "deployments.apps \"web\" is forbidden: User \"jane\" cannot create resource \"deployments\"";
        let denied = event("patch", "allow", json!({ "responseStatus": { "code": 403, "message": message } }));
        assert_eq!(read(&denied), ["jane create deployments web false", "jane patch deployments web true"]);
    }

    #[test]
    fn requests_that_are_not_authorized_yet_and_incomplete_lines_are_ignored() {
        let received = event("get", "allow", json!({ "annotations": null }));
        assert!(read(&received).is_empty());
        assert!(read("{\"verb\": \"ge").is_empty());
        assert!(audited_authorizations("no event\n").is_err());
    }
}
