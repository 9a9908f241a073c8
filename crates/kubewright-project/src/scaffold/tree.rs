//! A snapshot of the files of a project, and changes of one line.

use std::{cmp::Ordering, collections::BTreeMap};

use super::plan::{Problems, Step};

/// The files of a project: their contents by their path relative to the root, with `/` as the separator. Files that are
/// not sources, manifests or settings can have empty contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree(pub BTreeMap<String, String>);

impl Tree {
    /// Returns the contents of a file.
    pub(super) fn get(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// Returns the contents of a file, or adds a problem if it does not exist.
    pub(super) fn require(&self, path: &str, problems: &mut Problems) -> Option<&str> {
        let found = self.get(path);
        if found.is_none() {
            problems.add(format!("{path} does not exist; restore it, for example with `git restore`"));
        }
        found
    }

    /// Adds the problem that a file exists.
    pub(super) fn require_absent(&self, path: &str, problems: &mut Problems) {
        let directory = format!("{path}/");
        if self.0.keys().any(|file| file == path || file.starts_with(&directory)) {
            problems.add(format!("{path} exists and is not part of the project; move it away"));
        }
    }
}

/// Inserts `pub mod` lines for new modules into a source, and removes those of removed ones. One change of a line is
/// one part of the explanation. Returns `None` if nothing changes.
pub(super) fn edit_modules(
    path: &str,
    source: &str,
    modules: &[String],
    removed: &[String],
    problems: &mut Problems,
) -> Option<Step> {
    let (mut lines, mut explanations) = (source.lines().map(str::to_owned).collect::<Vec<_>>(), Vec::new());
    for module in removed {
        let line = declaration(module);
        match lines.iter().position(|found| *found == line) {
            Some(index) => {
                lines.remove(index);
                explanations.push(format!("the line `{line}` is removed, because its module is"));
            }
            None if declares(&lines, module) => {
                problems.add(format!("{path} declares the module `{module}` not as `{line}`; write it as that line"));
            }
            None => {}
        }
    }
    for module in modules.iter().filter(|module| !declares(source.lines(), module)) {
        let line = declaration(module);
        lines.insert(position(&lines, module), line.clone());
        explanations.push(format!("the line `{line}` is inserted, which makes the new version part of the crate"));
    }
    let contents = lines.join("\n") + "\n";
    let explanation = explanations.join("; ");
    (!explanation.is_empty()).then(|| Step::Edit { path: path.to_owned(), contents, explanation })
}

fn declaration(module: &str) -> String {
    format!("pub mod {module};")
}

/// Returns the name of the module that a line at the top level declares.
fn module_of(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ").unwrap_or(line).strip_prefix("mod ")?;
    Some(rest.split([';', ' ', '{']).next().unwrap_or(rest))
}

fn declares<L: AsRef<str>>(lines: impl IntoIterator<Item = L>, module: &str) -> bool {
    lines.into_iter().any(|line| module_of(line.as_ref()) == Some(module))
}

/// Returns where rustfmt places a module: in the first block of modules, sorted by name. It is the end of the file if
/// there is no module.
fn position(lines: &[String], module: &str) -> usize {
    let Some(start) = lines.iter().position(|line| module_of(line).is_some_and(|_| line.ends_with(';'))) else {
        return lines.len();
    };
    let block = lines[start..].iter().take_while(|line| module_of(line).is_some());
    start + block.take_while(|line| module_of(line).is_some_and(|name| compare(name, module).is_lt())).count()
}

/// Compares names as rustfmt does: `_` is less than any other character, and numbers compare by value.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    chunks(a).cmp(&chunks(b)).then_with(|| a.cmp(b))
}

/// Splits a name into characters and numbers, in the order of rustfmt.
fn chunks(name: &str) -> Vec<(u8, u64)> {
    let mut chunks: Vec<(u8, u64)> = Vec::new();
    let mut in_number = false;
    for c in name.chars() {
        match (c.to_digit(10), chunks.last_mut()) {
            (Some(digit), Some((_, number))) if in_number => {
                *number = number.saturating_mul(10).saturating_add(u64::from(digit));
            }
            (Some(digit), _) => chunks.push((1, u64::from(digit))),
            (None, _) if c == '_' => chunks.push((0, 0)),
            (None, _) => chunks.push((2, u64::from(u32::from(c)))),
        }
        in_number = c.is_ascii_digit();
    }
    chunks
}

