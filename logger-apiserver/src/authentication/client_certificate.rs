//! The client certificate of the connection of a request, after the TLS handshake.

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;

use super::service_accounts::CREDENTIAL_ID;
use crate::authorization::user::User;

/// A client certificate, in the extensions of each request of its connection.
#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "serve"), expect(dead_code, reason = "only connections have certificates"))]
pub(crate) enum ClientCertificate {
    /// A trusted authority issued it.
    Valid { user: Arc<User>, not_after: Timestamp },
    /// It is expired, or no trusted authority issued it.
    Invalid,
}

impl ClientCertificate {
    /// Returns the user of a certificate: its name is the common name, and its groups are the organizations.
    #[cfg(feature = "serve")]
    pub(crate) fn user(common_name: &str, organizations: Vec<String>, fingerprint: &str) -> User {
        let extra = BTreeMap::from([(CREDENTIAL_ID.to_owned(), vec![format!("X509SHA256={fingerprint}")])]);
        User { extra, ..User::authenticated(common_name.to_owned(), organizations) }
    }
}
