//! The output of a program as a picture of a terminal, in SVG. Its text remains text, which can be selected and
//! compared.

use std::fmt::Write;

/// The width of the terminal. Longer lines are continued in further rows.
const COLUMNS: usize = 84;
/// The indentation of further rows, in columns.
const CONTINUATION: usize = 4;
/// Sizes in pixels. A character of common monospace fonts is at most 0.61 times as wide as the size of the font.
const FONT_SIZE: usize = 13;
const ROW: usize = 18;
const PADDING: usize = 16;
const BAR: usize = 28;

/// Draws lines in a window with a background, which is readable on light and dark pages. Steps, such as `[1/2] ..`, are
/// bold, and commands, such as `$ ..`, are green.
pub fn draw(title: &str, lines: &[String]) -> String {
    let rows: usize = lines.iter().map(|line| wrap(line).len()).sum();
    let (width, height) = (2 * PADDING + width_of(COLUMNS), BAR + rows * ROW + PADDING);
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
<title>{}</title>
<rect x="0.5" y="0.5" width="{}" height="{}" rx="8" fill="#161b22" stroke="#6e7681"/>
<g fill="#6e7681"><circle cx="20" cy="15" r="5"/><circle cx="36" cy="15" r="5"/><circle cx="52" cy="15" r="5"/></g>
<g xml:space="preserve" fill="#d1d7e0" font-size="{FONT_SIZE}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace">
"##,
        escape(title),
        width - 1,
        height - 1,
    );
    let mut y = BAR + ROW - 5;
    for line in lines {
        text(&mut svg, line, &mut y);
    }
    svg + "</g>\n</svg>\n"
}

/// Adds a line, and moves to the next row.
fn text(svg: &mut String, line: &str, y: &mut usize) {
    let style = match line.chars().next() {
        Some('[') => r##" font-weight="bold" fill="#ffffff""##,
        Some('$') => r##" fill="#7ee787""##,
        _ => "",
    };
    let mut text = format!("<text{style}>");
    for (row, content) in wrap(line).into_iter().enumerate() {
        let x = PADDING + if row == 0 { 0 } else { width_of(CONTINUATION) };
        write!(text, r#"<tspan x="{x}" y="{y}">{}</tspan>"#, escape(content)).expect("a string accepts everything");
        *y += ROW;
    }
    *svg += &text;
    *svg += "</text>\n";
}

/// Returns the width of columns.
fn width_of(columns: usize) -> usize {
    (columns * FONT_SIZE * 61).div_ceil(100)
}

/// Splits a line into rows after spaces. Together they are the line.
fn wrap(line: &str) -> Vec<&str> {
    let (mut rows, mut rest, mut columns) = (Vec::new(), line, COLUMNS);
    while let Some((end, _)) = rest.char_indices().nth(columns) {
        let end = rest[..end].rfind(' ').map_or(end, |space| space + 1);
        let (row, after) = rest.split_at(end);
        rows.push(row);
        (rest, columns) = (after, COLUMNS - CONTINUATION);
    }
    rows.push(rest);
    rows
}

/// Returns the lines that a picture shows.
pub fn lines(svg: &str) -> Vec<String> {
    let lines = svg.lines().filter(|line| line.starts_with("<text"));
    lines.map(|line| unescape(&without_tags(line))).collect()
}

fn without_tags(xml: &str) -> String {
    xml.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_shows_its_lines() {
        let long = format!("  {} <b> &amp; \"c\"", "word ".repeat(40));
        let expected: Vec<String> = ["$ a", "[1/1] b", "", long.as_str()].map(str::to_owned).to_vec();
        let svg = draw("A & B", &expected);
        assert_eq!(lines(&svg), expected);
        assert!(svg.contains("<title>A &amp; B</title>") && !svg.contains("<b>"), "{svg}");
        assert_eq!(svg.matches("<tspan").count(), 6, "the last line has three rows: {svg}");
    }

    #[test]
    fn rows_fit_and_break_after_spaces() {
        let line = format!("  {} {}", "a".repeat(70), "b".repeat(100));
        let rows = wrap(&line);
        assert_eq!(rows.concat(), line);
        assert_eq!(rows.iter().map(|row| row.len()).collect::<Vec<_>>(), [73, 80, 20]);
        assert!(rows[0].ends_with("a "), "{rows:?}");
    }
}
