//! Alerts and the dashboard.

use std::{fs, path::PathBuf};

use logger_operator::observability::{dashboard, prometheus_rule};
use serde_json::Value;

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
    let page = read("docs/guides/runbook.md");
    let headings: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    for group in prometheus_rule().spec.groups {
        for rule in group.rules {
            assert!(headings.contains(&rule.alert), "{}", rule.alert);
            let expected = format!("docs/guides/runbook.md#{}", rule.alert.to_lowercase());
            assert_eq!(rule.annotations["runbook"], expected);
        }
    }
}

#[test]
fn panels_of_the_dashboard_do_not_overlap() {
    let panels = dashboard().panels;
    for (index, one) in panels.iter().enumerate() {
        for other in &panels[index + 1..] {
            let (a, b) = (one.grid_pos, other.grid_pos);
            let is_beside = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
            assert!(is_beside, "{one:?} and {other:?}");
        }
    }
}
