//! The resident memory of the program.

use super::program::{Program, send};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// The bound of the history in bytes.
const HISTORY: usize = 32 << 20;
/// More updates than the history has events. Without a bound in bytes, those of 1 MB would need 200 MB.
const UPDATES: usize = 120;

fn create(program: &Program, name: &str) {
    let body = format!(r#"{{"metadata":{{"name":"{name}"}}}}"#);
    assert_eq!(program.post(CONFIG_MAPS, body.as_bytes()).code, 201);
}

/// Writes a text of this length in each update. Returns the growth of the memory since `before`.
fn update(program: &Program, name: &str, length: usize, before: usize) -> usize {
    let padding = "x".repeat(length);
    for round in 0..UPDATES {
        let body = format!(r#"{{"data":{{"round":"{round}","text":"{padding}"}}}}"#);
        let headers = "Content-Type: application/merge-patch+json\r\n";
        let path = format!("{CONFIG_MAPS}/{name}");
        assert_eq!(send(program.address(), "PATCH", &path, headers, body.as_bytes()).unwrap().code, 200);
    }
    program.resident_memory().saturating_sub(before)
}

#[test]
fn the_memory_of_the_history_is_bounded_and_given_back() {
    let bytes = HISTORY.to_string();
    let program = Program::start_with_two_threads(&["--history", "100", "--history-bytes", &bytes]);
    let before = program.resident_memory();
    create(&program, "large");
    let first = update(&program, "large", 1_000_000, before);
    assert!(first < 7 * HISTORY / 2, "{} MiB", first >> 20);
    create(&program, "small");
    let discarded = update(&program, "small", 10, before);
    assert!(discarded + HISTORY / 4 < first, "{} MiB with the history, {} MiB without", first >> 20, discarded >> 20);
    let again = update(&program, "large", 1_000_000, before);
    assert!(again < 7 * HISTORY / 2, "{} MiB after {} MiB", again >> 20, first >> 20);
}
