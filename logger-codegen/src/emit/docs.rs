//! The user's docs, as they go into another crate: the same words, without what only means something where they stand.

/// Docs of a kind for the client crate. Code blocks are shown and not run, since what they use is not there; links to
/// Rust items become plain text, since their paths lead elsewhere.
pub(super) fn transplanted(docs: &str) -> String {
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

/// A fence that rustdoc would take for a Rust example is one to ignore.
fn opening(line: &str, marker: &str) -> String {
    let info = line.trim_start().trim_start_matches(marker);
    let language = info.split([',', ' ']).next().unwrap_or_default();
    let is_rust = ["", "rust", "no_run", "should_panic", "compile_fail", "ignore"].contains(&language);
    match is_rust || language.starts_with("edition") {
        true => format!("{}{marker}ignore", &line[..line.len() - line.trim_start().len()]),
        false => line.to_owned(),
    }
}

/// `[text](path)`, `[text][path]` and `[path]` as their text; links to pages stay.
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

/// What follows a label: `(target)` or `[target]`, and what is after it.
fn target(after: &str) -> (Option<&str>, &str) {
    for (open, close) in [('(', ')'), ('[', ']')] {
        if let Some((target, rest)) = after.strip_prefix(open).and_then(|inside| inside.split_once(close)) {
            return (Some(target), rest);
        }
    }
    (None, after)
}

/// Whether rustdoc would look for an item of this name.
fn is_item(label: &str) -> bool {
    let name = label.trim_matches('`').trim_end_matches("()").trim_end_matches('!');
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    name.starts_with(|c: char| c.is_alphabetic() || c == '_') && name.chars().all(is_path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_items_become_text_and_links_to_pages_stay() {
        for (docs, expected) in [
            ("See [`WidgetSpec`] and [Self::spec].", "See `WidgetSpec` and Self::spec."),
            ("See [the spec](WidgetSpec) or [it][crate::v1].", "See the spec or it."),
            (
                "See [kube](https://kube.rs), or [0, 10], [ ] and a[",
                "See [kube](https://kube.rs), or [0, 10], [ ] and a[",
            ),
        ] {
            assert_eq!(transplanted(docs), expected);
        }
    }

    #[test]
    fn code_is_shown_and_not_run() {
        let docs = "Use:\n\n```\nlet [a] = [Widget];\n```\n\n```yaml\nkind: [Widget]\n```\n[`Widget`]";
        let expected = "Use:\n\n```ignore\nlet [a] = [Widget];\n```\n\n```yaml\nkind: [Widget]\n```\n`Widget`";
        assert_eq!(transplanted(docs), expected);
    }
}
