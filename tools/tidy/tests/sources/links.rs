//! Links of Markdown pages lead to files and headings that exist.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

use regex::Regex;
use tidy::{assert_none, files, read, workspace_root};

/// A page without its code blocks.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The anchors of the headings of a page, as mdBook and forges derive them: those of equal headings are numbered.
fn anchors(text: &str) -> Vec<String> {
    let headings = prose(text);
    let headings =
        headings.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let mut counts = BTreeMap::new();
    let anchor = |heading: &str| {
        let anchor = heading.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-");
        let count = counts.entry(anchor.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
    };
    headings.map(anchor).collect()
}

/// A path without `.` and `..`.
fn normalized(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts
}

#[test]
fn relative_links_resolve() {
    // No link contains a backslash, but regular expressions do, such as those of generated pages.
    let link = Regex::new(r"\]\(([^)\s\\]+)\)").unwrap();
    let mut violations = Vec::new();
    let mut checked = 0;
    for page in files("md") {
        let text = read(&page);
        for found in link.captures_iter(&prose(&text)) {
            let target = &found[1];
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            checked += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = match file {
                "" => PathBuf::from(&page),
                file => normalized(&Path::new(&page).parent().unwrap_or(Path::new("")).join(file)),
            };
            if !workspace_root().join(&path).exists() {
                violations.push(format!("{page}: {target} does not exist"));
            } else if !anchor.is_empty()
                && path.extension().is_some_and(|extension| extension == "md")
                && !anchors(&read(&path.display().to_string())).iter().any(|known| known == anchor)
            {
                violations.push(format!("{page}: {target} names no heading"));
            }
        }
    }
    assert!(checked > 20, "{checked} links were found");
    assert_none("broken links", &violations);
}
