//! The APIs of a project: they are created and deleted, and get further versions.

use super::{
    conversions::convert_to_hub,
    files::{
        self, Files, client_root, conversion_path, empty_client, is_generated, is_owned, kind_path, of_user, types_root,
    },
    model::{Model, Resource, ResourceWebhooks},
    plan::{Plan, Problems, Step},
    project_file,
    tree::{Tree, edit_modules, edit_setting},
};

/// The settings of the manifests, relative to the root.
pub(super) const SETTINGS: &str = "config/project.toml";
/// The directory of the definitions that the generator writes.
const DEFINITIONS: &str = "config/crd/bases/";

/// Plans a new kind: its types, a sample, and unless it has none, its controller with a test.
///
/// # Errors
/// Fails with everything that prevents it.
pub fn create_api(tree: &Tree, resource: &Resource) -> Result<Plan, Problems> {
    let old = model(tree)?;
    let mut new = old.clone();
    let same =
        |other: &&mut Resource| other.is_of_kind(&resource.group, &resource.kind) && other.version == resource.version;
    match new.resources.iter_mut().find(same) {
        Some(existing) => {
            if existing.plural != resource.plural || existing.namespaced != resource.namespaced {
                let scope = if existing.namespaced { "namespaced" } else { "cluster-scoped" };
                let Resource { kind, plural, .. } = &*existing;
                return Err(
                    format!("{kind} exists as `{plural}`, {scope}; use these options, or delete it first").into()
                );
            }
            existing.controller |= resource.controller;
        }
        None => {
            if old.resources.iter().any(|other| other.is_of_kind(&resource.group, &resource.kind)) {
                return Err(format!("{} exists in another version; use `create version`", resource.kind).into());
            }
            new.resources.push(resource.clone());
        }
    }
    transition(tree, &old, &new, &Files::new())
}

/// Plans a further version of a kind, whose types are a copy of those of its last version. The new one is not the
/// storage version.
///
/// # Errors
/// Fails with everything that prevents it.
pub fn create_version(tree: &Tree, group: &str, kind: &str, version: &str) -> Result<Plan, Problems> {
    let old = model(tree)?;
    let Some(last) = old
        .resources
        .iter()
        .filter(|resource| resource.is_of_kind(group, kind))
        .max_by(|a, b| kubewright_names::version::compare(&a.version, &b.version))
    else {
        return Err(unknown(kind, group));
    };
    let webhooks = ResourceWebhooks::default();
    let resource = Resource { version: version.to_owned(), controller: false, webhooks, ..last.clone() };
    if old.resources.iter().any(|other| other.is_of_kind(group, kind) && other.version == version) {
        return transition(tree, &old, &old, &Files::new());
    }
    let mut new = old.clone();
    let mut contents = Files::new();
    let module = new.version_module(&resource);
    let hub = old.resources.iter().find(|other| other.is_of_kind(group, kind) && other.webhooks.conversion);
    if let Some(source) = tree.get(&kind_path(&old, last)) {
        let copy = without_storage(source);
        let copy = match hub {
            Some(hub) => convert_to_hub(&copy, &old.version_module(hub)),
            None => copy,
        };
        contents.insert(kind_path(&old, &resource), copy);
    }
    let conversion = conversion_path(&old, &resource);
    new.resources.push(resource);
    let mut plan = transition(tree, &old, &new, &contents)?;
    if hub.is_some() {
        plan.notes.push(format!("{conversion}: add `.spoke::<{module}::{kind}>()`"));
    }
    Ok(plan)
}

