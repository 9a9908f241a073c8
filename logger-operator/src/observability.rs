//! What a monitoring system needs: alerts and a dashboard, as typed data that is rendered to YAML and JSON.

mod alerts;
mod dashboard;

pub use alerts::{AlertingRule, PrometheusRule, RuleGroup, RuleMetadata, RuleSpec, prometheus_rule};
pub use dashboard::{Dashboard, GridPosition, Panel, Target, dashboard};
