//! Webhooks as servers: where they are, and the function that calls them.

use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Method, Request, Response, StatusCode, header::CONTENT_TYPE};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;
use tokio::time::timeout;

/// The default port of the Service of a webhook.
pub(crate) const HTTPS: i32 = 443;

/// The response of a webhook. The error is the reason why there is none.
pub(crate) type WebhookResponse = BoxFuture<'static, Result<Response<Bytes>, String>>;

/// Sends a request to a webhook.
pub(crate) type CallFn = dyn Fn(WebhookRequest) -> WebhookResponse + Send + Sync;

/// A request to a webhook, for the client that sends it.
#[derive(Debug)]
pub(crate) struct WebhookRequest {
    pub(crate) http: Request<Bytes>,
    /// Where the webhook is and whom to trust, for a client that needs more than the URL.
    #[cfg_attr(not(feature = "serve"), expect(dead_code, reason = "a function of a test needs the URL only"))]
    pub(crate) config: ClientConfig,
}

/// The client of a webhook, as its configuration or its definition specifies it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ClientConfig {
    /// The URL; for a service, with the name of the service as the host.
    pub(crate) url: String,
    /// The service, whose endpoints are to be found.
    pub(crate) service: Option<ServiceReference>,
    /// The trusted certificates in PEM; those of the system if it is empty.
    pub(crate) ca_bundle: Vec<u8>,
}

/// A service and its port.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ServiceReference {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) port: i32,
}

impl ClientConfig {
    /// Creates the client of a webhook at a URL.
    pub(crate) fn from_url(url: &str, ca_bundle: Option<Vec<u8>>) -> Self {
        let (scheme, rest) = url.split_once("://").unwrap_or(("https", url));
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        Self { url: format!("{scheme}://{host}{}", joined(path)), service: None, ca_bundle: trimmed(ca_bundle) }
    }

    /// Creates the client of a webhook behind a service.
    pub(crate) fn from_service(
        (namespace, name): (&str, &str),
        port: Option<i32>,
        path: Option<&str>,
        ca_bundle: Option<Vec<u8>>,
    ) -> Self {
        let port = port.unwrap_or(HTTPS);
        let path = joined(path.unwrap_or_default());
        let service = ServiceReference { namespace: namespace.to_owned(), name: name.to_owned(), port };
        let url = format!("https://{name}.{namespace}.svc:{port}{path}");
        Self { url, service: Some(service), ca_bundle: trimmed(ca_bundle) }
    }

    /// Sends a review.
    ///
    /// # Errors
    /// The reason why there is no response, with the URL, as client-go words it.
    pub(crate) async fn post(&self, call: &CallFn, limit: Duration, body: Vec<u8>) -> Result<Response<Bytes>, String> {
        let url = format!("{}?timeout={}s", self.url, limit.as_secs());
        let request = Request::builder().method(Method::POST).uri(&url).header(CONTENT_TYPE, "application/json");
        let http = request.body(body.into()).map_err(|error| error.to_string())?;
        let response = timeout(limit, call(WebhookRequest { http, config: self.clone() })).await;
        let response = response.unwrap_or_else(|_| Err("context deadline exceeded".to_owned()));
        response.map_err(|error| format!("Post {url:?}: {error}"))
    }
}

/// Returns the path of a request as client-go does, with Go's `path.Join("/", path)`.
fn joined(path: &str) -> String {
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    format!("/{}", segments.join("/"))
}

/// White space is no bundle.
fn trimmed(ca_bundle: Option<Vec<u8>>) -> Vec<u8> {
    ca_bundle.filter(|bundle| !bundle.trim_ascii().is_empty()).unwrap_or_default()
}

/// Describes a response with another code than 200, as client-go does: by its `Status`, or by its code.
pub(crate) fn failure(code: StatusCode, body: &[u8]) -> String {
    let status: Option<Status> = serde_json::from_slice(body).ok();
    if let Some(message) = status.and_then(|status| status.message).filter(|message| !message.is_empty()) {
        return message;
    }
    match code {
        StatusCode::NOT_FOUND => "the server could not find the requested resource".to_owned(),
        code if code.is_server_error() => {
            let body = String::from_utf8_lossy(body);
            format!("an error on the server ({:?}) has prevented the request from succeeding", body.trim_end())
        }
        _ => "the server rejected our request for an unknown reason".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_those_of_client_go() {
        let of_url = |url| ClientConfig::from_url(url, None).url;
        assert_eq!(of_url("https://127.0.0.1:8443//failing"), "https://127.0.0.1:8443/failing");
        assert_eq!(of_url("https://webhooks.example.com/a/./b/../c/"), "https://webhooks.example.com/a/c");
        assert_eq!(of_url("https://webhooks.example.com"), "https://webhooks.example.com/");
        let of_service = |path| ClientConfig::from_service(("system", "hooks"), None, path, None).url;
        assert_eq!(of_service(Some("/validate")), "https://hooks.system.svc:443/validate");
        assert_eq!(of_service(Some("//../validate/")), "https://hooks.system.svc:443/validate");
        assert_eq!(of_service(None), "https://hooks.system.svc:443/");
    }
}
