//! The command line: writes the data, or checks that it is as derived.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Parser;
use envtest::ControlPlane;
use overlay::Documents;

/// Derive what is known of Kubernetes' own types from a real kube-apiserver and from their Go source.
#[derive(Parser)]
#[command(name = "overlay", version)]
struct Arguments {
    /// Compare with what is checked in, and write nothing
    #[arg(long)]
    check: bool,
}

/// What is derived, and into which file below the workspace's root.
type File = (&'static str, fn(&Documents) -> Result<String>);

const FILES: [File; 3] = [
    ("logger-crd/src/structural/overlay.json", |documents| Ok(overlay::overlay(documents))),
    ("logger-apiserver/src/openapi/enums.json", |documents| Ok(overlay::enums(documents))),
    ("logger-apiserver/src/protobuf/types.json", |documents| overlay::wire(&documents.version)),
];

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
    let documents = overlay::documents(&assets, control_plane.kubeconfig())?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all_are_as_derived = true;
    for (name, derive) in FILES {
        all_are_as_derived &= settle(&root.join(name), &derive(&documents)?, arguments.check)?;
    }
    Ok(if all_are_as_derived { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Writes a file, or only compares it. Whether it is as derived then.
fn settle(file: &Path, derived: &str, check: bool) -> Result<bool> {
    if fs::read_to_string(file).is_ok_and(|text| text == derived) {
        return Ok(true);
    }
    if check {
        eprintln!("{} is not as derived; run `cargo xtask overlay`", file.display());
        return Ok(false);
    }
    fs::write(file, derived).with_context(|| format!("cannot write {}", file.display()))?;
    eprintln!("wrote {}, {} bytes; now run `cargo xtask codegen`", file.display(), derived.len());
    Ok(true)
}
