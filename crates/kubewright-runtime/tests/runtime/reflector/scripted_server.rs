//! A server that replies as a function of the test decides, and records the requests.

use std::{collections::BTreeMap, io, sync::Arc};

use bytes::Bytes;
use futures::{Stream, StreamExt, future, stream};
use http::{Request, Response};
use http_body_util::{BodyExt, StreamBody, combinators::UnsyncBoxBody};
use kube::client::Body;
use kubewright_apiserver::ApiServer;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::watch;
use tower::{BoxError, ServiceExt, service_fn};

/// A recorded list or watch request.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordedRequest {
    pub(crate) watch: bool,
    pub(crate) path: String,
    pub(crate) accept: String,
    query: BTreeMap<String, String>,
}

/// The reply to a request.
pub(crate) enum Reply {
    /// The response of the API server in memory.
    Forward,
    /// An error `Status` with this code and reason.
    Error(u16, &'static str),
    /// A refused connection.
    ConnectionRefused,
    /// A complete JSON body.
    Json(Value),
    /// A watch with these events that ends.
    Watch(Vec<Value>),
    /// A watch with these events that never ends.
    OpenWatch(Vec<Value>),
    /// No response at all.
    Hang,
}

type Script = Box<dyn Fn(&RecordedRequest, usize) -> Reply + Send + Sync>;

/// A server whose replies a closure decides. Clones are handles on the same server.
#[derive(Clone)]
pub(crate) struct ScriptedServer(Arc<Shared>);

struct Shared {
    api_server: ApiServer,
    script: Script,
    requests: Mutex<Vec<RecordedRequest>>,
    /// The number of response bodies that are being read.
    open: watch::Sender<usize>,
}

impl RecordedRequest {
    /// Returns a query parameter, or an empty string if it is not set.
    pub(crate) fn option(&self, name: &str) -> &str {
        self.query.get(name).map_or("", String::as_str)
    }

    /// Returns the requested resource version, or an empty string for the most recent one.
    pub(crate) fn version(&self) -> &str {
        self.option("resourceVersion")
    }

    fn from_request(request: &Request<Body>) -> Self {
        let query = form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes());
        let query: BTreeMap<_, _> = query.into_owned().collect();
        let accept = request.headers().get(http::header::ACCEPT).and_then(|accept| accept.to_str().ok());
        RecordedRequest {
            watch: query.get("watch").is_some_and(|watch| watch == "true"),
            path: request.uri().path().to_owned(),
            accept: accept.unwrap_or_default().to_owned(),
            query,
        }
    }
}

impl ScriptedServer {
    /// Creates a server with a script, which is called with each list or watch and the number of earlier requests of
    /// that verb.
    pub(crate) fn new(script: impl Fn(&RecordedRequest, usize) -> Reply + Send + Sync + 'static) -> Self {
        let (api_server, script, requests) = (ApiServer::new(), Box::new(script), Mutex::default());
        ScriptedServer(Arc::new(Shared { api_server, script, requests, open: watch::Sender::new(0) }))
    }

    /// Creates a server that forwards every request to the API server in memory.
    pub(crate) fn forwarding() -> Self {
        Self::new(|_, _| Reply::Forward)
    }

    /// Returns a client of this server.
    pub(crate) fn client(&self) -> kube::Client {
        let server = self.clone();
        let service = service_fn(move |request| {
            let server = server.clone();
            async move { server.reply(request).await }
        });
        kube::Client::new(service, "default")
    }

    /// Returns a client of the API server in memory, which bypasses the script.
    pub(crate) fn direct_client(&self) -> kube::Client {
        self.0.api_server.client()
    }

    pub(crate) fn lists(&self) -> Vec<RecordedRequest> {
        self.requests(false)
    }

    pub(crate) fn watches(&self) -> Vec<RecordedRequest> {
        self.requests(true)
    }

    /// Returns the resource versions of the lists, in order.
    pub(crate) fn list_versions(&self) -> Vec<String> {
        self.lists().iter().map(|request| request.version().to_owned()).collect()
    }

    /// Returns the resource versions at which the watches started, in order.
    pub(crate) fn watch_versions(&self) -> Vec<String> {
        self.watches().iter().map(|request| request.version().to_owned()).collect()
    }

