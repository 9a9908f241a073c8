//! A project on the disk: its cargo workspace, its settings, its files, and what its program prints about itself.
//!
//! - the root is found at run time, so that checkouts can share one target directory;
//! - nothing is written.

mod package;
mod sources;

use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
};

use kubewright_core::{
    description::{ConversionWebhookDescription, KindDescription, OperatorDescription},
    meta::{ApiGroup, ApiKind, Conversion, Scope},
};

use crate::{
    config::Project,
    helm::Chart,
    scaffold::Tree,
    settings::{Settings, SettingsError},
};

pub use package::Package;
pub use sources::{Icon, Resource, Sources};

/// The file of the settings, relative to the root of the project.
pub const SETTINGS: &str = "config/project.toml";
/// The file with the model of the project, relative to its root.
const PROJECT: &str = "PROJECT";

/// A project on the disk.
#[derive(Clone, Debug)]
pub struct Workspace<'a> {
    root: PathBuf,
    groups: &'a [ApiGroup],
}

/// A project that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The file of the settings cannot be read.
    #[error("cannot read {SETTINGS}: {0}")]
    Read(#[source] io::Error),
    /// A directory or a file of the project cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Tree {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The settings cannot be used.
    #[error("{SETTINGS}: {0}")]
    Settings(#[from] SettingsError),
    /// Cargo cannot be started.
    #[error("cannot run cargo: {0}")]
    Cargo(#[source] io::Error),
    /// The program of the operator cannot be compiled. Cargo has printed why.
    #[error("`cargo build --package {package}` failed: {status}")]
    Build {
        /// The package of the program.
        package: String,
        /// How cargo ended.
        status: ExitStatus,
    },
    /// The program of the operator failed. It has printed why.
    #[error("`{package} manifests` failed: {status}")]
    Program {
        /// The package of the program.
        package: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// The program printed something else than its description.
    #[error("`{package} manifests` prints no description: {source}")]
    Description {
        /// The package of the program.
        package: String,
        /// The error of the decoder.
        source: serde_json::Error,
    },
    /// `cargo metadata` failed. It has printed why.
    #[error("`cargo metadata` failed: {0}")]
    MetadataStatus(ExitStatus),
    /// `cargo metadata` printed something else than metadata.
    #[error("`cargo metadata` prints no metadata: {0}")]
    Metadata(#[source] serde_json::Error),
    /// No package of the workspace has the name of the operator.
    #[error("no package `{0}` in the workspace; `name` in {SETTINGS} is the name of the package of the operator")]
    NoPackage(String),
    /// A file of the project cannot be read.
    #[error("cannot read {path}: {source}")]
    File {
        /// The path, relative to the root.
        path: String,
        /// The error of the file system.
        source: io::Error,
    },
    /// A file of the project is not YAML.
    #[error("{path} is not YAML: {source}")]
    Yaml {
        /// The path, relative to the root.
        path: String,
        /// The error of the parser.
        source: Box<serde_saphyr::Error>,
    },
    /// The location of a conversion webhook has two sources.
    #[error(
        "the operator registers the conversion of {0}, whose type declares `conversion(service = \"..\")`; declare \
         `conversion(webhook)`, so that the manifests contain the location, or remove the conversion of the operator"
    )]
    Conversion(String),
    /// The icon has another format than those of OLM.
    #[error("the icon {0} has an unsupported format; use `.svg`, `.png`, `.jpg` or `.gif`")]
    Icon(String),
}

impl<'a> Workspace<'a> {
    /// Returns the project in the workspace of the running program, with these kinds.
    #[must_use]
    pub fn find(groups: &'a [ApiGroup]) -> Self {
        Workspace { root: workspace_root(), groups }
    }

    /// Returns the project in a directory, with these kinds.
    #[must_use]
    pub fn in_directory(root: impl Into<PathBuf>, groups: &'a [ApiGroup]) -> Self {
        Workspace { root: root.into(), groups }
    }

    /// Returns the root of the workspace.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns whether the project is one of `cargo kubewright init`.
    #[must_use]
    pub fn is_scaffold(&self) -> bool {
        self.root.join(PROJECT).is_file()
    }

    /// Returns a tree with `PROJECT` only.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn project_file(&self) -> Result<Tree, WorkspaceError> {
        let text = read_text(&self.root.join(PROJECT))?;
        Ok(Tree(BTreeMap::from([(PROJECT.to_owned(), text)])))
    }

    /// Returns the kinds that the project defines.
    #[must_use]
    pub fn kinds(&self) -> Vec<KindDescription> {
        self.groups.iter().flat_map(|group| group.kinds().map(move |kind| describe_kind(group, kind))).collect()
    }

    /// Reads the settings.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or if a setting is invalid.
    pub fn settings(&self) -> Result<Settings, WorkspaceError> {
        let settings = fs::read_to_string(self.root.join(SETTINGS)).map_err(WorkspaceError::Read)?;
        Ok(Settings::parse(&settings)?)
    }

    /// Builds the program of the operator and runs it, so that it describes itself.
    ///
    /// # Errors
    /// Fails if the program cannot be built, fails, or prints no description.
    pub fn describe(&self, settings: &Settings) -> Result<OperatorDescription, WorkspaceError> {
        let package = &settings.name;
        let mut program = self.cargo(&["run", "--quiet", "--package", package, "--", "manifests"]);
        let output = program.args(&settings.args).output().map_err(WorkspaceError::Cargo)?;
        if !output.status.success() {
            return Err(WorkspaceError::Program { package: package.clone(), status: output.status });
        }
        serde_json::from_slice(&output.stdout)
            .map_err(|source| WorkspaceError::Description { package: package.clone(), source })
    }

    /// Reads the files of the project, without build artifacts and without directories whose name starts with `.`.
    ///
    /// # Errors
    /// Fails if a directory or a source, manifest or settings file cannot be read.
    pub fn tree(&self) -> Result<Tree, WorkspaceError> {
        let mut files = BTreeMap::new();
        collect_files(&self.root, "", &mut files)?;
        Ok(Tree(files))
    }

    /// Reads everything that the manifests are rendered from.
    ///
    /// # Errors
    /// Fails like [`Workspace::settings`] and [`Workspace::describe`], or if the operator registers a conversion whose
    /// location is that of another Service.
    pub fn project(&self) -> Result<Project, WorkspaceError> {
        let settings = self.settings()?;
        let description = self.describe(&settings)?;
        check_conversions(self.groups, &description)?;
        Ok(Project { settings, description, kinds: self.kinds() })
    }

    /// Reads everything that the chart is rendered from: also the version of the program, the definitions that `cargo
    /// xtask codegen` has written, and the objects of `prometheus-resources`.
    ///
    /// # Errors
    /// Fails like [`Workspace::project`], or if a file cannot be read.
    pub fn chart(&self) -> Result<Chart, WorkspaceError> {
        let project = self.project()?;
        let Package { name, version, description, .. } = self.package(&project.settings)?;
        let definitions = sources::definitions(&self.root, &project.kinds)?;
        let monitoring = sources::monitoring(&self.root, &project.settings)?;
        Ok(Chart { project, version, description: description.unwrap_or(name), definitions, monitoring })
    }

    /// Reads the metadata of the package of the operator.
    ///
    /// # Errors
    /// Fails if cargo cannot read the workspace, or no package has the name of the operator.
    pub fn package(&self, settings: &Settings) -> Result<Package, WorkspaceError> {
        let mut metadata = self.cargo(&["metadata", "--format-version", "1", "--no-deps", "--offline"]);
        let output = metadata.output().map_err(WorkspaceError::Cargo)?;
        if !output.status.success() {
            return Err(WorkspaceError::MetadataStatus(output.status));
        }
        let package = Package::find(&output.stdout, &settings.name).map_err(WorkspaceError::Metadata)?;
        package.ok_or_else(|| WorkspaceError::NoPackage(settings.name.clone()))
    }

    /// Reads the files of the project that a bundle contains.
    ///
    /// # Errors
    /// Fails if one of them cannot be read or is not YAML, and if the format of the icon is not supported.
    pub fn sources(&self, settings: &Settings) -> Result<Sources, WorkspaceError> {
        Sources::read(&self.root, settings, &self.kinds())
    }

    /// Returns a command of cargo in this project, which prints its errors.
    fn cargo(&self, args: &[&str]) -> Command {
        let mut command = cargo(args);
        command.current_dir(&self.root).stderr(Stdio::inherit());
        command
    }
}

/// Checks that the location of each conversion webhook has one source: the manifests, or the type.
fn check_conversions(groups: &[ApiGroup], description: &OperatorDescription) -> Result<(), WorkspaceError> {
    let is_located = |webhook: &&ConversionWebhookDescription| {
        let groups = groups.iter().filter(|group| group.group == webhook.group);
        let mut kinds = groups.flat_map(ApiGroup::kinds).filter(|kind| kind.plural == webhook.plural);
        kinds.any(|kind| matches!(kind.definition.conversion, Some(Conversion::Service { .. })))
    };
    let located = description.conversion_webhooks.iter().find(is_located);
    let name = |webhook: &ConversionWebhookDescription| format!("{}.{}", webhook.plural, webhook.group);
    located.map_or(Ok(()), |webhook| Err(WorkspaceError::Conversion(name(webhook))))
}

/// Adds the files below a directory. Symbolic links are not followed.
fn collect_files(directory: &Path, prefix: &str, files: &mut BTreeMap<String, String>) -> Result<(), WorkspaceError> {
    let error = |source| WorkspaceError::Tree { path: directory.to_owned(), source };
    for entry in fs::read_dir(directory).map_err(error)? {
        let entry = entry.map_err(error)?;
        let (file_type, name) = (entry.file_type().map_err(error)?, entry.file_name().to_string_lossy().into_owned());
        let path = format!("{prefix}{name}");
        if file_type.is_dir() {
            if !name.starts_with('.') && path != "target" {
                collect_files(&entry.path(), &format!("{path}/"), files)?;
            }
        } else {
            let contents =
                if is_text(&name) && file_type.is_file() { read_text(&entry.path())? } else { String::new() };
            files.insert(path, contents);
        }
    }
    Ok(())
}

/// Returns whether the contents of a file matter for plans.
fn is_text(name: &str) -> bool {
    name == PROJECT || [".rs", ".toml", ".yaml"].iter().any(|extension| name.ends_with(extension))
}

fn read_text(path: &Path) -> Result<String, WorkspaceError> {
    let error = |source| WorkspaceError::Tree { path: path.to_owned(), source };
    Ok(String::from_utf8_lossy(&fs::read(path).map_err(error)?).into_owned())
}

fn describe_kind(group: &ApiGroup, kind: &ApiKind) -> KindDescription {
    KindDescription {
        group: group.group.to_owned(),
        version: group.version.to_owned(),
        kind: kind.kind.to_owned(),
        plural: kind.plural.to_owned(),
        namespaced: matches!(kind.scope, Scope::Namespaced),
    }
}

/// Returns the root of the workspace of the running program: the nearest directory whose `Cargo.toml` has a
/// `[workspace]`.
#[must_use]
pub fn workspace_root() -> PathBuf {
    let manifest_dir = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let current_dir = || env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let start = manifest_dir.unwrap_or_else(current_dir);
    nearest_workspace(&start).unwrap_or(&start).to_owned()
}

fn nearest_workspace(start: &Path) -> Option<&Path> {
    let has_workspace = |directory: &&Path| {
        fs::read_to_string(directory.join("Cargo.toml"))
            .is_ok_and(|manifest| manifest.lines().any(|line| line.trim_start().starts_with("[workspace")))
    };
    start.ancestors().find(has_workspace)
}

/// Returns a command of the running cargo in the workspace. Variables about the package of this program are removed:
/// build scripts that depend on them would run again, and their dependents would be compiled again, after every such
/// command.
pub fn cargo(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.args(args).current_dir(workspace_root());
    let is_package_variable = |name: &OsString| {
        let name = name.to_string_lossy();
        ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"].iter().any(|prefix| name.starts_with(prefix))
    };
    for name in env::vars_os().map(|(name, _)| name).filter(is_package_variable) {
        command.env_remove(name);
    }
    command
}

#[cfg(test)]
mod tests {
    use kubewright_core::meta::{Definition, TypeMeta};

    use super::*;

    #[test]
    fn the_workspace_root_is_the_nearest_directory_with_a_workspace() {
        let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
        assert_eq!(nearest_workspace(&package.join("src")), package.ancestors().nth(2));
        assert_eq!(nearest_workspace(Path::new("/")), None);
    }

    #[test]
    fn a_conversion_has_one_location() {
        const fn group(types: &'static [TypeMeta]) -> ApiGroup {
            ApiGroup { group: "example.org", version: "v1", module: "types::v1", types, ..ApiGroup::DEFAULT }
        }
        const LOCATED: Option<Conversion> =
            Some(Conversion::Service { name: "webhooks", namespace: "other", path: None, port: None });
        const fn widget(conversion: Option<Conversion>) -> TypeMeta {
            let definition = Definition { conversion, ..Definition::DEFAULT };
            TypeMeta::Kind(ApiKind { kind: "Widget", plural: "widgets", definition, ..ApiKind::DEFAULT })
        }
        let webhook = ConversionWebhookDescription::new("example.org", "Widget", "widgets");
        let description = OperatorDescription { conversion_webhooks: vec![webhook], ..OperatorDescription::default() };
        let check = |group| check_conversions(&[group], &description).map_err(|error| error.to_string());
        const OPERATOR: &[TypeMeta] = &[widget(Some(Conversion::Webhook))];
        const OTHER: &[TypeMeta] = &[widget(LOCATED)];
        assert_eq!(check(group(OPERATOR)), Ok(()));
        let error = check(group(OTHER)).unwrap_err();
        assert!(error.starts_with("the operator registers the conversion of widgets.example.org"), "{error}");
    }
}
