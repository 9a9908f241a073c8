//! The operator's story, told on the API server in its process.

use std::process::Command;

/// What the controller says, beside the story: nobody waits for it to have said so.
const OPERATOR: &[&str] = &["ConfigMap default/greeting says hello", "ConfigMap default/greeting says HELLO!"];

/// What the story says, in this order.
const STORY: &[&str] = &[
    "widgets.widgets.example.dev is served",
    "visits.widgets.example.dev is served",
    "somebody else writes into its ConfigMap",
    r#"WidgetStatus { config_map: "greeting", shows: "HELLO!" }"#,
    r#"the ConfigMap holds {"note": "mine", "text": "HELLO!"}"#,
    "its ConfigMap is gone",
];

#[test]
fn the_operator_keeps_a_config_map_for_a_widget() {
    let told = Command::new(env!("CARGO_BIN_EXE_widget-operator")).output().unwrap();
    let (said, complaints) = (String::from_utf8(told.stdout).unwrap(), String::from_utf8(told.stderr).unwrap());
    assert!(told.status.success(), "{said}{complaints}");
    for expected in OPERATOR {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let mut lines = said.lines();
    for expected in STORY {
        assert!(lines.any(|line| line.ends_with(expected)), "{expected}: {said}");
    }
}
