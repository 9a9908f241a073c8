//! The tables: the images, and the memory of idle operators with the ratios to the peers.

use super::Measured;
use crate::{
    operator::{Figures, programs::Peer},
    table::{Table, number, ratio},
};

/// The goal of the content of an image, in megabytes of 10^6 bytes.
const CONTENT_GOAL: f64 = 15.0;
/// The goal of the resident memory of the idle operator, in megabytes of 10^6 bytes.
const IDLE_GOAL: f64 = 12.0;

/// The columns of the memory.
const PEERS: [Peer; 3] = [Peer::Ours, Peer::Kube, Peer::Go];
/// The rows of the memory: title, figure and goal of ours.
const ROWS: [(&str, &str, Option<f64>); 3] = [
    ("program, MB", "program_mb", None),
    ("memory idle, MB", "idle_mb", Some(IDLE_GOAL)),
    ("memory peak, MB", "peak_mb", None),
];

/// Prints a row for each image.
pub(super) fn print_images(images: &[Measured<'_>]) {
    let titles = ["image", "content, MB", "goal", "met", "in an empty root", "second build", "SHA-256 of the program"];
    let mut table = Table::new(titles);
    for image in images {
        let (goal, met) = evaluate(image.size, Some(CONTENT_GOAL));
        let runs = if image.runs_in_empty_root { "runs" } else { "not checked" };
        let second = match image.is_reproducible {
            Some(true) => "equal",
            Some(false) => "**different**",
            None => "–",
        };
        let (name, size) = (image.name.to_owned(), number(image.size));
        table.row([name, size, goal, met.to_owned(), runs.to_owned(), second.to_owned(), image.digest.clone()]);
    }
    println!("{table}");
}

/// Prints a row for each figure.
pub(super) fn print_memory(figures: &Figures) {
    let mut table =
        Table::new(["", "logger-operator", "kube-runtime", "controller-runtime", "to kube", "to Go", "goal", "met"]);
    for (title, figure, goal) in ROWS {
        let [ours, kube, go] = PEERS.map(|peer| figures.get(peer, figure));
        let (goal, met) = evaluate(ours.median(), goal);
        let [to_kube, to_go] = [&kube, &go].map(|peer| ratio(ours.ratios_to(peer).median()));
        let [ours, kube, go] = [ours, kube, go].map(|samples| number(samples.median()));
        table.row([title.to_owned(), ours, kube, go, to_kube, to_go, goal, met.to_owned()]);
    }
    println!("{table}");
}

/// Returns the text of the goal, and whether a figure meets it.
fn evaluate(value: f64, goal: Option<f64>) -> (String, &'static str) {
    match goal {
        Some(goal) if value <= goal => (format!("≤ {goal}"), "yes"),
        Some(goal) => (format!("≤ {goal}"), "**no**"),
        None => ("–".to_owned(), "–"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_an_upper_limit() {
        assert_eq!(evaluate(15.0, Some(CONTENT_GOAL)), ("≤ 15".to_owned(), "yes"));
        for value in [12.1, f64::NAN] {
            assert_eq!(evaluate(value, Some(IDLE_GOAL)), ("≤ 12".to_owned(), "**no**"));
        }
        assert_eq!(evaluate(1.0, None), ("–".to_owned(), "–"));
    }
}
