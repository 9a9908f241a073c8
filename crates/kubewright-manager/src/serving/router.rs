//! Routes requests to handlers and services by path and method.

use std::{collections::BTreeMap, convert::Infallible, error::Error, fmt, sync::Arc};

use bytes::Bytes;
use http::{
    HeaderValue, Method, Request, Response, StatusCode,
    header::{ALLOW, X_CONTENT_TYPE_OPTIONS},
};
use http_body_util::{BodyExt, Full};
use kubewright_http::{Body, BodyError, BoxService, ResponseBody};
use tower_service::Service;

use super::handler::{Handler, text};

pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// Routes requests to handlers and services by path and method.
///
/// Guarantees:
/// - an exact path precedes prefixes, and a longer prefix precedes a shorter one;
/// - a prefix matches complete segments: `/healthz` matches `/healthz` and `/healthz/ping`, but not `/healthzz`;
/// - a path without a handler gets code 404, and a path without the method gets code 405 and the allowed methods;
/// - a handler of GET also responds to HEAD, and the body is not sent;
/// - a handler precedes a service of the same prefix;
/// - a duplicate route is an error of [`Server::bind`](super::Server::bind).
#[derive(Default)]
pub struct Router {
    exact: BTreeMap<String, Methods>,
    /// Without a slash at the end.
    prefixes: BTreeMap<String, Methods>,
    /// Services of all methods, by their prefix without a slash at the end.
    mounts: BTreeMap<String, BoxService>,
    /// The first invalid route.
    error: Option<RouteError>,
}

/// The handlers of one path, in the order in which they were added.
type Methods = Vec<(Method, Arc<dyn Handler>)>;

/// A route that cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// A path does not begin with a slash.
    #[error("invalid path `{path}`: it must begin with `/`")]
    InvalidPath {
        /// The path.
        path: String,
    },
    /// Two handlers have one path and method.
    #[error("`{method} {path}` has two handlers; register each path once")]
    Duplicate {
        /// The method.
        method: Method,
        /// The path or prefix.
        path: String,
    },
    /// Two services have one prefix.
    #[error("`{path}` has two services; mount one")]
    DuplicateMount {
        /// The prefix.
        path: String,
    },
}

/// What a request is routed to.
enum Route {
    Handler(Arc<dyn Handler>),
    Service(BoxService),
    NotFound,
    /// The allowed methods.
    MethodNotAllowed(String),
}

impl Route {
    /// Returns the response to a request without a handler.
    fn into_response(self) -> Response<Bytes> {
        match self {
            Route::MethodNotAllowed(allowed) => method_not_allowed(&allowed),
            Route::Handler(_) | Route::Service(_) | Route::NotFound => text(StatusCode::NOT_FOUND, "not found\n"),
        }
    }
}

impl Router {
    /// Creates a router without routes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a handler of GET requests for this exact path.
    #[must_use]
    pub fn get(self, path: impl Into<String>, handler: impl Handler) -> Self {
        self.exact(Method::GET, path, handler)
    }

    /// Adds a handler of POST requests for this exact path.
    #[must_use]
    pub fn post(self, path: impl Into<String>, handler: impl Handler) -> Self {
        self.exact(Method::POST, path, handler)
    }

    /// Adds a handler for this exact path.
    #[must_use]
    pub fn exact(mut self, method: Method, path: impl Into<String>, handler: impl Handler) -> Self {
        let path = path.into();
        let added = add(&mut self.exact, method, path.clone(), path, Arc::new(handler));
        self.error = self.error.or(added.err());
        self
    }

    /// Adds a handler for all paths below this one, and the path itself. `/` matches every path.
    #[must_use]
    pub fn prefix(mut self, method: Method, path: impl Into<String>, handler: impl Handler) -> Self {
        let path = path.into();
        let prefix = path.trim_end_matches('/').to_owned();
        let added = add(&mut self.prefixes, method, path, prefix, Arc::new(handler));
        self.error = self.error.or(added.err());
        self
    }

