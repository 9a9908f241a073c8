//! `bench memory`: informers that hold their objects decoded or as compact bytes, on generated lists in one process.

use std::process::Command;

use anyhow::Result;

use crate::{
    cargo, environment, paths, program,
    runtime::Figures,
    table::{Table, number, ratio},
};

/// The options of the benchmark.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The number of Loggers, in 100 namespaces.
    #[arg(long, default_value_t = 50_000)]
    objects: usize,
    /// The number of objects of 1 kB, of which also a half and a quarter are measured.
    #[arg(long, default_value_t = 1_000_000)]
    many: usize,
    /// The number of alternations between the ways to hold objects.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

const PLAIN: &str = "plain";
const COMPACT: &str = "compact";

/// A row: its title, the measurement with the figure, and the goal.
struct Row {
    title: &'static str,
    source: (&'static str, &'static str),
    goal: Goal,
}

/// The goal of compact objects.
#[derive(Clone, Copy)]
enum Goal {
    AtMost(f64),
    /// At most this factor of the figure of plain objects.
    OfPlain(f64),
    None,
}

const ROWS: [Row; 8] = [
    Row { title: "memory settled, MB", source: ("sync", "settled_mb"), goal: Goal::AtMost(60.0) },
    Row { title: "memory peak, MB", source: ("sync", "peak_mb"), goal: Goal::None },
    Row { title: "memory per object, bytes", source: ("sync", "settled_bytes_per_object"), goal: Goal::None },
    Row { title: "first sync, CPU s", source: ("sync", "cpu_s"), goal: Goal::OfPlain(1.5) },
    Row { title: "first sync, CPU µs per object", source: ("sync", "cpu_us_per_object"), goal: Goal::None },
    Row { title: "get, cold, µs", source: ("get_cold", "us"), goal: Goal::AtMost(15.0) },
    Row { title: "get, hot, µs", source: ("get_hot", "us"), goal: Goal::AtMost(0.5) },
    Row { title: "list a namespace, cold, ms", source: ("list_namespace", "ms"), goal: Goal::AtMost(8.0) },
];

/// Runs the benchmark and prints the tables.
pub(crate) fn run(options: &Options) -> Result<()> {
    build()?;
    let mut figures = Figures::default();
    for round in 1..=options.rounds {
        eprintln!("round {round} of {}", options.rounds);
        measure(&mut figures, options.objects, &[])?;
    }
    environment::print();
    println!("{} Loggers:\n", options.objects);
    print_goals(&figures);
    println!("Objects of 1 kB, one round:\n");
    print_growth(options.many)
}

fn build() -> Result<()> {
    eprintln!("building the program");
    let args = ["build", "--release", "--package", "bench", "--features", "compact", "--bin", "cache-memory"];
    program::output(&mut cargo::command(paths::workspace_root(), args)).map(drop)
}

fn measure(figures: &mut Figures, objects: usize, args: &[&str]) -> Result<()> {
    for memory in [PLAIN, COMPACT] {
        let mut command = Command::new(paths::target_dir().join("release/cache-memory"));
        command.arg(memory).arg(objects.to_string()).args(args);
        figures.read(memory, &program::output(&mut command)?)?;
    }
    Ok(())
}

fn print_goals(figures: &Figures) {
    let mut table = Table::new(["", "plain", "compact", "ratio", "goal", "met"]);
    for Row { title, source: (what, figure), goal } in &ROWS {
        let [plain, compact] = [PLAIN, COMPACT].map(|memory| figures.get(memory, what, figure));
        let to_plain = compact.ratios_to(&plain).median();
        let (goal, met) = goal.evaluate(compact.median(), to_plain);
        let [plain, compact] = [plain, compact].map(|samples| number(samples.median()));
        table.row([(*title).to_owned(), plain, compact, ratio(to_plain), goal, met.to_owned()]);
    }
    println!("{table}");
}

/// Prints the memory and the time of a growing number of objects: the time of one must not grow.
fn print_growth(many: usize) -> Result<()> {
    let titles = ["objects", "plain, MB", "compact, MB", "ratio", "plain, CPU µs each", "compact, CPU µs each"];
    let mut table = Table::new(titles);
    for objects in [many / 4, many / 2, many] {
        eprintln!("{objects} objects");
        let mut figures = Figures::default();
        measure(&mut figures, objects, &["small"])?;
        let get = |memory, figure| figures.get(memory, "sync", figure).median();
        let [plain, compact] = [PLAIN, COMPACT].map(|memory| get(memory, "settled_mb"));
        let times = [PLAIN, COMPACT].map(|memory| number(get(memory, "cpu_us_per_object")));
        let [plain_time, compact_time] = times;
        let cells = [objects.to_string(), number(plain), number(compact), ratio(compact / plain)];
        let [objects, plain, compact, ratio] = cells;
        table.row([objects, plain, compact, ratio, plain_time, compact_time]);
    }
    println!("{table}");
    Ok(())
}

impl Goal {
    /// Returns the text of the goal and whether it was met.
    fn evaluate(self, value: f64, to_plain: f64) -> (String, &'static str) {
        let (text, is_met) = match self {
            Goal::AtMost(limit) => (format!("≤ {limit}"), value <= limit),
            Goal::OfPlain(limit) => (format!("≤ {limit} × plain"), to_plain <= limit),
            Goal::None => return ("–".to_owned(), "–"),
        };
        (text, if is_met { "yes" } else { "**no**" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_limits_of_a_value_or_of_a_ratio() {
        assert_eq!(Goal::AtMost(60.0).evaluate(55.0, 0.2), ("≤ 60".to_owned(), "yes"));
        assert_eq!(Goal::AtMost(60.0).evaluate(f64::NAN, 0.2).1, "**no**");
        assert_eq!(Goal::OfPlain(1.5).evaluate(99.0, 1.6), ("≤ 1.5 × plain".to_owned(), "**no**"));
        assert_eq!(Goal::None.evaluate(1.0, 1.0).1, "–");
    }
}
