//! A graceful stop.

use crate::process::{Agent, records};

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
    // This record is durable with the heartbeat before it, or after it.
    assert_eq!(client.post("/activity", "", "{}").unwrap(), 200);
    let (code, text) = client.send("GET", "/readyz", "", "").unwrap();
    assert_eq!((code, text.as_str()), (200, "ok"));
    assert!(agent.terminate().success());
    assert!(records(directory.path()).values().any(|record| record.body.get().contains("\"interval\":3600.0")));
}
