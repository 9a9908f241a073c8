//! The embedded API server behind a line that a test can listen to, cut, and put answers into.

use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::Response;
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use kube::Client;
use kube::client::Body as RequestBody;
use logger_apiserver::ApiServer;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tower::{BoxError, ServiceExt};

/// Longer than anything takes: the clock is paused, so it passes only when nothing else can happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// An API server and the line to it. Cloning gives another handle on the same line.
#[derive(Clone)]
pub(crate) struct Line(Arc<Shared>);

struct Shared {
    server: ApiServer,
    seen: watch::Sender<Vec<Seen>>,
    script: Mutex<Vec<Rule>>,
    cuts: watch::Sender<()>,
    /// Has one receiver for each request that hangs.
    hanging: watch::Sender<()>,
}

/// A request that came over the line.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) asked: Asked,
    /// The plural: the last part of the path of a list or watch.
    pub(crate) resource: String,
    pub(crate) at: Instant,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    List,
    Watch,
    /// Any other read, and every write.
    Other,
}

/// What is put in place of the server's answer.
#[derive(Clone)]
pub(crate) enum Answer {
    /// This code and body.
    Text(u16, String),
    /// The beginning of a body, then the connection breaks.
    Torn(&'static str),
    /// Nothing, ever.
    Never,
    /// No connection.
    Refused,
    /// The server's own, once the gate is open.
    After(watch::Receiver<bool>),
}

struct Rule {
    asked: Asked,
    answer: Answer,
    once: bool,
}

type Body = UnsyncBoxBody<Bytes, BoxError>;

impl Line {
    /// A server with every generated CRD.
    pub(crate) async fn new() -> Self {
        let line = Line::bare();
        tests::install_crds(&line.direct()).await;
        line
    }

    /// A server with no CRD.
    pub(crate) fn bare() -> Self {
        Line(Arc::new(Shared {
            server: ApiServer::new(),
            seen: watch::Sender::default(),
            script: Mutex::default(),
            cuts: watch::Sender::default(),
            hanging: watch::Sender::default(),
        }))
    }

    /// A client at the end of the line.
    pub(crate) fn client(&self) -> Client {
        let line = self.clone();
        let service = tower::service_fn(move |request| {
            let line = line.clone();
            async move { line.answer(request).await }
        });
        Client::new(service, "default")
    }

    /// A client beside the line: the world that goes on when the line is down.
    pub(crate) fn direct(&self) -> Client {
        self.0.server.client()
    }

    /// Answers the next such request so.
    pub(crate) fn once(&self, asked: Asked, answer: Answer) {
        self.rule(asked, answer, true);
    }

    /// Answers such requests so until [healed](Self::heal).
    pub(crate) fn always(&self, asked: Asked, answer: Answer) {
        self.rule(asked, answer, false);
    }

    /// Lets the server answer again.
    pub(crate) fn heal(&self) {
        self.0.script.lock().unwrap().clear();
    }

    /// Ends every watch that is open.
    pub(crate) fn cut(&self) {
        self.0.cuts.send_replace(());
    }

    /// How many such requests came.
    pub(crate) fn count(&self, asked: Asked) -> usize {
        self.seen(asked).len()
    }

    /// The requests of this sort that came.
    pub(crate) fn seen(&self, asked: Asked) -> Vec<Seen> {
        let seen = self.0.seen.borrow();
        seen.iter().filter(|seen| seen.asked == asked).cloned().collect()
    }

    /// How many requests hang.
    pub(crate) fn hanging(&self) -> usize {
        self.0.hanging.receiver_count()
    }

    /// Waits until this many such requests came.
    pub(crate) async fn until(&self, asked: Asked, count: usize) {
        let mut seen = self.0.seen.subscribe();
        let enough = seen.wait_for(|seen| seen.iter().filter(|seen| seen.asked == asked).count() >= count);
        let came = timeout(PATIENCE, enough).await.map(drop);
        came.unwrap_or_else(|_| panic!("{asked:?} was asked {} times, not {count}", self.count(asked)));
    }

