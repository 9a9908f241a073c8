//! The page "Attributes and Go tags" of the documentation, from the data of `explain`.

use std::collections::HashSet;

use kubewright_core::grammar::{AttributeKey, Section};

use super::{
    find::SECTIONS,
    go_tags::{Support, TOOLS},
};
use crate::{layout::Layout, output::File};

const INTRODUCTION: &str = "\
# Attributes and Go tags

Every attribute, and below every tag, marker and flag of the Go tools with its equivalent. In a terminal,
`cargo xtask codegen explain WORD` prints the entries of an attribute key or a Go tag; without a word it prints every attribute.
The descriptions of attributes are generated from the table of their parser, so this page lists exactly what is accepted.
";

/// Returns the page.
pub(crate) fn page(layout: &Layout) -> File {
    let mut text = INTRODUCTION.to_owned();
    text += "\n## Every attribute\n";
    text.extend(SECTIONS.iter().map(place));
    text += "\n## Go tags with a corresponding attribute\n\n";
    // A tag that applies to types, fields and items has one row.
    let mut seen = HashSet::new();
    text += &table("Go", "Rust", SECTIONS.iter().flat_map(tags).filter(|row| seen.insert(row.clone())));
    for (support, title, about, right) in [
        (Support::Supported, "Go tags and flags with another equivalent", "No attribute is needed.", "Equivalent"),
        (Support::Excluded, "Go tags excluded on purpose", "There will be no equivalent.", "Reason"),
    ] {
        text += &format!("\n## {title}\n\n{about}\n");
        for tool in TOOLS {
            let rows: Vec<_> = tool.rows.iter().filter(|row| row.support == support).collect();
            if !rows.is_empty() {
                text += &format!("\n### {}\n\n", tool.name);
                text += &table("Go", right, rows.into_iter().map(|row| (code(row.tags), row.equivalent.to_owned())));
            }
        }
    }
    File::markdown("docs/attributes.md".to_owned(), layout, &text)
}

/// Returns each Go tag of an attribute, and the equivalent key.
fn tags(place: &'static Section) -> impl Iterator<Item = (String, String)> {
    let row = |keyword: &AttributeKey| {
        let takes =
            if keyword.values.is_empty() { String::new() } else { format!(" Values: {}.", code(keyword.values)) };
        (code(keyword.go_tags), format!("{}<br>{}{takes}", code(&[keyword.example]), keyword.description))
    };
    place.keys.iter().filter(|keyword| !keyword.go_tags.is_empty()).map(row)
}

/// Returns the keys of an attribute, then examples.
pub(super) fn place(place: &Section) -> String {
    let rows = place.keys.iter().map(|keyword| {
        let meaning = [keyword.description, keyword.constraints].join(" ");
        (code(&[keyword.syntax]), meaning.trim_end().to_owned())
    });
    let mut examples: Vec<_> = place.keys.iter().map(|keyword| keyword.example).collect();
    examples.dedup();
    let rows = table("Syntax", "Description", rows);
    format!("\n### {}\n\n{rows}\n```rust,ignore\n{}\n```\n", code_in_title(place.title), examples.join("\n"))
}

/// Returns a table with two columns.
fn table(left: &str, right: &str, rows: impl Iterator<Item = (String, String)>) -> String {
    let mut text = format!("| {left} | {right} |\n|---|---|\n");
    text.extend(
        rows.map(|(left, right)| format!("| {} | {} |\n", left.replace('|', "\\|"), right.replace('|', "\\|"))),
    );
    text
}

fn code(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Formats the attribute or macro at the start of a title as code.
fn code_in_title(title: &str) -> String {
    let end = title.rfind([']', '}']).map_or(0, |last| last + 1);
    match title.split_at(end) {
        ("", rest) => rest.to_owned(),
        (attribute, rest) => format!("`{attribute}`{rest}"),
    }
}
