//! The key of the tokens of service accounts: ECDSA with P-256 and SHA-256 (`ES256`).

use std::fmt;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::{
    digest::{SHA256, digest},
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, UnparsedPublicKey},
};

/// What precedes the point of a P-256 key in the format `SubjectPublicKeyInfo`.
const PUBLIC_KEY_PREFIX: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// The key that signs the tokens of service accounts, for
/// [`Builder::service_account_key`](crate::Builder::service_account_key).
pub struct SigningKey {
    pair: EcdsaKeyPair,
    /// The ID of the public key, as kube-apiserver derives it.
    id: String,
}

/// The error for a key that cannot be used or generated.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SigningKeyError {
    /// The bytes are no key of the expected type.
    #[error("invalid signing key: {0}; expected an ECDSA P-256 key in the format PKCS#8")]
    Rejected(String),
    /// The system provides no random numbers.
    #[error("the system provides no random numbers")]
    NoRandomNumbers,
}

impl SigningKey {
    /// Generates a key.
    ///
    /// # Errors
    /// The system provides no random numbers.
    pub fn generate() -> Result<Self, SigningKeyError> {
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        Self::from_pkcs8(document.map_err(|_| SigningKeyError::NoRandomNumbers)?.as_ref())
    }

    /// Reads an ECDSA P-256 key in the binary format PKCS#8, with its public key.
    ///
    /// # Errors
    /// The bytes are no such key.
    pub fn from_pkcs8(pkcs8: &[u8]) -> Result<Self, SigningKeyError> {
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &SystemRandom::new())
            .map_err(|error| SigningKeyError::Rejected(error.to_string()))?;
        let public_key = [PUBLIC_KEY_PREFIX.as_slice(), pair.public_key().as_ref()].concat();
        let id = BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, &public_key));
        Ok(Self { pair, id })
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Returns the signature of a message.
    ///
    /// # Errors
    /// The system provides no random numbers.
    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SigningKeyError> {
        let signature = self.pair.sign(&SystemRandom::new(), message);
        Ok(signature.map_err(|_| SigningKeyError::NoRandomNumbers)?.as_ref().to_vec())
    }

    /// Returns whether a signature is that of a message.
    pub(super) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, self.pair.public_key().as_ref());
        key.verify(message, signature).is_ok()
    }
}

/// Without the private key.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_verifies_its_own_signatures_only() {
        let (key, other) = (SigningKey::generate().unwrap(), SigningKey::generate().unwrap());
        let signature = key.sign(b"message").unwrap();
        assert!(key.verifies(b"message", &signature));
        assert!(!key.verifies(b"another message", &signature));
        assert!(!other.verifies(b"message", &signature));
        assert!(!key.verifies(b"message", &signature[1..]));
        assert_ne!(key.id(), other.id());
    }

    #[test]
    fn an_invalid_key_is_an_error_that_names_the_expected_format() {
        let error = SigningKey::from_pkcs8(b"key").unwrap_err().to_string();
        assert!(error.starts_with("invalid signing key: "), "{error}");
        assert!(error.ends_with("; expected an ECDSA P-256 key in the format PKCS#8"), "{error}");
    }

    #[test]
    fn the_private_key_is_not_formatted() {
        let key = SigningKey::generate().unwrap();
        assert_eq!(format!("{key:?}"), format!("SigningKey {{ id: {:?}, .. }}", key.id()));
    }
}
