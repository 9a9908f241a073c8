//! Documentation and messages use the field's terms: the words in `wording.txt` do not occur.

use regex::{Regex, RegexBuilder};
use tidy::{assert_none, comments, files, read};

/// One entry of the list: what must not occur, what to write instead, and the phrases in which it may occur.
struct Entry {
    pattern: Regex,
    instead: String,
    exceptions: Vec<Regex>,
}

/// Reads `wording.txt`: `pattern => what to write instead`, then lines `  except pattern`. `#` starts a comment.
fn entries() -> Vec<Entry> {
    let regex = |pattern: &str| RegexBuilder::new(pattern).case_insensitive(true).build().unwrap();
    let mut entries: Vec<Entry> = Vec::new();
    for line in read("tools/tidy/wording.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.trim().strip_prefix("except ") {
            Some(exception) => entries.last_mut().expect("an entry comes first").exceptions.push(regex(exception)),
            None => {
                let (pattern, instead) = line.split_once(" => ").expect("an entry has a suggestion");
                let pattern = regex(&format!(r"\b(?:{pattern})\b"));
                entries.push(Entry { pattern, instead: instead.to_owned(), exceptions: Vec::new() });
            }
        }
    }
    entries
}

fn check(entries: &[Entry], file: &str, line: usize, text: &str, violations: &mut Vec<String>) {
    for entry in entries {
        let rest =
            entry.exceptions.iter().fold(text.to_owned(), |text, exception| exception.replace_all(&text, "").into());
        if let Some(found) = entry.pattern.find(&rest) {
            violations.push(format!("{file}:{line}: `{}`: write {}", found.as_str(), entry.instead));
        }
    }
}

/// Test sources and corpora quote what servers and other tools answer, so only their comments are checked.
fn has_messages(file: &str) -> bool {
    let is_test = file.split('/').any(|part| part == "tests" || part == "tests.rs" || part == "ui");
    !is_test && !file.starts_with("tools/tidy")
}

#[test]
fn comments_and_messages_use_the_terms_of_the_field() {
    let entries = entries();
    let mut violations = Vec::new();
    // The documentation in kubewright-apply is that of Kubernetes.
    let is_checked =
        |file: &&String| !file.starts_with("tools/tidy") && !file.starts_with("crates/kubewright-apply/src");
    for file in files("rs").iter().filter(is_checked) {
        let source = read(file);
        let mut prose = comments::comments(&source);
        if has_messages(file) {
            prose.extend(comments::messages(&source));
        }
        prose.iter().for_each(|prose| check(&entries, file, prose.line, &prose.text, &mut violations));
    }
    assert_none("words to replace", &violations);
}

#[test]
fn pages_use_the_terms_of_the_field() {
    let entries = entries();
    let mut violations = Vec::new();
    for file in files("md") {
        let is_glossary = |line: &str| file == "CONTRIBUTING.md" && line.starts_with('|');
        for (index, line) in read(&file).lines().enumerate().filter(|(_, line)| !is_glossary(line)) {
            check(&entries, &file, index + 1, line, &mut violations);
        }
    }
    assert_none("words to replace", &violations);
}

#[test]
fn module_documentation_starts_with_a_sentence() {
    let mut violations = Vec::new();
    for file in files("rs") {
        let is_case = file.split('/').any(|part| part == "ui" || part == "shapes" || part == "import");
        let source = read(&file);
        let Some(summary) = source.lines().next().and_then(|line| line.strip_prefix("//! ")).filter(|_| !is_case)
        else {
            continue;
        };
        let paragraph: Vec<&str> = source.lines().take_while(|line| line.starts_with("//! ")).collect();
        let last = paragraph.last().copied().unwrap_or_default();
        if !last.ends_with(['.', ':', '!']) {
            violations.push(format!("{file}: the first paragraph does not end with a full stop: {summary}"));
        }
    }
    assert_none("module summaries without a full stop", &violations);
}
