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

/// Returns the documentation of a file, without blocks of code: their lines, and the text outside of links and
/// backticks.
fn documentation(source: &str) -> Vec<(usize, String)> {
    let (code, link) = (Regex::new("`[^`]*`").unwrap(), Regex::new(r#"\]\([^)]*\)|^\[[^]]*\]:.*|"[^"]*""#).unwrap());
    let mut is_code = false;
    let mut found = Vec::new();
    for (index, line) in source.lines().enumerate() {
        let line = line.trim_start();
        let Some(text) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            is_code = false;
            continue;
        };
        if text.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            let text = code.replace_all(text.trim(), "");
            found.push((index + 1, link.replace_all(&text, "]").into_owned()));
        }
    }
    found
}

/// Returns the files whose documentation is written by hand: neither generated nor an input of a test.
fn written_files() -> Vec<(String, String)> {
    let is_input = |file: &String| file.split('/').any(|part| ["ui", "shapes", "import", "reports"].contains(&part));
    let files = files("rs").into_iter().filter(|file| !is_input(file));
    files.map(|file| (read(&file), file)).filter(|(source, _)| !source.starts_with("// @generated")).collect()
}

#[test]
fn identifiers_in_documentation_have_backticks() {
    let identifier = Regex::new(r"(?:^|[^\w/.:#-])([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?:$|[^\w/:-])").unwrap();
    let mut violations = Vec::new();
    for (source, file) in written_files() {
        for (line, text) in documentation(&source) {
            if let Some(found) = identifier.captures(&text) {
                violations.push(format!("{file}:{line}: `{}`", &found[1]));
            }
        }
    }
    assert_none("identifiers without backticks", &violations);
}

/// The width of code, which rustfmt does not apply to comments.
const WIDTH: usize = 120;

#[test]
fn documentation_is_as_wide_as_code() {
    let mut violations = Vec::new();
    for (source, file) in written_files() {
        let mut is_code = false;
        for (index, line) in source.lines().enumerate() {
            let text = line.trim_start().trim_start_matches(['/', '!']).trim_start();
            is_code ^= text.starts_with("```");
            let is_exempt = is_code || text.starts_with('|') || line.contains("http");
            if line.trim_start().starts_with("//") && !is_exempt && line.chars().count() > WIDTH {
                violations.push(format!("{file}:{}", index + 1));
            }
        }
    }
    assert_none("comments that are wider than the code", &violations);
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