/// Removes the attribute of the storage version.
fn without_storage(source: &str) -> String {
    let lines =
        source.lines().filter(|line| line.trim() != "#[k8s(storage)]").map(|line| match line.starts_with("#[k8s(") {
            true => line.replace("(storage, ", "(").replace(", storage)", ")").replace(", storage,", ","),
            false => line.to_owned(),
        });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// Plans whether the operator watches its own namespace only.
///
/// # Errors
/// Fails with everything that prevents it.
pub fn edit(tree: &Tree, namespaced: bool) -> Result<Plan, Problems> {
    let old = model(tree)?;
    let new = Model { namespaced, ..old.clone() };
    let mut steps = transition(tree, &old, &new, &Files::new())?.steps;
    let mut problems = Problems::default();
    if let Some(settings) = tree.require(SETTINGS, &mut problems) {
        let setting = ("namespaced", if namespaced { "true" } else { "false" });
        steps.extend(edit_setting(SETTINGS, settings, setting, "name", &mut problems));
    }
    problems.or(Plan::new(steps))
}

/// Plans the deletion of one version of a kind, and with its last version that of its controller. Files that the
/// generators have written are removed when they run again.
///
/// # Errors
/// Fails with everything that prevents it.
pub fn delete_api(tree: &Tree, group: &str, kind: &str, version: &str) -> Result<Plan, Problems> {
    let old = model(tree)?;
    let mut new = old.clone();
    new.resources.retain(|resource| !resource.is_of_kind(group, kind) || resource.version != version);
    let is_deleted = |resource: &&Resource| !new.resources.contains(resource);
    let others: Vec<&Resource> = new.resources.iter().filter(|other| other.is_of_kind(group, kind)).collect();
    match old.resources.iter().find(is_deleted) {
        None => Err(unknown(kind, group)),
        Some(deleted) if deleted.controller && !others.is_empty() => {
            Err(format!("the controller of {kind} reconciles {version}; delete the other versions first").into())
        }
        Some(deleted) if deleted.webhooks.prevent_deletion(others.len()) => {
            Err(format!("the webhooks of {kind} are those of {version}; delete the other versions first").into())
        }
        Some(deleted) => {
            let notes = conversion_notes(&old, deleted, &others);
            Ok(Plan { notes, ..transition(tree, &old, &new, &Files::new())? })
        }
    }
}

/// Returns what the user needs to remove from the conversion of a kind when one of its versions is deleted.
fn conversion_notes(model: &Model, deleted: &Resource, others: &[&Resource]) -> Vec<String> {
    let kind = &deleted.kind;
    match others {
        [last] if deleted.webhooks.conversion => {
            vec![format!("{}: remove `#[convert(..)]`: {kind} has one version", kind_path(model, last))]
        }
        others if others.iter().any(|other| other.webhooks.conversion) => {
            let (path, module) = (conversion_path(model, deleted), model.version_module(deleted));
            vec![format!("{path}: remove `.spoke::<{module}::{kind}>()`")]
        }
        _ => Vec::new(),
    }
}

pub(super) fn unknown(kind: &str, group: &str) -> Problems {
    format!("PROJECT has no such version of a kind {kind} in the group `{group}`").into()
}

/// Reads the model of a project.
pub(super) fn model(tree: &Tree) -> Result<Model, Problems> {
    match tree.get(project_file::PATH) {
        Some(text) => project_file::parse(text),
        None => Err("there is no file PROJECT; `cargo kubewright init` creates a project with it".to_owned().into()),
    }
}

/// Plans the changes from one model to another. The contents replace those of the templates.
pub(super) fn transition(tree: &Tree, old: &Model, new: &Model, contents: &Files) -> Result<Plan, Problems> {
    let mut problems = Problems::default();
    new.check(&mut problems);
    if !problems.0.is_empty() {
        return Err(problems);
    }
    let mut steps = owned_steps(tree, old, new, &mut problems)?;
    steps.extend(user_steps(tree, old, new, contents, &mut problems));
    steps.extend(module_step(tree, old, new, &mut problems));
    steps.extend(samples_step(tree, old, new, &mut problems));
    if new.modules().is_empty() {
        steps.extend(client_steps(tree, new));
    }
    problems.or(Plan::new(steps))
}

/// Plans the changes of the files that only these commands write.
fn owned_steps(tree: &Tree, old: &Model, new: &Model, problems: &mut Problems) -> Result<Vec<Step>, Problems> {
    let (before, after) = (files::owned(old)?, files::owned(new)?);
    let mut steps = Vec::new();
    for (path, contents) in after {
        match tree.get(&path) {
            Some(found) if found == contents => {}
            Some(found) if is_owned(found) => steps.push(Step::Replace { path, contents }),
            Some(_) => problems
                .add(format!("{path} was not written by this command, or its first line has changed; move it away")),
            None if before.contains_key(&path) => {
                tree.require(&path, problems);
            }
            None => steps.push(Step::Create { path, contents }),
        }
    }
    let after = files::owned(new)?;
    let is_removed = |path: &String| !after.contains_key(path) && tree.get(path).is_some_and(is_owned);
    steps.extend(before.into_keys().filter(is_removed).map(|path| Step::Remove { path }));
    Ok(steps)
}

/// Returns the paths of files with contents of the user that a plan replaces or removes. Edits keep these contents.
///
/// # Errors
/// Fails if `PROJECT` cannot be read.
pub fn overwritten<'a>(tree: &Tree, plan: &'a Plan) -> Result<Vec<&'a str>, Problems> {
    let written = files::owned(&model(tree)?)?;
    let is_of_user = |path: &str| match tree.get(path) {
        Some(found) if is_owned(found) => written.get(path).is_some_and(|contents| contents != found),
        Some(found) => !is_generated(found),
        None => false,
    };
    let steps = plan.steps.iter().filter(|step| matches!(step, Step::Replace { .. } | Step::Remove { .. }));
    Ok(steps.map(Step::path).filter(|path| is_of_user(path)).collect())
}

