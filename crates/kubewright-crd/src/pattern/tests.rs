//! Compares compilation and matching with results of Go's `regexp`, which are recorded in `go_regexp.json`.

use serde_json::Value;

use super::*;

/// Patterns that match differently, and why.
const DIFFERENCES: [(&str, &str); 1] =
    [(r"\B", "uses Unicode word characters: no boundary is next to é or in an empty text")];

#[test]
fn patterns_compile_and_match_as_in_go() {
    let recorded: Value = serde_json::from_str(include_str!("go_regexp.json")).unwrap();
    let texts: Vec<&str> = recorded["texts"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    let patterns = recorded["patterns"].as_array().unwrap();
    assert!(patterns.len() > 200);
    let mut differences = Vec::new();
    for row in patterns {
        let pattern = row["pattern"].as_str().unwrap();
        let (error, matches) = match Pattern::new(pattern) {
            Err(error) => (Value::from(error.to_string()), Value::Null),
            Ok(compiled) => {
                assert!(compiled.is_enforced(), "the regex crate cannot run {pattern}");
                let matches = texts.iter().map(|text| if compiled.is_match(text) { '1' } else { '0' });
                (Value::Null, matches.collect::<String>().into())
            }
        };
        if (&error, &matches) != (&row["error"], &row["matches"])
            && DIFFERENCES.iter().all(|(known, _)| *known != pattern)
        {
            differences.push(format!(
                "{pattern:.60}\n  ours: {error:.90} {matches}\n  Go's: {:.90} {}",
                row["error"], row["matches"]
            ));
        }
    }
    assert!(differences.is_empty(), "{} of {}:\n{}", differences.len(), patterns.len(), differences.join("\n"));
}
