//! Alerts and the dashboard.

use std::{collections::BTreeSet, fs, path::PathBuf};

use logger_agent::metrics::Metrics;
use logger_operator::{
    metrics::INTERVAL,
    observability::{AlertingRule, dashboard, prometheus_rule},
};
use serde_json::Value;

use crate::fixture::{Cluster, logger};

fn root() -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("..")
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn is_recording() -> bool {
    std::env::var("GOLDEN").is_ok_and(|value| value == "record")
}

#[test]
fn the_rule_in_config_is_up_to_date() {
    let (file, rule) = ("config/prometheus/rule.yaml", prometheus_rule());
    if is_recording() {
        fs::write(root().join(file), serde_saphyr::to_string(&rule).unwrap()).unwrap();
    }
    let expected: Value = serde_saphyr::from_str(&read(file)).unwrap();
    assert_eq!(serde_json::to_value(rule).unwrap(), expected);
}

#[test]
fn the_dashboard_in_config_is_up_to_date() {
    let (file, dashboard) = ("config/grafana/loggers.json", dashboard());
    if is_recording() {
        fs::write(root().join(file), format!("{}\n", serde_json::to_string_pretty(&dashboard).unwrap())).unwrap();
    }
    let expected: Value = serde_json::from_str(&read(file)).unwrap();
    assert_eq!(serde_json::to_value(dashboard).unwrap(), expected);
}

#[test]
fn the_runbook_describes_every_alert() {
    let page = read("docs/example/runbook.md");
    let headings: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    for group in prometheus_rule().spec.groups {
        for rule in group.rules {
            assert!(headings.contains(&rule.alert), "{}", rule.alert);
            let expected = format!("docs/example/runbook.md#{}", rule.alert.to_lowercase());
            assert_eq!(rule.annotations["runbook"], expected);
        }
    }
}

#[test]
fn panels_of_the_dashboard_do_not_overlap() {
    let panels = dashboard().panels;
    for (index, panel) in panels.iter().enumerate() {
        for other in &panels[index + 1..] {
            let (a, b) = (panel.grid_pos, other.grid_pos);
            let is_beside = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
            assert!(is_beside, "{panel:?} and {other:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn alerts_and_panels_query_exposed_metrics() {
    let exposed = exposed().await;
    let alerts = rules().into_iter().map(|rule| rule.expr);
    let panels = dashboard().panels.into_iter().flat_map(|panel| panel.targets).map(|target| target.expr);
    for expression in alerts.chain(panels) {
        let metrics = queried(&expression);
        assert!(!metrics.is_empty(), "{expression}");
        for metric in metrics {
            assert!(exposed.contains(&metric), "{metric} in {expression} is none of {exposed:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_unit_tests_of_alerts_have_series_of_exposed_metrics() {
    let exposed = exposed().await;
    for test in unit_tests() {
        for series in test["input_series"].as_array().unwrap() {
            let series = series["series"].as_str().unwrap();
            let (metric, _) = series.split_once('{').unwrap();
            assert!(exposed.contains(metric), "{metric} is none of {exposed:?}");
        }
    }
}

#[test]
fn the_unit_tests_cover_every_alert_firing_and_not() {
    let tests = unit_tests();
    for rule in rules() {
        let cases = || tests.iter().flat_map(|test| test["alert_rule_test"].as_array().unwrap());
        let of_rule = || cases().filter(|case| case["alertname"] == rule.alert);
        assert!(of_rule().any(|case| case["exp_alerts"].is_array()), "{} never fires", rule.alert);
        assert!(of_rule().any(|case| case["exp_alerts"].is_null()), "{} always fires", rule.alert);
    }
}

#[test]
fn metrics_are_found_in_expressions() {
    let expression = r#"max by (a, le) (rate(b{c="d"}[5m])) > on (e) group_left () (2 * f and time() - g_1)"#;
    assert_eq!(queried(expression), ["b", "f", "g_1"].map(str::to_owned));
}

fn rules() -> Vec<AlertingRule> {
    prometheus_rule().spec.groups.into_iter().flat_map(|group| group.rules).collect()
}

fn unit_tests() -> Vec<Value> {
    let file: Value = serde_saphyr::from_str(include_str!("../promtool/alerts.yaml")).unwrap();
    file["tests"].as_array().unwrap().clone()
}

/// Returns the names of all time series of an agent, and of an operator with a Logger.
async fn exposed() -> BTreeSet<String> {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    cluster.create(&logger("audit")).await;
    cluster.settle().await;
    assert!(operator.metric(INTERVAL.name, &[]).is_some(), "the Logger is reconciled");
    let text = operator.metrics() + &Metrics::new().text();
    operator.stop().await;
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples.filter_map(|line| line.split(['{', ' ']).next()).map(str::to_owned).collect()
}

/// Returns the metrics of an expression: the names that are no functions, keywords, labels or parts of strings.
fn queried(expression: &str) -> Vec<String> {
    const KEYWORDS: [&str; 3] = ["and", "or", "unless"];
    const WITH_LABELS: [&str; 6] = ["by", "without", "on", "ignoring", "group_left", "group_right"];
    let (mut metrics, mut rest) = (Vec::new(), expression);
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || "_\"{[".contains(c)) {
        let found = &rest[start..];
        let closing = match &found[..1] {
            "\"" => Some('"'),
            "{" => Some('}'),
            "[" => Some(']'),
            _ => None,
        };
        if let Some(closing) = closing {
            let (_, after) = found[1..].split_once(closing).expect("the expression is complete");
            rest = after;
            continue;
        }
        let end = found.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != ':').unwrap_or(found.len());
        let (name, after) = found.split_at(end);
        rest = after;
        // The labels of an aggregation can precede its argument.
        let is_aggregation =
            ["by", "without"].iter().any(|clause| after.trim_start().starts_with(&format!("{clause} (")));
        let arguments = after.trim_start().strip_prefix('(');
        match arguments.map(|arguments| arguments.split_once(')').expect("the expression is complete")) {
            Some((_, after)) if WITH_LABELS.contains(&name) => rest = after,
            Some(_) => {}
            None if is_aggregation || KEYWORDS.contains(&name) => {}
            None => metrics.push(name.to_owned()),
        }
    }
    metrics
}