fn user_steps(tree: &Tree, old: &Model, new: &Model, contents: &Files, problems: &mut Problems) -> Vec<Step> {
    let (before, after) = (of_user(old), of_user(new));
    let mut steps = Vec::new();
    for path in before.keys().filter(|path| !after.contains_key(*path) && tree.get(path).is_some()) {
        steps.push(Step::Remove { path: path.clone() });
    }
    for (path, template) in after {
        if before.contains_key(&path) {
            // A sample can be deleted; a source is part of a crate.
            if path.ends_with(".rs") && !path.contains("/tests/") {
                tree.require(&path, problems);
            }
            continue;
        }
        tree.require_absent(&path, problems);
        let contents = contents.get(&path).cloned().unwrap_or(template);
        steps.push(Step::Create { path, contents });
    }
    steps
}

/// Declares the modules of new versions.
fn module_step(tree: &Tree, old: &Model, new: &Model, problems: &mut Problems) -> Option<Step> {
    let path = types_root(new);
    let (before, modules) = (old.modules(), new.modules());
    let removed: Vec<String> = before.into_iter().filter(|module| !modules.contains(module)).collect();
    let source = tree.require(&path, problems)?;
    edit_modules(&path, source, &modules, &removed, problems)
}

/// Lists the samples in the settings.
fn samples_step(tree: &Tree, old: &Model, new: &Model, problems: &mut Problems) -> Option<Step> {
    let (before, after) = (old.samples(), new.samples());
    if before == after {
        return None;
    }
    let settings = tree.require(SETTINGS, problems)?;
    let table = toml::from_str::<toml::Table>(settings).unwrap_or_default();
    let listed = table.get("samples").and_then(toml::Value::as_array).into_iter().flatten();
    let mut samples: Vec<String> = listed.filter_map(toml::Value::as_str).map(str::to_owned).collect();
    samples.retain(|sample| !before.contains(sample) || after.contains(sample));
    let new: Vec<_> = after.difference(&before).filter(|sample| !samples.contains(sample)).cloned().collect();
    samples.extend(new);
    let value = toml::Value::from(samples).to_string();
    edit_setting(SETTINGS, settings, ("samples", &value), "image", problems)
}

/// Replaces the client of a project without kinds, for which the generator does not run.
fn client_steps(tree: &Tree, model: &Model) -> Vec<Step> {
    let (root, directory) = (client_root(model), format!("{}/src/", model.client()));
    let mut steps = Vec::new();
    for (path, found) in tree.0.iter().filter(|(_, found)| is_generated(found)) {
        if *path == root {
            let contents = empty_client(model);
            steps.extend((*found != contents).then(|| Step::Replace { path: path.clone(), contents }));
        } else if path.starts_with(&directory) || path.starts_with(DEFINITIONS) {
            steps.push(Step::Remove { path: path.clone() });
        }
    }
    steps
}
