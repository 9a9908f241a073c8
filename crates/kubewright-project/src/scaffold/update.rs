//! A project gets the current layout: the changes of the templates are merged into its files.

use std::collections::BTreeSet;

use super::{
    apis::{model, owned_steps},
    files::{Files, of_user, types_root},
    init::{Dependencies, templates},
    layout::Layout,
    model::Model,
    plan::{Plan, Problems, Step},
    tree::{Tree, edit_modules},
};

/// The programs that an update needs.
pub trait Tools {
    /// Formats a source of Rust with the settings of the project.
    ///
    /// # Errors
    /// Fails if it cannot be formatted.
    fn format(&self, path: &str, source: &str) -> Result<String, Problems>;

    /// Merges the changes of the user and those of the layout.
    ///
    /// # Errors
    /// Fails if no merge is possible. Conflicts are no errors.
    fn merge(&self, versions: &Versions<'_>) -> Result<Merged, Problems>;
}

/// The versions of a file that are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions<'a> {
    /// The path of the file.
    pub path: &'a str,
    /// The file of the user.
    pub yours: &'a str,
    /// The layout of the project.
    pub layout: Layout,
    /// The file in the layout of the project; empty if that has no such file.
    pub former: &'a str,
    /// The file in the current layout.
    pub current: &'a str,
}

/// A merged file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The contents, with markers around each conflict.
    pub contents: String,
    /// The number of conflicts.
    pub conflicts: usize,
}

/// Plans the update of a project to [`Layout::CURRENT`]. The files that only these commands write are replaced. Changes
/// of other files are merged by three versions: the file of the user, the file in the layout of the project, and the
/// file in the current layout. A file that the user has deleted is not created again. The tree needs the contents of
/// [`update_paths`].
///
/// # Errors
/// Fails with everything that prevents it.
pub fn update(tree: &Tree, tools: &dyn Tools) -> Result<Plan, Problems> {
    let old = model(tree)?;
    if old.layout == Layout::CURRENT {
        return Ok(Plan::default());
    }
    let new = Model { layout: Layout::CURRENT, ..old.clone() };
    let (mut problems, mut notes) = (Problems::default(), Vec::new());
    let mut steps = owned_steps(tree, &old, &new, &mut problems)?;
    for change in changes(tree, &old, &new, tools)? {
        steps.extend(change.step(old.layout, tools, &mut notes)?);
    }
    problems.or(Plan { notes, ..Plan::new(steps) })
}

/// Returns the paths of the files that the user continues, in the layout of the project and in the current one.
///
/// # Errors
/// Fails if `PROJECT` does not exist or cannot be read.
pub fn update_paths(tree: &Tree) -> Result<BTreeSet<String>, Problems> {
    let old = model(tree)?;
    let new = Model { layout: Layout::CURRENT, ..old.clone() };
    let dependencies = Dependencies::of_project(tree);
    let mut paths: BTreeSet<String> = rendered(&old, &dependencies)?.into_keys().collect();
    paths.extend(rendered(&new, &dependencies)?.into_keys());
    Ok(paths)
}

/// Returns the files that the user continues, as they are in the layout of the model.
fn rendered(model: &Model, dependencies: &Dependencies) -> Result<Files, Problems> {
    let mut files = templates(model, dependencies);
    files.extend(of_user(model));
    let path = types_root(model);
    let modules: Vec<String> = model.versions().into_keys().collect();
    let mut problems = Problems::default();
    let step = files.get(&path).and_then(|source| edit_modules(&path, source, &modules, &[], &mut problems));
    if let Some(Step::Edit { contents, .. }) = step {
        files.insert(path, contents);
    }
    problems.or(files)
}

/// A file that differs between two layouts.
struct Change {
    path: String,
    /// The file in the layout of the project.
    former: Option<String>,
    /// The file in the current layout.
    current: Option<String>,
    /// The file of the user.
    yours: Option<String>,
}

