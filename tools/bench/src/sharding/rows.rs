//! The table: a row for each number of replicas beside the published figures, and whether the goals are met.

use std::ops::RangeInclusive;

use super::Figures;
use crate::table::{Table, number, ratio};

/// The published capacity of one to five shards in changes per second: masters-thesis-controller-sharding, with an
/// external sharder and five workers for each shard.
const PUBLISHED: [f64; 5] = [82.0, 120.0, 176.0, 209.0, 245.0];
/// The goal of the capacity of the most replicas, relative to one.
const CAPACITY: f64 = 4.5;
/// The goal of their memory, relative to one.
const MEMORY: f64 = 0.25;

/// Prints the table.
pub(super) fn print(figures: &Figures, shards: RangeInclusive<usize>) {
    let mut table = Table::new([
        "replicas",
        "changes per s",
        "to one",
        "published",
        "published, to one",
        "memory each, MB",
        "to one",
        "received to list, MB each",
        "to one",
        "received for changes, MB each",
        "to one",
    ]);
    for count in shards.clone() {
        let figure = |name| figures.median(count, name);
        let to_one = |name| ratio(figure(name) / figures.median(1, name));
        let published = PUBLISHED.get(count - 1).copied().unwrap_or(f64::NAN);
        table.row([
            count.to_string(),
            number(figure("rate")),
            to_one("rate"),
            number(published),
            ratio(published / PUBLISHED[0]),
            number(figure("settled_mb")),
            to_one("settled_mb"),
            number(figure("listed_mb")),
            to_one("listed_mb"),
            number(figure("changed_mb")),
            to_one("changed_mb"),
        ]);
    }
    println!("{table}");
    let most = *shards.end();
    let to_one = |name| figures.median(most, name) / figures.median(1, name);
    println!("{}", capacity_goal(most, to_one("rate")));
    println!("{}", memory_goal(most, to_one("settled_mb")));
}

fn capacity_goal(most: usize, to_one: f64) -> String {
    let met = if to_one >= CAPACITY { "yes" } else { "**no**" };
    format!("capacity of {most} replicas: {} of one; goal: ≥ {CAPACITY}; met: {met}", ratio(to_one))
}

fn memory_goal(most: usize, to_one: f64) -> String {
    let met = if to_one <= MEMORY { "yes" } else { "**no**" };
    format!("memory of each of {most} replicas: {} of one; goal: ≤ {MEMORY}; met: {met}", ratio(to_one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_limits_of_ratios() {
        assert_eq!(capacity_goal(5, 4.6), "capacity of 5 replicas: 4.60 of one; goal: ≥ 4.5; met: yes");
        assert!(capacity_goal(5, f64::NAN).ends_with("met: **no**"));
        assert_eq!(memory_goal(5, 0.3), "memory of each of 5 replicas: 0.30 of one; goal: ≤ 0.25; met: **no**");
    }
}
