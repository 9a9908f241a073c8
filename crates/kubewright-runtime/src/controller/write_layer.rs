//! A client that records the writes of the reconciliations of a controller.

use std::{
    borrow::Cow,
    sync::Arc,
    task::{Context, Poll},
};

use futures::future::BoxFuture;
use http::{Method, Request, Response, Uri};
use kube::{Client, client::Body};
use serde::Deserialize;
use tower::Service;

use super::{gate::Write, own_writes::OwnWrites};
use crate::object::{ObjectKey, ResourceVersion};

/// Returns a client that sends its requests with this one and records the writes.
pub(super) fn recording_client(client: &Client, writes: Arc<OwnWrites>) -> Client {
    let (namespace, valid_until) = (client.default_namespace().to_owned(), *client.valid_until());
    Client::new(RecordingService { client: client.clone(), writes }, namespace).with_valid_until(valid_until)
}

struct RecordingService {
    client: Client,
    writes: Arc<OwnWrites>,
}

impl Service<Request<Body>> for RecordingService {
    type Response = Response<Body>;
    type Error = kube::Error;
    type Future = BoxFuture<'static, Result<Response<Body>, kube::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), kube::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (client, writes) = (self.client.clone(), Arc::clone(&self.writes));
        let target = Target::from_request(request.method(), request.uri());
        Box::pin(async move {
            let response = client.send(request).await?;
            let Some(target) = target.filter(|_| response.status().is_success()) else { return Ok(response) };
            let (parts, body) = response.into_parts();
            let body = body.collect_bytes().await?;
            // The task that sent the request polls this future, so the recorder finds its reconciliation.
            if let Some(write) = target.write(&body) {
                writes.record(&write);
            }
            Ok(Response::from_parts(parts, Body::from(body)))
        })
    }
}

/// The object that a request writes.
#[derive(Debug, PartialEq)]
struct Target {
    group: String,
    plural: String,
    namespace: String,
    /// Empty for a creation.
    name: String,
}

impl Target {
    /// Returns the target of a write; `None` for reads, dry runs, collections, and subresources that are created, such
    /// as evictions.
    fn from_request(method: &Method, uri: &Uri) -> Option<Self> {
        if uri.query().is_some_and(|query| query.split('&').any(|parameter| parameter.starts_with("dryRun="))) {
            return None;
        }
        let path: Vec<_> = uri.path().trim_matches('/').split('/').collect();
        let (group, rest) = match path.as_slice() {
            ["api", _, rest @ ..] => ("", rest),
            ["apis", group, _, rest @ ..] => (*group, rest),
            _ => return None,
        };
        let (namespace, rest) = match rest {
            // The subresources of a namespace have the form of a collection in it.
            ["namespaces", _, "status" | "finalize"] | ["namespaces"] | ["namespaces", _] => ("", rest),
            ["namespaces", namespace, rest @ ..] => (*namespace, rest),
            rest => ("", rest),
        };
        let (plural, name) = match (method, rest) {
            (&Method::POST, [plural]) => (*plural, ""),
            (&Method::DELETE, [plural, name]) => (*plural, *name),
            (&Method::PUT | &Method::PATCH, [plural, name] | [plural, name, _]) => (*plural, *name),
            _ => return None,
        };
        let [group, plural, namespace, name] = [group, plural, namespace, name].map(str::to_owned);
        Some(Target { group, plural, namespace, name })
    }

    /// Returns the write according to the response: the object, or the status of a deletion.
    fn write(self, response: &[u8]) -> Option<Write> {
        let Answer { kind, metadata, details } = serde_json::from_slice(response).ok()?;
        let is_status = kind == "Status";
        let name = if self.name.is_empty() { metadata.name? } else { Cow::Owned(self.name) };
        let key = ObjectKey::namespaced(&self.namespace, &name);
        let version = match is_status {
            true => None,
            false => Some(ResourceVersion::new(&metadata.resource_version?)),
        };
        let uid = if is_status { details.uid } else { metadata.uid };
        Some(Write { group: self.group, plural: self.plural, key, version, uid: uid.map(Cow::into_owned) })
    }
}

/// The part of a response that identifies the written object and its version.
#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    metadata: AnswerMetadata<'a>,
    #[serde(borrow, default)]
    details: Details<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnswerMetadata<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    uid: Option<Cow<'a, str>>,
    #[serde(borrow)]
    resource_version: Option<Cow<'a, str>>,
}

#[derive(Default, Deserialize)]
struct Details<'a> {
    #[serde(borrow)]
    uid: Option<Cow<'a, str>>,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn target(method: Method, uri: &str) -> Option<[String; 4]> {
        let Target { group, plural, namespace, name } = Target::from_request(&method, &uri.parse().unwrap())?;
        Some([group, plural, namespace, name])
    }

    #[test]
    fn the_path_of_a_write_names_its_object() {
        let named = |group: &str, plural: &str, namespace: &str, name: &str| {
            Some([group, plural, namespace, name].map(str::to_owned))
        };
        for (method, uri, expected) in [
            (Method::POST, "/api/v1/namespaces/a/configmaps?", named("", "configmaps", "a", "")),
            (Method::PUT, "/api/v1/namespaces/a/configmaps/b", named("", "configmaps", "a", "b")),
            (
                Method::PATCH,
                "/apis/g.io/v1/namespaces/a/loggers/b/status?force=true",
                named("g.io", "loggers", "a", "b"),
            ),
            (Method::DELETE, "/apis/g.io/v1/nodes/b", named("g.io", "nodes", "", "b")),
            (Method::PATCH, "/api/v1/namespaces/a", named("", "namespaces", "", "a")),
            (Method::PUT, "/api/v1/namespaces/a/status", named("", "namespaces", "", "a")),
            (Method::POST, "/api/v1/namespaces", named("", "namespaces", "", "")),
            (Method::GET, "/api/v1/namespaces/a/configmaps/b", None),
            (Method::DELETE, "/api/v1/namespaces/a/configmaps", None),
            (Method::POST, "/api/v1/namespaces/a/pods/b/eviction", None),
            (Method::PUT, "/api/v1/namespaces/a/configmaps/b?dryRun=All", None),
            (Method::POST, "/version", None),
        ] {
            assert_eq!(target(method.clone(), uri), expected, "{method} {uri}");
        }
    }

    fn written(method: Method, response: &Value) -> Option<Write> {
        let name = if method == Method::POST { "" } else { "/b" };
        let uri = format!("/api/v1/namespaces/a/configmaps{name}").parse().unwrap();
        Target::from_request(&method, &uri)?.write(response.to_string().as_bytes())
    }

    #[test]
    fn the_response_contains_the_version_or_the_deleted_uid() {
        let object =
            json!({"kind": "ConfigMap", "metadata": {"name": "b", "uid": "u", "resourceVersion": "7"}, "data": {}});
        let write = |version: Option<&str>| Write {
            group: String::new(),
            plural: "configmaps".to_owned(),
            key: ObjectKey::namespaced("a", "b"),
            version: version.map(ResourceVersion::new),
            uid: Some("u".to_owned()),
        };
        for method in [Method::POST, Method::PUT, Method::DELETE] {
            assert_eq!(written(method, &object), Some(write(Some("7"))), "a deletion can wait for finalizers");
        }
        let status = json!({"kind": "Status", "metadata": {}, "details": {"name": "b", "uid": "u"}});
        assert_eq!(written(Method::DELETE, &status), Some(write(None)));
        assert_eq!(written(Method::PUT, &json!({"kind": "ConfigMap", "metadata": {}})), None);
    }
}
