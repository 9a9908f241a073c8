//! `bench deep-copy`: one Logger copied by what Go generates, by `Clone` and by `DeepCopy`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use anyhow::{Context, Result};

use crate::stats::Samples;
use crate::table::Table;
use crate::{cargo, conditions, files, go, paths, program};

/// How often.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How often Go and Rust take turns
    #[arg(long, default_value_t = 7)]
    rounds: usize,
}

const GO_BENCH: &str = include_str!("../apis/example/v1/deep_copy_test.go");
const LOGGER: &str = include_str!("../apis/example/v1/testdata/logger.json");

/// The Rust programs: the allocator each is on, as tables call it.
const TIMINGS: [(&str, &str); 2] = [("copy-timings", "system malloc"), ("copy-timings-mimalloc", "mimalloc")];
const WAYS: [&str; 3] = ["clone", "deep_copy", "deep_copy_into"];

/// The objects that are copied, and what Go's benches of them are called.
const OBJECTS: [(&str, &str, &str); 2] =
    [("whole", "BenchmarkWhole", "with managedFields"), ("stripped", "BenchmarkStripped", "without managedFields")];

/// What one way of copying takes, turn after turn, in nanoseconds, and what it allocates.
#[derive(Default)]
struct Way {
    elapsed: Samples,
    computed: Samples,
    allocations: u64,
    bytes: u64,
}

/// By the name of what was measured.
type Ways = BTreeMap<String, Way>;

/// Measures, and prints a table for each object.
pub(crate) fn run(options: &Options) -> Result<()> {
    let go_bench = build_go()?;
    let programs = build_rust()?;
    conditions::print();
    let mut ways = Ways::new();
    for round in 1..=options.rounds {
        eprintln!("round {round} of {}", options.rounds);
        take_turn(&go_bench, &programs, &mut ways)?;
    }
    count_allocations(&programs, &mut ways)?;
    OBJECTS.iter().for_each(|object| print(object, &ways));
    Ok(())
}

/// Go once, and each Rust program once.
fn take_turn(go_bench: &Path, programs: &Path, ways: &mut Ways) -> Result<()> {
    for line in run_go(go_bench)?.lines().filter_map(go_line) {
        let way = ways.entry(line.name).or_default();
        way.elapsed.push(line.elapsed);
        way.computed.push(line.computed);
        (way.allocations, way.bytes) = line.allocations;
    }
    for (program, _) in TIMINGS {
        for (name, samples) in rust_lines::<f64>(&run_rust(programs, program)?)? {
            let way = ways.entry(format!("{program} {name}")).or_default();
            way.elapsed.push(samples.iter().map(|(elapsed, _)| *elapsed).collect::<Samples>().median());
            way.computed.push(samples.iter().map(|(_, computed)| *computed).collect::<Samples>().median());
        }
    }
    Ok(())
}

/// The same with any allocator.
fn count_allocations(programs: &Path, ways: &mut Ways) -> Result<()> {
    for (name, counts) in rust_lines::<u64>(&run_rust(programs, "copy-allocations")?)? {
        for (program, _) in TIMINGS {
            let way = ways.entry(format!("{program} {name}")).or_default();
            (way.allocations, way.bytes) = counts.first().copied().unwrap_or_default();
        }
    }
    Ok(())
}

/// A Go test binary of one kind, with the generated copy.
fn build_go() -> Result<PathBuf> {
    let tools = go::build_tools()?;
    let module = go::Module::write(paths::home().join("go/deep-copy"), 1)?;
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

/// The directory of the Rust programs, optimised.
fn build_rust() -> Result<PathBuf> {
    eprintln!("building the Rust programs");
    let args = ["build", "--release", "--package", "bench", "--features", "mimalloc", "--bins"];
    program::output(&mut cargo::command(paths::workspace_root(), args))?;
    Ok(paths::target_dir().join("release"))
}

fn run_rust(programs: &Path, name: &str) -> Result<String> {
    program::output(&mut Command::new(programs.join(name)))
}

/// What a line of `go test -bench` says.
struct GoLine {
    name: String,
    elapsed: f64,
    computed: f64,
    allocations: (u64, u64),
}

/// `BenchmarkWhole-2   374948   3153 ns/op   3410 cpu-ns/op   3168 B/op   25 allocs/op`
fn go_line(line: &str) -> Option<GoLine> {
    let words: Vec<_> = line.split_whitespace().collect();
    let (name, rest) = (words.first()?, words.get(2..)?);
    let of = |unit: &str| rest.chunks_exact(2).find(|pair| pair[1] == unit).map(|pair| pair[0]);
    Some(GoLine {
        name: name.split('-').next()?.to_owned(),
        elapsed: of("ns/op")?.parse().ok()?,
        computed: of("cpu-ns/op")?.parse().ok()?,
        allocations: (of("allocs/op")?.parse().ok()?, of("B/op")?.parse().ok()?),
    })
}

/// A name, and pairs of numbers.
type Line<T> = (String, Vec<(T, T)>);

/// Lines of a name, a tab, and pairs of numbers.
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

fn print((object, go_bench, title): &(&str, &str, &str), ways: &Ways) {
    let none = Way::default();
    let of = |name: &str| ways.get(name).unwrap_or(&none);
    let go = of(go_bench);
    let mut table =
        Table::new([title, "CPU ns", "wall ns, least", "allocations", "bytes", "CPU to Go", "least wall to Go"]);
    let mut row = |name: String, way: &Way| {
        table.row([
            name,
            format!("{:.0}", way.computed.median()),
            format!("{:.0}", way.elapsed.min()),
            way.allocations.to_string(),
            way.bytes.to_string(),
            format!("{:.2}", way.computed.ratios_to(&go.computed).median()),
            format!("{:.2}", way.elapsed.min() / go.elapsed.min()),
        ]);
    };
    row("Go DeepCopy".to_owned(), go);
    for (program, allocator) in TIMINGS {
        for way in WAYS {
            row(format!("{way}, {allocator}"), of(&format!("{program} {object} {way}")));
        }
    }
    println!("{table}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_prints_is_read() {
        let text = "BenchmarkWhole-2   \t  374948\t  3153 ns/op\t  3410 cpu-ns/op\t  3168 B/op\t  25 allocs/op";
        let line = go_line(text).unwrap();
        assert_eq!((line.name.as_str(), line.elapsed, line.computed), ("BenchmarkWhole", 3153.0, 3410.0));
        assert_eq!(line.allocations, (25, 3168));
        assert!(go_line("goos: linux").is_none() && go_line("PASS").is_none());
    }

    #[test]
    fn what_our_programs_print_is_read() {
        let lines = rust_lines::<f64>("whole clone\t3.0:1.0 2.0:1.5\nwhole deep_copy\t5:4\n").unwrap();
        assert_eq!(lines[0], ("whole clone".to_owned(), vec![(3.0, 1.0), (2.0, 1.5)]));
        assert_eq!(lines[1], ("whole deep_copy".to_owned(), vec![(5.0, 4.0)]));
        assert!(rust_lines::<u64>("whole clone\tfast").is_err());
    }
}
