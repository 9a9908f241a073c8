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
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::Serialize;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use tower::BoxError;

use crate::{
    api::error::{ApiError, Result},
    controllers::garbage_collector::GarbageCollector,
    handlers::load::{self, LoadError},
    meta::openapi::DocumentCache,
    response::api_response::{ApiResponse, Body},
    server::{builder::Builder, dispatch},
    storage::{shared::SharedState, state::State},
    wire::{body::MAX_BODY_BYTES, negotiation},
};

/// The maximum time that a request waits for a resource version that is larger than the current one.
const MAX_WAIT: Duration = Duration::from_secs(3);

/// An in-memory API server. A clone is another handle to the same server.
#[derive(Debug, Clone)]
pub struct ApiServer {
    shared: Arc<SharedState>,
    /// Locked after the state, never before.
    collector: Option<Arc<Mutex<GarbageCollector>>>,
    /// The OpenAPI documents that were built. Locked after the state, never before.
    documents: Arc<Mutex<DocumentCache>>,
}

impl ApiServer {
    /// Starts a server with the built-in kinds and the namespaces that every cluster has.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Creates a builder for a server with custom options.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Creates a server with a state.
    pub(crate) fn from_state(state: State, collector: Option<GarbageCollector>) -> Self {
        Self {
            shared: Arc::new(SharedState::new(state)),
            collector: collector.map(|collector| Arc::new(Mutex::new(collector))),
            documents: Arc::default(),
        }
    }

    /// Compacts the history, as the real server does every few minutes. Lists and watches from earlier versions, and
    /// the next pages of lists, fail with code 410. Running watches are not affected.
    pub fn compact(&self) {
        self.shared.lock().store.compact();
    }

    /// Returns a client of this server with the default namespace `default`.
    ///
    /// # Panics
    /// Panics outside a tokio runtime: the request buffer of the client is a task.
    #[must_use]
    pub fn client(&self) -> kube::Client {
        kube::Client::new(self.clone(), "default")
    }

    /// Returns a client of this server through one or several layers: `(outer, inner)`.
    ///
    /// # Panics
    /// Panics outside a tokio runtime: the request buffer of the client is a task.
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

    /// Stores an object as it is: with its status, UID, timestamps and managed fields. Creates its namespace if that
    /// does not exist. The kind of a loaded definition is served.
    ///
    /// # Errors
    /// The object is invalid, exists already, or its kind is not served.
    pub fn load(&self, object: &impl Serialize) -> Result<(), LoadError> {
        let object = serde_json::to_value(object).map_err(LoadError::unreadable)?;
        let mut state = self.shared.lock();
        let loaded = load::load(&mut state, object);
        let changes = state.store.take_events();
        self.with_collector(|collector| collector.observe(&changes));
        self.shared.commit(state, &changes).map_err(|error| LoadError::unreadable(error.message()))?;
        loaded
    }

    /// Loads each document of a YAML text.
    ///
    /// # Errors
    /// The errors of [`load`](Self::load), or the text is not YAML.
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
        let response = match Limited::new(body, MAX_BODY_BYTES).collect().await {
            Ok(body) => self.handle(&parts, body.to_bytes()).await,
            Err(error) if error.is::<LengthLimitError>() => {
                ApiError::entity_too_large(&format!("limit is {MAX_BODY_BYTES}")).into()
            }
            Err(error) => ApiError::bad_request(format!("the request body could not be read: {error}")).into(),
        };
        let response = response.into_response(self.shared, encoding);
        if parts.method == http::Method::HEAD { response.map(|_| Body::default()) } else { response }
    }

    /// Handles a request. A read of a resource version that is larger than the current one waits for that version.
    async fn handle(&self, parts: &Parts, body: Bytes) -> ApiResponse {
        let mut changed = self.shared.subscribe();
        let deadline = Instant::now() + MAX_WAIT;
        loop {
            changed.mark_unchanged();
            match self.attempt(parts, body.clone()) {
                Err(ApiError::TooLargeResourceVersion(error)) => {
                    // `shared` owns the sender, so that the channel is not closed.
                    if timeout_at(deadline, changed.changed()).await.is_err() {
                        return error.into();
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
        if !dispatch::is_health_request(parts) {
            state.check()?;
        }
        let mut documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = dispatch::handle(&mut state, &mut documents, parts, body);
        drop(documents);
        // A failed request may have changed something as well. If this fails, all later requests fail.
        let changes = self.with_collector(|collector| collector.collect(&mut state));
        let changes = changes.unwrap_or_else(|| state.store.take_events());
        match self.shared.commit(state, &changes) {
            Err(error) if !dispatch::is_health_request(parts) => Err(error),
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
