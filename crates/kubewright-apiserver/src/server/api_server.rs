//! The server as a [`tower::Service`].

use std::{
    convert::Infallible,
    fmt,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures::{FutureExt, future::BoxFuture};
use http::{Request, Response, header::ACCEPT, request::Parts};
use http_body_util::{BodyExt, Collected, LengthLimitError, Limited};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use tower::BoxError;

#[cfg(feature = "serve")]
use crate::storage::shared::SharedState;
use crate::{
    api::{
        error::{ApiError, Result},
        webhook::{CallFn, WebhookRequest, WebhookResponse},
    },
    authentication::authenticator::Credentials,
    authorization::{recorder::Authorization, user::User},
    controllers::{controlled_state::ControlledState, garbage_collector::GarbageCollector},
    handlers::{
        load::{self, LoadError},
        request::Webhooks,
    },
    meta::openapi::DocumentCache,
    resource::webhook_conversions::ConvertFunction,
    response::{api_response::ApiResponse, body::Body},
    server::{
        access::{self, Identity},
        dispatch::{self, Dispatched, Input},
    },
    storage::state::State,
    wire::{MAX_BODY_BYTES, content::Encoding, negotiation},
};

/// The maximum time that a request waits for a resource version that is larger than the current one.
const MAX_WAIT: Duration = Duration::from_secs(3);

/// An in-memory API server. A clone is another handle to the same server.
#[derive(Debug, Clone)]
pub struct ApiServer {
    state: Arc<ControlledState>,
    /// The OpenAPI documents that were built. Locked after the state, never before.
    documents: Arc<Mutex<DocumentCache>>,
    /// The source of the user of the requests.
    identity: Identity,
    /// Sends requests to webhooks.
    webhooks: Arc<WebhookClient>,
}

/// The function that sends requests to webhooks, if there is one.
#[derive(Default)]
struct WebhookClient(Mutex<Option<Arc<CallFn>>>);

impl fmt::Debug for WebhookClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WebhookClient").field(&self.0.lock().is_some()).finish()
    }
}

impl ApiServer {
    /// Creates a server with a state.
    pub(crate) fn from_state(state: State, collector: Option<GarbageCollector>) -> Self {
        let identity = if state.authenticator.is_enabled() {
            Identity::Authenticated(state.authenticator.clone())
        } else {
            Identity::User(Arc::new(User::administrator()))
        };
        Self {
            state: Arc::new(ControlledState::new(state, collector)),
            documents: Arc::default(),
            identity,
            webhooks: Arc::default(),
        }
    }

    /// Calls webhooks through this function, in place of an HTTPS client: it gets the requests for the URLs of the
    /// stored `MutatingWebhookConfiguration`s and `ValidatingWebhookConfiguration`s, and of the conversion webhooks of
    /// definitions. By default, no webhooks are called.
    ///
    /// The rules, selectors, policies, reviews and errors are those of the real server. The function is called without
    /// a lock, so that webhooks can use clients of this server. See [the crate](crate#webhooks).
    pub fn call_webhooks<F, R>(&self, call: F)
    where
        F: Fn(Request<Bytes>) -> R + Send + Sync + 'static,
        R: Future<Output = Response<Bytes>> + Send + 'static,
    {
        let call =
            move |WebhookRequest { http, .. }: WebhookRequest| -> WebhookResponse { Box::pin(call(http).map(Ok)) };
        self.set_webhook_client(Arc::new(call));
    }

    /// Returns the state that all handles share.
    #[cfg(feature = "serve")]
    pub(crate) fn shared(&self) -> Arc<SharedState> {
        Arc::clone(self.state.shared())
    }

    /// Calls webhooks through this client.
    pub(crate) fn set_webhook_client(&self, call: Arc<CallFn>) {
        *self.webhooks.0.lock() = Some(call);
    }

