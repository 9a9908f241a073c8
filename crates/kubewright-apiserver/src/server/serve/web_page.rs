//! Requests of web pages, which a browser on this machine sends to plain HTTP without the consent of its user.

use std::net::IpAddr;

use http::{
    HeaderMap, Method, Response, StatusCode, Uri,
    header::{CONTENT_TYPE, HOST, ORIGIN},
    request::Parts,
};

use super::error_response::error_response;
use crate::response::body::Body;

/// Returns the rejection of a request on plain HTTP that a web page can have sent:
///
/// - with the header `Origin`, which browsers set;
/// - with a body without a media type, which a page of another origin sends without a preflight request;
/// - to a host name other than `localhost`, which can be resolved to a loopback address (DNS rebinding). Addresses are
///   accepted.
pub(super) fn rejection(parts: &Parts, has_body: bool) -> Option<Response<Body>> {
    if parts.headers.contains_key(ORIGIN) {
        let message = "a request with the header Origin is one of a web page: rejected on plain HTTP";
        return Some(error_response(StatusCode::FORBIDDEN, "Forbidden", message));
    }
    if !is_local(&parts.headers, &parts.uri) {
        let message = "the Host is neither localhost nor an address: rejected on plain HTTP; use HTTPS for host names";
        return Some(error_response(StatusCode::FORBIDDEN, "Forbidden", message));
    }
    let reads = [Method::GET, Method::HEAD].contains(&parts.method);
    if has_body && !reads && !parts.headers.contains_key(CONTENT_TYPE) {
        let message = "a body without the header Content-Type is rejected on plain HTTP";
        return Some(error_response(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message));
    }
    None
}

/// Whether a request names no host, `localhost`, or an address.
fn is_local(headers: &HeaderMap, uri: &Uri) -> bool {
    let header = headers.get(HOST).map(|host| host.to_str().unwrap_or("invalid"));
    let Some(authority) = uri.authority().map(|authority| authority.as_str()).or(header) else { return true };
    let Ok(authority) = authority.parse::<http::uri::Authority>() else { return false };
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn code(method: &str, headers: &[(&str, &str)], has_body: bool) -> Option<u16> {
        let request = Request::builder().method(method).uri("/api");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let (parts, ()) = request.body(()).unwrap().into_parts();
        rejection(&parts, has_body).map(|response| response.status().as_u16())
    }

    #[test]
    fn requests_that_a_web_page_can_send_are_rejected() {
        for host in ["127.0.0.1:8080", "localhost:8080", "LOCALHOST", "[::1]:8080", "10.0.0.1"] {
            assert_eq!(code("GET", &[("Host", host)], false), None, "{host}");
        }
        for host in ["evil.example", "localhost.evil.example:8080", "127.0.0.1.nip.io", "a b"] {
            assert_eq!(code("GET", &[("Host", host)], false), Some(403), "{host}");
        }
        assert_eq!(code("GET", &[("Origin", "https://evil.example")], false), Some(403));
        assert_eq!(code("GET", &[("Origin", "null")], false), Some(403));
        assert_eq!(code("POST", &[], true), Some(415));
        assert_eq!(code("POST", &[("Content-Type", "application/json")], true), None);
        assert_eq!(code("DELETE", &[], false), None);
    }
}
