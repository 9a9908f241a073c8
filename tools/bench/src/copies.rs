//! The ways to copy a Logger that are compared, and how they are timed.

use std::hint::black_box;
use std::time::{Duration, Instant};

use logger_core::DeepCopy;
use rustix::time::{ClockId, clock_gettime};

use crate::logger::Logger;

const SAMPLES: usize = 5;
const SAMPLE: Duration = Duration::from_millis(60);

/// A Logger as an API server returns it, with two entries of managedFields; the Go bench reads the same file.
fn sample() -> Logger {
    serde_json::from_str(include_str!("../apis/example/v1/testdata/logger.json")).expect("the file is a Logger")
}

/// Hands over each way under its name: what it makes is dropped by it, so the drop counts.
pub fn each(mut measure: impl FnMut(&str, &mut dyn FnMut())) {
    let whole = sample();
    let mut stripped = sample();
    stripped.metadata.managed_fields = None;
    for (name, logger) in [("whole", &whole), ("stripped", &stripped)] {
        measure(&format!("{name} clone"), &mut || drop(black_box(black_box(logger).clone())));
        measure(&format!("{name} deep_copy"), &mut || drop(black_box(black_box(logger).deep_copy())));
        let mut target = logger.deep_copy();
        measure(&format!("{name} deep_copy_into"), &mut || {
            black_box(logger).deep_copy_into(black_box(&mut target));
        });
    }
}

/// Prints the nanoseconds of each way, sample after sample, by the clock and after a colon as computed.
pub fn print_timings() {
    each(|case, copy| {
        let rounds = rounds_in(SAMPLE, copy);
        let samples: Vec<_> = (0..SAMPLES)
            .map(|_| {
                let (elapsed, computed) = time(rounds, copy);
                format!("{:.1}:{:.1}", nanoseconds(elapsed, rounds), nanoseconds(computed, rounds))
            })
            .collect();
        println!("{case}\t{}", samples.join(" "));
    });
}

/// How many rounds take about so long; trying warms up as well.
fn rounds_in(wanted: Duration, run: &mut dyn FnMut()) -> u32 {
    let mut rounds = 1;
    loop {
        let (_, taken) = time(rounds, run);
        if taken * 4 > wanted {
            return (f64::from(rounds) * wanted.as_secs_f64() / taken.as_secs_f64()).ceil() as u32;
        }
        rounds *= 2;
    }
}

/// By the clock, and what this process computed: on a busy machine the first counts what others do as well.
fn time(rounds: u32, run: &mut dyn FnMut()) -> (Duration, Duration) {
    let (start, computed) = (Instant::now(), computed());
    for _ in 0..rounds {
        run();
    }
    (start.elapsed(), self::computed().saturating_sub(computed))
}

fn computed() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

fn nanoseconds(all: Duration, rounds: u32) -> f64 {
    all.as_nanos() as f64 / f64::from(rounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_is_handed_over_and_copies_the_whole_object() {
        let mut names = Vec::new();
        each(|name, copy| {
            copy();
            names.push(name.to_owned());
        });
        assert_eq!(names.len(), 6, "{names:?}");
        assert_eq!(sample().metadata.managed_fields.map(|entries| entries.len()), Some(2));
    }
}
