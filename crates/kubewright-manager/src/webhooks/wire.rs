//! Reviews over HTTP: their media type, their types, and the statuses of requests that are not reviews.

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Response, StatusCode,
    header::{CONTENT_TYPE, HeaderName},
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;
use serde::{Deserialize, Serialize, de::IgnoredAny};

/// The media type of reviews.
const JSON: &str = "application/json";

/// The type of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReviewType {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
}

/// A request that is not a review, or that cannot be answered with one.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReviewError {
    #[error("the client has no certificate; configure the API server with one for admission webhooks")]
    Unauthorized,
    #[error("the content type is `{0}`: expected `application/json`")]
    ContentType(String),
    #[error("the body is empty: expected a review")]
    Empty,
    #[error("the body is not a review: {0}")]
    Syntax(#[from] serde_json::Error),
    #[error(
        "the review has the type `{found}`: expected `{}, Kind={}`; set the review versions of the configuration to `v1`",
        expected.api_version,
        expected.kind
    )]
    Type { found: String, expected: ReviewType },
    #[error("the review has no request")]
    MissingRequest,
    #[error("the request of the review has no uid")]
    MissingUid,
    #[error("the response cannot be encoded: {0}")]
    Encode(#[source] serde_json::Error),
}

impl ReviewError {
    fn code(&self) -> (StatusCode, &'static str) {
        match self {
            ReviewError::Unauthorized => (StatusCode::UNAUTHORIZED, "Unauthorized"),
            ReviewError::ContentType(_) => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType"),
            ReviewError::Encode(_) => (StatusCode::INTERNAL_SERVER_ERROR, "InternalError"),
            _ => (StatusCode::BAD_REQUEST, "BadRequest"),
        }
    }

    /// Returns the response: a `Status`, whose message the API server shows to the user.
    pub(super) fn respond(&self) -> Response<Bytes> {
        let (code, reason) = self.code();
        let status = failure(code, reason, self.to_string());
        // The types of a status have string keys, so that it can be encoded.
        let mut response = json(serde_json::to_vec(&status).unwrap_or_default());
        *response.status_mut() = code;
        response
    }
}

/// Returns the status of a failure.
pub(super) fn failure(code: StatusCode, reason: &str, message: String) -> Status {
    Status {
        code: Some(i32::from(code.as_u16())),
        message: Some(message),
        reason: Some(reason.to_owned()),
        status: Some("Failure".to_owned()),
        ..Status::default()
    }
}

/// Returns a successful response with a body in JSON.
pub(super) fn json(body: impl Into<Bytes>) -> Response<Bytes> {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

/// Rejects bodies of other media types.
///
/// # Errors
/// Fails if the media type is not JSON.
pub(super) fn check_content_type(headers: &HeaderMap) -> Result<(), ReviewError> {
    let value = header(headers, &CONTENT_TYPE);
    let media_type = value.split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case(JSON) { Ok(()) } else { Err(ReviewError::ContentType(value.to_owned())) }
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<R> {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    request: Option<R>,
}

impl<R> Envelope<R> {
    fn check(&self, expected: ReviewType) -> Result<(), ReviewError> {
        if self.api_version == expected.api_version && self.kind == expected.kind {
            return Ok(());
        }
        Err(ReviewError::Type { found: format!("{}, Kind={}", self.api_version, self.kind), expected })
    }
}

/// Decodes the request of a review of this type.
///
/// # Errors
/// Fails if the body is not such a review, or has no request.
pub(super) fn parse<'a, R: Deserialize<'a>>(expected: ReviewType, body: &'a [u8]) -> Result<R, ReviewError> {
    if body.is_empty() {
        return Err(ReviewError::Empty);
    }
    match serde_json::from_slice::<Envelope<R>>(body) {
        Ok(review) => {
            review.check(expected)?;
            review.request.ok_or(ReviewError::MissingRequest)
        }
        Err(error) => {
            // A review of another version may have another request: its type is the actual error.
            if let Ok(review) = serde_json::from_slice::<Envelope<IgnoredAny>>(body) {
                review.check(expected)?;
            }
            Err(error.into())
        }
    }
}

/// Encodes the response of a review of this type, of about this size in bytes.
///
/// # Errors
/// Fails if the response cannot be encoded.
pub(super) fn encode(review_type: ReviewType, response: &impl Serialize, size: usize) -> serde_json::Result<Bytes> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Review<'a, R> {
        api_version: &'static str,
        kind: &'static str,
        response: &'a R,
    }
    let review = Review { api_version: review_type.api_version, kind: review_type.kind, response };
    let mut body = Vec::with_capacity(size);
    serde_json::to_writer(&mut body, &review)?;
    Ok(body.into())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const TYPE: ReviewType = ReviewType { api_version: "example.com/v1", kind: "Review" };

    fn error(body: &str) -> String {
        parse::<Value>(TYPE, body.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn a_review_has_the_expected_type_and_a_request() {
        let review = r#"{"apiVersion":"example.com/v1","kind":"Review","request":{"uid":"a"}}"#;
        assert_eq!(parse::<Value>(TYPE, review.as_bytes()).unwrap()["uid"], "a");
        assert_eq!(error(r#"{"apiVersion":"example.com/v1","kind":"Review"}"#), "the review has no request");
        assert_eq!(error(""), "the body is empty: expected a review");
        assert!(error("{").starts_with("the body is not a review: EOF while parsing"), "{}", error("{"));
        let other = error(r#"{"apiVersion":"example.com/v1beta1","kind":"Review","request":{}}"#);
        assert!(other.starts_with("the review has the type `example.com/v1beta1, Kind=Review`"), "{other}");
        assert!(error("{}").starts_with("the review has the type `, Kind=`"), "{}", error("{}"));
    }

    #[test]
    fn the_type_precedes_the_contents_of_the_request() {
        #[derive(Debug, Deserialize)]
        struct Request {
            #[expect(dead_code, reason = "decoded only")]
            uid: String,
        }
        let parse = |version: &str| {
            let body = format!(r#"{{"apiVersion":"example.com/{version}","kind":"Review","request":{{"uid":3}}}}"#);
            parse::<Request>(TYPE, body.as_bytes()).unwrap_err()
        };
        assert!(matches!(parse("v1"), ReviewError::Syntax(_)));
        assert!(matches!(parse("v2"), ReviewError::Type { .. }));
    }

    #[test]
    fn a_deeply_nested_review_is_an_error() {
        let nested = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        let review = format!(r#"{{"apiVersion":"example.com/v1","kind":"Review","request":{nested}}}"#);
        assert!(error(&review).contains("recursion limit exceeded"), "{}", error(&review));
    }

    #[test]
    fn the_media_type_is_json() {
        let check = |value: &'static str| {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(value))]);
            check_content_type(&headers).map_err(|error| error.respond().status().as_u16())
        };
        assert_eq!(check("application/json"), Ok(()));
        assert_eq!(check("Application/JSON; charset=utf-8"), Ok(()));
        assert_eq!(check("text/plain"), Err(415));
        assert!(check_content_type(&HeaderMap::new()).is_err());
    }
}
