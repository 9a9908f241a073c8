//! A new project: a workspace with types, client, operator and `xtask`.

use super::{
    apis::SETTINGS,
    files::{Files, client_root, empty_client, owned, types_root},
    model::Model,
    plan::{Plan, Problems, Step},
    template::Values,
    templates,
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
    /// Returns the requirement of a crate, as the start of an inline table of TOML.
    fn requirement(&self, name: &str) -> String {
        match self {
            Dependencies::Version(version) => format!("version = \"{version}\""),
            Dependencies::Path(path) => format!("path = {}", toml::Value::String(format!("{path}/{name}"))),
        }
    }
}

/// The crates of the toolchain in a project, with their features.
const CRATES: [(&str, &str); 7] = [
    ("kubewright-apiserver", ""),
    ("kubewright-apply", ""),
    ("kubewright-core", ""),
    ("kubewright-manager", ""),
    ("kubewright-project", ""),
    ("kubewright-runtime", ", features = [\"prometheus\"]"),
    ("kubewright-simulator", ""),
];

/// Plans the files of a new project.
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
    files.extend(of_user(model, dependencies));
    files.insert(client_root(model), empty_client(model));
    Ok(Plan::new(files.into_iter().map(|(path, contents)| Step::Create { path, contents }).collect()))
}

/// Returns the files of a project without kinds that the user continues, as they are created.
fn of_user(model: &Model, dependencies: &Dependencies) -> Files {
    let crates: String = CRATES
        .into_iter()
        .map(|(name, features)| format!("{name} = {{ {}{features} }}\n", dependencies.requirement(name)))
        .collect();
    let values = Values::of(model).with("crates", crates.trim_end().to_owned());
    let (types, client, operator) = (model.types(), model.client(), &model.name);
    let files = [
        ("Cargo.toml".to_owned(), templates::WORKSPACE_MANIFEST),
        (".cargo/config.toml".to_owned(), templates::CARGO_CONFIG),
        (".dockerignore".to_owned(), templates::DOCKERIGNORE),
        (".github/workflows/ci.yaml".to_owned(), templates::CI),
        (".gitignore".to_owned(), templates::GITIGNORE),
        ("Dockerfile".to_owned(), templates::DOCKERFILE),
        ("README.md".to_owned(), templates::README),
        ("rust-toolchain.toml".to_owned(), templates::RUST_TOOLCHAIN),
        ("rustfmt.toml".to_owned(), templates::RUSTFMT),
        (SETTINGS.to_owned(), templates::SETTINGS),
        (format!("{types}/Cargo.toml"), templates::TYPES_MANIFEST),
        (types_root(model), templates::TYPES_ROOT),
        (format!("{client}/Cargo.toml"), templates::CLIENT_MANIFEST),
        (format!("{operator}/Cargo.toml"), templates::OPERATOR_MANIFEST),
        (format!("{operator}/src/lib.rs"), templates::OPERATOR_ROOT),
        (format!("{operator}/src/main.rs"), templates::OPERATOR_MAIN),
        (format!("{operator}/src/options.rs"), templates::OPERATOR_OPTIONS),
        (format!("{operator}/tests/description.rs"), templates::OPERATOR_DESCRIPTION),
        ("xtask/Cargo.toml".to_owned(), templates::XTASK_MANIFEST),
        ("xtask/src/main.rs".to_owned(), templates::XTASK_MAIN),
    ];
    files.into_iter().map(|(path, template)| (path, values.fill(template))).collect()
}
