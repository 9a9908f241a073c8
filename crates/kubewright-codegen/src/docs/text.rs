//! Markdown: code spans, tables, and doc comments.

/// Returns a code span. Text with backticks gets longer delimiters.
pub(super) fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let ticks = "`".repeat(longest + 1);
    match longest {
        0 => format!("`{text}`"),
        _ => format!("{ticks} {text} {ticks}"),
    }
}

/// Returns code spans separated by commas.
pub(super) fn codes<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(code).collect::<Vec<_>>().join(", ")
}

/// Returns a table. Cells must not contain line breaks.
pub(super) fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let line = |cells: [String; N]| format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    let mut text = line(head.map(str::to_owned));
    text += &format!("|{}\n", "---|".repeat(N));
    text.extend(rows.map(line));
    text
}

/// Returns a doc comment as paragraphs, followed by a blank line.
pub(super) fn paragraphs(text: &str) -> String {
    match text.trim() {
        "" => String::new(),
        text => format!("{}\n\n", escaped(text)),
    }
}

/// Returns a doc comment as a table cell: paragraphs and list items start with a break.
pub(super) fn cell(text: &str) -> String {
    let mut cell = String::new();
    for line in escaped(text.trim()).lines().map(str::trim) {
        let is_item = line.starts_with(['-', '*', '+']) && line[1..].starts_with(' ');
        match line {
            "" if cell.ends_with("<br>") => {}
            "" => cell += "<br><br>",
            line => {
                if is_item && !cell.ends_with("<br>") && !cell.is_empty() {
                    cell += "<br>";
                } else if !cell.is_empty() && !cell.ends_with("<br>") {
                    cell.push(' ');
                }
                cell += line;
            }
        }
    }
    cell
}

/// Returns the first sentence of a doc comment as a table cell.
pub(super) fn first_sentence(text: &str) -> String {
    let paragraph = text.trim().split("\n\n").next().unwrap_or_default();
    let end = paragraph.match_indices(". ").chain(paragraph.match_indices(".\n")).map(|(at, _)| at + 1).min();
    cell(end.map_or(paragraph, |end| &paragraph[..end]))
}

/// Escapes HTML tags outside code spans.
pub(super) fn escaped(text: &str) -> String {
    let mut is_code = false;
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        is_code ^= c == '`';
        match c {
            '<' if !is_code => escaped += "&lt;",
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_spans_may_contain_backticks() {
        assert_eq!(code("a|b"), "`a|b`");
        assert_eq!(code("a`b``c"), "``` a`b``c ```");
    }

    #[test]
    fn cells_have_no_line_breaks() {
        assert_eq!(cell("One\ntwo.\n\nThree `<a>` <b>:\n- four\n- five\n\n\nSix"), {
            "One two.<br><br>Three `<a>` &lt;b>:<br>- four<br>- five<br><br>Six"
        });
        assert_eq!(cell(" "), "");
    }

    #[test]
    fn the_first_sentence_ends_with_a_full_stop() {
        assert_eq!(first_sentence("Version 1.5 of it. And more.\n\nMuch more."), "Version 1.5 of it.");
        assert_eq!(first_sentence("No stop\n\nMore."), "No stop");
        assert_eq!(first_sentence(""), "");
    }
}
