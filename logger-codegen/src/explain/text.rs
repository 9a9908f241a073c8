//! What `explain` prints: in a terminal, a hundred columns wide.

use logger_core::grammar::{Keyword, Place};
use textwrap::{Options, WordSplitter};

use super::Found;
use super::elsewhere::{Elsewhere, Stand, Tool};

const WIDTH: usize = 100;

/// Every keyword.
pub(super) fn all(places: &'static [Place]) -> String {
    let mut text: String = places.iter().map(|place| in_place(place, place.keywords)).collect();
    text += "Of one alone: `explain WORD`, a keyword or a Go tag; it knows Go's tags without an attribute, too.";
    text
}

/// What was found.
pub(super) fn found(found: &Found) -> String {
    let mut text: String =
        found.keywords.iter().map(|(place, keywords)| in_place(place, keywords.iter().copied())).collect();
    if !found.elsewhere.is_empty() {
        text += "In Go, and without an attribute here\n\n";
        text.extend(found.elsewhere.iter().map(|(tool, row)| elsewhere(tool, row)));
    }
    text.trim_end().to_owned()
}

/// The keywords of one place, under its title.
fn in_place(place: &Place, keywords: impl IntoIterator<Item = &'static Keyword>) -> String {
    let mut text = format!("{}\n\n", place.title);
    text.extend(keywords.into_iter().map(keyword));
    text
}

fn keyword(keyword: &Keyword) -> String {
    let Keyword { form, values, go_tags, meaning, rule, example, .. } = keyword;
    let mut text = format!("  {form}\n");
    for sentences in [meaning, rule] {
        text += &wrapped("", sentences);
    }
    for (label, line) in
        [("takes", values.join(", ")), ("in Go", go_tags.join("  ")), ("example", (*example).to_owned())]
    {
        text += &wrapped(&format!("{label:<9}"), &line);
    }
    text + "\n"
}

fn elsewhere(tool: &Tool, row: &Elsewhere) -> String {
    let tags = filled("  ", "  ", &row.tags.join("  "));
    let stand = match row.stand {
        Stand::Done => "",
        Stand::Later => "Not there yet. ",
        Stand::Out => "Left out on purpose. ",
    };
    format!("{tags}{}{}\n", wrapped("", &format!("{stand}{}", row.here)), wrapped("of       ", tool.name))
}

const INDENT: &str = "      ";

/// Lines with the label before the first of them; nothing if there is no text.
fn wrapped(label: &str, text: &str) -> String {
    let (first, next) = (format!("{INDENT}{label}"), format!("{INDENT}{}", " ".repeat(label.len())));
    if text.is_empty() { String::new() } else { filled(&first, &next, text) }
}

/// Lines that break between words only: a tag or a name is found when it is in one piece.
fn filled(first: &str, next: &str, text: &str) -> String {
    let options = Options::new(WIDTH).initial_indent(first).subsequent_indent(next);
    textwrap::fill(text, options.break_words(false).word_splitter(WordSplitter::NoHyphenation)) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_a_hundred_columns_but_for_words_that_do_not() {
        let text = all(super::super::PLACES);
        let long: Vec<_> = text.lines().filter(|line| line.len() > WIDTH).collect();
        assert!(long.is_empty(), "{long:#?}");
    }
}
