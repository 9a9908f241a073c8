//! A server that answers by a rule of the test, and notes what it was asked.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::{Stream, StreamExt, future, stream};
use http::{Request, Response};
use http_body_util::{BodyExt, StreamBody, combinators::UnsyncBoxBody};
use kube::client::Body;
use serde_json::{Value, json};
use tokio::sync::watch;
use tower::{BoxError, ServiceExt, service_fn};

use logger_apiserver::ApiServer;

/// A request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) watch: bool,
    pub(crate) path: String,
    pub(crate) accept: String,
    query: BTreeMap<String, String>,
}

/// What it gets.
pub(crate) enum Answer {
    /// What the API server in memory says.
    Real,
    /// A refusal with this code and reason.
    Refused(u16, &'static str),
    /// Nobody listens.
    NobodyThere,
    /// A whole answer.
    Json(Value),
    /// A watch that tells this and ends.
    Lines(Vec<Value>),
    /// A watch that tells this and never ends.
    Open(Vec<Value>),
    /// No answer, ever.
    Never,
}

type Rule = Box<dyn Fn(&Asked, usize) -> Answer + Send + Sync>;

/// Cloning gives another handle on the same server.
#[derive(Clone)]
pub(crate) struct Script(Arc<Shared>);

struct Shared {
    real: ApiServer,
    rule: Rule,
    asked: Mutex<Vec<Asked>>,
    /// How many answers are being read.
    open: watch::Sender<usize>,
}

impl Asked {
    /// An option of the query; empty where it is not set.
    pub(crate) fn option(&self, name: &str) -> &str {
        self.query.get(name).map_or("", String::as_str)
    }

    /// The version; empty for the newest.
    pub(crate) fn version(&self) -> &str {
        self.option("resourceVersion")
    }

    fn of(request: &Request<Body>) -> Self {
        let query = form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes());
        let query: BTreeMap<_, _> = query.into_owned().collect();
        let accept = request.headers().get(http::header::ACCEPT).and_then(|accept| accept.to_str().ok());
        Asked {
            watch: query.get("watch").is_some_and(|watch| watch == "true"),
            path: request.uri().path().to_owned(),
            accept: accept.unwrap_or_default().to_owned(),
            query,
        }
    }
}

impl Script {
    /// The rule gets each list or watch and how many of that sort came before it.
    pub(crate) fn new(rule: impl Fn(&Asked, usize) -> Answer + Send + Sync + 'static) -> Self {
        let (real, rule, asked) = (ApiServer::new(), Box::new(rule), Mutex::default());
        Script(Arc::new(Shared { real, rule, asked, open: watch::Sender::new(0) }))
    }

    pub(crate) fn real() -> Self {
        Self::new(|_, _| Answer::Real)
    }

    /// A client whose requests go by the rule.
    pub(crate) fn client(&self) -> kube::Client {
        let script = self.clone();
        let service = service_fn(move |request| {
            let script = script.clone();
            async move { script.answer(request).await }
        });
        kube::Client::new(service, "default")
    }

    /// A client of the server in memory behind the rule.
    pub(crate) fn backdoor(&self) -> kube::Client {
        self.0.real.client()
    }

    pub(crate) fn lists(&self) -> Vec<Asked> {
        self.asked(false)
    }

    pub(crate) fn watches(&self) -> Vec<Asked> {
        self.asked(true)
    }

    /// The versions that were listed, in order.
    pub(crate) fn listed(&self) -> Vec<String> {
        self.lists().iter().map(|asked| asked.version().to_owned()).collect()
    }

    /// The versions that were watched from, in order.
    pub(crate) fn watched(&self) -> Vec<String> {
        self.watches().iter().map(|asked| asked.version().to_owned()).collect()
    }

    /// Waits until so many answers are being read.
    pub(crate) async fn until_open(&self, count: usize) {
        self.0.open.subscribe().wait_for(|open| *open == count).await.unwrap();
    }

