//! Doc comments of the types crate, adapted to the client crate: without links and tests that only work in the types
//! crate.

/// Returns the docs of a kind for the client crate. No code is run as a doc test, whoever wrote the docs, and links to
/// Rust items become plain text, because the items they name are not in scope there.
pub(super) fn portable(docs: &str) -> String {
    let lines: Vec<&str> = docs.lines().collect();
    let as_text =
        || with_previous(&lines).map(|(previous, line)| without_links(&without_code(previous, line))).collect();
    ignored(&lines).unwrap_or_else(as_text).join("\n")
}

/// Returns each line with the one before it.
fn with_previous<'a>(lines: &'a [&'a str]) -> impl Iterator<Item = (&'a str, &'a str)> {
    std::iter::once("").chain(lines.iter().copied()).zip(lines.iter().copied())
}

/// The languages of code blocks that rustdoc does not run.
const OTHER_LANGUAGES: [&str; 12] =
    ["bash", "console", "go", "http", "json", "promql", "sh", "shell", "sql", "text", "toml", "yaml"];

/// Marks the code blocks that rustdoc would run with `ignore`. `None` unless all code is between simple fences: three
/// characters at the start of a line.
fn ignored(lines: &[&str]) -> Option<Vec<String>> {
    let mut open = None;
    let mut marked = Vec::new();
    for (previous, line) in with_previous(lines) {
        let fence = ["```", "~~~"].into_iter().find(|fence| line.contains(fence));
        marked.push(match (open, fence) {
            (None, Some(fence)) => {
                open = Some(fence);
                opening(line.strip_prefix(fence)?, fence)?
            }
            (Some(opened), Some(_)) => {
                open = None;
                (line == opened).then(|| opened.to_owned())?
            }
            (Some(_), None) => line.to_owned(),
            (None, None) if can_be_code(previous, line) => return None,
            (None, None) => without_links(line),
        });
    }
    open.is_none().then_some(marked)
}

/// Returns the opening of a code block with this text after the fence; `None` for text that a longer fence can have.
fn opening(info: &str, fence: &str) -> Option<String> {
    let is_word = info.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ',' | ' '));
    match OTHER_LANGUAGES.contains(&info) {
        true => Some(format!("{fence}{info}")),
        false => is_word.then(|| format!("{fence}ignore")),
    }
}

/// Returns the whitespace and the markers of quotes and lists at the start of a line.
fn markers(line: &str) -> &str {
    let is_marker = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '\t' | '>' | '-' | '*' | '+' | '.' | ')');
    &line[..line.find(|c| !is_marker(c)).unwrap_or(line.len())]
}

/// Whether a line without a fence can be code: four columns of whitespace precede its text. A line that continues a
/// paragraph is no code, however deep it is indented.
fn can_be_code(previous: &str, line: &str) -> bool {
    let (before, text) = (markers(line), &previous[markers(previous).len()..]);
    let is_continued = before.trim().is_empty() && text.starts_with(char::is_alphabetic);
    (before.contains("    ") || before.contains('\t')) && !is_continued
}

/// Returns a line as text that is no code in any context.
fn without_code(previous: &str, line: &str) -> String {
    let without_fences = |text: &str| text.replace("```", "'''").replace("~~~", "'''");
    if !can_be_code(previous, line) {
        return without_fences(line);
    }
    let (markers, text) = line.split_at(markers(line).len());
    let indentation = markers.chars().take_while(|c| *c == ' ').count().min(3);
    let mut start = markers.split([' ', '\t']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    if markers.ends_with([' ', '\t']) && !start.is_empty() {
        start.push(' ');
    }
    without_fences(&format!("{}{start}{text}", " ".repeat(indentation)))
}

/// Replaces `[text](path)`, `[text][path]` and `[path]` with their text. Links to pages are preserved.
fn without_links(line: &str) -> String {
    let mut rest = line;
    let mut text = String::new();
    while let Some((before, link)) = rest.split_once('[') {
        text += before;
        let Some((label, after)) = link.split_once(']') else {
            return text + "[" + link;
        };
        let (target, after) = target(after);
        let is_page = target.is_some_and(|target| target.starts_with("http") || target.starts_with('#'));
        rest = match target {
            Some(_) if !is_page => {
                text += label;
                after
            }
            None if is_item(label) => {
                text += label;
                after
            }
            _ => {
                text += "[";
                link
            }
        };
    }
    text + rest
}

/// Returns the target after a label, `(target)` or `[target]`, and the rest of the line.
fn target(after: &str) -> (Option<&str>, &str) {
    for (open, close) in [('(', ')'), ('[', ']')] {
        if let Some((target, rest)) = after.strip_prefix(open).and_then(|inside| inside.split_once(close)) {
            return (Some(target), rest);
        }
    }
    (None, after)
}

/// Whether rustdoc would resolve this label as an item.
fn is_item(label: &str) -> bool {
    let name = label.trim_matches('`').trim_end_matches("()").trim_end_matches('!');
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    name.starts_with(|c: char| c.is_alphabetic() || c == '_') && name.chars().all(is_path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_items_become_text_and_links_to_pages_are_preserved() {
        for (docs, expected) in [
            ("See [`WidgetSpec`] and [Self::spec].", "See `WidgetSpec` and Self::spec."),
            ("See [the spec](WidgetSpec) or [it][crate::v1].", "See the spec or it."),
            (
                "See [kube](https://kube.rs), or [0, 10], [ ] and a[",
                "See [kube](https://kube.rs), or [0, 10], [ ] and a[",
            ),
        ] {
            assert_eq!(portable(docs), expected);
        }
    }

    #[test]
    fn code_blocks_are_not_run() {
        let docs = "Use:\n\n```\nlet [a] = [Widget];\n```\n\n```yaml\nkind: [Widget]\n```\n[`Widget`]";
        let expected = "Use:\n\n```ignore\nlet [a] = [Widget];\n```\n\n```yaml\nkind: [Widget]\n```\n`Widget`";
        assert_eq!(portable(docs), expected);
        assert_eq!(portable("> ```\n> [`Widget`]\n> ```\n3.5x"), "> '''\n> `Widget`\n> '''\n3.5x");
        assert_eq!(portable("- a\n  b\n\n     code"), "- a\n  b\n\n   code");
        assert_eq!(portable("  * a\n    b\n\n  c"), "  * a\n    b\n\n  c");
    }

    #[test]
    fn rustdoc_runs_no_test_of_portable_docs() {
        let docs = [
            "```\ncode()\n```",
            "> ```\n> code()\n> ```",
            "- ```should_panic\n  panic!()\n  ```",
            "```edition2021\ncode()\n```",
            "````text\n```\n````\n\n```standalone_crate\ncode()\n```",
            "~~~test_harness\ncode()\n~~~",
            "```yaml\na: b\n``` \n\n```\ncode()\n```",
            "See:\n\n    code()",
            "1. a\n\n        code()",
            ">     code()",
            "-     code()",
            ">\t\tcode()",
        ];
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lib.rs");
        let documented =
            |(index, docs): (usize, &&str)| format!("#[doc = {:?}]\npub struct S{index};\n", portable(docs));
        std::fs::write(&path, docs.iter().enumerate().map(documented).collect::<String>()).unwrap();
        let output = std::process::Command::new("rustdoc").args(["--edition", "2024", "--test"]).arg(path).output();
        let printed = String::from_utf8_lossy(&output.unwrap().stdout).into_owned();
        // Ignored tests are listed, and none is run.
        assert!(printed.contains("test result: ok. 0 passed; 0 failed"), "{printed}");
    }
}