    fn rule(&self, asked: Asked, answer: Answer, once: bool) {
        self.0.script.lock().unwrap().push(Rule { asked, answer, once });
    }

    async fn answer(&self, request: http::Request<RequestBody>) -> Result<Response<Body>, BoxError> {
        let asked = Asked::by(&request);
        self.note(asked, request.uri().path());
        match self.scripted(asked) {
            None => Ok(self.served(request).await),
            Some(Answer::Text(code, text)) => Ok(response(code, [Ok(text.into())])),
            Some(Answer::Torn(text)) => {
                let torn = Err(io::Error::from(io::ErrorKind::ConnectionReset).into());
                Ok(response(200, [Ok(text.into()), torn]))
            }
            Some(Answer::Refused) => Err(io::Error::from(io::ErrorKind::ConnectionRefused).into()),
            Some(Answer::Never) => {
                let _hangs = self.0.hanging.subscribe();
                std::future::pending().await
            }
            Some(Answer::After(mut gate)) => {
                gate.wait_for(|open| *open).await.expect("the test holds the gate");
                Ok(self.served(request).await)
            }
        }
    }

    fn note(&self, asked: Asked, path: &str) {
        let seen = Seen { asked, resource: path.rsplit('/').next().unwrap_or_default().to_owned(), at: Instant::now() };
        self.0.seen.send_modify(|all| all.push(seen));
    }

    fn scripted(&self, asked: Asked) -> Option<Answer> {
        let mut script = self.0.script.lock().unwrap();
        let index = script.iter().position(|rule| rule.asked == asked)?;
        match script[index].once {
            true => Some(script.remove(index).answer),
            false => Some(script[index].answer.clone()),
        }
    }

    /// What the server answers; a body that goes on ends with the next cut.
    async fn served(&self, request: http::Request<RequestBody>) -> Response<Body> {
        let mut cuts = self.0.cuts.subscribe();
        let answer = self.0.server.clone().oneshot(request).await;
        let cut = async move { drop(cuts.changed().await) };
        answer.unwrap_or_else(|never: Infallible| match never {}).map(|body| {
            let frames = body.into_data_stream().map(|data| Ok(Frame::data(data?)));
            StreamBody::new(frames.take_until(Box::pin(cut))).boxed_unsync()
        })
    }
}

impl Asked {
    fn by<B>(request: &http::Request<B>) -> Self {
        let query = request.uri().query().unwrap_or_default();
        let names_one = !["loggers", "books", "shelves"].iter().any(|plural| request.uri().path().ends_with(plural));
        match query.split('&').any(|option| option == "watch=true") {
            true => Asked::Watch,
            false if request.method() == http::Method::GET && !names_one => Asked::List,
            false => Asked::Other,
        }
    }
}

impl Answer {
    /// A refusal as the API server words it.
    pub(crate) fn status(code: u16, reason: &str, message: &str) -> Self {
        Answer::Text(code, status(code, reason, message).to_string())
    }

    /// A watch that begins, and says at once that its version is too old.
    pub(crate) fn expired_event() -> Self {
        let event = json!({"type": "ERROR", "object": status(410, "Expired", TOO_OLD)});
        Answer::Text(200, format!("{event}\n"))
    }

    /// A watch that does not begin, because its version is too old.
    pub(crate) fn expired() -> Self {
        Answer::status(410, "Expired", TOO_OLD)
    }
}

const TOO_OLD: &str = "too old resource version: 1 (2)";

fn status(code: u16, reason: &str, message: &str) -> serde_json::Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code,
    })
}

fn response<const N: usize>(code: u16, data: [Result<Bytes, BoxError>; N]) -> Response<Body> {
    let frames = stream::iter(data).map(|data| data.map(Frame::data));
    let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
    *response.status_mut() = http::StatusCode::from_u16(code).expect("a status code");
    response
}
