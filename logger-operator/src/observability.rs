//! What a monitoring system needs: alerts and a dashboard, as typed data that is rendered to YAML and JSON.

mod alerts;
mod dashboard;

pub use alerts::{AlertingRule, PrometheusRule, RuleGroup, RuleMetadata, RuleSpec, prometheus_rule};
pub use dashboard::{Dashboard, GridPosition, Panel, Target, dashboard};

/// Returns the value of a metric for each Logger. The replicas of an operator report the same series, and only those of
/// the leader are current.
fn by_logger(metric: &str) -> String {
    format!("max by (logger_namespace, logger) ({metric})")
}
