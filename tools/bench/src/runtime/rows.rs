//! The tables: a row for each figure with a goal, and a row for each variant of the initial sync.

use super::Figures;
use crate::{
    stats::Samples,
    table::{Table, number, ratio},
};

/// A row with its goal.
struct Row {
    title: &'static str,
    /// The measurement and the figure.
    source: (&'static str, &'static str),
    /// The compared variants in the order of the columns.
    variants: [&'static str; 3],
    goal: Goal,
}

/// The goal of our figure relative to a peer.
#[derive(Clone, Copy)]
enum Goal {
    /// At most this factor of Go's and of kube's figure.
    AtMost(Option<f64>, Option<f64>),
    /// At least this factor of Go's figure.
    AtLeast(f64),
    /// At most this factor of the settled memory of this runtime.
    OfSettled(f64),
}

const DEFAULTS: [&str; 3] = ["go", "kube", "ours"];
const STREAMING: [&str; 3] = ["go", "kube streaming", "ours streaming"];

const ROWS: [Row; 12] = [
    row("initial sync, CPU s", ("sync", "cpu_s"), Goal::AtMost(Some(0.125), Some(0.6))),
    row("memory settled, MB", ("sync", "settled_mb"), Goal::AtMost(Some(0.5), Some(0.25))),
    row("memory peak, MB", ("sync", "peak_mb"), Goal::OfSettled(1.1)),
    Row {
        title: "CPU µs per event, loaded",
        source: ("sync", "cpu_us_per_object"),
        variants: STREAMING,
        goal: Goal::AtMost(None, Some(0.6)),
    },
    row("list one of 100 namespaces, µs", ("list_namespace", "us"), Goal::AtMost(Some(0.5), None)),
    row("get by key, ns", ("get", "ns"), Goal::AtMost(Some(0.5), None)),
    row("queue, 100,000 keys, 1/1, per second", ("queue_distinct_1", "processed_per_s"), Goal::AtLeast(1.5)),
    row("queue, 100,000 keys, 2/2, per second", ("queue_distinct_2", "processed_per_s"), Goal::AtLeast(1.5)),
    row("queue, 1,000 hot keys, 1/1, per second", ("queue_hot_1", "processed_per_s"), Goal::AtLeast(1.5)),
    row("queue, 1,000 hot keys, 2/2, per second", ("queue_hot_2", "processed_per_s"), Goal::AtLeast(1.5)),
    row("decode an object, µs", ("decode_object", "us"), Goal::AtMost(None, Some(0.5))),
    row("decode a page of 500, µs", ("decode_page", "us"), Goal::AtMost(None, Some(0.5))),
];

const fn row(title: &'static str, source: (&'static str, &'static str), goal: Goal) -> Row {
    Row { title, source, variants: DEFAULTS, goal }
}

/// Prints both tables.
pub(super) fn print(figures: &Figures, objects: usize) {
    let mut table = Table::new(["", "client-go", "kube-runtime", "ours", "to Go", "to kube", "goal", "met"]);
    for row in &ROWS {
        let [go, kube, ours] = row.variants.map(|variant| samples(figures, variant, row.source, objects));
        let (to_go, to_kube) = (ours.ratios_to(&go).median(), ours.ratios_to(&kube).median());
        let to_settled = ours.ratios_to(&samples(figures, "ours", ("sync", "settled_mb"), objects)).median();
        let (goal, is_met) = row.goal.evaluate(to_go, to_kube, to_settled);
        let cells = [&go, &kube, &ours].map(|samples| number(samples.median()));
        let [go, kube, ours] = cells;
        let met = if is_met { "yes" } else { "**no**" };
        table.row([row.title.to_owned(), go, kube, ours, ratio(to_go), ratio(to_kube), goal, met.to_owned()]);
    }
    println!("{table}");
    let mut table = Table::new(["initial sync", "CPU s", "elapsed s", "peak MB", "settled MB"]);
    for variant in super::VARIANTS.iter().map(|variant| variant.name) {
        let cell = |figure| number(samples(figures, variant, ("sync", figure), objects).median());
        table.row([variant.to_owned(), cell("cpu_s"), cell("elapsed_s"), cell("peak_mb"), cell("settled_mb")]);
    }
    println!("{table}");
}

fn samples(figures: &Figures, variant: &'static str, (what, figure): (&str, &str), objects: usize) -> Samples {
    match figure {
        "cpu_us_per_object" => {
            figures.get(variant, what, "cpu_s").all().iter().map(|seconds| seconds * 1e6 / objects as f64).collect()
        }
        figure => figures.get(variant, what, figure),
    }
}

impl Goal {
    /// Returns the text of the goal and whether it was met.
    fn evaluate(self, to_go: f64, to_kube: f64, to_settled: f64) -> (String, bool) {
        match self {
            Goal::AtMost(go, kube) => {
                let parts = [(go, "Go", to_go), (kube, "kube", to_kube)];
                let parts: Vec<_> =
                    parts.iter().filter_map(|(limit, peer, ratio)| Some(((*limit)?, peer, ratio))).collect();
                let words: Vec<_> = parts.iter().map(|(limit, peer, _)| format!("≤ {limit} × {peer}")).collect();
                (words.join(", "), parts.iter().all(|(limit, _, ratio)| *ratio <= limit))
            }
            Goal::AtLeast(limit) => (format!("≥ {limit} × Go"), to_go >= limit),
            Goal::OfSettled(limit) => (format!("≤ {limit} × settled"), to_settled <= limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_evaluated_for_every_peer() {
        let both = Goal::AtMost(Some(0.125), Some(0.6));
        assert_eq!(both.evaluate(0.1, 0.5, 0.0), ("≤ 0.125 × Go, ≤ 0.6 × kube".to_owned(), true));
        assert!(!both.evaluate(0.1, 0.7, 0.0).1 && !both.evaluate(f64::NAN, 0.5, 0.0).1);
        assert!(Goal::AtLeast(1.5).evaluate(1.6, 9.0, 0.0).1 && !Goal::AtLeast(1.5).evaluate(1.4, 9.0, 0.0).1);
        assert!(Goal::OfSettled(1.1).evaluate(9.0, 9.0, 1.05).1);
    }

    #[test]
    fn numbers_have_three_significant_digits() {
        assert_eq!([1.234, 12.34, 123.4, 1_450_000.0, f64::NAN].map(number), ["1.23", "12.3", "123", "1450 k", "–"]);
    }
}
