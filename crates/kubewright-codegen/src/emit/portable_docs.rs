//! Doc comments of the types crate, adapted to the client crate: without links and tests that only work in the types crate.

/// Returns the docs of a kind for the client crate. Code blocks are not run as doc tests, and links to Rust items become plain
/// text, because the items they name are not in scope there.
pub(super) fn portable(docs: &str) -> String {
    let mut fence = None;
    let lines = docs.lines().map(|line| {
        let marker = ["```", "~~~"].into_iter().find(|marker| line.trim_start().starts_with(marker));
        match (fence, marker) {
            (None, Some(marker)) => {
                fence = Some(marker);
                opening(line, marker)
            }
            (Some(open), Some(marker)) if open == marker => {
                fence = None;
                line.to_owned()
            }
            (Some(_), _) => line.to_owned(),
            (None, None) => without_links(line),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Marks a fence that rustdoc would run as a doc test with `ignore`.
fn opening(line: &str, marker: &str) -> String {
    let info = line.trim_start().trim_start_matches(marker);
    let language = info.split([',', ' ']).next().unwrap_or_default();
    let is_rust = ["", "rust", "no_run", "should_panic", "compile_fail", "ignore"].contains(&language);
    match is_rust || language.starts_with("edition") {
        true => format!("{}{marker}ignore", &line[..line.len() - line.trim_start().len()]),
        false => line.to_owned(),
    }
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
    }
}
