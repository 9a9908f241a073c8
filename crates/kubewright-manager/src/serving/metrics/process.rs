//! The metrics of the process under their conventional names, from `/proc/self` on Linux.

use std::{fmt, fs};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
};

/// The clock ticks per second in `/proc`: the kernel converts to 100 on all platforms of Rust's standard library.
const TICKS_PER_SECOND: f64 = 100.0;

/// The value of a limit that is not set: 2^64 - 1, to the precision of the type.
const UNLIMITED: f64 = u64::MAX as f64;

/// Collects the metrics of the process.
///
/// | metric | meaning |
/// |---|---|
/// | `process_cpu_seconds_total` | user and system CPU time |
/// | `process_resident_memory_bytes` | resident memory |
/// | `process_virtual_memory_bytes` | virtual memory |
/// | `process_open_fds`, `process_max_fds` | open file descriptors, and their limit |
/// | `process_start_time_seconds` | start of the process in Unix time |
///
/// There are none on other platforms than Linux, and a metric that cannot be read is missing.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessCollector(());

impl ProcessCollector {
    /// Creates the collector.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Collector for ProcessCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let stat = read("/proc/self/stat").as_deref().and_then(parse_stat);
        let status = read("/proc/self/status").unwrap_or_default();
        let gauges = [
            ("process_resident_memory_bytes", "Resident memory size in bytes.", parse_kibibytes(&status, "VmRSS")),
            ("process_virtual_memory_bytes", "Virtual memory size in bytes.", parse_kibibytes(&status, "VmSize")),
            ("process_open_fds", "Number of open file descriptors.", open_fds()),
            ("process_max_fds", "Maximum number of open file descriptors.", max_fds()),
            (
                "process_start_time_seconds",
                "Start time of the process since unix epoch in seconds.",
                stat.as_ref().and_then(start_time),
            ),
        ];
        if let Some(stat) = stat {
            let counter = ConstCounter::new(stat.cpu_ticks / TICKS_PER_SECOND);
            let help = "Total user and system CPU time spent in seconds.";
            counter.encode(encoder.encode_descriptor("process_cpu_seconds", help, None, counter.metric_type())?)?;
        }
        for (name, help, value) in gauges {
            let Some(value) = value else { continue };
            let gauge = ConstGauge::new(value);
            gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)?;
        }
        Ok(())
    }
}

/// What `/proc/self/stat` contains, in clock ticks.
#[derive(Debug, PartialEq)]
struct Stat {
    cpu_ticks: f64,
    /// Since the start of the system.
    start_ticks: f64,
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// Parses `/proc/self/stat`. The name of the program is in parentheses, and can contain any character.
fn parse_stat(stat: &str) -> Option<Stat> {
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    // The first field after the name is the third one.
    let field = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
    Some(Stat { cpu_ticks: field(14)? + field(15)?, start_ticks: field(22)? })
}

/// Returns a value of `/proc/self/status` in bytes.
fn parse_kibibytes(status: &str, name: &str) -> Option<f64> {
    let is_value = |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'));
    let line = status.lines().find(is_value)?;
    let kibibytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024.0)
}

/// Parses the soft limit of open files in `/proc/self/limits`; the maximum of 64 bits if there is none, as in Go.
fn parse_max_fds(limits: &str) -> Option<f64> {
    let soft = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?.split_whitespace().next()?;
    if soft == "unlimited" { Some(UNLIMITED) } else { soft.parse().ok() }
}

/// Parses the time of the start of the system in `/proc/stat`.
fn parse_boot_time(stat: &str) -> Option<f64> {
    stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}

fn start_time(stat: &Stat) -> Option<f64> {
    Some(parse_boot_time(&read("/proc/stat")?)? + stat.start_ticks / TICKS_PER_SECOND)
}

fn max_fds() -> Option<f64> {
    parse_max_fds(&read("/proc/self/limits")?)
}

/// Counts the open file descriptors, without the one that reads the directory.
fn open_fds() -> Option<f64> {
    let count = fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1);
    Some(u32::try_from(count).unwrap_or(u32::MAX).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_program_can_contain_any_character() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 1 0 0 0 250 50 0 0 20 0 4 0 12345 1000 200 18446744073709551615";
        assert_eq!(parse_stat(stat), Some(Stat { cpu_ticks: 300.0, start_ticks: 12345.0 }));
        assert_eq!(parse_stat("7 (a) S 1"), None);
        assert_eq!(parse_stat(""), None);
    }

    #[test]
    fn memory_is_in_bytes() {
        let status = "Name:\ta\nVmSize:\t    2048 kB\nVmRSS:\t     12 kB\n";
        assert_eq!(parse_kibibytes(status, "VmRSS"), Some(12_288.0));
        assert_eq!(parse_kibibytes(status, "VmSize"), Some(2_097_152.0));
        assert_eq!(parse_kibibytes(status, "Vm"), None);
    }

    #[test]
    fn the_limit_of_files_can_be_unlimited() {
        let limits =
            |soft| format!("Limit  Soft Limit  Hard Limit  Units\nMax open files            {soft}  4096  files\n");
        assert_eq!(parse_max_fds(&limits("1024")), Some(1024.0));
        assert_eq!(parse_max_fds(&limits("unlimited")), Some(UNLIMITED));
        assert_eq!(parse_max_fds(""), None);
    }

    #[test]
    fn the_start_of_the_system_is_in_seconds() {
        assert_eq!(parse_boot_time("cpu 1 2\nbtime 1700000000\nprocesses 1\n"), Some(1_700_000_000.0));
    }
}
