//! The endpoints of the health checks.

use bytes::Bytes;
use futures::future::{BoxFuture, ready};
use http::{Method, Request, Response};

use super::{
    handler::{Handler, text},
    router::Router,
};
use crate::health::HealthChecks;

/// Responds to requests for `/livez`, `/readyz` and `/healthz`, and for single checks below them.
impl Handler for HealthChecks {
    fn handle(&self, request: Request<Bytes>) -> BoxFuture<'_, Response<Bytes>> {
        let (status, body) = self.respond(request.uri().path(), request.uri().query().unwrap_or_default());
        Box::pin(ready(text(status, body)))
    }
}

impl Router {
    /// Adds the endpoints of these health checks: `/livez`, `/readyz` and `/healthz`, with the paths below them.
    #[must_use]
    pub fn health(self, checks: &HealthChecks) -> Self {
        ["/livez", "/readyz", "/healthz"]
            .into_iter()
            .fold(self, |router, path| router.prefix(Method::GET, path, checks.clone()))
    }
}
