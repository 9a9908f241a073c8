//! A graceful stop.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use crate::process::{Agent, records};

/// How long the first heartbeat can take on a busy host.
const TIMEOUT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(10);

#[test]
fn sigterm_makes_all_records_durable_and_exits_with_0() {
    let directory = tempfile::tempdir().unwrap();
    let agent = Agent::start(directory.path(), &["--interval", "1h", "--acknowledgement-delay", "10ms"]);
    let mut client = agent.client().unwrap();
    assert_eq!(client.post("/activity", "", "{\"number\":1}").unwrap(), 200);
    assert_eq!(client.post("/activity", "Prefer: respond-async\r\n", "{\"number\":2}").unwrap(), 202);
    assert!(agent.terminate().success());
    let records = records(directory.path());
    let bodies: Vec<_> = records.values().map(|record| record.body.get()).collect();
    assert!(bodies.contains(&"{\"number\":1}") && bodies.contains(&"{\"number\":2}"), "{bodies:?}");
}

#[test]
fn the_agent_becomes_ready_by_its_first_heartbeat() {
    let directory = tempfile::tempdir().unwrap();
    let agent = Agent::start(directory.path(), &["--interval", "1h", "--acknowledgement-delay", "1ms"]);
    let mut client = agent.client().unwrap();
    let started = Instant::now();
    let mut response = client.send("GET", "/readyz", "", "").unwrap();
    while response.0 != 200 && started.elapsed() < TIMEOUT {
        sleep(POLL);
        response = client.send("GET", "/readyz", "", "").unwrap();
    }
    assert_eq!(response, (200, "ok".to_owned()));
    assert!(agent.terminate().success());
    assert!(records(directory.path()).values().any(|record| record.body.get().contains("\"interval\":3600.0")));
}
