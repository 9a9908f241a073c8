//! Samples of the resources of this process, and their tolerances.
//!
//! The median of the last third of the samples is at most that of the first third plus a tolerance: a tenth and 16 MiB
//! of resident memory, 24 tasks and 16 file descriptors. A request in progress has up to three tasks, and two
//! descriptors for its connection and the proxy.

use std::{fmt, fs, time::Duration};

use tests::replica::Error;
use tokio::{
    runtime::Handle,
    time::{Instant, MissedTickBehavior, interval},
};

const PERIOD: Duration = Duration::from_millis(500);
const MORE_MEMORY: u64 = 16 << 10;
const MORE_TASKS: u64 = 24;
const MORE_DESCRIPTORS: u64 = 16;

/// The resources at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// The resident memory in KiB.
    memory: u64,
    /// The alive tasks of the runtime.
    tasks: u64,
    /// The open file descriptors.
    descriptors: u64,
}

/// Takes samples in regular intervals.
pub(super) async fn take_until(end: Instant) -> Vec<Sample> {
    let (mut samples, mut ticks) = (Vec::new(), interval(PERIOD));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while Instant::now() < end {
        ticks.tick().await;
        samples.push(Sample::take());
    }
    samples
}

impl Sample {
    fn take() -> Self {
        Sample {
            memory: resident_memory(),
            tasks: Handle::current().metrics().num_alive_tasks() as u64,
            descriptors: fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64),
        }
    }

    fn median(samples: &[Sample]) -> Sample {
        let median = |figure: fn(&Sample) -> u64| {
            let mut figures: Vec<u64> = samples.iter().map(figure).collect();
            figures.sort_unstable();
            figures[figures.len() / 2]
        };
        Sample {
            memory: median(|sample| sample.memory),
            tasks: median(|sample| sample.tasks),
            descriptors: median(|sample| sample.descriptors),
        }
    }

    /// Returns the maximum of each figure.
    fn limit(self) -> Sample {
        Sample {
            memory: self.memory + self.memory / 10 + MORE_MEMORY,
            tasks: self.tasks + MORE_TASKS,
            descriptors: self.descriptors + MORE_DESCRIPTORS,
        }
    }

    fn exceeds(self, limit: Sample) -> bool {
        self.memory > limit.memory || self.tasks > limit.tasks || self.descriptors > limit.descriptors
    }
}

/// Compares the last third with the first one, and describes them.
pub(super) fn check(samples: &[Sample]) -> Result<String, Error> {
    let third = samples.len() / 3;
    if third == 0 {
        return Err("fewer than three samples".into());
    }
    let (first, last) = (Sample::median(&samples[..third]), Sample::median(&samples[samples.len() - third..]));
    let text = format!("first third: {first}; last third: {last}");
    match last.exceeds(first.limit()) {
        true => Err(format!("resources grow; {text}; limit: {}", first.limit()).into()),
        false => Ok(text),
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sample { memory, tasks, descriptors } = self;
        write!(f, "{} MiB, {tasks} tasks, {descriptors} descriptors", memory >> 10)
    }
}

/// Returns the resident memory in KiB, as Linux reports it.
fn resident_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or_default()
}
