//! Measurements of the Rust programs in the runtime benchmark, and their output.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// The number of repetitions of a short measurement.
pub const REPETITIONS: usize = 5;

/// Prints one measurement with its name and its figures as JSON.
pub fn report(what: &str, mut figures: Value) {
    figures["what"] = what.into();
    println!("{figures}");
}

/// Returns the user and system CPU time of this process.
pub fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

/// Converts to microseconds.
pub fn micros(taken: Duration) -> f64 {
    taken.as_nanos() as f64 / 1e3
}

/// Returns a value from the status of this process, such as `VmHWM`, in megabytes of 10^6 bytes.
pub fn memory(line: &str) -> f64 {
    memory_of("self", line)
}

/// Returns a value from the status of the process with this pid, in megabytes of 10^6 bytes.
pub fn memory_of(pid: &str, line: &str) -> f64 {
    parse_memory(&std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default(), line)
}

/// Returns a value from the text of a `/proc/PID/status`, or NaN without this line.
fn parse_memory(status: &str, line: &str) -> f64 {
    let value = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':')?.split_whitespace().next());
    value.and_then(|kilobytes| kilobytes.parse::<f64>().ok()).unwrap_or(f64::NAN) * 1024.0 / 1e6
}

/// Returns `count` pseudorandom indices below `end`, always the same.
pub fn scattered(count: usize, end: usize) -> impl Iterator<Item = usize> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % end.max(1)
    })
    .take(count)
}

/// Measures and prints the time to decode a text of this length.
///
/// # Errors
/// Fails if `run` fails.
pub fn time_decoding<E>(what: &str, bytes: usize, mut run: impl FnMut() -> Result<(), E>) -> Result<(), E> {
    let rounds = (20_000_000 / bytes.max(1)).max(20);
    for _ in 0..REPETITIONS {
        let before = cpu_time();
        for _ in 0..rounds {
            run()?;
        }
        report(what, json!({ "us": micros(cpu_time() - before) / rounds as f64 }));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_parsed_from_the_status_of_a_process() {
        let status = "Name:\tVmRSS:\nVmHWM:\t   20000 kB\nVmRSS:\t   10000 kB\nRssAnon:\t    5000 kB\n";
        assert_eq!((parse_memory(status, "VmRSS"), parse_memory(status, "VmHWM")), (10.24, 20.48));
        // A zombie has no memory.
        assert!(parse_memory("Name:\tsh\nState:\tZ (zombie)\n", "VmRSS").is_nan());
        assert!(memory("VmRSS") > 0.0);
    }
}
