//! How types are written in protobuf: what a Go program says that reads the tags of their structs.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::json;

/// The module whose versions are those of the control plane, and the program, from there.
const MODULE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../envtest");
const PROGRAM: &str = "../overlay/wire/main.go";

/// The file: its origin, and one line for each type.
///
/// # Errors
/// Go is not there, or the program fails.
pub fn wire(version: &str) -> Result<String> {
    let ran = Command::new("go").args(["run", PROGRAM]).current_dir(Path::new(MODULE)).output();
    let ran = ran.context("cannot run go; install it, or have it on the path")?;
    ensure!(ran.status.success(), "go run {PROGRAM}: {}", String::from_utf8_lossy(&ran.stderr).trim());
    let types = String::from_utf8(ran.stdout).context("the program does not write text")?;
    let origin = json!({
        "what": "The fields of Kubernetes' own types: `?` is left out when it is nothing, `+` has its own fields in its place; \
                 number in protobuf, type (`*` may be absent, `[]` list, `{}` map), name in Go if it is another.",
        "origin": format!("struct tags of the Go types of Kubernetes {version}, derived by `cargo xtask overlay`"),
        "license": "Apache-2.0, The Kubernetes Authors",
    });
    Ok(format!("{{\"about\":{origin},\n\"types\":{{\n{types}}}}}\n"))
}
