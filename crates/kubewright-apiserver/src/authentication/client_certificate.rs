//! The client certificate of the connection of a request, after the TLS handshake.

use std::sync::Arc;
#[cfg(feature = "serve")]
use std::{collections::BTreeMap, fmt::Write};

use jiff::Timestamp;
#[cfg(feature = "serve")]
use ring::digest::{SHA256, digest};

#[cfg(feature = "serve")]
use super::service_accounts::CREDENTIAL_ID;
use crate::authorization::user::User;

/// A client certificate, in the extensions of each request of its connection.
#[derive(Debug, Clone)]
#[cfg_attr(not(any(feature = "serve", test)), expect(dead_code, reason = "only connections have certificates"))]
pub(crate) enum ClientCertificate {
    /// A trusted authority issued it.
    Valid { user: Arc<User>, not_after: Timestamp },
    /// It is expired, or no trusted authority issued it.
    Invalid,
}

#[cfg(feature = "serve")]
impl ClientCertificate {
    /// Returns the user of a certificate: its name is the common name, and its groups are the organizations.
    pub(crate) fn user(common_name: &str, organizations: Vec<String>, certificate: &[u8]) -> User {
        let digest = digest(&SHA256, certificate);
        let fingerprint = digest.as_ref().iter().fold("X509SHA256=".to_owned(), |mut text, byte| {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        });
        let extra = BTreeMap::from([(CREDENTIAL_ID.to_owned(), vec![fingerprint])]);
        User { extra, ..User::authenticated(common_name.to_owned(), organizations) }
    }
}
