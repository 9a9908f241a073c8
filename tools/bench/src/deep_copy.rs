//! `bench deep-copy`: copies of one Logger by Go's generated code, by `Clone` and by `DeepCopy`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
    str::FromStr,
};

use anyhow::{Context, Result};

use crate::{cargo, environment, files, go, kinds::Group, paths, program, stats::Samples, table::Table};

/// The options of the benchmark.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The number of alternations between Go and Rust.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
}

const GO_BENCH: &str = include_str!("../apis/example/v1/deep_copy_test.go");
const LOGGER: &str = include_str!("../apis/example/v1/testdata/logger.json");

/// The Rust programs and the table labels of their allocators.
const TIMINGS: [(&str, &str); 2] = [("copy-timings", "system malloc"), ("copy-timings-mimalloc", "mimalloc")];
const METHODS: [&str; 3] = ["clone", "deep_copy", "deep_copy_into"];

/// The copied objects with the names of their Go benchmarks and their table titles.
const OBJECTS: [(&str, &str, &str); 2] =
    [("full", "BenchmarkFull", "with managedFields"), ("stripped", "BenchmarkStripped", "without managedFields")];

/// The samples of one copy method in nanoseconds, and its allocations.
#[derive(Default)]
struct Measurement {
    elapsed: Samples,
    cpu_time: Samples,
    allocations: u64,
    bytes: u64,
}

/// Measurements by name.
type Measurements = BTreeMap<String, Measurement>;

/// Runs the benchmark and prints a table for each object.
pub(crate) fn run(options: &Options) -> Result<()> {
    let go_bench = build_go()?;
    let programs = build_rust()?;
    environment::print();
    let mut measurements = Measurements::new();
    for round in 1..=options.rounds {
        eprintln!("round {round} of {}", options.rounds);
        run_round(&go_bench, &programs, &mut measurements)?;
    }
    count_allocations(&programs, &mut measurements)?;
    OBJECTS.iter().for_each(|object| print(object, &measurements));
    Ok(())
}

/// Runs Go and each Rust program once.
fn run_round(go_bench: &Path, programs: &Path, measurements: &mut Measurements) -> Result<()> {
    for line in run_go(go_bench)?.lines().filter_map(go_line) {
        let measurement = measurements.entry(line.name).or_default();
        measurement.elapsed.push(line.elapsed);
        measurement.cpu_time.push(line.cpu_time);
        (measurement.allocations, measurement.bytes) = line.allocations;
    }
    for (program, _) in TIMINGS {
        for (name, samples) in rust_lines::<f64>(&run_rust(programs, program)?)? {
            let measurement = measurements.entry(format!("{program} {name}")).or_default();
            measurement.elapsed.push(samples.iter().map(|(elapsed, _)| *elapsed).collect::<Samples>().median());
            measurement.cpu_time.push(samples.iter().map(|(_, cpu_time)| *cpu_time).collect::<Samples>().median());
        }
    }
    Ok(())
}

/// Counts allocations, which do not depend on the allocator.
fn count_allocations(programs: &Path, measurements: &mut Measurements) -> Result<()> {
    for (name, counts) in rust_lines::<u64>(&run_rust(programs, "copy-allocations")?)? {
        for (program, _) in TIMINGS {
            let measurement = measurements.entry(format!("{program} {name}")).or_default();
            (measurement.allocations, measurement.bytes) = counts.first().copied().unwrap_or_default();
        }
    }
    Ok(())
}

/// Builds a Go test binary of one kind with its generated copy functions.
fn build_go() -> Result<PathBuf> {
    let tools = go::build_tools()?;
    let module = go::Module::write(paths::home().join("go/deep-copy"), &Group::all(1, 1))?;
    let package = module.directory().join("apis/example/v1");
    files::write(&package.join("deep_copy_test.go"), GO_BENCH)?;
    files::write(&package.join("testdata/logger.json"), LOGGER)?;
    for step in [&go::DEEP_COPIES, &go::REGISTRATION] {
        program::output(&mut tools.command(step, &module))?;
    }
    let binary = package.join("deep-copy.test");
    program::output(module.go(["test", "-c", "-o"]).arg(&binary).arg("./apis/example/v1"))?;
    Ok(binary)
}

fn run_go(binary: &Path) -> Result<String> {
    let mut command = Command::new(binary);
    command.args(["-test.run=^$", "-test.bench=.", "-test.benchtime=300ms"]);
    command.current_dir(binary.parent().unwrap_or(binary));
    program::output(&mut command)
}

