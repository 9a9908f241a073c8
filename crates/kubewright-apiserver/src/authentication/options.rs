//! The options of authentication.

use super::static_tokens::{StaticTokens, TokenFileError};
use crate::authorization::user::User;

/// How a server authenticates requests, for [`Builder::authentication`](crate::Builder::authentication).
///
/// A request is that of the user of its client certificate, if the server is on a socket with TLS, or of its bearer
/// token: one of [`token`](Self::token), or one of a service account that the server issued
/// (`serviceaccounts/token`, `kubectl create token`). Other credentials are rejected with code 401.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use http::Request;
/// use kubewright_apiserver::{ApiServer, Authentication};
///
/// let authentication = Authentication::new().token("s3cret", "jane", &["system:masters"]);
/// let client = ApiServer::builder().rbac(true).authentication(authentication).build().client();
/// let list = Request::get("/api/v1/nodes").header("authorization", "Bearer s3cret").body(Vec::new())?;
/// client.request_text(list).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Authentication {
    pub(super) allows_anonymous: bool,
    pub(super) tokens: StaticTokens,
}

impl Authentication {
    /// Creates options without tokens, and with anonymous requests.
    #[must_use]
    pub fn new() -> Self {
        Self { allows_anonymous: true, tokens: StaticTokens::default() }
    }

    /// Sets whether requests without credentials are those of `system:anonymous` in the group
    /// `system:unauthenticated`, as with `--anonymous-auth`, which is the default. Without
    /// [`Builder::rbac`](crate::Builder::rbac) they are always rejected with code 401, as by kube-apiserver with
    /// `--authorization-mode=AlwaysAllow`.
    #[must_use]
    pub fn anonymous(mut self, allowed: bool) -> Self {
        self.allows_anonymous = allowed;
        self
    }

    /// Rejects anonymous requests unless they are authorized by roles.
    pub(crate) fn with_authorization(mut self, by_roles: bool) -> Self {
        self.allows_anonymous &= by_roles;
        self
    }

    /// Adds a bearer token of a user, who is also in the group `system:authenticated`.
    #[must_use]
    pub fn token(mut self, token: &str, user: &str, groups: &[&str]) -> Self {
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        self.tokens.insert(token, User::authenticated(user.to_owned(), groups));
        self
    }

    /// Adds the tokens of a file in the format of `--token-auth-file`: lines of `token,user,uid,"group1,group2"`, the
    /// groups being optional.
    ///
    /// # Errors
    /// A line has fewer than three fields, or no token or user.
    pub fn tokens_csv(mut self, text: &str) -> Result<Self, TokenFileError> {
        self.tokens.insert_csv(text)?;
        Ok(self)
    }
}

impl Default for Authentication {
    fn default() -> Self {
        Self::new()
    }
}
