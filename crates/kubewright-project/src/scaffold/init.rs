//! A new project: a workspace with types, client, operator and `xtask`.

use super::{
    apis::SETTINGS,
    files::{Files, client_root, empty_client, owned, types_root},
    layout::{self, Layout, Template},
    model::Model,
    plan::{Plan, Problems, Step},
    template::Values,
    tree::Tree,
};

/// Where the project gets the crates of the toolchain from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dependencies {
    /// From the registry, in this version.
    Version(String),
    /// From a checkout of the toolchain in this directory.
    Path(String),
}

impl Dependencies {
    /// Returns the source in the manifest of a project. It is the version of this crate if the manifest has another
    /// source, such as a repository.
    pub(super) fn of_project(tree: &Tree) -> Self {
        let manifest = tree.get("Cargo.toml").and_then(|text| toml::from_str::<toml::Table>(text).ok());
        let requirement = manifest
            .as_ref()
            .and_then(|manifest| manifest.get("workspace")?.get("dependencies")?.get("kubewright-core"))
            .cloned()
            .unwrap_or_else(|| toml::Value::Table(toml::Table::new()));
        let text = |key: &str| requirement.get(key).and_then(toml::Value::as_str);
        match text("path").and_then(|path| path.strip_suffix("/kubewright-core")) {
            Some(directory) => Dependencies::Path(directory.to_owned()),
            None => {
                let version = text("version").or_else(|| requirement.as_str());
                Dependencies::Version(version.unwrap_or(env!("CARGO_PKG_VERSION")).to_owned())
            }
        }
    }

    /// Returns the requirement of a crate, as the start of an inline table of TOML.
    fn requirement(&self, name: &str) -> String {
        match self {
            Dependencies::Version(version) => format!("version = \"{version}\""),
            Dependencies::Path(path) => format!("path = {}", toml::Value::String(format!("{path}/{name}"))),
        }
    }
}

/// The crates of the toolchain with their features in a project, and the first layout with them.
const CRATES: [(&str, &str, Layout); 7] = [
    ("kubewright-apiserver", "", Layout::FIRST),
    ("kubewright-apply", "", Layout::WITH_APPLY),
    ("kubewright-core", "", Layout::FIRST),
    ("kubewright-manager", "", Layout::FIRST),
    ("kubewright-project", "", Layout::FIRST),
    ("kubewright-runtime", ", features = [\"prometheus\"]", Layout::FIRST),
    ("kubewright-simulator", "", Layout::FIRST),
];

/// Plans the files of a new project, in the layout of the model.
///
/// # Errors
/// Fails with all invalid names.
pub fn init(model: &Model, dependencies: &Dependencies) -> Result<Plan, Problems> {
    let mut problems = Problems::default();
    model.check(&mut problems);
    if !problems.0.is_empty() {
        return Err(problems);
    }
    let mut files = owned(model)?;
    files.extend(templates(model, dependencies));
    files.insert(client_root(model), empty_client(model));
    Ok(Plan::new(files.into_iter().map(|(path, contents)| Step::Create { path, contents }).collect()))
}

/// Returns the files of a project without kinds that the user continues, as they are created.
pub(super) fn templates(model: &Model, dependencies: &Dependencies) -> Files {
    let crates = CRATES.into_iter().filter(|(.., since)| *since <= model.layout);
    let crates: String = crates
        .map(|(name, features, _)| format!("{name} = {{ {}{features} }}\n", dependencies.requirement(name)))
        .collect();
    let values = Values::of(model).with("crates", crates.trim_end().to_owned());
    let (types, client, operator) = (model.types(), model.client(), &model.name);
    let files = [
        ("Cargo.toml".to_owned(), layout::WORKSPACE_MANIFEST),
        (".cargo/config.toml".to_owned(), layout::CARGO_CONFIG),
        (".dockerignore".to_owned(), layout::DOCKERIGNORE),
        (".github/workflows/ci.yaml".to_owned(), layout::CI),
        (".gitignore".to_owned(), layout::GITIGNORE),
        ("Dockerfile".to_owned(), layout::DOCKERFILE),
        ("README.md".to_owned(), layout::README),
        ("rust-toolchain.toml".to_owned(), layout::RUST_TOOLCHAIN),
        ("rustfmt.toml".to_owned(), layout::RUSTFMT),
        (SETTINGS.to_owned(), layout::SETTINGS),
        (format!("{types}/Cargo.toml"), layout::TYPES_MANIFEST),
        (types_root(model), layout::TYPES_ROOT),
        (format!("{client}/Cargo.toml"), layout::CLIENT_MANIFEST),
        (format!("{operator}/Cargo.toml"), layout::OPERATOR_MANIFEST),
        (format!("{operator}/src/lib.rs"), layout::OPERATOR_ROOT),
        (format!("{operator}/src/main.rs"), layout::OPERATOR_MAIN),
        (format!("{operator}/src/options.rs"), layout::OPERATOR_OPTIONS),
        (format!("{operator}/tests/description.rs"), layout::OPERATOR_DESCRIPTION),
        ("xtask/Cargo.toml".to_owned(), layout::XTASK_MANIFEST),
        ("xtask/src/main.rs".to_owned(), layout::XTASK_MAIN),
    ];
    let text = |(path, template): (String, Template)| Some((path, values.fill(template.text(model.layout)?)));
    files.into_iter().filter_map(text).collect()
}
