//! The command line: writes the data, or checks that it is as derived.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Parser;
use envtest::ControlPlane;

/// Derive the overlay of Kubernetes' own types from a real kube-apiserver's OpenAPI.
#[derive(Parser)]
#[command(name = "overlay", version)]
struct Arguments {
    /// Compare with what is checked in, and write nothing
    #[arg(long)]
    check: bool,
}

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../logger-crd/src/structural/overlay.json");

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    let Some(assets) = envtest::find()? else { bail!("no control plane; {}", envtest::HOW_TO_GET) };
    let control_plane = ControlPlane::start(&assets)?;
    let derived = overlay::overlay(&overlay::documents(&assets, control_plane.kubeconfig())?);
    let file = Path::new(FILE);
    let is_as_derived = fs::read_to_string(file).is_ok_and(|text| text == derived);
    if !arguments.check && !is_as_derived {
        fs::write(file, &derived).with_context(|| format!("cannot write {}", file.display()))?;
        eprintln!("wrote the overlay, {} bytes; now run `cargo xtask codegen`", derived.len());
    }
    if arguments.check && !is_as_derived {
        eprintln!("the overlay is not as derived; run `cargo xtask overlay`");
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}
