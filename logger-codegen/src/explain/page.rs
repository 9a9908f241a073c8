//! The page "Go tag → Rust attribute" of the documentation, from the same data as `explain`.

use logger_core::grammar::{Keyword, Place};

use super::PLACES;
use super::elsewhere::{Stand, TOOLS};
use crate::Layout;
use crate::file::File;

const INTRODUCTION: &str = "\
# Go tag → Rust attribute

Every tag, marker and flag of the Go tools, and what says it here. In a terminal: `cargo xtask codegen explain WORD`, where
the word is a keyword or a Go tag; without it, every attribute. Attributes are described from the table that their parser
keeps, so this page says what is accepted.
";

/// The whole page.
pub(crate) fn page(layout: &Layout) -> File {
    let mut text = INTRODUCTION.to_owned();
    text += "\n## Tags that are attributes\n\n";
    text += &table("In Go", "Here", PLACES.iter().flat_map(tags));
    for (stand, title, about, right) in [
        (Stand::Done, "Tags and flags that something else does", "No attribute is needed.", "Here"),
        (Stand::Later, "Not there yet", "These come later; nothing here does it today.", "What comes"),
        (Stand::Out, "Left out on purpose", "These will not come.", "Why"),
    ] {
        text += &format!("\n## {title}\n\n{about}\n");
        for tool in TOOLS {
            let rows: Vec<_> = tool.rows.iter().filter(|row| row.stand == stand).collect();
            if !rows.is_empty() {
                text += &format!("\n### {}\n\n", tool.name);
                text += &table("In Go", right, rows.into_iter().map(|row| (code(row.tags), row.here.to_owned())));
            }
        }
    }
    text += "\n## Every attribute\n";
    text.extend(PLACES.iter().map(place));
    File::markdown("docs/attributes.md".to_owned(), layout, &text)
}

/// Each Go tag of a place, and what says the same.
fn tags(place: &'static Place) -> impl Iterator<Item = (String, String)> {
    let row = |keyword: &Keyword| {
        let takes = if keyword.values.is_empty() { String::new() } else { format!(" Takes {}.", code(keyword.values)) };
        (code(keyword.go_tags), format!("{}<br>{}{takes}", code(&[keyword.example]), keyword.meaning))
    };
    place.keywords.iter().filter(|keyword| !keyword.go_tags.is_empty()).map(row)
}

/// The keywords of a place, then how they look in it.
fn place(place: &Place) -> String {
    let rows = place.keywords.iter().map(|keyword| {
        let meaning = [keyword.meaning, keyword.rule].join(" ");
        (code(&[keyword.form]), meaning.trim_end().to_owned())
    });
    let mut examples: Vec<_> = place.keywords.iter().map(|keyword| keyword.example).collect();
    examples.dedup();
    let rows = table("Written", "Meaning", rows);
    format!("\n### {}\n\n{rows}\n```rust,ignore\n{}\n```\n", code_in_title(place.title), examples.join("\n"))
}

/// A table of two columns.
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

/// A title is an attribute or macro and what follows it.
fn code_in_title(title: &str) -> String {
    let end = title.rfind([']', '}']).map_or(0, |last| last + 1);
    match title.split_at(end) {
        ("", rest) => rest.to_owned(),
        (attribute, rest) => format!("`{attribute}`{rest}"),
    }
}
