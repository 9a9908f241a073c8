//! The memory of the process.

use std::{fs, thread};

use crate::process::Agent;

/// The limit of the memory of a Pod, less a reserve for connections.
const MAX_MEMORY_KIB: u64 = 96 << 10;

#[test]
#[cfg(target_os = "linux")]
fn many_small_items_do_not_exhaust_the_memory() {
    let directory = tempfile::tempdir().unwrap();
    let agent = Agent::start(directory.path(), &["--bytes-per-second", "1Gi"]);
    let list = |item: &str, count: usize| {
        let items = vec![item; count].join(",");
        format!(r#"{{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[{items}]}}"#)
    };
    let event = format!("{{\"a\":\"{}\"}}", "x".repeat(500));
    for (item, count, expected) in [("0", 5_200_000, 400), ("{}", 3_400_000, 400), (event.as_str(), 20_000, 200)] {
        let body = list(item, count);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    // Two incomplete bodies can exceed the share of an address. Their connections are closed.
                    if let Ok(code) = agent.client().unwrap().post("/audit", "", &body) {
                        assert!(code == expected || code == 503, "{code} instead of {expected}");
                    }
                });
            }
        });
    }
    let status = fs::read_to_string(format!("/proc/{}/status", agent.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kib < MAX_MEMORY_KIB, "{kib} KiB");
    assert!(agent.terminate().success());
}
