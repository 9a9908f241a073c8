//! The table `webhooks` of the settings.

use serde::Deserialize;

/// Settings of the webhooks of an operator, if it has any.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct WebhookSettings {
    /// Who issues the certificate of the webhooks.
    pub certificates: CertificateMode,
}

/// Who issues the certificate of webhooks, and writes its authority to the webhook configurations and definitions.
/// There is always exactly one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CertificateMode {
    /// The operator, in a Secret.
    #[default]
    SelfManaged,
    /// cert-manager, which must be installed.
    CertManager,
    /// Operator Lifecycle Manager. Bundles are always rendered in this mode.
    #[serde(skip)]
    Olm,
}
