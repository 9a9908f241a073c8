//! `bench generator`: generating clients and CRDs from types with the Go tools and with our generator.

use std::{fmt, str::FromStr};

use anyhow::{Result, ensure};

use crate::{
    environment, files,
    go::{self, Module, Tools},
    kinds::{Group, go_edited, rust_edited},
    paths,
    program::{Timing, output, timed},
    project::Project,
    stats::Timings,
    table::Table,
};

/// The options of the benchmark.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The numbers of kinds, each with four types and a list. `1000/20` are 1,000 kinds in 20 groups, each of which has
    /// a types crate and a Go package.
    #[arg(long, value_delimiter = ',', default_value = "1,100,1000,1000/20")]
    kinds: Vec<Size>,
    /// The number of alternations between Go and Rust.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

/// The size of an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    kinds: usize,
    groups: usize,
}

impl FromStr for Size {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (kinds, groups) = text.split_once('/').unwrap_or((text, "1"));
        let (kinds, groups) = (kinds.parse()?, groups.parse()?);
        ensure!((1..=kinds).contains(&groups), "expected at least one group, and one kind for each group");
        Ok(Size { kinds, groups })
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} kinds", self.kinds)?;
        if self.groups > 1 { write!(f, " in {} groups", self.groups) } else { Ok(()) }
    }
}

/// The number of runs of our generator per round; it is fast.
const RUNS: usize = 5;

/// Runs the benchmark and prints a table for each number of kinds.
pub(crate) fn run(options: &Options) -> Result<()> {
    let tools = go::build_tools()?;
    environment::print();
    for &size in &options.kinds {
        let mut bench = Bench::prepare(&tools, size)?;
        for round in 1..=options.rounds {
            eprintln!("{size}: round {round} of {}", options.rounds);
            bench.go(&tools, round)?;
            bench.rust(round)?;
        }
        bench.print(size)?;
    }
    Ok(())
}

/// The same kinds in Go and in Rust, and their measurements.
struct Bench {
    go: Module,
    rust: Project,
    /// The sources of the kinds before the edits.
    go_types: String,
    rust_types: String,
    steps: Vec<Timings>,
    other_deep_copies: Timings,
    go_total: Timings,
    edit: Timings,
    generator: Timings,
    definitions: Timings,
    check: Timings,
}

impl Bench {
    /// Writes the kinds and runs everything once, which builds dependencies and warms caches.
    fn prepare(tools: &Tools, size: Size) -> Result<Bench> {
        eprintln!("{size}: first runs");
        let groups = Group::all(size.kinds, size.groups);
        let directory = format!("{}-{}", size.kinds, size.groups);
        let go = Module::write(paths::home().join("go").join(&directory), &groups)?;
        let rust = Project::write(paths::home().join("rust").join(&directory), &groups)?;
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
            go_total: Timings::default(),
            edit: Timings::default(),
            generator: Timings::default(),
            definitions: Timings::default(),
            check: Timings::default(),
        })
    }

    /// Makes an edit and runs every Go tool.
    fn go(&mut self, tools: &Tools, round: usize) -> Result<()> {
        files::write(&self.go.types(), &go_edited(&self.go_types, round))?;
        self.other_deep_copies.push(timed(&mut tools.command(&go::OTHER_DEEP_COPIES, &self.go))?);
        let mut total = Timing::default();
        for (step, timings) in go::STEPS.iter().zip(&mut self.steps) {
            let timing = timed(&mut tools.command(step, &self.go))?;
            timings.push(timing);
            total = total + timing;
        }
        self.go_total.push(total);
        Ok(())
    }

    /// Makes the same edit and regenerates all files; then runs our generator alone without existing files.
    fn rust(&mut self, round: usize) -> Result<()> {
        files::write(&self.rust.types(), &rust_edited(&self.rust_types, round))?;
        self.edit.push(timed(&mut self.rust.cargo(["xtask", "codegen"]))?);
        for _ in 0..RUNS {
            for directory in self.rust.generated() {
                files::recreate_directory(&directory)?;
            }
            self.generator.push(timed(&mut self.rust.generator())?);
            self.check.push(timed(self.rust.generator().arg("--check"))?);
            self.definitions.push(timed(self.rust.generator().arg("--stdout"))?);
        }
        Ok(())
    }

    fn print(&self, size: Size) -> Result<()> {
        let title = size.to_string();
        let mut table =
            Table::new([title.as_str(), "s, median", "s, min", "CPU s", "speedup to Go", "speedup by CPU s"]);
        let mut row = |name: &str, timings: &Timings, compared: bool| {
            let speedup = |ratio: f64| if compared { format!("{ratio:.1}") } else { String::new() };
            table.row([
                name.to_owned(),
                format!("{:.3}", timings.elapsed.median()),
                format!("{:.3}", timings.elapsed.min()),
                format!("{:.2}", timings.cpu_time.median()),
                speedup(self.go_total.elapsed.median() / timings.elapsed.median()),
                speedup(self.go_total.cpu_time.median() / timings.cpu_time.median()),
            ]);
        };
        for (step, timings) in go::STEPS.iter().zip(&self.steps) {
            row(step.name, timings, false);
        }
        row(&format!("{}, not in the sum", go::OTHER_DEEP_COPIES.name), &self.other_deep_copies, false);
        row("all Go tools, after an edit", &self.go_total, true);
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

    /// Prints the table of CRDs alone. Our generator prints them, since it writes all files or none.
    fn print_definitions(&self) {
        let mut table = Table::new(["CRDs alone", "s, median", "s, min", "CPU s", "speedup", "speedup by CPU s"]);
        let steps = go::STEPS.iter().zip(&self.steps);
        for (step, theirs) in steps.filter(|(step, _)| step.name == "controller-gen crd") {
            for (name, timings) in [(step.name, theirs), ("codegen --stdout", &self.definitions)] {
                table.row([
                    name.to_owned(),
                    format!("{:.3}", timings.elapsed.median()),
                    format!("{:.3}", timings.elapsed.min()),
                    format!("{:.2}", timings.cpu_time.median()),
                    format!("{:.1}", theirs.elapsed.median() / timings.elapsed.median()),
                    format!("{:.1}", theirs.cpu_time.median() / timings.cpu_time.median()),
                ]);
            }
        }
        println!("{table}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_kinds_and_groups() -> Result<()> {
        assert_eq!("100".parse::<Size>()?, Size { kinds: 100, groups: 1 });
        assert_eq!("1000/20".parse::<Size>()?, Size { kinds: 1000, groups: 20 });
        Ok(())
    }

    #[test]
    fn a_group_without_kinds_is_an_error() {
        for text in ["0", "5/20", "5/0", "5/", "many"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
