//! Patterns get the verdicts that Go gives them: what `regexp` said is in `go.json`.

use serde_json::Value;

use super::*;

/// What the `regex` crate cannot say of a pattern.
const DIFFERENT: [(&str, &str); 1] =
    [(r"\B", "by Unicode words: nothing is a boundary beside é, nor beside an empty text")];

#[test]
fn patterns_compile_and_match_as_in_go() {
    let recorded: Value = serde_json::from_str(include_str!("go.json")).unwrap();
    let texts: Vec<&str> = recorded["texts"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    let patterns = recorded["patterns"].as_array().unwrap();
    assert!(patterns.len() > 200);
    let mut wrong = Vec::new();
    for row in patterns {
        let pattern = row["pattern"].as_str().unwrap();
        let (error, matches) = match Pattern::new(pattern) {
            Err(error) => (Value::from(error.to_string()), Value::Null),
            Ok(compiled) => {
                assert!(compiled.regex.is_some(), "{pattern} runs");
                let verdicts = texts.iter().map(|text| if compiled.is_match(text) { '1' } else { '0' });
                (Value::Null, verdicts.collect::<String>().into())
            }
        };
        if (&error, &matches) != (&row["error"], &row["matches"])
            && DIFFERENT.iter().all(|(known, _)| *known != pattern)
        {
            wrong.push(format!(
                "{pattern:.60}\n  ours: {error:.90} {matches}\n  Go's: {:.90} {}",
                row["error"], row["matches"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), patterns.len(), wrong.join("\n"));
}
