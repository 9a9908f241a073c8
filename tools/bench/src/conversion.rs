//! `bench conversion`: the conversion webhooks of controller-runtime and of kubewright-manager on the same reviews.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    cargo, environment, files, go, paths, program,
    stats::Samples,
    table::{Table, number, ratio},
};

/// The options of the benchmark.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The number of alternations between Go and Rust.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// How many seconds a program converts one review in a round.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
}

const LOGGER: &str = include_str!("../apis/example/v1/testdata/logger.json");
const GO_MOD: &str = include_str!("../operator/go.mod");

/// The programs, ours first.
const PROGRAMS: [&str; 2] = ["kubewright-manager", "controller-runtime"];

/// The numbers of objects of the reviews: one of a read, and a page of a list.
const SIZES: [usize; 2] = [1, 100];
/// The versions from which and to which is converted.
const DIRECTIONS: [(&str, &str); 2] = [("v1", "v2"), ("v2", "v1")];

/// What a program prints: times per object.
#[derive(Deserialize)]
struct Figures {
    median_us: f64,
    p99_us: f64,
    cpu_us: f64,
}

/// The samples of one program and one review, in microseconds per object.
#[derive(Default)]
struct Measurement {
    median: Samples,
    p99: Samples,
    cpu_time: Samples,
}

/// A review in a file, and the measurements of the programs.
struct Review {
    title: String,
    file: PathBuf,
    measurements: [Measurement; 2],
}

/// Runs the benchmark and prints the table.
pub(crate) fn run(options: &Options) -> Result<()> {
    let programs = build()?;
    let mut reviews = reviews(&programs)?;
    environment::print();
    println!("{}\n", go::required(GO_MOD, &["sigs.k8s.io/controller-runtime", "k8s.io/apimachinery"]));
    for round in 1..=options.rounds {
        eprintln!("round {round} of {}", options.rounds);
        for review in &mut reviews {
            for (program, measurement) in programs.iter().zip(&mut review.measurements) {
                let text = convert(program, &review.file, options.seconds)?;
                let figures: Figures =
                    serde_json::from_str(&text).with_context(|| format!("not a measurement: {text}"))?;
                measurement.median.push(figures.median_us);
                measurement.p99.push(figures.p99_us);
                measurement.cpu_time.push(figures.cpu_us);
            }
        }
    }
    print(&reviews);
    Ok(())
}

/// Builds both programs with optimisations.
fn build() -> Result<[PathBuf; 2]> {
    eprintln!("building the program in Go");
    let theirs = paths::home().join("conversion/controller-runtime");
    let mut command = Command::new("go");
    command.args(["build", "-trimpath", "-o"]).arg(&theirs).arg("./conversion");
    command.current_dir(paths::crate_dir().join("operator"));
    program::output(&mut command).context("cannot build the program in Go")?;
    eprintln!("building the program in Rust");
    let args = ["build", "--release", "--package", "bench-conversion"];
    program::output(&mut cargo::command(paths::workspace_root(), args))?;
    Ok([paths::target_dir().join("release/bench-conversion"), theirs])
}

fn convert(program: &Path, review: &Path, seconds: f64) -> Result<String> {
    program::output(Command::new(program).arg(review).arg(seconds.to_string()))
}

/// Writes the reviews. Both programs must convert their objects to the same ones.
fn reviews(programs: &[PathBuf; 2]) -> Result<Vec<Review>> {
    let old: Value = serde_json::from_str(LOGGER)?;
    let mut reviews = Vec::new();
    let mut object = old;
    for (from, to) in DIRECTIONS {
        let mut converted = None;
        for objects in SIZES {
            let file = paths::home().join(format!("conversion/{from}-{objects}.json"));
            files::write(&file, &review(&object, objects, to).to_string())?;
            let [ours, theirs] = [&programs[0], &programs[1]].map(|program| first_object(program, &file));
            let (ours, theirs) = (ours?, theirs?);
            ensure!(
                ours["spec"] == theirs["spec"] && ours["status"] == theirs["status"],
                "the programs convert to different objects: {ours} and {theirs}"
            );
            converted = Some(ours);
            let title = format!("{from} to {to}, {objects} {}", if objects == 1 { "object" } else { "objects" });
            reviews.push(Review { title, file, measurements: Default::default() });
        }
        object = converted.context("there are no reviews")?;
    }
    Ok(reviews)
}

fn review(object: &Value, objects: usize, version: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "ConversionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "desiredAPIVersion": format!("example.com/{version}"),
            "objects": vec![object; objects],
        },
    })
}

fn first_object(program: &Path, review: &Path) -> Result<Value> {
    let mut response: Value = serde_json::from_str(&convert(program, review, 0.0)?)?;
    let object = response["response"]["convertedObjects"][0].take();
    let size = fs::metadata(review)?.len();
    ensure!(object.is_object(), "the conversion of a review of {size} bytes failed: {response}");
    Ok(object)
}

fn print(reviews: &[Review]) {
    let titles = ["per object", "program", "median µs", "p99 µs", "CPU µs", "controller-runtime to it, median", "CPU"];
    let mut table = Table::new(titles);
    for review in reviews {
        let [_, theirs] = &review.measurements;
        for (program, measurement) in PROGRAMS.iter().zip(&review.measurements) {
            table.row([
                review.title.clone(),
                (*program).to_owned(),
                number(measurement.median.median()),
                number(measurement.p99.median()),
                number(measurement.cpu_time.median()),
                ratio(theirs.median.ratios_to(&measurement.median).median()),
                ratio(theirs.cpu_time.ratios_to(&measurement.cpu_time).median()),
            ]);
        }
    }
    println!("{table}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_review_has_the_objects_and_the_desired_version() {
        let review = review(&json!({"kind": "Logger"}), 2, "v2");
        assert_eq!(review["request"]["objects"], json!([{"kind": "Logger"}, {"kind": "Logger"}]));
        assert_eq!(review["request"]["desiredAPIVersion"], "example.com/v2");
    }
}
