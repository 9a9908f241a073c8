//! `bench generator`: from types to a client and CRDs, by the Go tools and by ours.

use anyhow::Result;

use crate::go::{self, Module, Tools};
use crate::kinds::{go_edited, rust_edited};
use crate::program::{Taken, output, timed};
use crate::project::Project;
use crate::stats::Timings;
use crate::table::Table;
use crate::{conditions, files, paths};

/// For how many kinds, and how often.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// For how many kinds, of four types and a list each
    #[arg(long, value_delimiter = ',', default_value = "1,100,1000")]
    kinds: Vec<usize>,
    /// How often Go and Rust take turns
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

/// How often our generator alone runs in a turn: it is quick.
const RUNS: usize = 5;

/// Measures, and prints a table for each number of kinds.
pub(crate) fn run(options: &Options) -> Result<()> {
    let tools = go::build_tools()?;
    conditions::print();
    for &kinds in &options.kinds {
        let mut bench = Bench::prepare(&tools, kinds)?;
        for round in 1..=options.rounds {
            eprintln!("{kinds} kinds: round {round} of {}", options.rounds);
            bench.go(&tools, round)?;
            bench.rust(round)?;
        }
        bench.print(kinds)?;
    }
    Ok(())
}

/// The same kinds twice, and what was measured of them.
struct Bench {
    go: Module,
    rust: Project,
    /// The kinds as they were before any edit.
    go_types: String,
    rust_types: String,
    steps: Vec<Timings>,
    other_deep_copies: Timings,
    all_of_go: Timings,
    edit: Timings,
    generator: Timings,
    definitions: Timings,
    check: Timings,
}

impl Bench {
    /// Writes the kinds and lets everything run once: packages are loaded, dependencies built, caches warm.
    fn prepare(tools: &Tools, kinds: usize) -> Result<Bench> {
        eprintln!("{kinds} kinds: first runs");
        let go = Module::write(paths::home().join(format!("go/{kinds}")), kinds)?;
        let rust = Project::write(paths::home().join(format!("rust/{kinds}")), kinds)?;
        for step in &go::STEPS {
            output(&mut tools.command(step, &go))?;
        }
        output(&mut rust.cargo(["xtask", "codegen"]))?;
        Ok(Bench {
            go_types: files::read(&go.types())?,
            rust_types: files::read(&rust.types())?,
            go,
            rust,
            steps: go::STEPS.iter().map(|_| Timings::default()).collect(),
            other_deep_copies: Timings::default(),
            all_of_go: Timings::default(),
            edit: Timings::default(),
            generator: Timings::default(),
            definitions: Timings::default(),
            check: Timings::default(),
        })
    }

    /// One edit, and every Go tool after it.
    fn go(&mut self, tools: &Tools, round: usize) -> Result<()> {
        files::write(&self.go.types(), &go_edited(&self.go_types, round))?;
        self.other_deep_copies.push(timed(&mut tools.command(&go::OTHER_DEEP_COPIES, &self.go))?);
        let mut all = Taken::default();
        for (step, timings) in go::STEPS.iter().zip(&mut self.steps) {
            let taken = timed(&mut tools.command(step, &self.go))?;
            timings.push(taken);
            all = all + taken;
        }
        self.all_of_go.push(all);
        Ok(())
    }

    /// The same edit, and all files written anew; then our generator alone, which finds none of its files there.
    fn rust(&mut self, round: usize) -> Result<()> {
        files::write(&self.rust.types(), &rust_edited(&self.rust_types, round))?;
        self.edit.push(timed(&mut self.rust.cargo(["xtask", "codegen"]))?);
        for _ in 0..RUNS {
            for directory in self.rust.generated() {
                files::make_empty(&directory)?;
            }
            self.generator.push(timed(&mut self.rust.generator())?);
            self.check.push(timed(self.rust.generator().arg("--check"))?);
            self.definitions.push(timed(self.rust.generator().arg("--stdout"))?);
        }
        Ok(())
    }

    fn print(&self, kinds: usize) -> Result<()> {
        let title = format!("{kinds} kinds");
        let mut table =
            Table::new([title.as_str(), "s, median", "s, least", "CPU s", "times as fast as Go", "by CPU s"]);
        let mut row = |name: &str, timings: &Timings, compared: bool| {
            let of = |ratio: f64| if compared { format!("{ratio:.1}") } else { String::new() };
            table.row([
                name.to_owned(),
                format!("{:.3}", timings.elapsed.median()),
                format!("{:.3}", timings.elapsed.min()),
                format!("{:.2}", timings.computed.median()),
                of(self.all_of_go.elapsed.median() / timings.elapsed.median()),
                of(self.all_of_go.computed.median() / timings.computed.median()),
            ]);
        };
        for (step, timings) in go::STEPS.iter().zip(&self.steps) {
            row(step.name, timings, false);
        }
        row(&format!("{}, not in the sum", go::OTHER_DEEP_COPIES.name), &self.other_deep_copies, false);
        row("all Go tools, after an edit", &self.all_of_go, true);
        row("cargo xtask codegen, after an edit", &self.edit, true);
        row("our generator alone", &self.generator, true);
        row("our generator alone, --check", &self.check, true);
        println!("{table}");
        self.print_definitions();
        let (go_files, go_lines) = files::count(&self.go.generated())?;
        let (files, lines) = files::count(&self.rust.generated())?;
        println!("written: Go {go_files} files, {go_lines} lines; ours {files} files, {lines} lines\n");
        Ok(())
    }

    /// CRDs alone: ours are printed, since only all of it is written at once.
    fn print_definitions(&self) {
        let mut table = Table::new(["CRDs alone", "s, median", "s, least", "CPU s", "times as fast", "by CPU s"]);
        let steps = go::STEPS.iter().zip(&self.steps);
        for (step, theirs) in steps.filter(|(step, _)| step.name == "controller-gen crd") {
            for (name, of) in [(step.name, theirs), ("codegen --stdout", &self.definitions)] {
                table.row([
                    name.to_owned(),
                    format!("{:.3}", of.elapsed.median()),
                    format!("{:.3}", of.elapsed.min()),
                    format!("{:.2}", of.computed.median()),
                    format!("{:.1}", theirs.elapsed.median() / of.elapsed.median()),
                    format!("{:.1}", theirs.computed.median() / of.computed.median()),
                ]);
            }
        }
        println!("{table}");
    }
}
