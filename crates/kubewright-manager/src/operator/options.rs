//! The options of the process of an operator, as flags and environment variables.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::Args;
use k8s_openapi::jiff::SignedDuration;

use crate::telemetry::LogFormat;

/// No options besides those of the process.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct NoOptions {}

/// The options of the process of an operator. Each is a flag, and an environment variable of the same name in upper
/// case, such as `LEADER_ELECT` for `--leader-elect`. Durations are numbers with units, such as `15s` or `2m`.
#[derive(Args, Clone, Debug)]
pub struct ProcessOptions {
    /// A namespace to watch; can be repeated. All namespaces by default.
    #[arg(long = "namespace", env = "WATCH_NAMESPACES", value_name = "NAMESPACE", value_delimiter = ',')]
    pub namespaces: Vec<String>,
    /// Runs the controllers in the leader only, so that several replicas can run.
    #[arg(long, env)]
    pub leader_elect: bool,
    /// How long other replicas wait before they replace a leader that does not renew its Lease.
    #[arg(long, env, value_name = "DURATION", default_value = "15s", value_parser = duration)]
    pub leader_elect_lease_duration: Duration,
    /// How long the leader retries to renew its Lease before it stops.
    #[arg(long, env, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    pub leader_elect_renew_deadline: Duration,
    /// The time between two attempts to acquire or renew the Lease.
    #[arg(long, env, value_name = "DURATION", default_value = "2s", value_parser = duration)]
    pub leader_elect_retry_period: Duration,
    /// How long the sync of informers can make no progress before the process ends.
    #[arg(long, env, value_name = "DURATION", default_value = "2m", value_parser = duration)]
    pub cache_sync_timeout: Duration,
    /// How long servers accept connections after a stop, while the process is not ready; `0s` for not at all.
    #[arg(long, env, value_name = "DURATION", default_value = "5s", value_parser = delay)]
    pub shutdown_delay: Duration,
    /// The address of the health checks.
    #[arg(long, env, value_name = "ADDRESS", default_value = "[::]:8081")]
    pub health_probe_bind_address: SocketAddr,
    /// The address of the metrics, which are served over HTTPS to clients that may get `/metrics`.
    #[arg(long, env, value_name = "ADDRESS", default_value = "[::]:8443")]
    pub metrics_bind_address: SocketAddr,
    /// The directory of `tls.crt` and `tls.key` of the metrics; by default their certificate is self-signed.
    #[arg(long, env, value_name = "DIR")]
    pub metrics_cert_path: Option<PathBuf>,
    /// The address of the webhooks, if there are any.
    #[arg(long, env, value_name = "ADDRESS", default_value = "[::]:9443")]
    pub webhook_bind_address: SocketAddr,
    /// The directory of `tls.crt` and `tls.key` of the webhooks; by default the operator issues their certificate.
    #[arg(long, env, value_name = "DIR")]
    pub webhook_cert_path: Option<PathBuf>,
    /// The file of the authorities whose certificates clients of admission webhooks must have; by default they need
    /// none. The API server must be configured with a certificate.
    #[arg(long, env, value_name = "FILE")]
    pub webhook_client_ca: Option<PathBuf>,
    /// The URL of the webhooks, such as `https://127.0.0.1:9443`, if the operator runs outside of the cluster.
    #[arg(long, env, value_name = "URL")]
    pub webhook_url: Option<String>,
    /// The prefix of the names of the objects of the webhooks; the name of the operator by default.
    #[arg(long, env, value_name = "PREFIX")]
    pub name_prefix: Option<String>,
    /// The format of the log: `text` or `json`. `RUST_LOG` filters it.
    #[arg(long, env, value_name = "FORMAT", default_value_t)]
    pub log_format: LogFormat,
}

impl ProcessOptions {
    /// Returns the watched namespaces; empty for all. An environment variable without a value contains none.
    pub(super) fn watched_namespaces(&self) -> Vec<String> {
        self.namespaces.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }
}

/// Parses a positive duration.
fn duration(text: &str) -> Result<Duration, String> {
    let positive = parse(text).filter(|duration| !duration.is_zero());
    positive.ok_or_else(|| "expected a positive duration with a unit, such as `15s` or `2m`".to_owned())
}

/// Parses a duration, which can be zero.
fn delay(text: &str) -> Result<Duration, String> {
    parse(text).ok_or_else(|| "expected a duration with a unit, such as `0s` or `5s`".to_owned())
}

fn parse(text: &str) -> Option<Duration> {
    text.parse::<SignedDuration>().ok().and_then(|duration| Duration::try_from(duration).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_and_are_positive() {
        assert_eq!(duration("15s"), Ok(Duration::from_secs(15)));
        assert_eq!(duration("1m30s"), Ok(Duration::from_secs(90)));
        for invalid in ["", "15", "0s", "-1s", "soon"] {
            assert!(duration(invalid).is_err(), "{invalid}");
        }
        assert_eq!(delay("0s"), Ok(Duration::ZERO));
        assert!(delay("-1s").is_err());
    }
}
