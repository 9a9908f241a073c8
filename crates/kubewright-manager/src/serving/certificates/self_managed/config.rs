//! The options of self-managed certificates.

use std::time::Duration;

use http::Uri;
use kubewright_core::description::{AdmissionType, OperatorDescription, WebhookNames};
use kubewright_runtime::metrics::Metrics;

use super::{error::SelfManagedError, rotation::Policy};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The objects of a program outside of the cluster are created after its start, and their user waits for it.
const LOCAL_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// A certificate is renewed after two thirds of its lifetime, and X.509 counts in seconds.
const MIN_LIFETIME: Duration = Duration::from_secs(6);

/// Where the API server reaches the webhooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// A Service in the namespace of the operator.
    Service { namespace: String, name: String },
    /// A URL without a path: the operator runs outside of the cluster.
    Url(String),
}

/// The objects with a CA bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TargetNames {
    pub(super) mutating: Option<String>,
    pub(super) validating: Option<String>,
    /// The definitions whose objects a webhook converts.
    pub(super) definitions: Vec<String>,
}

/// The options of [`SelfManaged`](super::SelfManaged).
#[derive(Clone, Debug)]
#[must_use = "options have no effect until they are used"]
pub struct SelfManagedConfig {
    pub(super) location: Location,
    /// The DNS names and the IP addresses of the certificate.
    pub(super) host_names: Vec<String>,
    pub(super) names: WebhookNames,
    pub(super) targets: TargetNames,
    pub(super) policy: Policy,
    /// The interval in which the leader reads the objects with a CA bundle.
    pub(super) poll_interval: Duration,
    pub(super) metrics: Metrics,
}

impl SelfManagedConfig {
    /// Creates the options for webhooks behind a Service in a namespace, with objects of these names.
    pub fn for_service(namespace: impl Into<String>, names: WebhookNames) -> Self {
        let (namespace, name) = (namespace.into(), names.service());
        let host_name = format!("{name}.{namespace}.svc");
        let host_names = vec![host_name.clone(), format!("{host_name}.cluster.local")];
        Self::new(Location::Service { namespace, name }, host_names, names)
    }

    /// Creates the options for webhooks that the API server reaches at a URL, such as `https://127.0.0.1:9443`, because
    /// the operator runs outside of the cluster. The certificate and its authority are never stored: they exist as long
    /// as the process.
    ///
    /// # Errors
    /// Fails if the text is not the URL of a server.
    pub fn for_url(url: &str, names: WebhookNames) -> Result<Self, SelfManagedError> {
        let url = url.trim_end_matches('/');
        let invalid = || SelfManagedError::Url { url: url.to_owned() };
        let parsed: Uri = url.parse().map_err(|_| invalid())?;
        let has_no_path = parsed.path_and_query().is_none_or(|path| path.as_str() == "/");
        match parsed.host() {
            Some(host) if parsed.scheme_str() == Some("https") && has_no_path => {
                let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
                Ok(Self::new(Location::Url(url.to_owned()), vec![host], names).poll_interval(LOCAL_POLL_INTERVAL))
            }
            _ => Err(invalid()),
        }
    }

    fn new(location: Location, host_names: Vec<String>, names: WebhookNames) -> Self {
        let policy = Policy {
            leaf_lifetime: DAY * 90,
            authority_lifetime: DAY * 3650,
            publication_delay: MINUTE / 2,
            retention: DAY,
        };
        let (poll_interval, metrics) = (Duration::from_secs(10), Metrics::default());
        let targets = TargetNames::default();
        SelfManagedConfig { location, host_names, names, targets, policy, poll_interval, metrics }
    }

    /// Selects the objects whose CA bundles are written: the configurations of these admission webhooks, and the
    /// definitions of these conversion webhooks.
    pub fn webhooks(mut self, description: &OperatorDescription) -> Self {
        let has = |admission: AdmissionType| {
            description.admission_webhooks.iter().any(|webhook| webhook.admission == admission)
        };
        self.targets = TargetNames {
            mutating: has(AdmissionType::Mutating).then(|| self.names.mutating()),
            validating: has(AdmissionType::Validating).then(|| self.names.validating()),
            definitions: description
                .conversion_webhooks
                .iter()
                .map(|webhook| format!("{}.{}", webhook.plural, webhook.group))
                .collect(),
        };
        self
    }

    /// Sets the lifetime of certificates; 90 days by default. They are renewed after two thirds of it.
    pub fn certificate_lifetime(mut self, lifetime: Duration) -> Self {
        self.policy.leaf_lifetime = lifetime;
        self
    }

