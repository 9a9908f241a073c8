//! `cargo xtask create`, `edit`, `delete` and `rename`: the kinds of a project and their webhooks.

use std::process::ExitCode;

use clap::{ArgAction, Args, Subcommand};

pub use super::run::Changes;
use crate::{
    scaffold::{
        self, NewWebhooks, Resource, ResourceWebhooks, create_api, create_version, create_webhooks, delete_api,
        delete_import, edit, rename_api,
    },
    workspace::Workspace,
};

/// What to create.
#[derive(Clone, Debug, Subcommand)]
pub enum Create {
    /// Create a kind with its types, a sample, a controller and a test.
    Api(CreateApi),
    /// Create a further version of a kind, whose types are a copy of those of its last version.
    Version(VersionOptions),
    /// Create webhooks of a kind, which set fields, validate objects or convert them between versions.
    Webhook(CreateWebhook),
}

/// Options of `create webhook`.
#[derive(Clone, Debug, Args)]
pub struct CreateWebhook {
    /// The group without the domain.
    #[arg(long)]
    pub group: String,
    /// The kind.
    #[arg(long)]
    pub kind: String,
    /// The version of objects that are defaulted and validated [default: the only version].
    #[arg(long)]
    pub version: Option<String>,
    /// Set fields of objects before they are validated.
    #[arg(long)]
    pub defaulting: bool,
    /// Validate objects.
    #[arg(long)]
    pub validation: bool,
    /// Convert objects between the versions of the kind.
    #[arg(long, requires = "hub")]
    pub conversion: bool,
    /// The version through which objects are converted.
    #[arg(long, value_name = "VERSION", requires = "conversion")]
    pub hub: Option<String>,
    /// How the project is changed.
    #[command(flatten)]
    pub changes: Changes,
}

/// Options of `create api`.
#[derive(Clone, Debug, Args)]
pub struct CreateApi {
    /// The group, to which the domain of the project is added. The empty group is the domain itself.
    #[arg(long)]
    pub group: String,
    /// The version, such as `v1`.
    #[arg(long)]
    pub version: String,
    /// The kind, in CamelCase.
    #[arg(long)]
    pub kind: String,
    /// The name of the resource in URLs [default: derived from the kind].
    #[arg(long)]
    pub plural: Option<String>,
    /// Objects have no namespace.
    #[arg(long)]
    pub cluster_scoped: bool,
    /// Whether the kind has a controller.
    #[arg(long, action = ArgAction::Set, default_value_t = true, value_name = "BOOL")]
    pub controller: bool,
    /// How the project is changed.
    #[command(flatten)]
    pub changes: Changes,
}

/// Options of `create version` and `delete api`.
#[derive(Clone, Debug, Args)]
pub struct VersionOptions {
    /// The group without the domain.
    #[arg(long)]
    pub group: String,
    /// The version that is created or deleted.
    #[arg(long)]
    pub version: String,
    /// The kind.
    #[arg(long)]
    pub kind: String,
    /// How the project is changed.
    #[command(flatten)]
    pub changes: Changes,
}

/// Options of `edit`.
#[derive(Clone, Debug, Args)]
pub struct Edit {
    /// Watch the namespace of the operator only, with a Role in place of a ClusterRole. `--namespaced=false` is all.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(value_name = "BOOL", required = true)]
    pub namespaced: bool,
    /// How the project is changed.
    #[command(flatten)]
    pub changes: Changes,
}

/// What to delete.
#[derive(Clone, Debug, Subcommand)]
pub enum Delete {
    /// Delete a version of a kind, and with the last one its controller and test.
    Api(VersionOptions),
    /// Delete the types of an imported version of a group.
    Import(DeleteImport),
}

/// Options of `delete import`.
#[derive(Clone, Debug, Args)]
pub struct DeleteImport {
    /// The module of the types, such as `cert_manager_v1`.
    pub module: String,
    /// How the project is changed.
    #[command(flatten)]
    pub changes: Changes,
}

/// What to rename.
#[derive(Clone, Debug, Subcommand)]
pub enum Rename {
    /// Rename a kind in all its versions: its files, and its name in them. Other files with its name are listed.
    Api(RenameApi),
}

/// Options of `rename api`.
#[derive(Clone, Debug, Args)]
pub struct RenameApi {
    /// The group without the domain.
    #[arg(long)]
    pub group: String,
    /// The kind.
    #[arg(long)]
    pub kind: String,
    /// The new name of the kind. Its plural is derived from it.
    #[arg(long)]
    pub to: String,
    /// How the project is changed.
    #[command(flatten)]
    pub changes: Changes,
}

impl Create {
    /// Creates a kind or a version.
    pub(super) fn run(&self, workspace: &Workspace<'_>) -> ExitCode {
        match self {
            Create::Api(api) => api.changes.run(workspace, |tree| create_api(tree, &api.resource())),
            Create::Version(VersionOptions { group, version, kind, changes }) => {
                changes.run(workspace, |tree| create_version(tree, group, kind, version))
            }
            Create::Webhook(webhook) => {
                webhook.changes.run(workspace, |tree| create_webhooks(tree, &webhook.request()))
            }
        }
    }
}

impl CreateWebhook {
    fn request(&self) -> NewWebhooks {
        NewWebhooks {
            group: self.group.clone(),
            kind: self.kind.clone(),
            version: self.version.clone(),
            defaulting: self.defaulting,
            validation: self.validation,
            hub: self.hub.clone(),
        }
    }
}

impl CreateApi {
    fn resource(&self) -> Resource {
        Resource {
            group: self.group.clone(),
            version: self.version.clone(),
            kind: self.kind.clone(),
            plural: self.plural.clone().unwrap_or_else(|| kubewright_names::resource::plural(&self.kind)),
            namespaced: !self.cluster_scoped,
            controller: self.controller,
            webhooks: ResourceWebhooks::default(),
        }
    }
}

impl Edit {
    /// Changes the project.
    pub(super) fn run(&self, workspace: &Workspace<'_>) -> ExitCode {
        self.changes.run(workspace, |tree| edit(tree, self.namespaced))
    }
}

impl Delete {
    /// Deletes a version of a kind, or an import.
    pub(super) fn run(&self, workspace: &Workspace<'_>) -> ExitCode {
        match self {
            Delete::Api(VersionOptions { group, version, kind, changes }) => {
                changes.run(workspace, |tree| delete_api(tree, group, kind, version))
            }
            Delete::Import(DeleteImport { module, changes }) => {
                changes.run(workspace, |tree| delete_import(tree, module))
            }
        }
    }
}

impl Rename {
    /// Renames a kind.
    pub(super) fn run(&self, workspace: &Workspace<'_>) -> ExitCode {
        let Rename::Api(RenameApi { group, kind, to, changes }) = self;
        let rename = scaffold::Rename { group: group.clone(), kind: kind.clone(), to: to.clone() };
        changes.run(workspace, |tree| rename_api(tree, &rename))
    }
}
