//! Leader election by three processes on the real server, of which one is paused and one is killed.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use envtest::ControlPlane;
use libtest_mimic::{Failed, Trial};
use tests::process::{Exit, Process, TIMEOUT};

use super::{Suite, trial};

const NAMESPACE: &str = "election-processes";
/// The name of the file in which leaders write their identity.
const LEADERS: &str = "leaders";

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    vec![trial(suite, "election::a_paused_and_a_killed_leader_are_replaced", paused_and_killed)]
}

fn start(control_plane: &ControlPlane, identity: &str, directory: &Path) -> Result<Process, Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_elector"));
    command.arg(control_plane.kubeconfig()).args([NAMESPACE, identity]).arg(directory.join(LEADERS));
    Ok(Process::start(identity, &mut command, directory.join(identity))?)
}

/// The file in which leaders write their identity.
struct Log(PathBuf);

impl Log {
    /// Returns the leaders one after another. No identity occurs twice if there was one leader at a time. The line that
    /// a process was about to write when it was paused is ignored: no lease can prevent it.
    fn leaders(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.0).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let mut leaders: Vec<String> = Vec::new();
        for written in lines.chunk_by(|line, next| line == next) {
            let is_interrupted = written.len() == 1 && leaders.iter().any(|leader| leader == written[0]);
            if !is_interrupted {
                leaders.push(written[0].to_owned());
            }
        }
        leaders.dedup();
        leaders
    }

    /// Waits until there were this many leaders, and returns the last one.
    fn wait_for_leader(&self, count: usize) -> Result<String, Failed> {
        let started = Instant::now();
        loop {
            let mut leaders = self.leaders();
            if let Some(leader) = leaders.pop().filter(|_| leaders.len() + 1 == count) {
                return Ok(leader);
            }
            if started.elapsed() > TIMEOUT || leaders.len() >= count {
                return Err(format!("expected {count} leaders, found {:?}", self.leaders()).into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn paused_and_killed(control_plane: &ControlPlane) -> Result<(), Failed> {
    let created = control_plane.kubectl().args(["create", "namespace", NAMESPACE]).output()?;
    assert!(created.status.success());
    let directory = tempfile::tempdir()?;
    let log = Log(directory.path().join(LEADERS));
    let start = |identity| start(control_plane, identity, directory.path());
    let mut processes = vec![start("a")?, start("b")?, start("c")?];
    let mut take = |identity: &str| {
        let index = processes.iter().position(|process| process.name() == identity);
        index.map(|index| processes.remove(index)).ok_or("no such process")
    };

    let paused = take(&log.wait_for_leader(1)?)?;
    paused.pause()?;
    let killed = take(&log.wait_for_leader(2)?)?;
    paused.resume()?;
    let Exit { code, errors } = paused.wait()?;
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("leader election lost: lease `election-processes/election` "), "{errors}");
    drop(killed);
    let last = take(&log.wait_for_leader(3)?)?;
    let Exit { code, errors } = last.wait()?;
    assert_eq!(code, Some(0), "{errors}");
    let args = ["get", "lease", "election", "--namespace", NAMESPACE, "--output", "jsonpath={.spec.holderIdentity}"];
    let holder = control_plane.kubectl().args(args).output()?;
    assert_eq!(String::from_utf8_lossy(&holder.stdout), "", "the lease is released");
    assert_eq!(log.leaders().len(), 3, "{:?}", log.leaders());
    Ok(())
}
