//! Records of applications: `POST /activity` with one JSON object.

use http::HeaderMap;
use serde_json::value::RawValue;

use super::{ActivitySource, error::SourceError, json::is_portable};
use crate::record::{Draft, Source};

/// The header that identifies a record. Requests with equal values are written once.
pub const KEY_HEADER: &str = "idempotency-key";

/// The maximum length of a key.
pub const MAX_KEY: usize = 128;

/// Applications that send their records.
#[derive(Clone, Copy, Debug, Default)]
pub struct Activity;

impl ActivitySource for Activity {
    fn drafts(&self, headers: &HeaderMap, body: &[u8]) -> Result<Vec<Draft>, SourceError> {
        let id = headers.get(KEY_HEADER).map(|value| key(value.as_bytes())).transpose()?;
        let body: &RawValue = serde_json::from_slice(body)?;
        match body.get().starts_with('{') {
            true if is_portable(body.get()) => Ok(vec![Draft::new(Source::Activity, id, body)]),
            true => Err(SourceError::NotPortable),
            false => Err(SourceError::NotAnObject),
        }
    }
}

fn key(value: &[u8]) -> Result<String, SourceError> {
    let is_valid = (1..=MAX_KEY).contains(&value.len()) && value.iter().all(u8::is_ascii_graphic);
    String::from_utf8(value.to_vec()).ok().filter(|_| is_valid).ok_or(SourceError::InvalidKey)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn drafts(key: Option<&'static str>, body: &str) -> Result<Vec<Draft>, String> {
        let headers = key.map(|key| (http::HeaderName::from_static(KEY_HEADER), HeaderValue::from_static(key)));
        Activity.drafts(&headers.into_iter().collect(), body.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_request_is_one_record() {
        let drafts = drafts(Some("order-7"), " {\"user\": \"jane\"}\n").unwrap();
        let found: Vec<_> = drafts.iter().map(|draft| (draft.source(), draft.id(), draft.body())).collect();
        assert_eq!(found, [(Source::Activity, Some("order-7"), "{\"user\":\"jane\"}")]);
    }

    #[test]
    fn a_record_that_other_parsers_reject_is_rejected() {
        let nested = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        for body in [nested.as_str(), r#"{"a":"\ud83d"}"#] {
            let error = drafts(None, body).unwrap_err();
            assert_eq!(error, "the JSON object is deeper than 100, or has a surrogate without its pair");
        }
    }

    #[test]
    fn invalid_requests_are_rejected() {
        for (key, body, expected) in [
            (None, "", "the body is not valid JSON: EOF while parsing a value at line 1 column 0"),
            (None, "{} {}", "the body is not valid JSON: trailing characters at line 1 column 4"),
            (None, "[]", "expected a JSON object, such as {\"user\":\"jane\",\"action\":\"login\"}"),
            (Some(""), "{}", "invalid header `Idempotency-Key`: expected 1 to 128 visible ASCII characters"),
            (Some("a b"), "{}", "invalid header `Idempotency-Key`: expected 1 to 128 visible ASCII characters"),
        ] {
            assert_eq!(drafts(key, body).unwrap_err(), expected, "{body}");
        }
    }
}
