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

/// Escapes HTML tags outside code, and backticks without a counterpart: they could begin code that ends before a tag.
pub(super) fn escaped(text: &str) -> String {
    let (mut rest, mut escaped) = (text, String::with_capacity(text.len()));
    while let Some(start) = rest.find('`') {
        let (before, code) = rest.split_at(start);
        escaped += &before.replace('<', "&lt;");
        let ticks = code.len() - code.trim_start_matches('`').len();
        let is_line_start = escaped.is_empty() || escaped.ends_with('\n');
        match end_of_code(code, ticks, is_line_start) {
            Some(end) => {
                escaped += &code[..end];
                rest = &code[end..];
            }
            None => {
                escaped += &"\\`".repeat(ticks);
                rest = &code[ticks..];
            }
        }
    }
    escaped + &rest.replace('<', "&lt;")
}

/// Returns the end of the code that begins with this number of backticks: a run of the same length. Code does not end
/// in another block, except for that between fences.
fn end_of_code(code: &str, ticks: usize, is_line_start: bool) -> Option<usize> {
    let mut at = ticks;
    let info = code[ticks..].lines().next().unwrap_or_default();
    let is_fenced = ticks > 2 && is_line_start && !info.contains('`');
    while let Some(found) = code[at..].find('`') {
        let start = at + found;
        let run = code[start..].len() - code[start..].trim_start_matches('`').len();
        let closes_fence = is_fenced && code[..start].ends_with('\n');
        if run == ticks && (closes_fence || continues_in_block(&code[ticks..start])) {
            return Some(start + run);
        }
        at = start + run;
    }
    None
}

/// Whether every line after the first continues the text before it: it begins with a letter or with code.
fn continues_in_block(text: &str) -> bool {
    let starts_with_text = |line: &str| line.trim_start().starts_with(|c: char| c.is_alphabetic() || c == '`');
    text.lines().skip(1).all(starts_with_text) && !text.ends_with('\n')
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
    fn tags_outside_of_code_are_escaped() {
        for (text, expected) in [
            ("a `<b>` <c>", "a `<b>` &lt;c>"),
            ("A ` <script>x</script>", "A \\` &lt;script>x&lt;/script>"),
            ("`a\n\nb` <c>`", "\\`a\n\nb` <c>`"),
            ("- `a\n- b` <c>", "- \\`a\n- b\\` &lt;c>"),
            ("`a\nb <c>` <d>", "`a\nb <c>` &lt;d>"),
            ("``a`<b>`` <c>", "``a`<b>`` &lt;c>"),
            ("```yaml\n- <a>\n```\n<b>", "```yaml\n- <a>\n```\n&lt;b>"),
            ("```a`b\n<c>\n```", "\\`\\`\\`a\\`b\n&lt;c>\n\\`\\`\\`"),
        ] {
            assert_eq!(escaped(text), expected, "{text}");
        }
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
