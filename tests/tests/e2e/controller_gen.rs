//! The definitions that controller-gen makes of Go types, and ours of the same in Rust: the server takes both, and what it
//! would store differs where the list says so and nowhere else.

#[path = "../controller_gen/difference.rs"]
mod difference;
#[path = "../controller_gen/twins.rs"]
mod twins;

use std::collections::BTreeMap;
use std::io::Write;
use std::process::Stdio;
use std::sync::Arc;

use envtest::ControlPlane;
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use super::trial;
use difference::{differences, reasons};
use twins::Twins;

pub(super) fn trials(control_plane: &Arc<ControlPlane>) -> Vec<Trial> {
    vec![trial(control_plane, "controller_gen::the_server_would_store_the_same", the_server_would_store_the_same)]
}

fn the_server_would_store_the_same(control_plane: &ControlPlane) -> Result<(), Failed> {
    let Some(Twins { ours, theirs }) = twins::find_or_skip() else { return Ok(()) };
    let (ours, theirs) = (stored(control_plane, ours)?, stored(control_plane, theirs)?);
    let known = reasons();
    for (name, ours) in &ours {
        for found in differences(name, ours, &theirs[name]) {
            if !known.iter().any(|known| known.is(&found)) {
                return Err(format!("stored otherwise: {found}").into());
            }
        }
    }
    Ok(())
}

/// What the server would store of each, which is what it got.
fn stored(
    control_plane: &ControlPlane,
    definitions: BTreeMap<String, Value>,
) -> Result<BTreeMap<String, Value>, Failed> {
    let one = |(name, definition): (String, Value)| -> Result<(String, Value), Failed> {
        let mut stored = create(control_plane, &definition)?;
        // What the server fills in.
        let conversion = stored["spec"].as_object_mut().and_then(|spec| spec.remove("conversion"));
        if conversion != Some(json!({"strategy": "None"})) || stored["spec"] != definition["spec"] {
            return Err(format!("{name} is stored otherwise than it was written: {}", stored["spec"]).into());
        }
        let metadata = &stored["metadata"];
        let metadata = ["name", "annotations", "labels"].map(|key| (key, metadata[key].clone()));
        stored["metadata"] = metadata.into_iter().filter(|(_, value)| !value.is_null()).collect();
        stored.as_object_mut().ok_or("a definition is an object")?.remove("status");
        Ok((name, stored))
    };
    definitions.into_iter().map(one).collect()
}

/// The answer to what is not kept.
fn create(control_plane: &ControlPlane, definition: &Value) -> Result<Value, Failed> {
    let mut create = control_plane.kubectl();
    create.args(["create", "--dry-run=server", "-o", "json", "-f", "-"]);
    let mut create = create.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    create.stdin.take().ok_or("stdin is piped")?.write_all(definition.to_string().as_bytes())?;
    let output = create.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !said.is_empty() {
        return Err(format!("the server refuses it or warns: {said}").into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
