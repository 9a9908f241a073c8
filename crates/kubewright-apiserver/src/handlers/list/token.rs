//! Continue tokens: the start key and the version of the next page of a list, as kube-apiserver encodes them.

use base64::{DecodeError, Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use crate::{api::object::Object, handlers::request::ResourceRequest, storage::store::Range};

/// The version of the token format.
const TOKEN_VERSION: &str = "meta.k8s.io/v1";
/// The version of a token that continues an inconsistent list.
const INCONSISTENT: i64 = -1;

/// The position at which a list continues.
#[derive(Debug, PartialEq)]
pub(super) struct Token {
    /// The version of the list; `None` continues with the current objects.
    pub(super) version: Option<u64>,
    /// The first key to list, relative to the prefix of the list.
    start: String,
}

/// The JSON of a token.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct ContinueToken {
    v: String,
    rv: i64,
    start: String,
}

impl Token {
    /// Creates the token of the page after `last`, the last object of a page of this list.
    pub(super) fn after(request: &ResourceRequest, last: &Object, version: u64) -> Self {
        let namespace = Some(last.namespace()).filter(|name| !name.is_empty() && request.namespace.is_none());
        let namespace = namespace.map(|name| format!("/{name}")).unwrap_or_default();
        Self { version: Some(version), start: format!("{namespace}/{}\0", last.name()) }
    }

    /// Decodes a token.
    pub(super) fn decode(text: &str) -> Result<Self, String> {
        let invalid = |detail: &str| format!("continue key is not valid: {detail}");
        let json = BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|error| invalid(&base64_error(&error, text)))?;
        let decoded: ContinueToken = serde_json::from_slice(&json).map_err(|error| invalid(&error.to_string()))?;
        if decoded.v != TOKEN_VERSION {
            return Err(invalid(&format!("server does not recognize this encoded version {}", decoded.v)));
        }
        if decoded.rv == 0 {
            return Err(invalid(&format!("incorrect encoded start resourceVersion (version {TOKEN_VERSION})")));
        }
        if decoded.start.is_empty() {
            return Err(invalid(&format!("encoded start key empty (version {TOKEN_VERSION})")));
        }
        if !is_relative(&decoded.start) {
            return Err(invalid(&decoded.start));
        }
        Ok(Self { version: u64::try_from(decoded.rv).ok(), start: decoded.start })
    }

    pub(super) fn encode(&self) -> String {
        let rv = self.version.and_then(|version| i64::try_from(version).ok()).unwrap_or(INCONSISTENT);
        let token = ContinueToken { v: TOKEN_VERSION.to_owned(), rv, start: self.start.clone() };
        BASE64_URL_SAFE_NO_PAD.encode(serde_json::to_vec(&token).expect("strings and numbers serialize"))
    }

    /// Returns the token that continues at the same key with the current objects.
    pub(super) fn inconsistent(&self) -> String {
        Self { version: None, start: self.start.clone() }.encode()
    }

    /// Returns the first key of the store that the page can contain.
    pub(super) fn key(&self, request: &ResourceRequest) -> String {
        let start = self.start.trim_start_matches('/');
        match &request.namespace {
            Some(_) => Range::prefix(request.namespace.as_deref()) + start,
            None if request.kind.namespaced => start.to_owned(),
            None => format!("/{start}"),
        }
    }
}

/// Returns whether a start key cannot leave the prefix of its list.
fn is_relative(start: &str) -> bool {
    let relative = start.strip_prefix('/').unwrap_or(start);
    relative.is_empty() || relative.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Returns Go's error text, which has the position of the first invalid byte.
fn base64_error(error: &DecodeError, text: &str) -> String {
    let position = match error {
        DecodeError::InvalidByte(position, _) => *position,
        _ => text.len().saturating_sub(1),
    };
    format!("illegal base64 data at input byte {position}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_round_trip() {
        let token = Token { version: Some(229), start: "/b\0".to_owned() };
        assert_eq!(token.encode(), "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MjI5LCJzdGFydCI6Ii9iXHUwMDAwIn0");
        assert_eq!(Token::decode(&token.encode()), Ok(token));
        let inconsistent = Token { version: None, start: "/b\0".to_owned() };
        assert_eq!(Token::decode(&inconsistent.encode()), Ok(inconsistent));
    }

    #[test]
    fn invalid_tokens_are_rejected_with_the_errors_of_the_real_server() {
        let decode = |json: &str| Token::decode(&BASE64_URL_SAFE_NO_PAD.encode(json)).unwrap_err();
        assert_eq!(
            Token::decode("abc!"),
            Err("continue key is not valid: illegal base64 data at input byte 3".to_owned())
        );
        assert_eq!(
            decode(r#"{"v":"meta.k8s.io/v1","rv":3}"#),
            "continue key is not valid: encoded start key empty (version meta.k8s.io/v1)"
        );
        for start in ["../a", "/../a", "a//b", "a/./b"] {
            let json = format!(r#"{{"v":"meta.k8s.io/v1","rv":3,"start":"{start}"}}"#);
            assert_eq!(decode(&json), format!("continue key is not valid: {start}"));
        }
    }
}
