//! Options of the operator, as flags and environment variables.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, builder::NonEmptyStringValueParser};
use kubewright_manager::LogFormat;

use crate::{children::AgentOptions, names::CONTROLLER};

/// The namespace of the default Logger if the operator watches all namespaces.
const DEFAULT_NAMESPACE: &str = "default";

/// How long an agent stays on a node that does not respond. The default of Kubernetes is 300 s.
const TOLERATION_SECONDS: u32 = 30;

/// Options of the operator in any process.
#[derive(Args, Clone, Debug)]
pub struct OperatorOptions {
    /// The image of agents.
    #[arg(long, env, value_name = "IMAGE", value_parser = NonEmptyStringValueParser::new())]
    pub agent_image: String,
    /// How long an agent stays on a node that does not respond, in seconds.
    #[arg(long, env, value_name = "SECONDS", default_value_t = TOLERATION_SECONDS)]
    pub agent_toleration_seconds: u32,
    /// A namespace with Loggers; can be repeated. All namespaces by default.
    #[arg(long = "namespace", env = "WATCH_NAMESPACES", value_name = "NAMESPACE", value_delimiter = ',')]
    pub namespaces: Vec<String>,
    /// The maximum number of Loggers that are reconciled concurrently.
    #[arg(long, env, value_name = "COUNT", default_value_t = 4)]
    pub max_concurrent_reconciles: usize,
    /// Keeps one Logger in existence: creates the Logger `default` when the last one is deleted.
    #[arg(long, env)]
    pub ensure_default_logger: bool,
    /// The namespace of the default Logger; by default the first of `--namespace`, or `default`.
    #[arg(long, env, value_name = "NAMESPACE")]
    pub default_logger_namespace: Option<String>,
}

impl OperatorOptions {
    /// Creates the options with this image of agents and the defaults.
    #[must_use]
    pub fn new(agent_image: impl Into<String>) -> Self {
        OperatorOptions {
            agent_image: agent_image.into(),
            agent_toleration_seconds: TOLERATION_SECONDS,
            namespaces: Vec::new(),
            max_concurrent_reconciles: 4,
            ensure_default_logger: false,
            default_logger_namespace: None,
        }
    }

    /// Returns the watched namespaces; empty for all. An environment variable without a value contains none.
    pub(crate) fn watched_namespaces(&self) -> Vec<String> {
        self.namespaces.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    /// Returns the namespace of the default Logger.
    pub(crate) fn default_namespace(&self) -> String {
        let first = || self.watched_namespaces().into_iter().next();
        self.default_logger_namespace.clone().or_else(first).unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned())
    }

    pub(crate) fn agent(&self) -> AgentOptions {
        AgentOptions { image: self.agent_image.clone(), toleration_seconds: self.agent_toleration_seconds }
    }
}

/// Options of the process of the operator.
#[derive(Args, Clone, Debug)]
pub struct ProcessOptions {
    /// Runs the controller in the leader only, so that several replicas can run.
    #[arg(long, env)]
    pub leader_elect: bool,
    /// The address of the health checks.
    #[arg(long, env, value_name = "ADDRESS", default_value = "0.0.0.0:8081")]
    pub health_probe_bind_address: SocketAddr,
    /// The address of the metrics, which are served over HTTPS to clients that may get `/metrics`.
    #[arg(long, env, value_name = "ADDRESS", default_value = "0.0.0.0:8443")]
    pub metrics_bind_address: SocketAddr,
    /// The directory of `tls.crt` and `tls.key` of the metrics; by default a self-signed certificate.
    #[arg(long, env, value_name = "DIR")]
    pub metrics_cert_path: Option<PathBuf>,
    /// The address of the conversion of Loggers, which the API server calls.
    #[arg(long, env, value_name = "ADDRESS", default_value = "0.0.0.0:9443")]
    pub webhook_bind_address: SocketAddr,
    /// The directory of `tls.crt` and `tls.key` of the conversion; by default the operator issues its certificate.
    #[arg(long, env, value_name = "DIR")]
    pub webhook_cert_path: Option<PathBuf>,
    /// The URL of the conversion, such as `https://127.0.0.1:9443`, if the operator runs outside of the cluster.
    #[arg(long, env, value_name = "URL")]
    pub webhook_url: Option<String>,
    /// The prefix of the names of the objects of the conversion.
    #[arg(long, env, value_name = "PREFIX", default_value = CONTROLLER)]
    pub name_prefix: String,
    /// The format of the log: `text` or `json`.
    #[arg(long, env, value_name = "FORMAT", default_value_t)]
    pub log_format: LogFormat,
}