    /// Sets the lifetime of authorities; 10 years by default. A new one is introduced after two thirds of it.
    pub fn authority_lifetime(mut self, lifetime: Duration) -> Self {
        self.policy.authority_lifetime = lifetime;
        self
    }

    /// Sets how long all objects must contain a new authority before it signs; 30 s by default. The API server reads
    /// changed objects by a watch.
    pub fn publication_delay(mut self, delay: Duration) -> Self {
        self.policy.publication_delay = delay;
        self
    }

    /// Sets how long a former authority is trusted at most; 1 day by default. Replicas read the Secret by a watch.
    pub fn retention(mut self, retention: Duration) -> Self {
        self.policy.retention = retention;
        self
    }

    /// Sets the interval in which the leader compares the CA bundles of the objects; 10 s by default, 1 s at a URL, at
    /// least 10 ms.
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = interval.max(Duration::from_millis(10));
        self
    }

    /// Sets where the metrics are collected; nowhere by default.
    pub fn metrics(mut self, metrics: Metrics) -> Self {
        self.metrics = metrics;
        self
    }

    /// Validates the options.
    pub(super) fn check(&self) -> Result<(), SelfManagedError> {
        let Policy { leaf_lifetime, authority_lifetime, .. } = self.policy;
        let at_least = |what, value: Duration, minimum: Duration| match value < minimum {
            true => Err(SelfManagedError::TooShort { what, value, minimum }),
            false => Ok(()),
        };
        at_least("the lifetime of certificates", leaf_lifetime, MIN_LIFETIME)?;
        at_least("the lifetime of authorities", authority_lifetime, leaf_lifetime)
    }

    /// Returns the field manager of the Secret and of the CA bundles.
    pub(super) fn field_manager(&self) -> String {
        format!("{}-certificates", self.names.prefix())
    }

    /// Returns the namespace and the name of the Secret, for messages.
    pub(super) fn secret_name(&self) -> String {
        match &self.location {
            Location::Service { namespace, .. } => format!("{namespace}/{}", self.names.secret()),
            Location::Url(_) => "in memory".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::description::{AdmissionWebhookDescription, ConversionWebhookDescription, KindDescription};

    use super::*;

    fn names() -> WebhookNames {
        WebhookNames::new("widget-operator")
    }

    #[test]
    fn the_certificate_has_the_names_of_the_service() {
        let config = SelfManagedConfig::for_service("widgets", names());
        let service = "widget-operator-webhook-service.widgets.svc";
        assert_eq!(config.host_names, [service.to_owned(), format!("{service}.cluster.local")]);
        assert_eq!(config.secret_name(), "widgets/widget-operator-webhook-server-cert");
    }

    #[test]
    fn the_certificate_has_the_host_of_a_url() {
        for (url, host) in [
            ("https://127.0.0.1:9443", "127.0.0.1"),
            ("https://[::1]:9443/", "::1"),
            ("https://host.docker.internal:9443", "host.docker.internal"),
        ] {
            assert_eq!(SelfManagedConfig::for_url(url, names()).unwrap().host_names, [host], "{url}");
        }
        for url in ["http://127.0.0.1:9443", "127.0.0.1", "https://a/b", "https://a?b", ""] {
            let error = SelfManagedConfig::for_url(url, names()).unwrap_err().to_string();
            assert!(error.contains("expected `https://`"), "{url}: {error}");
        }
    }

    #[test]
    fn objects_with_a_bundle_are_those_of_the_webhooks() {
        let kind = KindDescription {
            group: "example.org".to_owned(),
            version: "v1".to_owned(),
            kind: "Widget".to_owned(),
            plural: "widgets".to_owned(),
            namespaced: true,
        };
        let description = OperatorDescription {
            admission_webhooks: vec![AdmissionWebhookDescription::new(AdmissionType::Validating, kind)],
            conversion_webhooks: vec![ConversionWebhookDescription::new("example.org", "Widget", "widgets")],
            ..OperatorDescription::default()
        };
        let targets = SelfManagedConfig::for_service("widgets", names()).webhooks(&description).targets;
        assert_eq!(targets.mutating, None);
        assert_eq!(targets.validating.as_deref(), Some("widget-operator-validating-webhook-configuration"));
        assert_eq!(targets.definitions, ["widgets.example.org"]);
    }

    #[test]
    fn short_lifetimes_are_errors() {
        let config = SelfManagedConfig::for_service("widgets", names());
        config.check().unwrap();
        let short = config.clone().certificate_lifetime(Duration::from_secs(1)).check().unwrap_err().to_string();
        assert_eq!(short, "the lifetime of certificates of 1s is too short: expected at least 6s");
        assert!(config.authority_lifetime(DAY).check().is_err());
    }
}
