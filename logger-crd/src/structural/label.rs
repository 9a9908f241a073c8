//! What alternatives are called, and why they cannot be one node.

use std::collections::BTreeSet;

use super::gather::Said;
use super::union::{kind, properties, word};

/// What a variant is called: in Rust, by its tag, by its field, or by its place.
pub(super) fn label(all: &[Said], i: usize) -> String {
    let said = &all[i];
    let tag = properties(said).find_map(|(name, _)| word(said, name)?.as_str());
    let sole =
        |said: &Said| properties(said).next().filter(|_| properties(said).count() == 1).map(|(name, _)| name.clone());
    let is_unique = all.iter().filter(|other| sole(other) == sole(said)).count() == 1;
    let sole = sole(said).filter(|_| is_unique);
    let word = said.get("enum").and_then(|words| words.get(0)?.as_str());
    match said.variant.as_deref().or(tag).or(word).or(sole.as_deref()) {
        Some(name) => format!("variant `{name}`"),
        None => format!("variant {}", i + 1),
    }
}

/// Why alternatives cannot be one node.
pub(super) fn no_one_type(all: &[Said]) -> String {
    let unit = all.iter().position(|said| kind(said) == "string" && said.get("enum").is_some());
    if let (Some(unit), true) = (unit, all.iter().any(|said| kind(said) == "object")) {
        let name = label(all, unit);
        let bare = name.trim_start_matches("variant ").trim_matches('`').to_owned();
        return format!(
            "{name} is a string in JSON and others are objects, and a field has one type; write `{bare} {{}}`, which is an object"
        );
    }
    let kinds: Vec<String> =
        (0..all.len()).map(|i| format!("{} is of type {}", label(all, i), kind(&all[i]))).collect();
    format!(
        "{}, and a field has one type; use an enum with a struct for each form, or take any value with \
         `#[schema(preserve_unknown_fields)]`",
        kinds.join(", ")
    )
}

/// A field of one type in all variants. An integer here and a string there would be either in both.
pub(super) fn has_one_type(all: &[Said], labels: &[String]) -> Result<(), String> {
    let kinds: BTreeSet<&str> =
        all.iter().map(|said| if said.unions.is_empty() { kind(said) } else { "enum" }).collect();
    if kinds.len() == 1 || kinds == BTreeSet::from(["integer", "number"]) {
        return Ok(());
    }
    let kinds: Vec<String> =
        all.iter().zip(labels).map(|(said, label)| format!("of type {} in {label}", kind(said))).collect();
    Err(format!(
        "is {}, and a field has one type; rename one, or take any value with `#[schema(preserve_unknown_fields)]`",
        kinds.join(", ")
    ))
}
