//! The scenario of the operator on the API server in its process.

use std::process::Command;

/// Lines of the controller, in no fixed order relative to the scenario.
const OPERATOR: &[&str] = &["ConfigMap default/greeting contains hello", "ConfigMap default/greeting contains HELLO!"];

/// Lines of the scenario, in this order.
const SCENARIO: &[&str] = &[
    "widgets.widgets.example.dev is served",
    "visits.widgets.example.dev is served",
    "another client changes the ConfigMap",
    r#"WidgetStatus { config_map: "greeting", shows: "HELLO!" }"#,
    r#"the ConfigMap contains {"note": "mine", "text": "HELLO!"}"#,
    "its ConfigMap is deleted",
];

#[test]
fn the_operator_reconciles_a_config_map_for_a_widget() {
    let output = Command::new(env!("CARGO_BIN_EXE_widget-operator")).output().unwrap();
    let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{stdout}{stderr}");
    for expected in OPERATOR {
        assert!(stdout.contains(expected), "{expected}: {stdout}");
    }
    let mut lines = stdout.lines();
    for expected in SCENARIO {
        assert!(lines.any(|line| line.ends_with(expected)), "{expected}: {stdout}");
    }
}
