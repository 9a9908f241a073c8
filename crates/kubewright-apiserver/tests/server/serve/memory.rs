//! The resident memory of the program.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::program::{Program, send};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// The bound of the history in bytes.
const HISTORY: usize = 32 << 20;
/// More updates than the history has events. Without a bound in bytes, those of 1 MB would need 200 MB.
const UPDATES: usize = 120;
/// The allocator gives free memory back after ten seconds.
const GIVEN_BACK: Duration = Duration::from_secs(60);

fn create(program: &Program, name: &str) {
    let body = format!(r#"{{"metadata":{{"name":"{name}"}}}}"#);
    assert_eq!(program.post(CONFIG_MAPS, body.as_bytes()).code, 201);
}

/// Writes a text of this length in each update.
fn update(program: &Program, name: &str, length: usize) {
    let padding = "x".repeat(length);
    for round in 0..UPDATES {
        let body = format!(r#"{{"data":{{"round":"{round}","text":"{padding}"}}}}"#);
        let headers = "Content-Type: application/merge-patch+json\r\n";
        let path = format!("{CONFIG_MAPS}/{name}");
        assert_eq!(send(program.address(), "PATCH", &path, headers, body.as_bytes()).unwrap().code, 200);
    }
}

#[test]
fn the_memory_of_the_history_is_bounded_and_given_back() {
    let bytes = HISTORY.to_string();
    let program = Program::start_with_two_threads(&["--history", "100", "--history-bytes", &bytes]);
    let before = program.resident_memory();
    let growth = || program.resident_memory().saturating_sub(before);
    create(&program, "large");
    update(&program, "large", 1_000_000);
    let first = growth();
    assert!((HISTORY..7 * HISTORY / 2).contains(&first), "{} MiB", first >> 20);
    create(&program, "small");
    update(&program, "small", 10);
    let start = Instant::now();
    while growth() > HISTORY / 2 {
        assert!(start.elapsed() < GIVEN_BACK, "{} MiB with the history, {} MiB without", first >> 20, growth() >> 20);
        thread::sleep(Duration::from_millis(100));
    }
    update(&program, "large", 1_000_000);
    let again = growth();
    assert!(again < 7 * HISTORY / 2, "{} MiB after {} MiB", again >> 20, first >> 20);
}
