//! The commands about kinds in a project with kinds of other projects.

use std::{collections::BTreeSet, error::Error, process::ExitCode};

use kubewright_codegen::{Command, Crd, Import, ImportedModule};
use kubewright_core::meta::ApiGroup;

use super::run::Changes;
use crate::{
    scaffold::{External, Imported, external_groups, import},
    workspace::Workspace,
};

/// Runs a command of the generator. Only the client has the kinds of other projects.
pub(super) fn run(command: Command, groups: &[ApiGroup]) -> Result<ExitCode, Box<dyn Error>> {
    let workspace = Workspace::find(groups);
    let external = external(&workspace)?;
    Ok(match command {
        Command::Crd(Crd::Import(args)) if args.out.is_none() && !args.stdout && workspace.is_scaffold() => {
            import_into(&workspace, &args)?
        }
        Command::Codegen(mut args) => {
            args.settings.external.extend(external);
            Command::Codegen(args).run(groups)
        }
        command => command.run(&without(groups, &external)),
    })
}

/// Returns the groups of the project itself.
pub(super) fn own_groups(groups: &[ApiGroup]) -> Result<Vec<ApiGroup>, Box<dyn Error>> {
    Ok(without(groups, &external(&Workspace::find(groups))?))
}

fn without(groups: &[ApiGroup], external: &BTreeSet<String>) -> Vec<ApiGroup> {
    groups.iter().filter(|group| !external.contains(group.group)).copied().collect()
}

/// Returns the groups of other projects, which `PROJECT` lists.
fn external(workspace: &Workspace<'_>) -> Result<BTreeSet<String>, Box<dyn Error>> {
    match workspace.is_scaffold() {
        true => Ok(external_groups(&workspace.project_file()?)?.into_iter().collect()),
        false => Ok(BTreeSet::new()),
    }
}

/// Adds the modules of definitions to the types of the project.
fn import_into(workspace: &Workspace<'_>, args: &Import) -> Result<ExitCode, Box<dyn Error>> {
    let modules = args.modules().map_err(|error| format!("{error:#}"))?;
    let mut imported = Vec::new();
    for ImportedModule { group, version, kinds, module, source, notes } in modules {
        notes.iter().for_each(|note| eprintln!("note: {note}"));
        imported.push(Imported { external: External { group, version, module, kinds }, source });
    }
    Ok(Changes::default().run(workspace, |tree| import(tree, &imported)))
}