/// Returns the files that differ between the layouts of two models. Sources are formatted, as they are created.
fn changes(tree: &Tree, old: &Model, new: &Model, tools: &dyn Tools) -> Result<Vec<Change>, Problems> {
    let dependencies = Dependencies::of_project(tree);
    let (mut former, mut current) = (rendered(old, &dependencies)?, rendered(new, &dependencies)?);
    let paths: BTreeSet<String> = former.keys().chain(current.keys()).cloned().collect();
    let mut changes = Vec::new();
    for path in paths {
        let (mut former, mut current) = (former.remove(&path), current.remove(&path));
        if former == current {
            continue;
        }
        if path.ends_with(".rs") {
            for source in [&mut former, &mut current].into_iter().flatten() {
                *source = tools.format(&path, source)?;
            }
        }
        // Line ends become those of the templates, as in every file that is written.
        let yours = tree.get(&path).map(|contents| contents.replace("\r\n", "\n"));
        changes.push(Change { path, former, current, yours });
    }
    Ok(changes)
}

impl Change {
    /// Returns the step that brings the file to the current layout, and adds what the user needs to do.
    fn step(self, layout: Layout, tools: &dyn Tools, notes: &mut Vec<String>) -> Result<Option<Step>, Problems> {
        let Change { path, former, current, yours } = self;
        if former == current || yours == current {
            return Ok(None);
        }
        let is_unchanged = yours == former;
        let step = match (yours, current) {
            (None, Some(contents)) if is_unchanged => Step::Create { path, contents },
            (Some(_), Some(contents)) if is_unchanged => Step::Replace { path, contents },
            (Some(_), None) if is_unchanged => Step::Remove { path },
            (None, _) => {
                notes.push(format!("{path} does not exist; its changes in layout {} are omitted", Layout::CURRENT));
                return Ok(None);
            }
            (Some(_), None) => {
                notes.push(format!("{path} is not part of layout {}; delete it unless you use it", Layout::CURRENT));
                return Ok(None);
            }
            (Some(yours), Some(current)) => {
                let former = former.unwrap_or_default();
                let versions = Versions { path: &path, yours: &yours, layout, former: &former, current: &current };
                let Merged { contents, conflicts } = tools.merge(&versions)?;
                if contents == yours {
                    return Ok(None);
                }
                if conflicts > 0 {
                    notes.push(format!("{path} has conflicts; edit the lines between `<<<<<<<` and `>>>>>>>`"));
                }
                Step::Merge { path, contents, conflicts }
            }
        };
        Ok(Some(step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tools without programs: a merge is a conflict of all versions.
    struct Fake;

    impl Tools for Fake {
        fn format(&self, _: &str, source: &str) -> Result<String, Problems> {
            Ok(source.to_owned())
        }

        fn merge(&self, versions: &Versions<'_>) -> Result<Merged, Problems> {
            let Versions { path, yours, layout, former, current } = versions;
            Ok(Merged { contents: format!("{path} {layout}: {former}, {yours}, {current}"), conflicts: 1 })
        }
    }

    fn step(yours: Option<&str>, former: Option<&str>, current: Option<&str>) -> (Option<Step>, usize) {
        let [yours, former, current] = [yours, former, current].map(|contents| contents.map(str::to_owned));
        let mut notes = Vec::new();
        let change = Change { path: "a".to_owned(), former, current, yours };
        (change.step(Layout::FIRST, &Fake, &mut notes).unwrap(), notes.len())
    }

    #[test]
    fn files_are_changed_by_their_three_versions() {
        let (path, contents) = ("a".to_owned(), "new".to_owned());
        let merged =
            |contents: &str| Some(Step::Merge { path: "a".to_owned(), contents: contents.to_owned(), conflicts: 1 });
        for (yours, former, current, expected) in [
            (Some("mine"), Some("old"), Some("old"), (None, 0)),
            (Some("new"), Some("old"), Some("new"), (None, 0)),
            (
                Some("old"),
                Some("old"),
                Some("new"),
                (Some(Step::Replace { path: path.clone(), contents: contents.clone() }), 0),
            ),
            (None, None, Some("new"), (Some(Step::Create { path: path.clone(), contents }), 0)),
            (None, Some("old"), Some("new"), (None, 1)),
            (None, Some("old"), None, (None, 0)),
            (Some("old"), Some("old"), None, (Some(Step::Remove { path }), 0)),
            (Some("mine"), Some("old"), None, (None, 1)),
            (Some("mine"), Some("old"), Some("new"), (merged("a v1: old, mine, new"), 1)),
            (Some("mine"), None, Some("new"), (merged("a v1: , mine, new"), 1)),
        ] {
            assert_eq!(step(yours, former, current), expected, "{yours:?} {former:?} {current:?}");
        }
    }
}
