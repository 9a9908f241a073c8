//! The command line: writes the derived files, or checks that they are current.

use std::{fs, process::ExitCode};

use anyhow::{Context, Result, bail};
use clap::Parser;
use envtest::ControlPlane;

/// Derive the facts of Kubernetes' own types from a real kube-apiserver and from their Go source.
#[derive(Parser)]
#[command(name = "overlay", version)]
struct Arguments {
    /// Compare with the checked-in files, and write nothing.
    #[arg(long)]
    check: bool,
}

// The paths of the derived files, relative to the workspace root.
const OVERLAY: &str = "crates/kubewright-crd/src/structural/overlay.json";
const ENUMS: &str = "crates/kubewright-apiserver/src/meta/openapi/enums.json";
const COLUMNS: &str = "crates/kubewright-apiserver/src/resource/printer_columns/built_in.json";
const WIRE: &str = "crates/kubewright-apiserver/src/api/types.json";

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
    let derived = [
        (OVERLAY, overlay::overlay(&documents)),
        (ENUMS, overlay::enums(&documents)),
        (COLUMNS, overlay::columns(control_plane.kubeconfig())?),
        (WIRE, overlay::wire(&documents.version)?),
    ];
    let mut are_current = true;
    for (name, text) in derived {
        are_current &= write_or_check(name, &text, arguments.check)?;
    }
    Ok(if are_current { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Writes or compares a file, and reports whether it is current.
fn write_or_check(name: &str, derived: &str, check: bool) -> Result<bool> {
    let file = envtest::workspace_root()?.join(name);
    if fs::read_to_string(&file).is_ok_and(|text| text == derived) {
        return Ok(true);
    }
    if check {
        eprintln!("{name} is not current; run `cargo xtask overlay`");
        return Ok(false);
    }
    fs::write(&file, derived).with_context(|| format!("cannot write {}", file.display()))?;
    let next = if name == OVERLAY { "; now run `cargo xtask codegen`" } else { "" };
    eprintln!("wrote {name}, {} bytes{next}", derived.len());
    Ok(true)
}
