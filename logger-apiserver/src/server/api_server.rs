//! The server as a [`tower::Service`].

use std::{
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response, header::ACCEPT, request::Parts};
use serde::Serialize;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use tower::BoxError;

use crate::{
    api::error::{ApiError, Result},
    controllers::garbage_collector::GarbageCollector,
    handlers::load::{self, LoadError},
    meta::openapi::Library,
    response::api_response::{ApiResponse, Body},
    server::{builder::Builder, dispatch},
    storage::{shared::SharedState, state::State},
    wire::negotiation,
};

/// How long a request waits for a version that is not reached yet.
const PATIENCE: Duration = Duration::from_secs(3);

/// An in-memory API server. A clone is another handle to the same server.
#[derive(Debug, Clone)]
pub struct ApiServer {
    shared: Arc<SharedState>,
    /// Locked after the state, never before it.
    collector: Option<Arc<Mutex<GarbageCollector>>>,
    /// The OpenAPI documents that were built; locked after the state, never before it.
    library: Arc<Mutex<Library>>,
}

impl ApiServer {
    /// Starts a server with the namespaces every cluster has and no kinds but the built-in ones.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// A server that is to be unlike the default one.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Serves a state.
    pub(crate) fn with(state: State, collector: Option<GarbageCollector>) -> Self {
        Self {
            shared: Arc::new(SharedState::new(state)),
            collector: collector.map(|collector| Arc::new(Mutex::new(collector))),
            library: Arc::default(),
        }
    }

    /// Forgets the past, as the real server does every few minutes: lists and watches that begin before now are answered with
    /// 410 from here on, and so is the next page of a list. Watches that run go on.
    pub fn compact(&self) {
        self.shared.lock().store.compact();
    }

    /// A client of this server, with `default` as its namespace.
    ///
    /// # Panics
    /// Outside a tokio runtime: the client's request buffer is a task.
    #[must_use]
    pub fn client(&self) -> kube::Client {
        kube::Client::new(self.clone(), "default")
    }

    /// A client of this server through a layer, or several: `(outer, inner)`.
    ///
    /// # Panics
    /// Outside a tokio runtime: the client's request buffer is a task.
    #[must_use]
    pub fn client_with<L, B>(&self, layer: L) -> kube::Client
    where
        L: tower::Layer<Self>,
        L::Service: tower::Service<Request<kube::client::Body>, Response = Response<B>, Future: Send, Error: Into<BoxError>>
            + Send
            + 'static,
        <L::Service as tower::Service<Request<kube::client::Body>>>::Future: 'static,
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        kube::Client::new(layer.layer(self.clone()), "default")
    }

    /// Puts an object in as it is: with the status, uid, times and owners it has. The namespace it is in is made if it is
    /// not there; a definition brings its kind.
    ///
    /// # Errors
    /// It breaks a rule of its kind, is there already, or is of a kind that is not served.
    pub fn load(&self, object: &impl Serialize) -> Result<(), LoadError> {
        let object = serde_json::to_value(object).map_err(LoadError::unreadable)?;
        let mut state = self.shared.lock();
        let loaded = load::load(&mut state, object);
        let changes = state.store.take_events();
        self.with_collector(|collector| collector.observe(&changes));
        self.shared.commit(state, &changes).map_err(|refusal| LoadError::unreadable(refusal.message()))?;
        loaded
    }

    /// The same, of each document of a YAML text.
    ///
    /// # Errors
    /// As [`load`](Self::load); or the text is no YAML.
    pub fn load_yaml(&self, documents: &str) -> Result<(), LoadError> {
        let mut text = documents.as_bytes();
        for document in serde_saphyr::read::<_, Value>(&mut text) {
            match document.map_err(LoadError::unreadable)? {
                Value::Null => {}
                object => self.load(&object)?,
            }
        }
        Ok(())
    }

    pub(crate) async fn respond(self, request: Request<kube::client::Body>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let accepted = parts.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let encoding = negotiation::encoding(accepted);
        let answer = match body.collect_bytes().await {
            Ok(body) => self.handle(&parts, body).await,
            Err(error) => ApiError::bad_request(format!("the request body could not be read: {error}")).into(),
        };
        let response = answer.into_response(self.shared, encoding);
        if parts.method == http::Method::HEAD { response.map(|_| Body::default()) } else { response }
    }

    /// Does what a request asks for. One that is about a version to come is given a while for it to come.
    async fn handle(&self, parts: &Parts, body: Bytes) -> ApiResponse {
        let mut changed = self.shared.subscribe();
        let patience = Instant::now() + PATIENCE;
        loop {
            changed.mark_unchanged();
            match self.attempt(parts, body.clone()) {
                Err(ApiError::TooLargeResourceVersion(ahead)) => {
                    // The sender lives in `shared`, so a change can only come or not come.
                    if timeout_at(patience, changed.changed()).await.is_err() {
                        return ahead.into();
                    }
                }
                outcome => return outcome.unwrap_or_else(ApiResponse::from),
            }
        }
    }

    /// Calls the garbage collector, if the server has one. The state is locked.
    fn with_collector<T>(&self, call: impl FnOnce(&mut GarbageCollector) -> T) -> Option<T> {
        let collector = self.collector.as_ref()?;
        Some(call(&mut collector.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn attempt(&self, parts: &Parts, body: Bytes) -> Result<ApiResponse> {
        let mut state = self.shared.lock();
        if !dispatch::is_about_health(parts) {
            state.check()?;
        }
        let mut library = self.library.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = dispatch::handle(&mut state, &mut library, parts, body);
        drop(library);
        // A failed request may have changed something as well. If this fails, all later requests fail.
        let changes = self.with_collector(|collector| collector.collect(&mut state));
        let changes = changes.unwrap_or_else(|| state.store.take_events());
        match self.shared.commit(state, &changes) {
            Err(refusal) if !dispatch::is_about_health(parts) => Err(refusal),
            _ => outcome,
        }
    }
}

impl Default for ApiServer {
    fn default() -> Self {
        Self::new()
    }
}

impl tower::Service<Request<kube::client::Body>> for ApiServer {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<kube::client::Body>) -> Self::Future {
        let server = self.clone();
        Box::pin(async move { Ok(server.respond(request).await) })
    }
}
