//! `cargo kubewright init`: a new project in an empty directory.

mod source;

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use super::run::{failed, finish};
use crate::scaffold::{Dependencies, Model, Problems, init};
pub use source::{CommitArgs, Source};

/// Options of `init`.
#[derive(Clone, Debug, clap::Args)]
pub struct Init {
    /// The domain of all groups of the project, such as `example.com`.
    #[arg(long)]
    pub domain: String,
    /// The name of the operator, of its package and of its objects in a cluster.
    #[arg(long)]
    pub name: String,
    /// Watch the namespace of the operator only, with a Role in place of a ClusterRole.
    #[arg(long)]
    pub namespaced: bool,
    /// Where the project gets the crates of kubewright from.
    #[command(flatten)]
    pub source: Source,
    /// The commit of the repository.
    #[command(flatten)]
    pub commit: CommitArgs,
    /// Print the plan without writing any file.
    #[arg(long)]
    pub dry_run: bool,
    /// The directory of the project, which must be empty or absent [default: the name].
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

impl Init {
    /// Creates the project. The exit code is 0 for success and 2 for an error, which is printed.
    #[must_use]
    pub fn run(&self) -> ExitCode {
        let root = self.directory.clone().unwrap_or_else(|| PathBuf::from(&self.name));
        let mut problems = Problems::default();
        check_empty(&root, &mut problems);
        let dependencies = self.source.dependencies(&self.commit, &root, &mut problems);
        let model = Model {
            name: self.name.clone(),
            domain: self.domain.clone(),
            namespaced: self.namespaced,
            resources: Vec::new(),
            externals: Vec::new(),
        };
        let planned = init(&model, &dependencies);
        let plan = match planned {
            Ok(plan) => problems.or(plan),
            Err(others) => {
                problems.0.extend(others.0);
                Err(problems)
            }
        };
        match plan {
            Ok(plan) => finish(&root, plan, self.dry_run, &next(&root, &dependencies)),
            Err(problems) => failed(&problems),
        }
    }
}

/// Returns what comes next.
fn next(root: &Path, dependencies: &Dependencies) -> String {
    let image = match dependencies {
        Dependencies::Path(path) => format!(
            "\nnote: {path} is outside of the project; to build images and to share the project, use `--git URL`"
        ),
        Dependencies::Version(version) => format!(
            "\nwarning: check that version {version} of the crates `kubewright-*` in the registry is one of this \
             toolchain, which has no release there yet"
        ),
        Dependencies::Git { .. } => String::new(),
    };
    format!(
        "next, in {}: `cargo xtask create api --group GROUP --version v1 --kind Kind`, `cargo xtask codegen`, `cargo \
         xtask manifests`{image}",
        root.display()
    )
}

/// Adds a problem unless the directory is absent, or empty except for a repository.
fn check_empty(directory: &Path, problems: &mut Problems) {
    let shown = directory.display();
    match fs::read_dir(directory) {
        Ok(mut entries) => {
            let is_other = |entry: io::Result<fs::DirEntry>| entry.is_ok_and(|entry| entry.file_name() != ".git");
            if entries.any(is_other) {
                problems.add(format!("{shown} is not empty; choose another directory"));
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => problems.add(format!("cannot read the directory {shown}: {error}")),
    }
}