/// Builds the Rust programs with optimisations and returns their directory.
fn build_rust() -> Result<PathBuf> {
    eprintln!("building the Rust programs");
    let args = ["build", "--release", "--package", "bench", "--features", "mimalloc", "--bins"];
    program::output(&mut cargo::command(paths::workspace_root(), args))?;
    Ok(paths::target_dir().join("release"))
}

fn run_rust(programs: &Path, name: &str) -> Result<String> {
    program::output(&mut Command::new(programs.join(name)))
}

/// A line of `go test -bench`.
struct GoLine {
    name: String,
    elapsed: f64,
    cpu_time: f64,
    allocations: (u64, u64),
}

/// Parses `BenchmarkFull-2   374948   3153 ns/op   3410 cpu-ns/op   3168 B/op   25 allocs/op`.
fn go_line(line: &str) -> Option<GoLine> {
    let words: Vec<_> = line.split_whitespace().collect();
    let (name, rest) = (words.first()?, words.get(2..)?);
    let value_of = |unit: &str| rest.chunks_exact(2).find(|pair| pair[1] == unit).map(|pair| pair[0]);
    Some(GoLine {
        name: name.split('-').next()?.to_owned(),
        elapsed: value_of("ns/op")?.parse().ok()?,
        cpu_time: value_of("cpu-ns/op")?.parse().ok()?,
        allocations: (value_of("allocs/op")?.parse().ok()?, value_of("B/op")?.parse().ok()?),
    })
}

/// A name and pairs of numbers.
type Line<T> = (String, Vec<(T, T)>);

/// Parses lines with a name, a tab and pairs of numbers.
fn rust_lines<T: FromStr>(text: &str) -> Result<Vec<Line<T>>> {
    let pair = |text: &str| {
        let (first, second) = text.split_once(':')?;
        Some((first.parse().ok()?, second.parse().ok()?))
    };
    let line = |text: &str| {
        let (name, pairs) = text.split_once('\t')?;
        Some((name.to_owned(), pairs.split(' ').map(pair).collect::<Option<_>>()?))
    };
    text.lines().map(|text| line(text).with_context(|| format!("not a measurement: {text}"))).collect()
}

fn print((object, go_bench, title): &(&str, &str, &str), measurements: &Measurements) {
    let none = Measurement::default();
    let measured = |name: &str| measurements.get(name).unwrap_or(&none);
    let go = measured(go_bench);
    let mut table =
        Table::new([title, "CPU ns", "wall ns, min", "allocations", "bytes", "CPU to Go", "min wall to Go"]);
    let mut row = |name: String, measurement: &Measurement| {
        table.row([
            name,
            format!("{:.0}", measurement.cpu_time.median()),
            format!("{:.0}", measurement.elapsed.min()),
            measurement.allocations.to_string(),
            measurement.bytes.to_string(),
            format!("{:.2}", measurement.cpu_time.ratios_to(&go.cpu_time).median()),
            format!("{:.2}", measurement.elapsed.min() / go.elapsed.min()),
        ]);
    };
    row("Go DeepCopy".to_owned(), go);
    for (program, allocator) in TIMINGS {
        for method in METHODS {
            row(format!("{method}, {allocator}"), measured(&format!("{program} {object} {method}")));
        }
    }
    println!("{table}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_output_is_parsed() {
        let text = "BenchmarkFull-2   \t  374948\t  3153 ns/op\t  3410 cpu-ns/op\t  3168 B/op\t  25 allocs/op";
        let line = go_line(text).unwrap();
        assert_eq!((line.name.as_str(), line.elapsed, line.cpu_time), ("BenchmarkFull", 3153.0, 3410.0));
        assert_eq!(line.allocations, (25, 3168));
        assert!(go_line("goos: linux").is_none() && go_line("PASS").is_none());
    }

    #[test]
    fn output_of_the_rust_programs_is_parsed() {
        let lines = rust_lines::<f64>("full clone\t3.0:1.0 2.0:1.5\nfull deep_copy\t5:4\n").unwrap();
        assert_eq!(lines[0], ("full clone".to_owned(), vec![(3.0, 1.0), (2.0, 1.5)]));
        assert_eq!(lines[1], ("full deep_copy".to_owned(), vec![(5.0, 4.0)]));
        assert!(rust_lines::<u64>("full clone\tfast").is_err());
    }
}
