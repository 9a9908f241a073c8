//! The operator's story, told on the API server in its process.

use std::process::Command;

/// What it says, in this order.
const STORY: &[&str] = &[
    "widgets.widgets.example.dev is served",
    "visits.widgets.example.dev is served",
    "ConfigMap default/greeting says hello",
    "ConfigMap default/greeting says HELLO!",
    "somebody else writes into its ConfigMap",
    "ConfigMap default/greeting says HELLO!",
    r#"WidgetStatus { config_map: "greeting", shows: "HELLO!" }"#,
    r#"the ConfigMap holds {"note": "mine", "text": "HELLO!"}"#,
    "its ConfigMap is gone",
];

#[test]
fn the_operator_keeps_a_config_map_for_a_widget() {
    let told = Command::new(env!("CARGO_BIN_EXE_widget-operator")).output().unwrap();
    let (said, complaints) = (String::from_utf8(told.stdout).unwrap(), String::from_utf8(told.stderr).unwrap());
    assert!(told.status.success(), "{said}{complaints}");
    let mut lines = said.lines();
    for expected in STORY {
        assert!(lines.any(|line| line.ends_with(expected)), "{expected}: {said}");
    }
}
