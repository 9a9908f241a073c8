//! Continue tokens: where the next page of a list begins, and of which version it is, as kube-apiserver writes them.

use base64::{DecodeError, Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use crate::{api::object::Object, handlers::request::ResourceRequest, storage::store::Range};

const FORM: &str = "meta.k8s.io/v1";
/// Instead of a version: the list is not to be consistent any more.
const PRESENT: i64 = -1;

/// Where a list goes on.
#[derive(Debug, PartialEq)]
pub(super) struct Token {
    /// The version of the list; none is whatever is there.
    pub(super) version: Option<u64>,
    /// The first key that may be listed, below the place the list is of.
    start: String,
}

/// What a token is in JSON.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Form {
    v: String,
    rv: i64,
    start: String,
}

impl Token {
    /// The page after an object, which is the last one of a page of this list.
    pub(super) fn after(request: &ResourceRequest, last: &Object, version: u64) -> Self {
        let namespace = Some(last.namespace()).filter(|name| !name.is_empty() && request.namespace.is_none());
        let namespace = namespace.map(|name| format!("/{name}")).unwrap_or_default();
        Self { version: Some(version), start: format!("{namespace}/{}\0", last.name()) }
    }

    /// Reads a token, or says why it is none.
    pub(super) fn decode(text: &str) -> Result<Self, String> {
        let invalid = |why: &str| format!("continue key is not valid: {why}");
        let json = BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|error| invalid(&illegal(&error, text)))?;
        let form: Form = serde_json::from_slice(&json).map_err(|error| invalid(&error.to_string()))?;
        if form.v != FORM {
            return Err(invalid(&format!("server does not recognize this encoded version {}", form.v)));
        }
        if form.rv == 0 {
            return Err(invalid(&format!("incorrect encoded start resourceVersion (version {FORM})")));
        }
        if form.start.is_empty() {
            return Err(invalid(&format!("encoded start key empty (version {FORM})")));
        }
        if !is_clean(&form.start) {
            return Err(invalid(&form.start));
        }
        Ok(Self { version: u64::try_from(form.rv).ok(), start: form.start })
    }

    pub(super) fn encode(&self) -> String {
        let rv = self.version.and_then(|version| i64::try_from(version).ok()).unwrap_or(PRESENT);
        let form = Form { v: FORM.to_owned(), rv, start: self.start.clone() };
        BASE64_URL_SAFE_NO_PAD.encode(serde_json::to_vec(&form).expect("a struct of texts and numbers serialises"))
    }

    /// Returns the token that continues at the same key with the current objects.
    pub(super) fn in_the_present(&self) -> String {
        Self { version: None, start: self.start.clone() }.encode()
    }

    /// The least key of the store that the page may begin with.
    pub(super) fn key(&self, request: &ResourceRequest) -> String {
        let start = self.start.trim_start_matches('/');
        match &request.namespace {
            Some(_) => Range::prefix(request.namespace.as_deref()) + start,
            None if request.kind.namespaced => start.to_owned(),
            None => format!("/{start}"),
        }
    }
}

/// Whether a key stays below the place it is used at.
fn is_clean(start: &str) -> bool {
    let below = start.strip_prefix('/').unwrap_or(start);
    below.is_empty() || below.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// As Go says it, which counts from the first byte that does not fit.
fn illegal(error: &DecodeError, text: &str) -> String {
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
    fn a_token_is_read_as_it_was_written() {
        let token = Token { version: Some(229), start: "/b\0".to_owned() };
        assert_eq!(token.encode(), "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MjI5LCJzdGFydCI6Ii9iXHUwMDAwIn0");
        assert_eq!(Token::decode(&token.encode()), Ok(token));
        let present = Token { version: None, start: "/b\0".to_owned() };
        assert_eq!(Token::decode(&present.encode()), Ok(present));
    }

    #[test]
    fn what_is_no_token_is_refused_in_the_words_of_the_real_server() {
        let decode = |form: &str| Token::decode(&BASE64_URL_SAFE_NO_PAD.encode(form)).unwrap_err();
        assert_eq!(
            Token::decode("abc!"),
            Err("continue key is not valid: illegal base64 data at input byte 3".to_owned())
        );
        assert_eq!(
            decode(r#"{"v":"meta.k8s.io/v1","rv":3}"#),
            "continue key is not valid: encoded start key empty (version meta.k8s.io/v1)"
        );
        for start in ["../a", "/../a", "a//b", "a/./b"] {
            let form = format!(r#"{{"v":"meta.k8s.io/v1","rv":3,"start":"{start}"}}"#);
            assert_eq!(decode(&form), format!("continue key is not valid: {start}"));
        }
    }
}