/// Replaces the line of a setting at the top level of a TOML file, or inserts it after the line of the setting `after`.
/// Returns `None` if nothing changes.
pub(super) fn edit_setting(
    path: &str,
    text: &str,
    (key, value): (&str, &str),
    after: &str,
    problems: &mut Problems,
) -> Option<Step> {
    let line = format!("{key} = {value}");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let of_key = |key: &str, line: &str| line.split_once('=').is_some_and(|(name, _)| name.trim() == key);
    let top_level = lines.iter().position(|line| line.starts_with('[')).unwrap_or(lines.len());
    let find = |key: &str| lines[..top_level].iter().position(|line| of_key(key, line));
    match (find(key), find(after)) {
        (Some(index), _) if toml::from_str::<toml::Table>(&lines[index]).is_err() => {
            problems.add(format!("{path}: `{key}` has several lines; write it as one line"));
            return None;
        }
        (Some(index), _) if lines[index].split_once('=').is_some_and(|(_, found)| value_of(found) == value) => {
            return None;
        }
        (Some(index), _) => lines[index].clone_from(&line),
        (None, Some(index)) => lines.insert(index + 1, line.clone()),
        (None, None) => {
            problems.add(format!("{path} has no line `{after} = ..`; add it"));
            return None;
        }
    }
    let explanation = format!("the line `{line}` is set");
    Some(Step::Edit { path: path.to_owned(), contents: lines.join("\n") + "\n", explanation })
}

/// Returns a value without a comment behind it.
fn value_of(text: &str) -> &str {
    text.split('#').next().unwrap_or(text).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(source: &str, modules: &[&str], removed: &[&str]) -> Option<String> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let mut problems = Problems::default();
        let step = edit_modules("lib.rs", source, &owned(modules), &owned(removed), &mut problems);
        assert!(problems.0.is_empty(), "{problems}");
        step.map(|step| match step {
            Step::Edit { contents, .. } => contents,
            step => panic!("{step}"),
        })
    }

    #[test]
    fn modules_are_inserted_where_rustfmt_sorts_them() {
        let source = "//! Docs.\n\nmod groups;\npub mod tools_v2;\n\npub use groups::groups;\n";
        let modules = "pub mod apps_v1;\nmod groups;\npub mod tools_v2;\npub mod tools_v10;\n";
        let expected = &format!("//! Docs.\n\n{modules}\npub use groups::groups;\n");
        assert_eq!(edited(source, &["apps_v1", "tools_v10"], &[]).as_ref(), Some(expected));
        assert_eq!(edited(expected, &["apps_v1", "tools_v10"], &[]), None);
        assert_eq!(edited(expected, &[], &["apps_v1", "tools_v10"]).unwrap(), source);
    }

    #[test]
    fn a_module_that_is_declared_otherwise_is_a_problem() {
        let mut problems = Problems::default();
        let step = edit_modules("lib.rs", "mod apps_v1 {}\n", &[], &["apps_v1".to_owned()], &mut problems);
        assert_eq!((step, problems.0.len()), (None, 1));
    }

    #[test]
    fn settings_are_changed_at_the_top_level() {
        let set = |text: &str, value: &str| {
            let mut problems = Problems::default();
            let step = edit_setting("a.toml", text, ("namespaced", value), "name", &mut problems);
            (
                step.map(|step| match step {
                    Step::Edit { contents, .. } => contents,
                    step => panic!("{step}"),
                }),
                problems.0.len(),
            )
        };
        assert_eq!(
            set("name = 'a'\n\n[env]\nnamespaced = 'x'\n", "true").0.unwrap(),
            "name = 'a'\nnamespaced = true\n\n[env]\nnamespaced = 'x'\n"
        );
        assert_eq!(set("name = 'a'\nnamespaced = true # why\n", "true"), (None, 0));
        assert_eq!(set("name = 'a'\nnamespaced = true\n", "false").0.unwrap(), "name = 'a'\nnamespaced = false\n");
        assert_eq!(set("", "true"), (None, 1));
    }
}
