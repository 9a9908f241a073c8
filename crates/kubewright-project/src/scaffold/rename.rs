//! A kind gets another name, in all its versions.

use std::collections::BTreeSet;

use kubewright_names::{case::snake_case, resource::plural};

use super::{
    apis::{model, transition, unknown},
    files::{Files, is_generated, is_owned, of_user},
    model::{Model, Resource},
    plan::{Plan, Problems, Step},
    tree::Tree,
};

/// A rename of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// The group without the domain.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// Its new name. Its new plural is derived from it.
    pub to: String,
}

/// Plans the rename of a kind: its files get other paths and the new name in their contents. Other files are not
/// changed; the lines in which they contain the name are notes of the plan.
///
/// # Errors
/// Fails with everything that prevents it.
pub fn rename_api(tree: &Tree, rename: &Rename) -> Result<Plan, Problems> {
    let old = model(tree)?;
    let mut new = old.clone();
    let mut found: Vec<Resource> = Vec::new();
    for resource in new.resources.iter_mut().filter(|resource| resource.is_of_kind(&rename.group, &rename.kind)) {
        found.push(resource.clone());
        resource.kind.clone_from(&rename.to);
        resource.plural = plural(&rename.to);
    }
    let Some(first) = found.first() else {
        let is_done = old.resources.iter().any(|resource| resource.is_of_kind(&rename.group, &rename.to));
        return if is_done {
            transition(tree, &old, &old, &Files::new())
        } else {
            Err(unknown(&rename.kind, &rename.group))
        };
    };
    if rename.kind.to_lowercase() == rename.to.to_lowercase() {
        return Err(
            format!("{} and {} differ in case only, which the API server ignores", rename.kind, rename.to).into()
        );
    }
    let words = Words { rename, plural: first.plural.clone() };
    let mut contents = Files::new();
    for (before, after) in moved(&old, &new, rename) {
        contents.extend(tree.get(&before).map(|source| (after, words.replace(&before, source))));
    }
    let mut plan = transition(tree, &old, &new, &contents)?;
    let changed: BTreeSet<&str> = plan.steps.iter().map(Step::path).collect();
    plan.notes = words.occurrences(tree, &changed);
    Ok(plan)
}

/// Returns the paths of the files of the kind, before and after.
fn moved(old: &Model, new: &Model, rename: &Rename) -> Vec<(String, String)> {
    let with_kind_only = |model: &Model, kind: &str| {
        let mut model = model.clone();
        model.resources.retain(|resource| resource.is_of_kind(&rename.group, kind));
        model.resources.sort_by(|a, b| a.version.cmp(&b.version));
        model
    };
    let (old, new) = (with_kind_only(old, &rename.kind), with_kind_only(new, &rename.to));
    let single = |model: &Model, resource: &Resource| {
        let model = Model { resources: vec![resource.clone()], ..model.clone() };
        of_user(&model).into_keys().collect::<Vec<_>>()
    };
    let pairs = old.resources.iter().zip(&new.resources);
    pairs.flat_map(|(before, after)| single(&old, before).into_iter().zip(single(&new, after))).collect()
}

/// The words of a kind: its name, alone or with a suffix in CamelCase, its module and its plural.
struct Words<'a> {
    rename: &'a Rename,
    plural: String,
}

impl Words<'_> {
    /// Returns the replacement of a word in a file, if it is one of the kind. Names in texts contain no `_`.
    fn replacement(&self, path: &str, word: &str, is_text: bool) -> Option<String> {
        let Rename { kind, to, .. } = self.rename;
        if let Some(suffix) = word.strip_prefix(kind.as_str())
            && !suffix.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        {
            return Some(format!("{to}{suffix}"));
        }
        match word {
            _ if word == self.plural => Some(plural(to)),
            _ if word == snake_case(kind) && path.ends_with(".rs") && !is_text => Some(snake_case(to)),
            _ if word == kind.to_lowercase() => Some(to.to_lowercase()),
            _ => {
                // The name of a sample, such as `apps_v1_widget`.
                let (version, name) = word.rsplit_once('_')?;
                let is_sample = is_text && name == kind.to_lowercase() && path.ends_with(".rs");
                is_sample.then(|| format!("{version}_{}", to.to_lowercase()))
            }
        }
    }

    fn replace(&self, path: &str, source: &str) -> String {
        let (mut before, mut replaced) = ("", String::new());
        for part in parts(source) {
            let is_text = before.ends_with(['"', '/', '-']);
            replaced += self.replacement(path, part, is_text).as_deref().unwrap_or(part);
            before = part;
        }
        replaced
    }

    /// Lists the lines of other sources of the user with these words.
    fn occurrences(&self, tree: &Tree, changed: &BTreeSet<&str>) -> Vec<String> {
        let is_other = |path: &str, source: &str| {
            path.ends_with(".rs") && !changed.contains(path) && !is_owned(source) && !is_generated(source)
        };
        let mut notes = Vec::new();
        let kind = &self.rename.kind;
        for (path, source) in tree.0.iter().filter(|(path, source)| is_other(path, source)) {
            let is_named = |part: &str| part.starts_with(kind) && self.replacement(path, part, false).is_some();
            for (index, _) in source.lines().enumerate().filter(|(_, line)| parts(line).any(is_named)) {
                notes.push(format!("{path}:{} contains {kind}; change it", index + 1));
            }
        }
        notes
    }
}

/// Splits a text into words of letters, digits and `_`, and what is between them.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest.find(|c: char| is_word(c) != is_word(first)).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        rest = after;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_kind_are_replaced() {
        let rename = Rename { group: "apps".to_owned(), kind: "LogFile".to_owned(), to: "Journal".to_owned() };
        let words = Words { rename: &rename, plural: "logfiles".to_owned() };
        for (source, expected) in [
            ("struct LogFileSpec(LogFile);", "struct JournalSpec(Journal);"),
            ("log_file: LogFiler, logfiles, \"logfile\"", "journal: LogFiler, journals, \"journal\""),
            ("LogFile2", "LogFile2"),
        ] {
            assert_eq!(words.replace("a.rs", source), expected);
        }
        let sample = "include_str!(\"../samples/apps_v1_logfile.yaml\"), \"logfile-sample\"";
        let expected = "include_str!(\"../samples/apps_v1_journal.yaml\"), \"journal-sample\"";
        assert_eq!(words.replace("a.rs", sample), expected);
        assert_eq!(words.replace("a.yaml", "name: logfile-sample"), "name: journal-sample");
    }
}