    /// Waits until this many response bodies are being read.
    pub(crate) async fn wait_for_open(&self, count: usize) {
        self.0.open.subscribe().wait_for(|open| *open == count).await.unwrap();
    }

    fn requests(&self, watch: bool) -> Vec<RecordedRequest> {
        let requests = self.0.requests.lock();
        requests.iter().filter(|request| request.watch == watch).cloned().collect()
    }

    /// Records a request and returns the number of earlier requests of its verb.
    fn record(&self, request: &RecordedRequest) -> usize {
        let mut all = self.0.requests.lock();
        let before = all.iter().filter(|earlier| earlier.watch == request.watch).count();
        all.push(request.clone());
        before
    }

    async fn reply(&self, request: Request<Body>) -> Result<Response<UnsyncBoxBody<Bytes, BoxError>>, BoxError> {
        let recorded = RecordedRequest::from_request(&request);
        let before = self.record(&recorded);
        match (self.0.script)(&recorded, before) {
            Reply::Forward => {
                let response = self.0.api_server.clone().oneshot(request).await.unwrap_or_else(|never| match never {});
                let (parts, body) = response.into_parts();
                let bytes = body.into_data_stream().map(|bytes| bytes.unwrap_or_default());
                Ok(Response::from_parts(parts, self.body(bytes)))
            }
            Reply::Error(code, reason) => {
                let status =
                    json!({"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": reason});
                let body = self.body(stream::iter([Bytes::from(status.to_string())]));
                Ok(Response::builder().status(code).body(body).unwrap())
            }
            Reply::ConnectionRefused => Err(io::Error::from(io::ErrorKind::ConnectionRefused).into()),
            Reply::Json(json) => Ok(Response::new(self.body(stream::iter([Bytes::from(json.to_string())])))),
            Reply::Watch(lines) => Ok(Response::new(self.body(json_lines(lines)))),
            Reply::OpenWatch(lines) => Ok(Response::new(self.body(json_lines(lines).chain(stream::pending())))),
            Reply::Hang => future::pending().await,
        }
    }

    /// Returns a body that counts as open until it is dropped.
    fn body(&self, bytes: impl Stream<Item = Bytes> + Send + 'static) -> UnsyncBoxBody<Bytes, BoxError> {
        let guard = OpenGuard::new(self.0.open.clone());
        let frames = bytes.map(move |bytes| {
            let _held = &guard;
            Ok(http_body::Frame::data(bytes))
        });
        StreamBody::new(frames).boxed_unsync()
    }
}

struct OpenGuard(watch::Sender<usize>);

impl OpenGuard {
    fn new(open: watch::Sender<usize>) -> Self {
        open.send_modify(|open| *open += 1);
        OpenGuard(open)
    }
}

impl Drop for OpenGuard {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

fn json_lines(lines: Vec<Value>) -> impl Stream<Item = Bytes> {
    stream::iter(lines.into_iter().map(|line| Bytes::from(format!("{line}\n"))))
}

/// Returns a `ConfigMap` of the default namespace.
pub(crate) fn object(name: &str, version: &str) -> Value {
    let metadata = json!({"name": name, "namespace": "default", "uid": name, "resourceVersion": version});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
}

/// Returns a list of objects with these names, each with the resource version of the list.
pub(crate) fn list(names: &[&str], version: &str, continue_token: &str) -> Reply {
    let items: Vec<_> = names.iter().map(|name| object(name, version)).collect();
    let metadata = json!({"resourceVersion": version, "continue": continue_token});
    Reply::Json(json!({"apiVersion": "v1", "kind": "ConfigMapList", "metadata": metadata, "items": items}))
}

/// Returns a watch event.
pub(crate) fn event(kind: &str, name: &str, version: &str) -> Value {
    json!({"type": kind, "object": object(name, version)})
}

/// Returns a `BOOKMARK` event.
pub(crate) fn bookmark(version: &str, ends_initial_events: bool) -> Value {
    let object = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"resourceVersion": version}});
    let mut bookmark = json!({"type": "BOOKMARK", "object": object});
    if ends_initial_events {
        bookmark["object"]["metadata"]["annotations"] = json!({"k8s.io/initial-events-end": "true"});
    }
    bookmark
}

/// Returns an `ERROR` event, which ends a watch.
pub(crate) fn error(code: u16, reason: &str) -> Value {
    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason});
    json!({"type": "ERROR", "object": status})
}
