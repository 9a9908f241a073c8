//! The names of the objects of webhooks, which the manifests and the program share.

/// The names of the objects of the webhooks of an operator. All start with the prefix of the names of its objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookNames {
    prefix: String,
}

impl WebhookNames {
    /// The Service, without a prefix.
    pub const SERVICE: &str = "webhook-service";
    /// The Secret with the certificate, without a prefix.
    pub const SECRET: &str = "webhook-server-cert";
    /// The MutatingWebhookConfiguration, without a prefix.
    pub const MUTATING: &str = "mutating-webhook-configuration";
    /// The ValidatingWebhookConfiguration, without a prefix.
    pub const VALIDATING: &str = "validating-webhook-configuration";
    /// The annotation with the namespace and the name of the Certificate whose authority cert-manager writes to an
    /// object.
    pub const CA_FROM: &str = "cert-manager.io/inject-ca-from";
    /// The environment variable of the operator with the prefix.
    pub const PREFIX_VARIABLE: &str = "NAME_PREFIX";

    /// Creates the names with a prefix without its last `-`, such as the name of the operator.
    #[must_use]
    pub fn new(prefix: impl Into<String>) -> Self {
        WebhookNames { prefix: prefix.into() }
    }

    /// Returns the prefix.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns the name of the Service.
    #[must_use]
    pub fn service(&self) -> String {
        self.named(Self::SERVICE)
    }

    /// Returns the name of the Secret with the certificate.
    #[must_use]
    pub fn secret(&self) -> String {
        self.named(Self::SECRET)
    }

    /// Returns the name of the MutatingWebhookConfiguration.
    #[must_use]
    pub fn mutating(&self) -> String {
        self.named(Self::MUTATING)
    }

    /// Returns the name of the ValidatingWebhookConfiguration.
    #[must_use]
    pub fn validating(&self) -> String {
        self.named(Self::VALIDATING)
    }

    fn named(&self, name: &str) -> String {
        format!("{}-{name}", self.prefix)
    }
}
