//! The table: a row for each figure with the ratio to the real server, and whether the goal is met.

use super::{Figures, Server};
use crate::table::{Table, number};

/// A figure with the goal of the server in process.
struct Row {
    title: String,
    figure: (&'static str, &'static str),
    is_rate: bool,
    goal: Option<f64>,
}

/// Prints the table.
pub(super) fn print(figures: &Figures, objects: usize, watchers: usize) {
    let mut table = Table::new([
        "",
        "etcd and kube-apiserver",
        "ours on a socket",
        "ours with TLS and RBAC",
        "ours in process",
        "socket: improvement",
        "TLS and RBAC: improvement",
        "process: improvement",
        "goal",
        "met",
    ]);
    for row in rows(objects, watchers) {
        let median = |server| figures.get(server, row.figure.0, row.figure.1).median();
        let [real, socket, secured, process] = Server::ALL.map(median);
        let [by_socket, by_secured, by_process] = [socket, secured, process].map(|ours| row.improvement(real, ours));
        let goal = row.goal.map_or_else(|| "–".to_owned(), |goal| format!("≥ {goal:.0} in process"));
        let met = row.goal.map_or("–", |goal| if by_process >= goal { "yes" } else { "**no**" });
        let cells = [real, socket, secured, process, by_socket, by_secured, by_process].map(number);
        let [real, socket, secured, process, by_socket, by_secured, by_process] = cells;
        let met = met.to_owned();
        table.row([row.title, real, socket, secured, process, by_socket, by_secured, by_process, goal, met]);
    }
    println!("{table}");
}

fn rows(objects: usize, watchers: usize) -> [Row; 6] {
    let row = |title: String, figure, is_rate, goal| Row { title, figure, is_rate, goal };
    [
        row("start to first response, ms".to_owned(), ("start", "ms"), false, Some(50.0)),
        row("create, per second".to_owned(), ("create", "per_s"), true, Some(10.0)),
        row("update, per second".to_owned(), ("update", "per_s"), true, Some(10.0)),
        row(format!("list of {objects}, ms"), ("list", "ms"), false, Some(10.0)),
        row(format!("events to {watchers} watchers, per second"), ("watch", "per_s"), true, Some(10.0)),
        row(format!("memory per object of {objects}, bytes"), ("memory", "bytes"), false, None),
    ]
}

impl Row {
    /// Returns the improvement over the real server as a factor.
    fn improvement(&self, real: f64, ours: f64) -> f64 {
        if self.is_rate { ours / real } else { real / ours }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn higher_rates_and_lower_times_are_better() {
        let [start, create, ..] = rows(1, 1);
        assert_eq!((start.improvement(100.0, 2.0), create.improvement(100.0, 2.0)), (50.0, 0.02));
    }
}
