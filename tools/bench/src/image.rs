//! `bench image`: what can be checked and measured of the images without a container engine.

mod builder;
mod definition;
mod idle;
mod root;
mod rows;

use anyhow::{Context, Result, ensure};

use self::{
    builder::{Builder, musl_target},
    definition::{Definition, Image},
    root::{Isolation, Root},
};
use crate::{environment, files, operator::programs, paths};

/// The names of the target directories.
const FIRST: &str = "first";
const SECOND: &str = "second";

/// The options of the benchmark.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The target of the programs, which are linked statically.
    #[arg(long, value_name = "TRIPLE", default_value_t = musl_target())]
    target: String,
    /// Compile the programs a second time in another target directory, and compare them.
    #[arg(long)]
    reproducible: bool,
    /// How many seconds a program is idle before its memory is measured.
    #[arg(long, default_value_t = 20)]
    idle: u64,
    /// The number of alternations between the operators.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Measure the memory of our operator only, which requires no Go.
    #[arg(long)]
    without_peers: bool,
}

/// The figures of an image.
struct Measured<'a> {
    name: &'a str,
    /// In megabytes of 10^6 bytes.
    size: f64,
    digest: String,
    runs_in_empty_root: bool,
    /// Whether the second build results in the same program, if there was one.
    is_reproducible: Option<bool>,
}

/// Runs the checks and the benchmark, and prints the tables. Fails if a program does not run in an empty root, or if
/// the second build results in another one.
pub(crate) fn run(options: &Options) -> Result<()> {
    let path = paths::workspace_root().join("Dockerfile");
    let definition = Definition::parse(&files::read(&path)?)?;
    let images = measure(&definition, options)?;
    let builder = Builder::new(&definition, &options.target, FIRST);
    let (figures, server) = idle::measure(options, &builder)?;
    environment::print();
    println!("{}; {}", options.target, programs::versions());
    println!("API server: {server}; list of dependencies in programs: {}\n", list(&builder));
    rows::print_images(&images);
    rows::print_memory(&figures);
    let different = images.iter().filter(|image| image.is_reproducible == Some(false)).map(|image| image.name);
    let different: Vec<_> = different.collect();
    ensure!(different.is_empty(), "the second build results in different programs: {}", different.join(", "));
    Ok(())
}

fn list(builder: &Builder<'_>) -> &'static str {
    if builder.is_auditable() { "yes" } else { "no, cargo-auditable is not installed" }
}

/// Compiles the programs and measures the images.
fn measure<'a>(definition: &'a Definition, options: &Options) -> Result<Vec<Measured<'a>>> {
    let first = Builder::new(definition, &options.target, FIRST);
    eprintln!("building the programs of the images for {}", options.target);
    first.build_images()?;
    let second = options.reproducible.then(|| Builder::new(definition, &options.target, SECOND));
    if let Some(second) = &second {
        eprintln!("building them again");
        second.build_images()?;
    }
    let measured = |image: &'a Image| measure_image(image, &first, second.as_ref());
    definition.images.iter().map(measured).collect()
}

fn measure_image<'a>(image: &'a Image, first: &Builder<'_>, second: Option<&Builder<'_>>) -> Result<Measured<'a>> {
    let root = Root::create(image, first)?;
    let isolation = Isolation::find(&image.user);
    match &isolation {
        Some(isolation) => root.run(isolation)?,
        None => eprintln!(
            "{} is not run in an empty root: this machine permits neither `chroot` nor user namespaces; run it as root",
            image.name
        ),
    }
    let digest = root.digest()?;
    let is_reproducible = match second {
        Some(second) => {
            let again = Root::create(image, second).and_then(|root| root.digest());
            Some(again.with_context(|| format!("cannot compare {}", image.name))? == digest)
        }
        None => None,
    };
    let (name, size, runs_in_empty_root) = (image.name.as_str(), root.size()?, isolation.is_some());
    Ok(Measured { name, size, digest, runs_in_empty_root, is_reproducible })
}
