//! The options of the operator, as flags and environment variables.

use clap::{Args, builder::NonEmptyStringValueParser};

use crate::children::AgentOptions;

/// The namespace of the default Logger if the operator watches all namespaces.
const DEFAULT_NAMESPACE: &str = "default";

/// How long an agent stays on a node that does not respond. The default of Kubernetes is 300 s.
const TOLERATION_SECONDS: u32 = 30;

/// Options of the operator, beside those of its process.
#[derive(Args, Clone, Debug)]
pub struct OperatorOptions {
    /// The image of agents.
    #[arg(long, env, value_name = "IMAGE", value_parser = NonEmptyStringValueParser::new())]
    pub agent_image: String,
    /// How long an agent stays on a node that does not respond, in seconds.
    #[arg(long, env, value_name = "SECONDS", default_value_t = TOLERATION_SECONDS)]
    pub agent_toleration_seconds: u32,
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
            max_concurrent_reconciles: 4,
            ensure_default_logger: false,
            default_logger_namespace: None,
        }
    }

    /// Returns the namespace of the default Logger of an operator that watches these namespaces.
    pub(crate) fn default_namespace(&self, watched: &[String]) -> String {
        let first = || watched.first().cloned();
        self.default_logger_namespace.clone().or_else(first).unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned())
    }

    pub(crate) fn agent(&self, operator_namespace: &str) -> AgentOptions {
        AgentOptions {
            image: self.agent_image.clone(),
            toleration_seconds: self.agent_toleration_seconds,
            operator_namespace: operator_namespace.to_owned(),
        }
    }
}