    /// Adds a service for all methods and all paths below this one, and the path itself, such as an axum `Router`. It
    /// gets the complete path, and the body as a stream within the limits of the server. `/` matches every path.
    #[must_use]
    pub fn mount<S, B>(mut self, path: impl Into<String>, service: S) -> Self
    where
        S: Service<Request<Body>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let path = path.into();
        let prefix = path.trim_end_matches('/').to_owned();
        let is_new = self.mounts.insert(prefix, BoxService::new(service)).is_none();
        let error = match (path.starts_with('/'), is_new) {
            (false, _) => Some(RouteError::InvalidPath { path }),
            (true, false) => Some(RouteError::DuplicateMount { path }),
            (true, true) => None,
        };
        self.error = self.error.or(error);
        self
    }

    /// Validates the routes.
    ///
    /// # Errors
    /// Fails with the first route that was invalid.
    pub fn validate(&self) -> Result<(), RouteError> {
        self.error.clone().map_or(Ok(()), Err)
    }

    /// Responds to a request without a server, such as in a test.
    pub async fn respond(&self, request: Request<Bytes>) -> Response<Bytes> {
        match self.route(request.method(), request.uri().path()) {
            Route::Handler(handler) => handler.handle(request).await,
            Route::Service(mut service) => collect(service.call(request.map(Body::from)).await).await,
            other => other.into_response(),
        }
    }

    /// Returns the paths, and the prefixes of paths.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths: Vec<_> = self.exact.keys().chain(self.prefixes.keys()).cloned().collect();
        paths.extend(self.mounts.keys().filter(|path| !self.prefixes.contains_key(*path)).cloned());
        paths
    }

    /// Whether a handler authenticates requests.
    pub(super) fn is_authenticated(&self) -> bool {
        let mut handlers = self.exact.values().chain(self.prefixes.values()).flatten();
        handlers.any(|(_, handler)| handler.is_authenticated())
    }

    /// Returns the service of a server.
    pub(super) fn into_service(self) -> BoxService {
        let router = Arc::new(self);
        BoxService::from_fn(move |request| Arc::clone(&router).serve(request))
    }

    async fn serve(self: Arc<Self>, request: Request<Body>) -> Response<ResponseBody> {
        let mut response = match self.route(request.method(), request.uri().path()) {
            Route::Service(mut service) => service.call(request).await.unwrap_or_else(|error| full(failed(&*error))),
            Route::Handler(handler) => full(match receive(request).await {
                Ok(request) => handler.handle(request).await,
                Err(error) => text(error.status(), format!("{error}\n")),
            }),
            // Without a handler, the body is not received.
            other => full(other.into_response()),
        };
        // Browsers must not interpret responses as another type.
        response.headers_mut().entry(X_CONTENT_TYPE_OPTIONS).or_insert(HeaderValue::from_static("nosniff"));
        response
    }

    /// Returns the handler or the service of a request.
    fn route(&self, method: &Method, path: &str) -> Route {
        let prefix = longest_prefix(&self.prefixes, path);
        let mount = longest_prefix(&self.mounts, path);
        let methods = match (self.exact.get(path), prefix, mount) {
            (Some(methods), ..) => methods,
            (None, Some((prefix, methods)), mount)
                if mount.is_none_or(|(mounted, _)| mounted.len() <= prefix.len()) =>
            {
                methods
            }
            (None, _, Some((_, service))) => return Route::Service(service.clone()),
            (None, _, None) => return Route::NotFound,
        };
        let handler = |method: &Method| methods.iter().find(|(known, _)| known == method);
        let fallback = || (method == Method::HEAD).then(|| handler(&Method::GET)).flatten();
        match handler(method).or_else(fallback) {
            Some((_, handler)) => Route::Handler(Arc::clone(handler)),
            None => {
                let allowed: Vec<_> = methods.iter().map(|(method, _)| method.as_str()).collect();
                Route::MethodNotAllowed(allowed.join(", "))
            }
        }
    }
}

/// Returns the longest prefix of a path, in complete segments.
fn longest_prefix<'a, T>(prefixes: &'a BTreeMap<String, T>, path: &str) -> Option<(&'a String, &'a T)> {
    let below = |prefix: &str| path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    prefixes.iter().filter(|(prefix, _)| below(prefix)).max_by_key(|(prefix, _)| prefix.len())
}

/// Receives the body of a request.
async fn receive(request: Request<Body>) -> Result<Request<Bytes>, BodyError> {
    let (parts, body) = request.into_parts();
    Ok(Request::from_parts(parts, body.collect().await?.to_bytes()))
}

pub(super) fn full(response: Response<Bytes>) -> Response<ResponseBody> {
    response.map(|body| Full::new(body).map_err(|never: Infallible| match never {}).boxed_unsync())
}

/// Collects the response of a mounted service.
async fn collect(result: Result<Response<ResponseBody>, BoxError>) -> Response<Bytes> {
    let collected = async {
        let (parts, body) = result?.into_parts();
        Ok::<_, BoxError>(Response::from_parts(parts, body.collect().await?.to_bytes()))
    };
    collected.await.unwrap_or_else(|error| failed(&*error))
}

/// Responds to a request whose service failed.
fn failed(error: &(dyn Error + Send + Sync)) -> Response<Bytes> {
    tracing::error!(error = %error, "a request failed");
    text(StatusCode::INTERNAL_SERVER_ERROR, "internal error\n")
}

fn add(
    routes: &mut BTreeMap<String, Methods>,
    method: Method,
    path: String,
    key: String,
    handler: Arc<dyn Handler>,
) -> Result<(), RouteError> {
    if !path.starts_with('/') {
        return Err(RouteError::InvalidPath { path });
    }
    let methods = routes.entry(key).or_default();
    if methods.iter().any(|(known, _)| *known == method) {
        return Err(RouteError::Duplicate { method, path });
    }
    methods.push((method, handler));
    Ok(())
}

