//! What the Rust programs of the runtime bench measure with, and how they print it.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// How often a short measurement is taken.
pub const TIMES: usize = 5;

/// Prints one measurement: what was measured, and its figures by name.
pub fn say(what: &str, mut figures: Value) {
    figures["what"] = what.into();
    println!("{figures}");
}

/// What this process has computed so far, for itself and in the kernel.
pub fn computed() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

/// Microseconds.
pub fn micros(taken: Duration) -> f64 {
    taken.as_nanos() as f64 / 1e3
}

/// A line of this process's status, such as `VmHWM`, in megabytes of 10^6 bytes.
pub fn memory(line: &str) -> f64 {
    memory_of("self", line)
}

/// The same, of the process with this id.
pub fn memory_of(pid: &str, line: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let value = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':')?.split_whitespace().next());
    value.and_then(|kilobytes| kilobytes.parse::<f64>().ok()).unwrap_or(f64::NAN) * 1024.0 / 1e6
}

/// So many places below the end, scattered but the same each time.
pub fn scattered(count: usize, end: usize) -> impl Iterator<Item = usize> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % end.max(1)
    })
    .take(count)
}

/// Times the decoding of a text of this length, again and again, and prints it.
///
/// # Errors
/// It cannot be decoded.
pub fn time_decoding<E>(what: &str, bytes: usize, mut run: impl FnMut() -> Result<(), E>) -> Result<(), E> {
    let rounds = (20_000_000 / bytes.max(1)).max(20);
    for _ in 0..TIMES {
        let before = computed();
        for _ in 0..rounds {
            run()?;
        }
        say(what, json!({ "us": micros(computed() - before) / rounds as f64 }));
    }
    Ok(())
}