    /// Converts the objects of a custom kind between its versions by this function, in place of the webhook of its
    /// definition. The kind is `Kind.group`, such as `Logger.example.com`; its definition has the conversion strategy
    /// `Webhook`, and can be created later.
    ///
    /// The function gets the JSON of an object and the `apiVersion` to convert it to, which it also sets. Objects can
    /// be partial, as they are for a webhook. What it returns is checked and pruned like the response of a webhook:
    /// name, namespace, UID and all other metadata except labels and annotations are those of the original, and an
    /// error has the text of a webhook's error. It can be called under the lock of the server, so it must be fast, and
    /// must not use clients of this server.
    ///
    /// ```
    /// # use kubewright_apiserver::ApiServer;
    /// # use serde_json::{Value, json};
    /// let server = ApiServer::new();
    /// server.convert("Gauge.example.com", |object: &mut Value, api_version: &str| {
    ///     let (from, to) = if api_version == "example.com/v2" { ("speed", "pace") } else { ("pace", "speed") };
    ///     if let Some(spec) = object["spec"].as_object_mut()
    ///         && let Some(value) = spec.remove(from)
    ///     {
    ///         spec.insert(to.to_owned(), value);
    ///     }
    ///     object["apiVersion"] = json!(api_version);
    ///     Ok::<(), String>(())
    /// });
    /// ```
    pub fn convert<E: fmt::Display>(
        &self,
        group_kind: &str,
        convert: impl Fn(&mut Value, &str) -> Result<(), E> + Send + Sync + 'static,
    ) {
        let convert = move |object: &mut Value, api_version: &str| {
            convert(object, api_version).map_err(|error| error.to_string())
        };
        self.state.lock().registry.convert_by(group_kind, ConvertFunction::new(convert));
    }

    /// Compacts the history, as the real server does every few minutes. Lists and watches from earlier versions, and
    /// the next pages of lists, fail with code 410. Running watches are not affected.
    pub fn compact(&self) {
        self.state.lock().store.compact();
    }

    /// Returns a client of this server with the default namespace `default`.
    ///
    /// # Panics
    /// Panics outside a tokio runtime: the request buffer of the client is a task.
    #[must_use]
    pub fn client(&self) -> kube::Client {
        kube::Client::new(self.clone(), "default")
    }

    /// Returns a client whose requests are those of a user, as [`as_user`](Self::as_user) describes.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// use k8s_openapi::api::core::v1::Pod;
    /// use kube::{Api, api::ListParams};
    ///
    /// let server = kubewright_apiserver::ApiServer::builder().rbac(true).build();
    /// let pods: Api<Pod> = Api::all(server.client_as("system:serviceaccount:default:operator", &[]));
    /// let error = pods.list(&ListParams::default()).await.unwrap_err();
    /// assert!(matches!(error, kube::Error::Api(status) if status.is_forbidden()));
    /// # }
    /// ```
    ///
    /// # Panics
    /// Panics outside a tokio runtime: the request buffer of the client is a task.
    #[must_use]
    pub fn client_as(&self, name: &str, groups: &[&str]) -> kube::Client {
        self.as_user(name, groups).client()
    }

    /// Returns a handle to the same server, for the requests of this user. The user is also in the group
    /// `system:authenticated`, and a service account (`system:serviceaccount:<namespace>:<name>`) without groups is in
    /// the groups of its namespace. What the user may do depends on [`Builder::rbac`](crate::Builder::rbac). The user
    /// of other handles is `admin` in the group `system:masters`, who may do anything, or is authenticated
    /// ([`Builder::authentication`](crate::Builder::authentication)).
    #[must_use]
    pub fn as_user(&self, name: &str, groups: &[&str]) -> Self {
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        self.with_user(User::new(name, groups))
    }

    /// Returns a handle to the same server whose requests are those of the administrator.
    #[cfg(feature = "serve")]
    pub(crate) fn as_administrator(&self) -> Self {
        self.with_user(User::administrator())
    }

