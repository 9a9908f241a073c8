//! Versions of other projects are imported and removed.

use super::{
    apis::{model, transition},
    files::{Files, external_path},
    model::External,
    plan::{Plan, Problems},
    tree::Tree,
};

/// An imported version of a group, with the source of its types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The version of the group.
    pub external: External,
    /// The source of its module.
    pub source: String,
}

/// Plans the modules of imported versions. The client has their kinds, but `config` does not contain their definitions.
///
/// # Errors
/// Fails with everything that prevents it.
pub fn import(tree: &Tree, imported: &[Imported]) -> Result<Plan, Problems> {
    let old = model(tree)?;
    let (mut new, mut contents, mut problems) = (old.clone(), Files::new(), Problems::default());
    for Imported { external, source } in imported {
        let path = external_path(&old, external);
        if old.externals.contains(external) {
            if tree.get(&path).is_some_and(|found| found != source) {
                let module = &external.module;
                problems.add(format!("{path} differs; remove it first with `cargo xtask delete import {module}`"));
            }
            continue;
        }
        new.externals.push(external.clone());
        contents.insert(path, source.clone());
    }
    match problems.0.is_empty() {
        true => transition(tree, &old, &new, &contents),
        false => Err(problems),
    }
}

/// Plans the removal of the module of an imported version. Files that the generators have written are removed when they
/// run again.
///
/// # Errors
/// Fails with everything that prevents it.
pub fn delete_import(tree: &Tree, module: &str) -> Result<Plan, Problems> {
    let old = model(tree)?;
    let mut new = old.clone();
    new.externals.retain(|external| external.module != module);
    if new.externals.len() == old.externals.len() {
        let found: Vec<&str> = old.externals.iter().map(|external| external.module.as_str()).collect();
        return Err(format!("PROJECT has no import `{module}`; its imports are {}", found.join(", ")).into());
    }
    transition(tree, &old, &new, &Files::new())
}

/// Returns the groups of other projects in the file `PROJECT` with this text.
///
/// # Errors
/// Fails if it cannot be read.
pub fn external_groups(tree: &Tree) -> Result<Vec<String>, Problems> {
    Ok(model(tree)?.externals.into_iter().map(|external| external.group).collect())
}
