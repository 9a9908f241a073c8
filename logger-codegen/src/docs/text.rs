//! Markdown: code, tables, and texts that people wrote as comments.

/// A word of code. A backtick within is told by longer ones around.
pub(super) fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let ticks = "`".repeat(longest + 1);
    match longest {
        0 => format!("`{text}`"),
        _ => format!("{ticks} {text} {ticks}"),
    }
}

/// Words of code, with commas between.
pub(super) fn codes<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(code).collect::<Vec<_>>().join(", ")
}

/// A table. Cells may hold no line breaks.
pub(super) fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let line = |cells: [String; N]| format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    let mut text = line(head.map(str::to_owned));
    text += &format!("|{}\n", "---|".repeat(N));
    text.extend(rows.map(line));
    text
}

/// A comment as paragraphs of a page, with a blank line after them.
pub(super) fn paragraphs(text: &str) -> String {
    match text.trim() {
        "" => String::new(),
        text => format!("{}\n\n", escaped(text)),
    }
}

/// A comment in a cell: paragraphs and list items begin with a break.
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

/// The first sentence of a comment, in a cell.
pub(super) fn first_sentence(text: &str) -> String {
    let paragraph = text.trim().split("\n\n").next().unwrap_or_default();
    let end = paragraph.match_indices(". ").chain(paragraph.match_indices(".\n")).map(|(at, _)| at + 1).min();
    cell(end.map_or(paragraph, |end| &paragraph[..end]))
}

/// A text in which nothing is an HTML tag; code stays as it is.
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
    fn code_may_hold_backticks() {
        assert_eq!(code("a|b"), "`a|b`");
        assert_eq!(code("a`b``c"), "``` a`b``c ```");
    }

    #[test]
    fn a_cell_is_one_line() {
        assert_eq!(cell("One\ntwo.\n\nThree `<a>` <b>:\n- four\n- five\n\n\nSix"), {
            "One two.<br><br>Three `<a>` &lt;b>:<br>- four<br>- five<br><br>Six"
        });
        assert_eq!(cell(" "), "");
    }

    #[test]
    fn a_sentence_ends_with_a_full_stop() {
        assert_eq!(first_sentence("Version 1.5 of it. And more.\n\nMuch more."), "Version 1.5 of it.");
        assert_eq!(first_sentence("No stop\n\nMore."), "No stop");
        assert_eq!(first_sentence(""), "");
    }
}
