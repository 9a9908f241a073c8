//! The certificate of webhooks: mounted, or issued by the operator.

use std::path::PathBuf;

use kubewright_core::description::{OperatorDescription, WebhookNames};
use kubewright_runtime::metrics::Metrics;

use super::{builder::ManagerBuilder, runnable::Replicas};
use crate::serving::{CertificateError, Certificates, SelfManaged, SelfManagedConfig, SelfManagedError};

/// The name of the certificate in its metrics.
const NAME: &str = "webhook";

/// Who issues the certificate of webhooks. There is always exactly one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookCertificates {
    /// Another program, such as cert-manager or Operator Lifecycle Manager: this directory contains `tls.crt` and
    /// `tls.key`.
    Mounted(PathBuf),
    /// The operator, in a Secret of its namespace.
    SelfManaged(WebhookNames),
    /// The operator, in memory: it runs outside of the cluster, and the API server reaches it at this URL.
    Local(String, WebhookNames),
}

/// A certificate that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WebhookCertificatesError {
    /// The mounted files are invalid.
    #[error(transparent)]
    Mounted(#[from] CertificateError),
    /// The options are invalid.
    #[error(transparent)]
    SelfManaged(#[from] SelfManagedError),
}

impl WebhookCertificates {
    /// Selects by the options of a program: its flag `--webhook-cert-path`, else its flag `--webhook-url`. Without
    /// both, the operator manages a Secret.
    #[must_use]
    pub fn select(directory: Option<PathBuf>, url: Option<String>, name_prefix: &str) -> Self {
        let names = WebhookNames::new(name_prefix);
        match (directory, url) {
            (Some(directory), _) => WebhookCertificates::Mounted(directory),
            (None, Some(url)) => WebhookCertificates::Local(url, names),
            (None, None) => WebhookCertificates::SelfManaged(names),
        }
    }
}

impl ManagerBuilder {
    /// Returns the certificate of these webhooks, for their server. If the operator issues it, the runnables are added
    /// that do: `certificates` in every process, and `certificate-rotation` in the leader.
    ///
    /// # Errors
    /// Fails if a mounted file is invalid, or a URL is.
    pub fn webhook_certificates(
        self,
        source: &WebhookCertificates,
        webhooks: &OperatorDescription,
        metrics: Metrics,
    ) -> Result<(Self, Certificates), WebhookCertificatesError> {
        let config = match source {
            WebhookCertificates::Mounted(directory) => {
                let certificates = Certificates::from_files(directory.join("tls.crt"), directory.join("tls.key"))?;
                return Ok((self, certificates.metrics(&metrics, NAME)));
            }
            WebhookCertificates::SelfManaged(names) => {
                SelfManagedConfig::for_service(self.client().default_namespace(), names.clone())
            }
            WebhookCertificates::Local(url, names) => SelfManagedConfig::for_url(url, names.clone())?,
        };
        let managed = SelfManaged::new(self.client().clone(), config.webhooks(webhooks).metrics(metrics))?;
        let (certificates, rotation) = (managed.certificates(), managed.rotation());
        let builder = self.add(Replicas::All, "certificates", managed);
        Ok((builder.add(Replicas::Leader, "certificate-rotation", rotation), certificates))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_preferred_to_a_url() {
        let names = WebhookNames::new("my");
        let url = || Some("https://127.0.0.1:9443".to_owned());
        let select = |directory, url| WebhookCertificates::select(directory, url, "my");
        assert_eq!(select(Some("/a".into()), url()), WebhookCertificates::Mounted("/a".into()));
        assert_eq!(select(None, url()), WebhookCertificates::Local(url().unwrap(), names.clone()));
        assert_eq!(select(None, None), WebhookCertificates::SelfManaged(names));
    }
}
