//! `cargo xtask migrate`: the stored objects of a kind.

use std::collections::BTreeSet;

use kubewright_core::description::KindDescription;

use super::{
    connection::{Connection, KUBECONFIG},
    run::ignore_interrupts,
};
use crate::{
    deploy::DeployError,
    workspace::{Workspace, WorkspaceError, cargo},
};

/// Options of `migrate`.
#[derive(Clone, Debug, clap::Args)]
pub struct Migrate {
    /// The kind, such as `Widget`, or the name of its definition, such as `widgets.example.com`.
    pub kind: String,
    /// The cluster.
    #[command(flatten)]
    pub connection: Connection,
}

impl Migrate {
    /// Runs `crds migrate` of the operator, which writes the objects in the storage version of their definition.
    ///
    /// # Errors
    /// Fails if the project has no such kind, or if the operator cannot be built or fails.
    pub fn run(&self, workspace: &Workspace<'_>) -> Result<(), DeployError> {
        let definition = definition(&self.kind, &workspace.kinds())?;
        let package = workspace.settings()?.name;
        // Ctrl-C ends the operator, and not this process, which deletes the temporary kubeconfig.
        ignore_interrupts()?;
        let kubeconfig = self.connection.kubeconfig()?;
        let mut command = cargo(["run", "--quiet", "--package", &package, "--", "crds", "migrate", &definition]);
        if let Some(kubeconfig) = &kubeconfig {
            command.env(KUBECONFIG, kubeconfig.variable());
        }
        let status = command.status().map_err(WorkspaceError::Cargo)?;
        match status.success() {
            true => Ok(()),
            false => Err(DeployError::NotMigrated { package, status }),
        }
    }
}

/// Returns the name of the definition of a kind.
fn definition(kind: &str, kinds: &[KindDescription]) -> Result<String, DeployError> {
    let names: BTreeSet<String> =
        kinds.iter().filter(|described| described.kind == kind || name(described) == kind).map(name).collect();
    let mut names: Vec<String> = names.into_iter().collect();
    match (names.pop(), names.is_empty()) {
        (Some(name), true) => Ok(name),
        (Some(name), false) => {
            names.push(name);
            Err(DeployError::AmbiguousKind { kind: kind.to_owned(), definitions: names })
        }
        (None, _) => {
            let kinds: BTreeSet<String> = kinds.iter().map(|described| described.kind.clone()).collect();
            Err(DeployError::UnknownKind { kind: kind.to_owned(), kinds: kinds.into_iter().collect() })
        }
    }
}

fn name(kind: &KindDescription) -> String {
    format!("{}.{}", kind.plural, kind.group)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(group: &str, version: &str, kind: &str, plural: &str) -> KindDescription {
        KindDescription {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            namespaced: true,
        }
    }

    #[test]
    fn a_kind_is_selected_by_its_name_or_by_that_of_its_definition() {
        let kinds = [
            kind("a.example.com", "v1", "Widget", "widgets"),
            kind("a.example.com", "v2", "Widget", "widgets"),
            kind("a.example.com", "v1", "Policy", "policies"),
            kind("b.example.com", "v1", "Policy", "policies"),
        ];
        assert_eq!(definition("Widget", &kinds).unwrap(), "widgets.a.example.com");
        assert_eq!(definition("policies.b.example.com", &kinds).unwrap(), "policies.b.example.com");
        let ambiguous = definition("Policy", &kinds).unwrap_err().to_string();
        let expected = "several definitions have the kind `Policy`: policies.a.example.com, policies.b.example.com; use \
                        the name of one of them";
        assert_eq!(ambiguous, expected);
        let unknown = definition("widget", &kinds).unwrap_err().to_string();
        assert_eq!(unknown, "the project has no kind `widget`; its kinds are Policy, Widget");
    }
}