    fn asked(&self, watch: bool) -> Vec<Asked> {
        let asked = self.0.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.iter().filter(|asked| asked.watch == watch).cloned().collect()
    }

    /// Notes a request. How many of its sort came before?
    fn note(&self, asked: &Asked) -> usize {
        let mut all = self.0.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let before = all.iter().filter(|earlier| earlier.watch == asked.watch).count();
        all.push(asked.clone());
        before
    }

    async fn answer(&self, request: Request<Body>) -> Result<Response<UnsyncBoxBody<Bytes, BoxError>>, BoxError> {
        let asked = Asked::of(&request);
        let before = self.note(&asked);
        match (self.0.rule)(&asked, before) {
            Answer::Real => {
                let response = self.0.real.clone().oneshot(request).await.unwrap_or_else(|never| match never {});
                let (parts, body) = response.into_parts();
                let bytes = body.into_data_stream().map(|bytes| bytes.unwrap_or_default());
                Ok(Response::from_parts(parts, self.body(bytes)))
            }
            Answer::Refused(code, reason) => {
                let status =
                    json!({"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": reason});
                let body = self.body(stream::iter([Bytes::from(status.to_string())]));
                Ok(Response::builder().status(code).body(body).unwrap())
            }
            Answer::NobodyThere => Err(io::Error::from(io::ErrorKind::ConnectionRefused).into()),
            Answer::Json(json) => Ok(Response::new(self.body(stream::iter([Bytes::from(json.to_string())])))),
            Answer::Lines(lines) => Ok(Response::new(self.body(in_lines(lines)))),
            Answer::Open(lines) => Ok(Response::new(self.body(in_lines(lines).chain(stream::pending())))),
            Answer::Never => future::pending().await,
        }
    }

    /// A body that counts as open until it is dropped.
    fn body(&self, bytes: impl Stream<Item = Bytes> + Send + 'static) -> UnsyncBoxBody<Bytes, BoxError> {
        let guard = Guard::new(self.0.open.clone());
        let frames = bytes.map(move |bytes| {
            let _held = &guard;
            Ok(http_body::Frame::data(bytes))
        });
        StreamBody::new(frames).boxed_unsync()
    }
}

struct Guard(watch::Sender<usize>);

impl Guard {
    fn new(open: watch::Sender<usize>) -> Self {
        open.send_modify(|open| *open += 1);
        Guard(open)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

fn in_lines(lines: Vec<Value>) -> impl Stream<Item = Bytes> {
    stream::iter(lines.into_iter().map(|line| Bytes::from(format!("{line}\n"))))
}

/// A `ConfigMap` of the default namespace.
pub(crate) fn object(name: &str, version: &str) -> Value {
    let metadata = json!({"name": name, "namespace": "default", "uid": name, "resourceVersion": version});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
}

/// A list of these names, each of the list's version.
pub(crate) fn list(names: &[&str], version: &str, continue_token: &str) -> Answer {
    let items: Vec<_> = names.iter().map(|name| object(name, version)).collect();
    let metadata = json!({"resourceVersion": version, "continue": continue_token});
    Answer::Json(json!({"apiVersion": "v1", "kind": "ConfigMapList", "metadata": metadata, "items": items}))
}

/// A line of a watch.
pub(crate) fn event(kind: &str, name: &str, version: &str) -> Value {
    json!({"type": kind, "object": object(name, version)})
}

pub(crate) fn bookmark(version: &str, ends_initial_events: bool) -> Value {
    let mut bookmark = json!({"type": "BOOKMARK", "object": {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"resourceVersion": version}}});
    if ends_initial_events {
        bookmark["object"]["metadata"]["annotations"] = json!({"k8s.io/initial-events-end": "true"});
    }
    bookmark
}

/// A line that ends a watch with a refusal.
pub(crate) fn error(code: u16, reason: &str) -> Value {
    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason});
    json!({"type": "ERROR", "object": status})
}
