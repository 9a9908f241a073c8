//! The table: a row for each figure with the ratios to the peers, and whether the goal is met.

use super::{Figures, programs::Peer};
use crate::table::{Table, number, ratio};

/// A figure with the goal of ours: at most this factor of the figure of controller-runtime and of kube-runtime.
struct Row {
    title: &'static str,
    figure: &'static str,
    goal: (Option<f64>, Option<f64>),
}

const ROWS: [Row; 19] = [
    row("start to ready, ms", "start_ms"),
    row("binary, MB", "binary_mb"),
    row("memory idle, MB", "idle_mb"),
    Row { goal: (Some(0.5), None), ..row("memory settled, MB", "settled_mb") },
    row("memory peak, MB", "peak_mb"),
    row("all created and reconciled, s", "converge_s"),
    row("all created and reconciled, CPU s", "converge_cpu_s"),
    row("changes, CPU s", "change_cpu_s"),
    Row { goal: (Some(0.25), Some(0.7)), ..row("CPU s in total", "cpu_s") },
    row("change to status, p50 ms", "p50_ms"),
    Row { goal: (Some(1.0), Some(1.0)), ..row("change to status, p99 ms", "p99_ms") },
    row("requests: list", "requests_list"),
    row("requests: watch", "requests_watch"),
    row("requests: get", "requests_get"),
    row("requests: create", "requests_create"),
    row("requests: patch, apply", "requests_patch"),
    row("requests: update", "requests_update"),
    Row { goal: (Some(1.0), Some(1.0)), ..row("requests in total", "requests") },
    row("rejected requests", "requests_rejected"),
];

const fn row(title: &'static str, figure: &'static str) -> Row {
    Row { title, figure, goal: (None, None) }
}

/// Prints the table.
pub(super) fn print(figures: &Figures) {
    let [go, kube, ours] = Peer::ALL.map(Peer::title);
    let mut table = Table::new(["", go, kube, ours, "to Go", "to kube", "goal", "met"]);
    for row in &ROWS {
        let samples = Peer::ALL.map(|peer| figures.get(peer, row.figure));
        let [go, kube, ours] = &samples;
        let (to_go, to_kube) = (ours.ratios_to(go).median(), ours.ratios_to(kube).median());
        let (goal, met) = row.evaluate(to_go, to_kube);
        let [go, kube, ours] = samples.each_ref().map(|samples| row.cell(samples.median()));
        table.row([row.title.to_owned(), go, kube, ours, ratio(to_go), ratio(to_kube), goal, met.to_owned()]);
    }
    println!("{table}");
}

impl Row {
    /// Formats a figure. Requests are whole numbers.
    fn cell(&self, value: f64) -> String {
        let is_count = self.figure.starts_with("requests") && !value.is_nan();
        if is_count { format!("{value:.0}") } else { number(value) }
    }

    /// Returns the text of the goal, and whether it was met.
    fn evaluate(&self, to_go: f64, to_kube: f64) -> (String, &'static str) {
        let limits = [(self.goal.0, "Go", to_go), (self.goal.1, "kube", to_kube)];
        let limits: Vec<_> = limits.iter().filter_map(|(limit, peer, ratio)| Some(((*limit)?, peer, ratio))).collect();
        let goals: Vec<_> = limits.iter().map(|(limit, peer, _)| format!("≤ {limit} × {peer}")).collect();
        match limits.as_slice() {
            [] => ("–".to_owned(), "–"),
            limits if limits.iter().all(|(limit, _, ratio)| *ratio <= limit) => (goals.join(", "), "yes"),
            _ => (goals.join(", "), "**no**"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_met_relative_to_both_peers() {
        let row = Row { goal: (Some(0.25), Some(0.7)), ..row("CPU", "cpu_s") };
        assert_eq!(row.evaluate(0.2, 0.7), ("≤ 0.25 × Go, ≤ 0.7 × kube".to_owned(), "yes"));
        for (to_go, to_kube) in [(0.3, 0.7), (0.2, 0.8), (f64::NAN, 0.7)] {
            assert_eq!(row.evaluate(to_go, to_kube).1, "**no**");
        }
        assert_eq!(super::row("binary", "binary_mb").evaluate(9.0, 9.0), ("–".to_owned(), "–"));
    }

    #[test]
    fn requests_are_whole_numbers() {
        assert_eq!(row("all", "requests").cell(20_012.0), "20012");
        assert_eq!([row("CPU", "cpu_s").cell(1.5), row("all", "requests").cell(f64::NAN)], ["1.50", "–"]);
    }
}