    fn with_user(&self, user: User) -> Self {
        Self { identity: Identity::User(Arc::new(user)), ..self.clone() }
    }

    /// Returns what users did and tried to do, without duplicates, sorted by user: to compare the permissions that a
    /// program needs with those that it declares. Requests of `system:masters`, and of servers without
    /// [`Builder::rbac`](crate::Builder::rbac), are not recorded. After 16384 of them, further ones are recorded
    /// without namespace and name.
    #[must_use]
    pub fn authorizations(&self) -> Vec<Authorization> {
        self.state.lock().authorizations.list()
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
        load::load(&self.state, object)
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
        let encoding = encoding_of(&parts);
        let body = Limited::new(body, MAX_BODY_BYTES).collect().await.map(Collected::to_bytes);
        let response = match body {
            Ok(body) => self.handle(&parts, body).await,
            Err(error) if error.is::<LengthLimitError>() => {
                ApiError::entity_too_large(&format!("limit is {MAX_BODY_BYTES}")).into()
            }
            Err(error) => ApiError::bad_request(format!("the request body could not be read: {error}")).into(),
        };
        let response = response.into_response(Arc::clone(self.state.shared()), encoding);
        if parts.method == http::Method::HEAD { response.map(|_| Body::default()) } else { response }
    }

    /// Handles a request. A read of a resource version that is larger than the current one waits for that version.
    async fn handle(&self, parts: &Parts, body: Bytes) -> ApiResponse {
        let mut notified = None;
        let deadline = Instant::now() + MAX_WAIT;
        let credentials = match self.identity.credentials(parts) {
            Ok(credentials) => credentials,
            Err(error) => return error.into(),
        };
        loop {
            let error = match self.attempt(&credentials, parts, body.clone()).await {
                Err(ApiError::TooLargeResourceVersion(error)) => error,
                outcome => return outcome.unwrap_or_else(ApiResponse::from),
            };
            match &mut notified {
                // The request is repeated, because the version may have been reached before this.
                None => notified = Some(self.state.shared().notifications.subscribe()),
                Some(notified) => {
                    // The state owns the sender, so that the channel is not closed.
                    if timeout_at(deadline, notified.changed()).await.is_err() {
                        return error.into();
                    }
                }
            }
        }
    }

    /// Returns the response to a request that the user may not make, for requests that others handle.
    #[cfg(feature = "serve")]
    pub(crate) fn denial(&self, parts: &Parts) -> Option<Response<Body>> {
        let credentials = self.identity.credentials(parts);
        let outcome = credentials.and_then(|found| access::admit(&mut self.state.lock(), &found, parts));
        let response = ApiResponse::from(outcome.err()?);
        Some(response.into_response(self.shared(), encoding_of(parts)))
    }

    async fn attempt(&self, credentials: &Credentials, parts: &Parts, body: Bytes) -> Result<ApiResponse> {
        match self.dispatch(credentials, parts, body)? {
            Dispatched::Response(response) => Ok(response),
            Dispatched::Resource(request) => dispatch::perform(&self.state, &parts.method, &request).await,
        }
    }

    /// Admits a request, and handles it if it is not for a resource.
    fn dispatch(&self, credentials: &Credentials, parts: &Parts, body: Bytes) -> Result<Dispatched> {
        let input = Input::parse(parts, body);
        let webhooks = self.webhooks.0.lock().clone().map(Webhooks::new);
        let mut state = self.state.lock();
        if !input.is_health_check() {
            state.check()?;
        }
        let user = access::admit(&mut state, credentials, parts)?;
        dispatch::dispatch(&mut state, &mut self.documents.lock(), &user, parts, input, webhooks)
    }
}

/// Returns the encoding of responses that are not objects of a resource.
fn encoding_of(parts: &Parts) -> Encoding {
    let accepted = parts.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    negotiation::encoding(accepted)
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
