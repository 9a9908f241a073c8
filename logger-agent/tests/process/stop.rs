//! A graceful stop.

use std::{
    collections::HashSet,
    path::Path,
    thread::sleep,
    time::{Duration, Instant},
};

use logger_agent::Source;

use crate::process::{Agent, output, records};

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

#[test]
fn audit_events_and_other_records_have_separate_files() {
    let directory = tempfile::tempdir().unwrap();
    let agent = Agent::start(directory.path(), &["--acknowledgement-delay", "1ms"]);
    let mut client = agent.client().unwrap();
    let list = r#"{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[{"auditID":"7","stage":"Panic"}]}"#;
    for (path, body) in [("/audit", list), ("/activity", "{}")] {
        assert_eq!(client.post(path, "", body).unwrap(), 200);
    }
    assert!(agent.terminate().success());
    let sources = |path: &Path| records(path).into_values().map(|record| record.source).collect::<HashSet<_>>();
    assert_eq!(sources(&directory.path().join("audit")), [Source::Audit].into());
    assert_eq!(sources(directory.path()), [Source::Activity, Source::Heartbeat].into());
    let verified = output(&["verify", directory.path().to_str().unwrap()]);
    let text = String::from_utf8(verified.stdout).unwrap();
    assert!(text.contains("access_0: ") && text.contains("audit/access_0: 1 records"), "{text}");
    assert!(verified.status.success());
}
