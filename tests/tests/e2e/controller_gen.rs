//! The definitions that controller-gen generates from Go types, and ours of the equivalent Rust types: the server
//! accepts both, and the objects that it would store differ only as listed in `differences.yaml`.

#[path = "../workspace/controller_gen/difference.rs"]
mod difference;
#[path = "../workspace/controller_gen/twins.rs"]
mod twins;

use std::{collections::BTreeMap, io::Write, process::Stdio, sync::Arc};

use envtest::ControlPlane;
use libtest_mimic::{Completion, Failed, Trial};
use serde_json::{Value, json};

use super::Suite;
use difference::{differences, known_differences};
use twins::Twins;

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    let name = "controller_gen::stored_definitions_are_equal";
    vec![suite.ignorable_test(name, |environment| stored_definitions_are_equal(&environment.control_plane))]
}

fn stored_definitions_are_equal(control_plane: &ControlPlane) -> Result<Completion, Failed> {
    let Some(Twins { ours, theirs }) = twins::find_or_skip() else {
        return Ok(Completion::ignored_with("no Go to build controller-gen"));
    };
    let (ours, theirs) = (stored(control_plane, ours)?, stored(control_plane, theirs)?);
    let known = known_differences();
    for (name, ours) in &ours {
        for found in differences(name, ours, &theirs[name]) {
            if !known.iter().any(|known| known.matches(&found)) {
                return Err(format!("stored differently: {found}").into());
            }
        }
    }
    Ok(Completion::Completed)
}

/// Returns the definitions that the server would store, and checks that they are unchanged.
fn stored(
    control_plane: &ControlPlane,
    definitions: BTreeMap<String, Value>,
) -> Result<BTreeMap<String, Value>, Failed> {
    let stored_definition = |(name, definition): (String, Value)| -> Result<(String, Value), Failed> {
        let mut stored = create(control_plane, &definition)?;
        if definition["spec"]["conversion"].is_null() && stored["spec"]["conversion"] == json!({"strategy": "None"}) {
            stored["spec"].as_object_mut().map(|spec| spec.remove("conversion"));
        }
        if stored["spec"] != definition["spec"] {
            return Err(format!("{name} is stored differently than written: {}", stored["spec"]).into());
        }
        let metadata = &stored["metadata"];
        let metadata = ["name", "annotations", "labels"].map(|key| (key, metadata[key].clone()));
        stored["metadata"] = metadata.into_iter().filter(|(_, value)| !value.is_null()).collect();
        stored.as_object_mut().ok_or("a definition is an object")?.remove("status");
        Ok((name, stored))
    };
    definitions.into_iter().map(stored_definition).collect()
}

/// Creates a definition in a dry run and returns the response.
fn create(control_plane: &ControlPlane, definition: &Value) -> Result<Value, Failed> {
    let mut create = control_plane.kubectl();
    create.args(["create", "--dry-run=server", "-o", "json", "-f", "-"]);
    let mut create = create.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    create.stdin.take().ok_or("stdin is piped")?.write_all(definition.to_string().as_bytes())?;
    let output = create.wait_with_output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !stderr.is_empty() {
        return Err(format!("the server rejects the definition or warns: {stderr}").into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
