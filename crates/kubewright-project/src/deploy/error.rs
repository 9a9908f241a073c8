//! The errors of commands about the cluster.

use std::{io, path::PathBuf, process::ExitStatus};

use crate::workspace::WorkspaceError;

/// A command about the cluster that failed.
#[derive(Debug, thiserror::Error)]
pub enum DeployError {
    /// The project cannot be read.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// kubectl cannot be started.
    #[error("cannot run `{program}`: {source}; install kubectl, or set KUBECTL to its path")]
    Kubectl {
        /// The program.
        program: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// kubectl reported an error.
    #[error("`kubectl {command}` failed: {message}")]
    Failed {
        /// The arguments.
        command: String,
        /// What kubectl printed.
        message: String,
    },
    /// The manifests are not rendered.
    #[error("{} does not exist; run `cargo xtask manifests`", path.display())]
    NotRendered {
        /// The missing file.
        path: PathBuf,
    },
    /// The manifests are not YAML.
    #[error("the manifests are not YAML: {0}")]
    Syntax(#[source] Box<serde_saphyr::Error>),
    /// A manifest cannot be written as YAML.
    #[error("cannot encode the manifests: {0}")]
    Encode(#[from] serde_saphyr::SerializeError),
    /// kubectl printed something else than JSON.
    #[error("`kubectl {command}` printed no JSON: {source}")]
    Json {
        /// The arguments.
        command: String,
        /// The error of the decoder.
        source: serde_json::Error,
    },
    /// No container can get the image.
    #[error("no Deployment of `config/default` has a container `manager`, whose image could be set")]
    NoContainer,
    /// The API server does not respond.
    #[error("the cluster is unreachable: {message}; check `kubectl config current-context`, or set --context")]
    Unreachable {
        /// What kubectl printed.
        message: String,
    },
    /// The cluster does not serve kinds of the manifests.
    #[error(
        "the cluster does not serve {}; install their definitions, or change `config/project.toml`",
        kinds.join(", ")
    )]
    UnknownKinds {
        /// The kinds with their groups and versions.
        kinds: Vec<String>,
    },
    /// The user lacks permissions.
    #[error("permissions are missing: {}", missing.join(", "))]
    Forbidden {
        /// The missing verbs with their resources.
        missing: Vec<String>,
    },
    /// A definition belongs to another installation.
    #[error(
        "the definition `{name}` is managed by `{manager}`; remove it there, or take it over with `kubectl label crd \
             {name} app.kubernetes.io/name={operator}`"
    )]
    ForeignDefinition {
        /// The name of the definition.
        name: String,
        /// The field manager.
        manager: String,
        /// The name of this operator.
        operator: String,
    },
    /// The rollout did not complete.
    #[error("{deployment} is not rolled out: {message}{}", list(reasons))]
    NotRolledOut {
        /// The Deployment.
        deployment: String,
        /// What kubectl printed.
        message: String,
        /// Conditions, reasons of pods and events.
        reasons: Vec<String>,
    },
    /// Custom resources were not deleted in time.
    #[error(
        "custom resources still exist; the operator removes its finalizers if it runs, and --orphan keeps them{}",
        list(objects)
    )]
    Finalizers {
        /// The objects with their finalizers.
        objects: Vec<String>,
    },
    /// The namespace was not deleted in time.
    #[error("the namespace `{name}` still exists{}", list(reasons))]
    Namespace {
        /// The name of the namespace.
        name: String,
        /// The messages of its conditions.
        reasons: Vec<String>,
    },
    /// The operator ended before it was stopped.
    #[error("the operator ended: {0}")]
    Ended(ExitStatus),
    /// The operator cannot be started, waited for or stopped.
    #[error("cannot run the operator: {0}")]
    Program(#[source] io::Error),
    /// The project has no such kind.
    #[error("the project has no kind `{kind}`; its kinds are {}", kinds.join(", "))]
    UnknownKind {
        /// What was selected.
        kind: String,
        /// The kinds of the project.
        kinds: Vec<String>,
    },
    /// The project has the kind in several groups.
    #[error(
        "several definitions have the kind `{kind}`: {}; use the name of one of them",
        definitions.join(", ")
    )]
    AmbiguousKind {
        /// What was selected.
        kind: String,
        /// The names of the definitions.
        definitions: Vec<String>,
    },
    /// The migration of the objects of a kind failed. The program of the operator has printed why.
    #[error("`{package} crds migrate` failed: {status}")]
    NotMigrated {
        /// The package of the program.
        package: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// The handler of Ctrl-C cannot be installed.
    #[error("cannot install the handler of Ctrl-C: {0}")]
    Signals(#[from] ctrlc::Error),
    /// A file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// Returns one indented line for each item.
fn list(items: &[String]) -> String {
    items.iter().map(|item| format!("\n  {item}")).collect()
}
