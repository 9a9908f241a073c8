//! Routes requests to handlers by path and method.

use std::{collections::BTreeMap, fmt, sync::Arc};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header::ALLOW};

use super::handler::{Handler, text};

/// Routes requests to handlers by path and method.
///
/// Guarantees:
/// - an exact path precedes prefixes, and a longer prefix precedes a shorter one;
/// - a prefix matches complete segments: `/healthz` matches `/healthz` and `/healthz/ping`, but not `/healthzz`;
/// - a path without a handler gets code 404, and a path without the method gets code 405 and the allowed methods;
/// - a handler of GET also responds to HEAD, and the body is not sent;
/// - a duplicate route is an error of [`Server::bind`](super::Server::bind).
#[derive(Default)]
pub struct Router {
    exact: BTreeMap<String, Methods>,
    /// Without a slash at the end.
    prefixes: BTreeMap<String, Methods>,
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
}

/// What a request is routed to.
pub(super) enum Route {
    Handler(Arc<dyn Handler>),
    NotFound,
    /// The allowed methods.
    MethodNotAllowed(String),
}

impl Route {
    /// Returns the response to a request without a handler.
    pub(super) fn into_response(self) -> Response<Bytes> {
        match self {
            Route::MethodNotAllowed(allowed) => method_not_allowed(&allowed),
            Route::Handler(_) | Route::NotFound => text(StatusCode::NOT_FOUND, "not found\n"),
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

    /// Validates the routes.
    ///
    /// # Errors
    /// Fails with the first route that was invalid.
    pub fn validate(&self) -> Result<(), RouteError> {
        self.error.clone().map_or(Ok(()), Err)
    }

    /// Responds to a request.
    pub async fn respond(&self, request: Request<Bytes>) -> Response<Bytes> {
        match self.route(request.method(), request.uri().path()) {
            Route::Handler(handler) => handler.handle(request).await,
            other => other.into_response(),
        }
    }

    /// Returns the paths, and the prefixes of paths.
    pub(super) fn paths(&self) -> Vec<String> {
        self.exact.keys().chain(self.prefixes.keys()).cloned().collect()
    }

    /// Whether a handler authenticates requests.
    pub(super) fn is_authenticated(&self) -> bool {
        let mut handlers = self.exact.values().chain(self.prefixes.values()).flatten();
        handlers.any(|(_, handler)| handler.is_authenticated())
    }

    /// Returns the handler of a request.
    pub(super) fn route(&self, method: &Method, path: &str) -> Route {
        let Some(methods) = self.methods(path) else { return Route::NotFound };
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

    fn methods(&self, path: &str) -> Option<&Methods> {
        let below =
            |prefix: &str| path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let prefixes = self.prefixes.iter().filter(|(prefix, _)| below(prefix));
        let longest = || prefixes.max_by_key(|(prefix, _)| prefix.len()).map(|(_, methods)| methods);
        self.exact.get(path).or_else(longest)
    }
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
    fn invalid_routes_are_errors() {
        assert_eq!(router().validate(), Ok(()));
        let error = |router: Router| router.validate().unwrap_err().to_string();
        let twice = router().post("/validate", handler("second"));
        assert_eq!(error(twice), "`POST /validate` has two handlers; register each path once");
        let prefix = router().prefix(Method::GET, "/healthz/", handler("second"));
        assert_eq!(error(prefix), "`GET /healthz/` has two handlers; register each path once");
        let relative = router().get("metrics", handler("relative"));
        assert_eq!(error(relative), "invalid path `metrics`: it must begin with `/`");
    }
}
