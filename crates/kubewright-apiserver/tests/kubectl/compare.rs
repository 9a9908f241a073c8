//! Compares the outputs of a script on both servers.

use serde_json::Value;
use similar::TextDiff;

use crate::{differences::Differences, masks::Masks, script::Script, shell::Output};

/// A command with different outputs.
pub(crate) struct Difference<'a> {
    command: &'a str,
    /// The unified diff from the real server's output to ours.
    diff: String,
}

/// Returns the commands whose outputs differ.
pub(crate) fn differences<'a>(
    script: &'a Script,
    masks: &Masks,
    real: &[Output],
    ours: &[Output],
) -> Vec<Difference<'a>> {
    let mut found = Vec::new();
    for ((command, real), ours) in script.commands.iter().zip(real).zip(ours) {
        let (real, ours) = (normalized(real, masks), normalized(ours, masks));
        if real != ours {
            let diff = TextDiff::from_lines(&real, &ours);
            let diff = diff.unified_diff().header("real", "ours").to_string();
            found.push(Difference { command: command.text(), diff });
        }
    }
    found
}

/// Returns an output without the values that differ between servers. JSON is reformatted, since Go orders fields
/// differently.
fn normalized(output: &Output, masks: &Masks) -> String {
    let json = serde_json::from_str::<Value>(&output.stdout).ok().filter(Value::is_object);
    match json {
        Some(json) => {
            masks.apply(&Output { stdout: format!("{json:#}\n"), stderr: output.stderr.clone(), ..*output }.to_string())
        }
        None => masks.apply(&output.to_string()),
    }
}

/// Returns the unknown differences, and the known differences that no longer exist.
pub(crate) fn errors(script: &Script, found: &[Difference<'_>], known: &Differences) -> Vec<String> {
    let unknown = found.iter().filter(|difference| !known.has(&script.name, difference.command));
    let gone =
        known.commands(&script.name).filter(|command| found.iter().all(|difference| difference.command != *command));
    let unknown = unknown.map(|difference| format!("$ {}\n{}", difference.command, difference.diff));
    let gone = gone.map(|command| format!("$ {command}\nthe outputs are equal: remove it from differences.yaml"));
    unknown.chain(gone).collect()
}
