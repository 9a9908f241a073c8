//! The seeds of simulations, according to environment variables.

use std::time::{Duration, Instant};

/// Returns the seeds to run: this number, as many as fit into the time of the variable `NAME_SIMULATION`, or that of
/// `NAME_SEED`.
pub(crate) fn seeds(name: &str, count: u64) -> impl Iterator<Item = u64> {
    let first = std::env::var(format!("{name}_SEED")).ok().map(|seed| seed.parse().unwrap());
    let time = std::env::var(format!("{name}_SIMULATION")).ok().map(|time| parse_duration(&time));
    let started = Instant::now();
    let begin = first.unwrap_or(if time.is_some() { fastrand::u64(..u64::MAX / 2) } else { 0 });
    (0_u64..).zip(begin..).map_while(move |(number, seed)| {
        let has_more = match (first, time) {
            (Some(_), _) => number == 0,
            (None, Some(time)) => started.elapsed() < time,
            (None, None) => number < count,
        };
        has_more.then_some(seed)
    })
}

fn parse_duration(text: &str) -> Duration {
    let unit = |unit, seconds| Some(Duration::from_secs(text.strip_suffix(unit)?.parse::<u64>().ok()? * seconds));
    let duration = unit('s', 1).or_else(|| unit('m', 60)).or_else(|| unit('h', 3600));
    duration.expect("the time of a simulation is a number of `s`, `m` or `h`")
}
