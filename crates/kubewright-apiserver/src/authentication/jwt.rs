//! JSON Web Tokens in the compact serialization, signed with ES256.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::signing_key::{SigningKey, SigningKeyError};

/// The only signature algorithm.
const ALGORITHM: &str = "ES256";

/// A token whose signature is not verified.
pub(super) struct Unverified<'a> {
    /// The encoded header and claims, which the signature covers.
    message: &'a str,
    header: &'a str,
    claims: Vec<u8>,
    signature: &'a str,
}

#[derive(Debug, Deserialize)]
struct Header {
    #[serde(default)]
    alg: String,
    #[serde(default)]
    kid: String,
}

#[derive(Debug, Deserialize)]
struct Issuer {
    #[serde(default)]
    iss: String,
}

/// Why a token of the expected issuer is invalid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Invalid {
    /// It cannot be decoded.
    Malformed,
    /// Another key signed it.
    UnknownKey,
    /// The signature is not that of its content.
    Signature,
}

/// Signs claims.
///
/// # Errors
/// The system provides no random numbers.
pub(super) fn sign(key: &SigningKey, claims: &Value) -> Result<String, SigningKeyError> {
    let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", part(&json!({ "alg": ALGORITHM, "kid": key.id() })), part(claims));
    let signature = BASE64_URL_SAFE_NO_PAD.encode(key.sign(message.as_bytes())?);
    Ok(format!("{message}.{signature}"))
}

impl<'a> Unverified<'a> {
    /// Splits a token. Returns `None` for a text that is no token.
    pub(super) fn parse(token: &'a str) -> Option<Self> {
        let (message, signature) = token.rsplit_once('.')?;
        let (header, claims) = message.split_once('.')?;
        if claims.contains('.') {
            return None;
        }
        Some(Self { message, header, claims: BASE64_URL_SAFE_NO_PAD.decode(claims).ok()?, signature })
    }

    /// Returns whether the token declares this issuer.
    pub(super) fn is_of(&self, issuer: &str) -> bool {
        serde_json::from_slice::<Issuer>(&self.claims).is_ok_and(|claims| claims.iss == issuer)
    }

    /// Verifies the signature and returns the claims. Without a key, every token is that of another one.
    pub(super) fn verify<T: DeserializeOwned>(&self, key: Option<&SigningKey>) -> Result<T, Invalid> {
        let decode = |text: &str| BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| Invalid::Malformed);
        let header: Header = serde_json::from_slice(&decode(self.header)?).map_err(|_| Invalid::Malformed)?;
        let signature = decode(self.signature)?;
        let key = key.filter(|key| header.kid.is_empty() || header.kid == key.id()).ok_or(Invalid::UnknownKey)?;
        if header.alg != ALGORITHM || !key.verifies(self.message.as_bytes(), &signature) {
            return Err(Invalid::Signature);
        }
        serde_json::from_slice(&self.claims).map_err(|_| Invalid::Malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(value: &Value) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(value.to_string())
    }

    fn verify(token: &str, key: Option<&SigningKey>) -> Result<Value, Invalid> {
        Unverified::parse(token).unwrap().verify(key)
    }

    #[test]
    fn a_signed_token_has_its_claims() {
        let key = SigningKey::generate().unwrap();
        let claims = json!({ "iss": "here", "sub": "jane" });
        let token = sign(&key, &claims).unwrap();
        assert_eq!(verify(&token, Some(&key)), Ok(claims));
        let parsed = Unverified::parse(&token).unwrap();
        assert!(parsed.is_of("here") && !parsed.is_of("elsewhere"));
        assert_eq!(verify(&token, None), Err(Invalid::UnknownKey));
        let other = SigningKey::generate().unwrap();
        assert_eq!(verify(&token, Some(&other)), Err(Invalid::UnknownKey));
    }

    #[test]
    fn changed_claims_and_other_algorithms_are_invalid() {
        let key = SigningKey::generate().unwrap();
        let token = sign(&key, &json!({ "sub": "jane" })).unwrap();
        let parts: Vec<&str> = token.split('.').collect();
        let changed = encode(&json!({ "sub": "root" }));
        let joined = |header: &str, claims: &str, signature: &str| format!("{header}.{claims}.{signature}");
        assert_eq!(verify(&joined(parts[0], &changed, parts[2]), Some(&key)), Err(Invalid::Signature));
        for algorithm in ["none", "HS256", ""] {
            let header = encode(&json!({ "alg": algorithm }));
            assert_eq!(verify(&joined(&header, parts[1], parts[2]), Some(&key)), Err(Invalid::Signature));
            assert_eq!(verify(&joined(&header, parts[1], ""), Some(&key)), Err(Invalid::Signature));
        }
        assert_eq!(verify(&joined("e30", parts[1], "!"), Some(&key)), Err(Invalid::Malformed));
        assert_eq!(verify(&joined("", parts[1], parts[2]), Some(&key)), Err(Invalid::Malformed));
    }

    #[test]
    fn other_texts_are_no_tokens() {
        for text in ["", "a", "a.b", "a.!.c", "e30.e30.e30.e30", "{}"] {
            assert!(Unverified::parse(text).is_none(), "{text}");
        }
    }
}
