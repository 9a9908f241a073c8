//! The compared methods to copy a Logger, and their timing.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use kubewright_core::DeepCopy;
use rustix::time::{ClockId, clock_gettime};

use crate::logger::Logger;

const SAMPLES: usize = 5;
const SAMPLE: Duration = Duration::from_millis(60);

/// Returns a Logger as API servers do, with two entries in managedFields. The Go benchmark reads the same file.
fn sample() -> Logger {
    serde_json::from_str(include_str!("../apis/example/v1/testdata/logger.json")).expect("the file is a Logger")
}

/// Calls `measure` with the name of each method and the method, which includes dropping the copy.
pub fn for_each_method(mut measure: impl FnMut(&str, &mut dyn FnMut())) {
    let full = sample();
    let mut stripped = sample();
    stripped.metadata.managed_fields = None;
    for (name, logger) in [("full", &full), ("stripped", &stripped)] {
        measure(&format!("{name} clone"), &mut || drop(black_box(black_box(logger).clone())));
        measure(&format!("{name} deep_copy"), &mut || drop(black_box(black_box(logger).deep_copy())));
        let mut target = logger.deep_copy();
        measure(&format!("{name} deep_copy_into"), &mut || {
            black_box(logger).deep_copy_into(black_box(&mut target));
        });
    }
}

/// Prints the samples of each method in nanoseconds as `wall time:CPU time`.
pub fn print_timings() {
    for_each_method(|case, copy| {
        let rounds = rounds_in(SAMPLE, copy);
        let samples: Vec<_> = (0..SAMPLES)
            .map(|_| {
                let (elapsed, cpu_time) = time(rounds, copy);
                format!("{:.1}:{:.1}", nanoseconds(elapsed, rounds), nanoseconds(cpu_time, rounds))
            })
            .collect();
        println!("{case}\t{}", samples.join(" "));
    });
}

/// Returns the number of rounds that take about this long, which also warms up.
fn rounds_in(duration: Duration, run: &mut dyn FnMut()) -> u32 {
    let mut rounds = 1;
    loop {
        let (_, taken) = time(rounds, run);
        if taken * 4 > duration {
            return (f64::from(rounds) * duration.as_secs_f64() / taken.as_secs_f64()).ceil() as u32;
        }
        rounds *= 2;
    }
}

/// Returns wall time and CPU time. On a busy machine the wall time includes other processes.
fn time(rounds: u32, run: &mut dyn FnMut()) -> (Duration, Duration) {
    let (start, cpu_time) = (Instant::now(), cpu_time());
    for _ in 0..rounds {
        run();
    }
    (start.elapsed(), self::cpu_time().saturating_sub(cpu_time))
}

fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

fn nanoseconds(all: Duration, rounds: u32) -> f64 {
    all.as_nanos() as f64 / f64::from(rounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_copies_the_full_object() {
        let mut names = Vec::new();
        for_each_method(|name, copy| {
            copy();
            names.push(name.to_owned());
        });
        assert_eq!(names.len(), 6, "{names:?}");
        assert_eq!(sample().metadata.managed_fields.map(|entries| entries.len()), Some(2));
    }
}
