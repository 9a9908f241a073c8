//! The table: a row for each figure, ours by the real server's, and whether the goal is met.

use super::{Figures, Server};
use crate::table::{Table, number};

/// A figure, and how much better ours is to be in process.
struct Row {
    title: String,
    of: (&'static str, &'static str),
    is_rate: bool,
    goal: Option<f64>,
}

/// Prints it.
pub(super) fn print(figures: &Figures, objects: usize, watchers: usize) {
    let mut table = Table::new([
        "",
        "etcd and kube-apiserver",
        "ours on a socket",
        "ours in process",
        "socket: times as good",
        "process: times as good",
        "goal",
        "met",
    ]);
    for row in rows(objects, watchers) {
        let median = |server| figures.of(server, row.of.0, row.of.1).median();
        let [real, socket, process] = Server::ALL.map(median);
        let (by_socket, by_process) = (row.times(real, socket), row.times(real, process));
        let goal = row.goal.map_or_else(|| "–".to_owned(), |goal| format!("≥ {goal:.0} in process"));
        let met = row.goal.map_or("–", |goal| if by_process >= goal { "yes" } else { "**no**" });
        let cells = [real, socket, process, by_socket, by_process].map(number);
        let [real, socket, process, by_socket, by_process] = cells;
        table.row([row.title, real, socket, process, by_socket, by_process, goal, met.to_owned()]);
    }
    println!("{table}");
}

fn rows(objects: usize, watchers: usize) -> [Row; 6] {
    let row = |title: String, of, is_rate, goal| Row { title, of, is_rate, goal };
    [
        row("start to first answer, ms".to_owned(), ("start", "ms"), false, Some(50.0)),
        row("create, a second".to_owned(), ("create", "per_s"), true, Some(10.0)),
        row("update, a second".to_owned(), ("update", "per_s"), true, Some(10.0)),
        row(format!("list of {objects}, ms"), ("list", "ms"), false, Some(10.0)),
        row(format!("events to {watchers} watchers, a second"), ("watch", "per_s"), true, Some(10.0)),
        row(format!("memory for each of {objects}, bytes"), ("memory", "bytes"), false, None),
    ]
}

impl Row {
    fn times(&self, real: f64, ours: f64) -> f64 {
        if self.is_rate { ours / real } else { real / ours }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_of_a_rate_is_better_and_less_of_a_time() {
        let [start, create, ..] = rows(1, 1);
        assert_eq!((start.times(100.0, 2.0), create.times(100.0, 2.0)), (50.0, 0.02));
    }
}
