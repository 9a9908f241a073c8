//! The fields of types in the order of JSON, and their protobuf encoding, which a Go program reads from the structs.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::json;

/// The directory of the Go module with the versions of the control plane, and the path of the program relative to it.
const MODULE: &str = "tools/envtest";
const PROGRAM: &str = "../overlay/wire/main.go";

/// Returns the contents of the file: its origin, and one line for each type.
///
/// # Errors
/// Fails if Go is not installed or the program fails.
pub fn wire(version: &str) -> Result<String> {
    let module = envtest::workspace_root()?.join(MODULE);
    let output = Command::new("go").args(["run", PROGRAM]).current_dir(module).output();
    let output = output.context("cannot run go; install it or add it to PATH")?;
    ensure!(output.status.success(), "go run {PROGRAM}: {}", String::from_utf8_lossy(&output.stderr).trim());
    let types = String::from_utf8(output.stdout).context("the output of the program is not UTF-8")?;
    let origin = json!({
        "what": "The fields of Kubernetes' own types in their order in JSON: `?` is omitted when empty, `+` is \
                 inlined; number in protobuf, type (`*` optional, `[]` list, `{}` map), name in Go if it differs.",
        "origin": format!("struct tags of the Go types of Kubernetes {version}, derived by `cargo xtask overlay`"),
        "license": "Apache-2.0, The Kubernetes Authors",
    });
    Ok(format!("{{\"about\":{origin},\n\"types\":{{\n{types}}}}}\n"))
}
