//! The Grafana dashboard, generated from the names of the metrics.

use logger_agent::interface::metric;
use serde::Serialize;

use super::by_logger;
use crate::metrics::{AGENTS_DESIRED, AGENTS_READY, INTERVAL};

const WIDTH: u32 = 12;
const HEIGHT: u32 = 8;
/// The number of panels in a row: the grid of Grafana has 24 columns.
const COLUMNS: u32 = 2;

/// A Grafana dashboard.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dashboard {
    /// The identifier of the dashboard.
    pub uid: &'static str,
    /// The title.
    pub title: &'static str,
    /// The version of the format.
    pub schema_version: u32,
    /// The tags.
    pub tags: Vec<&'static str>,
    /// The panels.
    pub panels: Vec<Panel>,
}

/// A panel with a graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Panel {
    /// The number of the panel, from 1.
    pub id: u32,
    /// The type of the panel.
    pub r#type: &'static str,
    /// The title.
    pub title: &'static str,
    /// The position.
    pub grid_pos: GridPosition,
    /// The queries.
    pub targets: Vec<Target>,
}

/// The position of a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GridPosition {
    /// The height.
    pub h: u32,
    /// The width.
    pub w: u32,
    /// The column.
    pub x: u32,
    /// The row.
    pub y: u32,
}

/// A query.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// The letter of the query.
    pub ref_id: &'static str,
    /// The expression.
    pub expr: String,
    /// The name of a time series.
    pub legend_format: &'static str,
}

/// How a metric is queried.
#[derive(Clone, Copy)]
enum Query {
    /// A gauge of the operator, for each Logger.
    OfLogger,
    /// The rate of a counter of agents.
    Rate,
    /// The 99th percentile of a histogram of agents.
    Percentile,
    /// The time since a Unix time that agents report.
    Age,
    /// The rate of a counter of the controller.
    OfController,
}

/// The panels: the title, the metric and its query.
const PANELS: [(&str, &str, Query); 11] = [
    ("Ready agents", AGENTS_READY.name, Query::OfLogger),
    ("Desired agents", AGENTS_DESIRED.name, Query::OfLogger),
    ("Records per second", metric::RECORDS, Query::Rate),
    ("Bytes per second", metric::BYTES, Query::Rate),
    ("Dropped records per second", metric::DROPPED, Query::Rate),
    ("Time since the last fsync", metric::LAST_FSYNC, Query::Age),
    ("Duration of fsync, 99th percentile", metric::FSYNC, Query::Percentile),
    ("Interval", INTERVAL.name, Query::OfLogger),
    ("Reconciliations per second", "controller_runtime_reconcile_total", Query::OfController),
    ("Reconciliation errors per second", "controller_runtime_reconcile_errors_total", Query::OfController),
    ("Events that failed per second", "event_recorder_failed_total", Query::OfController),
];

/// Returns the dashboard of the operator and its agents.
#[must_use]
pub fn dashboard() -> Dashboard {
    let panels = (0..).zip(PANELS).map(|(index, (title, metric, query))| panel(index, title, metric, query)).collect();
    Dashboard {
        uid: "logger-operator",
        title: "Loggers",
        schema_version: 39,
        tags: vec!["kubernetes", "logger"],
        panels,
    }
}

fn panel(index: u32, title: &'static str, metric: &str, query: Query) -> Panel {
    let (x, y) = (index % COLUMNS * WIDTH, index / COLUMNS * HEIGHT);
    let (expr, legend_format) = expression(metric, query);
    let targets = vec![Target { ref_id: "A", expr, legend_format }];
    Panel { id: index + 1, r#type: "timeseries", title, grid_pos: GridPosition { h: HEIGHT, w: WIDTH, x, y }, targets }
}

fn expression(metric: &str, query: Query) -> (String, &'static str) {
    match query {
        Query::OfLogger => (by_logger(metric), "{{logger_namespace}}/{{logger}}"),
        Query::Rate => (format!("sum by (namespace, pod) (rate({metric}[5m]))"), "{{namespace}}/{{pod}}"),
        Query::Percentile => {
            let rates = format!("sum by (namespace, pod, le) (rate({metric}_bucket[5m]))");
            (format!("histogram_quantile(0.99, {rates})"), "{{namespace}}/{{pod}}")
        }
        Query::Age => (format!("time() - {metric}"), "{{namespace}}/{{pod}}"),
        Query::OfController => {
            (format!(r#"sum by (pod) (rate({metric}{{controller="logger-operator"}}[5m]))"#), "{{pod}}")
        }
    }
}
