//! The output of `explain`, at most 100 columns wide.

use kubewright_core::grammar::{AttributeKey, Section};
use textwrap::{Options, WordSplitter};

use super::{
    find::Found,
    go_tags::{GoTags, Support, Tool},
};

const WIDTH: usize = 100;

/// Returns every attribute.
pub(super) fn all(places: &'static [Section]) -> String {
    let mut text: String = places.iter().map(|place| in_place(place, place.keys)).collect();
    text += "For one entry: `explain WORD`, where the word is an attribute key or any Go tag.";
    text
}

/// Returns the results of a search.
pub(super) fn found(found: &Found) -> String {
    let mut text: String =
        found.keywords.iter().map(|(place, keywords)| in_place(place, keywords.iter().copied())).collect();
    if !found.go_tags.is_empty() {
        text += "Go tags without an attribute\n\n";
        text.extend(found.go_tags.iter().map(|(tool, row)| go_tags(tool, row)));
    }
    text.trim_end().to_owned()
}

/// Returns the keys of one attribute below its title.
fn in_place(place: &Section, keywords: impl IntoIterator<Item = &'static AttributeKey>) -> String {
    let mut text = format!("{}\n\n", place.title);
    text.extend(keywords.into_iter().map(keyword));
    text
}

fn keyword(keyword: &AttributeKey) -> String {
    let AttributeKey { syntax, values, go_tags, description, constraints, example, .. } = keyword;
    let mut text = format!("  {syntax}\n");
    for sentences in [description, constraints] {
        text += &wrapped("", sentences);
    }
    for (label, line) in
        [("values", values.join(", ")), ("in Go", go_tags.join("  ")), ("example", (*example).to_owned())]
    {
        text += &wrapped(&format!("{label:<9}"), &line);
    }
    text + "\n"
}

fn go_tags(tool: &Tool, row: &GoTags) -> String {
    let tags = filled("  ", "  ", &row.tags.join("  "));
    let support = match row.support {
        Support::Supported => "",
        Support::Excluded => "Excluded on purpose. ",
    };
    format!("{tags}{}{}\n", wrapped("", &format!("{support}{}", row.equivalent)), wrapped("tool     ", tool.name))
}

const INDENT: &str = "      ";

/// Returns wrapped lines with a label before the first; empty if there is no text.
fn wrapped(label: &str, text: &str) -> String {
    let (first, next) = (format!("{INDENT}{label}"), format!("{INDENT}{}", " ".repeat(label.len())));
    if text.is_empty() { String::new() } else { filled(&first, &next, text) }
}

/// Returns lines that only break between words, so that tags and names can be searched.
fn filled(first: &str, next: &str, text: &str) -> String {
    let options = Options::new(WIDTH).initial_indent(first).subsequent_indent(next);
    textwrap::fill(text, options.break_words(false).word_splitter(WordSplitter::NoHyphenation)) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_at_most_100_columns() {
        let text = all(super::super::find::SECTIONS);
        let long: Vec<_> = text.lines().filter(|line| line.len() > WIDTH).collect();
        assert!(long.is_empty(), "{long:#?}");
    }
}
