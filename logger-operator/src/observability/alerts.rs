//! The alerts, as a PrometheusRule.

use std::collections::BTreeMap;

use logger_agent::interface::metric;
use serde::Serialize;

use super::by_logger;
use crate::metrics::{AGENTS_DESIRED, AGENTS_READY, INTERVAL};

/// The page that describes what to do about each alert, in a section with its name.
const RUNBOOK: &str = "docs/example/runbook.md";

/// A PrometheusRule of the Prometheus operator.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PrometheusRule {
    /// The API version.
    pub api_version: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The name of the object.
    pub metadata: RuleMetadata,
    /// The groups.
    pub spec: RuleSpec,
}

/// The metadata of a [`PrometheusRule`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleMetadata {
    /// The name of the object.
    pub name: &'static str,
    /// The labels of the object.
    pub labels: BTreeMap<&'static str, &'static str>,
}

/// The groups of rules. This is also the format of a file for Prometheus and promtool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleSpec {
    /// The groups, which are evaluated in parallel.
    pub groups: Vec<RuleGroup>,
}

/// Rules that are evaluated together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleGroup {
    /// The name of the group.
    pub name: &'static str,
    /// The alerts.
    pub rules: Vec<AlertingRule>,
}

/// An alert.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AlertingRule {
    /// The name of the alert.
    pub alert: &'static str,
    /// The expression, which has a result for each firing alert.
    pub expr: String,
    /// How long the expression must have a result.
    pub r#for: &'static str,
    /// The labels of the alert.
    pub labels: BTreeMap<&'static str, &'static str>,
    /// The texts for people.
    pub annotations: BTreeMap<&'static str, String>,
}

/// Returns the alerts of the operator and its agents.
#[must_use]
pub fn prometheus_rule() -> PrometheusRule {
    let labels = BTreeMap::from([("app.kubernetes.io/name", "logger-operator")]);
    let rules = vec![all_replicas_down(), no_recent_fsync(), single_replica()];
    PrometheusRule {
        api_version: "monitoring.coreos.com/v1",
        kind: "PrometheusRule",
        metadata: RuleMetadata { name: "logger-operator", labels },
        spec: RuleSpec { groups: vec![RuleGroup { name: "logger", rules }] },
    }
}

fn all_replicas_down() -> AlertingRule {
    let (ready, desired) = (by_logger(AGENTS_READY.name), by_logger(AGENTS_DESIRED.name));
    let expr = format!("{ready} == 0 and {desired} > 0");
    let summary = "No agent of the Logger {{ $labels.logger_namespace }}/{{ $labels.logger }} is ready: nothing is \
                   recorded.";
    rule("LoggerAllReplicasDown", expr, "1m", "critical", summary)
}

/// An agent has no label with the name of its Logger, so that the limit is that of the slowest Logger of its namespace.
fn no_recent_fsync() -> AlertingRule {
    let interval = format!(r#"label_replace({}, "namespace", "$1", "logger_namespace", "(.+)")"#, INTERVAL.name);
    let limit = format!("2 * max by (namespace) ({interval}) + 60");
    let expr = format!("time() - {} > on (namespace) group_left () ({limit})", metric::LAST_FSYNC);
    let summary = "The agent {{ $labels.namespace }}/{{ $labels.pod }} has not persisted records for {{ $value | \
                   humanizeDuration }}.";
    rule("LoggerNoRecentFsync", expr, "1m", "critical", summary)
}

fn single_replica() -> AlertingRule {
    let expr = format!("{} == 1", by_logger(AGENTS_READY.name));
    let summary = "One agent of the Logger {{ $labels.logger_namespace }}/{{ $labels.logger }} is ready: the failure \
                   of its node stops the log.";
    rule("LoggerSingleReplica", expr, "15m", "warning", summary)
}

fn rule(alert: &'static str, expr: String, r#for: &'static str, severity: &'static str, summary: &str) -> AlertingRule {
    let runbook = format!("{RUNBOOK}#{}", alert.to_lowercase());
    let annotations = BTreeMap::from([("runbook", runbook), ("summary", summary.to_owned())]);
    AlertingRule { alert, expr, r#for, labels: BTreeMap::from([("severity", severity)]), annotations }
}