fn method_not_allowed(allowed: &str) -> Response<Bytes> {
    let mut response = text(StatusCode::METHOD_NOT_ALLOWED, format!("method not allowed; allowed: {allowed}\n"));
    // Methods are tokens, so that they are valid in a header.
    if let Ok(value) = HeaderValue::from_str(allowed) {
        response.headers_mut().insert(ALLOW, value);
    }
    response
}

impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paths = |routes: &BTreeMap<String, Methods>| routes.keys().cloned().collect::<Vec<_>>();
        f.debug_struct("Router")
            .field("exact", &paths(&self.exact))
            .field("prefixes", &paths(&self.prefixes))
            .field("mounts", &self.mounts.keys())
            .field("error", &self.error)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;

    use super::*;

    fn handler(name: &'static str) -> impl Handler {
        move |_: Request<Bytes>| async move { text(StatusCode::OK, name) }
    }

    fn respond(router: &Router, method: Method, path: &str) -> (u16, Bytes) {
        let request = Request::builder().method(method).uri(path).body(Bytes::new()).unwrap();
        let response = block_on(router.respond(request));
        (response.status().as_u16(), response.into_body())
    }

    fn router() -> Router {
        Router::new()
            .get("/healthz/exact", handler("exact"))
            .prefix(Method::GET, "/healthz", handler("short"))
            .prefix(Method::GET, "/healthz/deep/", handler("deep"))
            .post("/validate", handler("post"))
    }

    #[test]
    fn an_exact_path_precedes_prefixes_and_a_longer_prefix_a_shorter_one() {
        let get = |path| respond(&router(), Method::GET, path);
        assert_eq!(get("/healthz/exact"), (200, "exact".into()));
        assert_eq!(get("/healthz/exact/other"), (200, "short".into()));
        assert_eq!(get("/healthz/deep"), (200, "deep".into()));
        assert_eq!(get("/healthz/deep/er?verbose"), (200, "deep".into()));
    }

    #[test]
    fn a_prefix_matches_complete_segments() {
        let get = |path| respond(&router(), Method::GET, path);
        assert_eq!(get("/healthz"), (200, "short".into()));
        assert_eq!(get("/healthz/"), (200, "short".into()));
        assert_eq!(get("/healthzz").0, 404);
        let all = Router::new().prefix(Method::GET, "/", handler("all"));
        assert_eq!(respond(&all, Method::GET, "/anything"), (200, "all".into()));
    }

    #[test]
    fn a_path_without_the_method_names_the_allowed_methods() {
        assert_eq!(respond(&router(), Method::GET, "/other"), (404, "not found\n".into()));
        let expected = (405, "method not allowed; allowed: POST\n".into());
        assert_eq!(respond(&router(), Method::GET, "/validate"), expected);
        let request = Request::builder().uri("/validate").body(Bytes::new()).unwrap();
        assert_eq!(block_on(router().respond(request)).headers()[ALLOW], "POST");
    }

    #[test]
    fn a_handler_of_get_responds_to_head() {
        assert_eq!(respond(&router(), Method::HEAD, "/healthz").0, 200);
        assert_eq!(respond(&router(), Method::HEAD, "/validate").0, 405);
    }

    #[test]
    fn a_service_is_mounted_at_a_prefix() {
        let service = |name: &'static str| {
            BoxService::from_fn(move |request: Request<Body>| async move {
                let text = format!("{name} {} {}", request.method(), request.uri().path());
                Response::new(Full::new(Bytes::from(text)))
            })
        };
        let router = router().mount("/api/", service("api")).mount("/healthz", service("health"));
        let get = |path| respond(&router, Method::GET, path);
        assert_eq!(get("/api"), (200, "api GET /api".into()));
        assert_eq!(respond(&router, Method::PUT, "/api/a"), (200, "api PUT /api/a".into()));
        assert_eq!(get("/apis").0, 404);
        assert_eq!(get("/healthz/ping"), (200, "short".into()), "a handler precedes a service");
        assert_eq!(respond(&router, Method::POST, "/validate").1, "post", "an exact path precedes a service");
        assert_eq!(router.paths(), ["/healthz/exact", "/validate", "/healthz", "/healthz/deep", "/api"]);
    }

    #[test]
    fn invalid_routes_are_errors() {
        assert_eq!(router().validate(), Ok(()));
        let error = |router: Router| router.validate().unwrap_err().to_string();
        let twice = router().post("/validate", handler("second"));
        assert_eq!(error(twice), "`POST /validate` has two handlers; register each path once");
        let prefix = router().prefix(Method::GET, "/healthz/", handler("second"));
        assert_eq!(error(prefix), "`GET /healthz/` has two handlers; register each path once");
        let service = || BoxService::from_fn(|_| async { Response::new(Full::new(Bytes::new())) });
        let mounted = router().mount("/api", service()).mount("/api/", service());
        assert_eq!(error(mounted), "`/api/` has two services; mount one");
        let relative = router().get("metrics", handler("relative"));
        assert_eq!(error(relative), "invalid path `metrics`: it must begin with `/`");
    }
}
