//! What was said on one server beside what was said on the other

use serde_json::Value;
use similar::TextDiff;

use crate::{desk::Said, differences::Differences, masks::Masks, script::Script};

/// A line to which something else was said.
pub(crate) struct Difference<'a> {
    line: &'a str,
    /// What the real server's kubectl said and ours did not, and the other way round.
    shown: String,
}

/// The lines that differ.
pub(crate) fn differing<'a>(script: &'a Script, masks: &Masks, real: &[Said], ours: &[Said]) -> Vec<Difference<'a>> {
    let mut found = Vec::new();
    for ((line, real), ours) in script.lines.iter().zip(real).zip(ours) {
        let (real, ours) = (shown(real, masks), shown(ours, masks));
        if real != ours {
            let diff = TextDiff::from_lines(&real, &ours);
            found.push(Difference { line: line.text(), shown: diff.unified_diff().header("real", "ours").to_string() });
        }
    }
    found
}

/// What was said, without what is of one server alone. JSON counts by what it says: Go writes fields in another order.
fn shown(said: &Said, masks: &Masks) -> String {
    let json = serde_json::from_str::<Value>(&said.out).ok().filter(Value::is_object);
    match json {
        Some(json) => masks.hide(&Said { out: format!("{json:#}\n"), err: said.err.clone(), ..*said }.to_string()),
        None => masks.hide(&said.to_string()),
    }
}

/// What is wrong: lines that differ and should not, and the other way round.
pub(crate) fn judge(script: &Script, found: &[Difference<'_>], known: &Differences) -> Vec<String> {
    let unknown = found.iter().filter(|difference| !known.has(&script.name, difference.line));
    let gone = known.of(&script.name).filter(|line| found.iter().all(|difference| difference.line != *line));
    let told = unknown.map(|difference| format!("$ {}\n{}", difference.line, difference.shown));
    told.chain(gone.map(|line| format!("$ {line}\nboth say the same: take it out of differences.yaml"))).collect()
}
