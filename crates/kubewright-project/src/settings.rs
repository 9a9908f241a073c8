//! The settings of a project: what its manifests need and the program cannot know.

mod olm;
mod webhooks;

use std::collections::BTreeMap;

use serde::Deserialize;

pub use olm::OlmSettings;
pub use webhooks::{CertificateMode, WebhookSettings};

/// The settings of a project, from one TOML file.
///
/// ```
/// let settings = kubewright_project::Settings::parse(
///     r#"
///     name = "my-operator"
///     image = "registry.example.com/my-operator:1.0.0"
///     args = ["--leader-elect"]
///     prometheus = true
///     "#,
/// )?;
/// assert_eq!(settings.replicas, 2);
/// # Ok::<_, kubewright_project::SettingsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Settings {
    /// The name of the operator: the prefix of its objects, and their label `app.kubernetes.io/name`. Its namespace is
    /// `<name>-system`.
    pub name: String,
    /// The image of the operator.
    pub image: String,
    /// The flags of the operator after the subcommand: `manifests` when it describes itself, and `run` in its
    /// container.
    #[serde(default)]
    pub args: Vec<String>,
    /// Environment variables of the container.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The number of replicas; 2 by default, so that an operator with leader election survives the loss of a node.
    #[serde(default = "default_replicas")]
    pub replicas: i32,
    /// Whether the operator watches its own namespace only, and has a Role in place of a ClusterRole. The namespace is
    /// in the environment variable `WATCH_NAMESPACES`.
    #[serde(default)]
    pub namespaced: bool,
    /// Whether Prometheus is configured with a ServiceMonitor. It needs the Prometheus operator.
    #[serde(default)]
    pub prometheus: bool,
    /// Files of `config/prometheus` with further objects, such as alerts.
    #[serde(default)]
    pub prometheus_resources: Vec<String>,
    /// Whether NetworkPolicies admit only connections to the ports of the metrics and of the webhooks, and to the
    /// metrics only those of clients in namespaces with the label `metrics: enabled`.
    #[serde(default)]
    pub network_policy: bool,
    /// What the webhooks need besides.
    #[serde(default)]
    pub webhooks: WebhookSettings,
    /// Files of `config/samples`.
    #[serde(default)]
    pub samples: Vec<String>,
    /// What bundles for Operator Lifecycle Manager need besides.
    #[serde(default)]
    pub olm: OlmSettings,
}

fn default_replicas() -> i32 {
    2
}

/// Settings that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file is not valid TOML, or a setting is unknown or missing.
    #[error("invalid settings: {0}")]
    Syntax(#[from] toml::de::Error),
    /// The name cannot be a prefix of names of objects.
    #[error("invalid name `{name}`: expected up to 28 lowercase letters, digits and `-`, a letter first, no `-` last")]
    Name {
        /// The name.
        name: String,
    },
    /// There are no replicas.
    #[error("invalid number of replicas {replicas}: expected at least 1")]
    Replicas {
        /// The number.
        replicas: i32,
    },
}

/// The names of Services have at most 63 characters, and the suffix of the Service of the metrics has 35.
const MAX_NAME: usize = 28;

impl Settings {
    /// Parses settings.
    ///
    /// # Errors
    /// Fails if the text is not valid TOML, or a setting is unknown, missing or invalid.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let settings: Settings = toml::from_str(text)?;
        let name = &settings.name;
        let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let starts_with_letter = name.starts_with(|c: char| c.is_ascii_lowercase());
        if name.len() > MAX_NAME || !starts_with_letter || name.ends_with('-') || !name.chars().all(is_allowed) {
            return Err(SettingsError::Name { name: name.clone() });
        }
        match settings.replicas {
            replicas if replicas < 1 => Err(SettingsError::Replicas { replicas }),
            _ => Ok(settings),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Settings::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn invalid_settings_are_errors() {
        assert!(error("name = 'a'\nimage = 'b'\nreplica = 1").contains("unknown field `replica`"));
        assert!(error("name = 'a'").contains("missing field `image`"));
        assert!(error("name = 'My-Operator'\nimage = 'b'").starts_with("invalid name `My-Operator`"));
        assert!(error("name = 'a-'\nimage = 'b'").starts_with("invalid name `a-`"));
        assert!(error("name = 'a'\nimage = 'b'\nreplicas = 0").starts_with("invalid number of replicas 0"));
    }

    #[test]
    fn certificates_are_self_managed_or_those_of_cert_manager() {
        let settings = |text: &str| Settings::parse(&format!("name = 'a'\nimage = 'b'\n{text}"));
        let mode = |text: &str| settings(text).unwrap().webhooks.certificates;
        assert_eq!(mode(""), CertificateMode::SelfManaged);
        assert_eq!(mode("webhooks.certificates = 'cert-manager'"), CertificateMode::CertManager);
        let error = settings("webhooks.certificates = 'olm'").unwrap_err().to_string();
        assert!(error.contains("unknown variant `olm`, expected `self-managed` or `cert-manager`"), "{error}");
    }
}
