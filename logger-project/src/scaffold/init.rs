//! A new project: a workspace with types, client, operator and `xtask`.

use super::{
    apis::SETTINGS,
    files::{Files, client_root, empty_client, owned, types_root},
    model::Model,
    plan::{Plan, Problems, Step},
    template::Values,
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

/// The crates of the toolchain with their features in a project.
const CRATES: [(&str, &str); 6] = [
    ("logger-apiserver", ""),
    ("logger-core", ""),
    ("logger-manager", ""),
    ("logger-project", ""),
    ("logger-runtime", ", features = [\"prometheus\"]"),
    ("logger-simulator", ""),
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
    files.extend(templates(model, dependencies));
    files.insert(client_root(model), empty_client(model));
    Ok(Plan::new(files.into_iter().map(|(path, contents)| Step::Create { path, contents }).collect()))
}

fn templates(model: &Model, dependencies: &Dependencies) -> Files {
    let crates =
        CRATES.map(|(name, features)| format!("{name} = {{ {}{features} }}\n", dependencies.requirement(name)));
    let values = Values::of(model).with("crates", crates.concat().trim_end().to_owned());
    let (types, client, operator) = (model.types(), model.client(), &model.name);
    let files = [
        ("Cargo.toml".to_owned(), include_str!("../../templates/workspace/Cargo.toml.in")),
        (".cargo/config.toml".to_owned(), include_str!("../../templates/workspace/cargo-config.toml.in")),
        (".dockerignore".to_owned(), include_str!("../../templates/workspace/dockerignore.in")),
        (".github/workflows/ci.yaml".to_owned(), include_str!("../../templates/workspace/ci.yaml.in")),
        (".gitignore".to_owned(), include_str!("../../templates/workspace/gitignore.in")),
        ("Dockerfile".to_owned(), include_str!("../../templates/workspace/Dockerfile.in")),
        ("README.md".to_owned(), include_str!("../../templates/workspace/README.md.in")),
        ("rust-toolchain.toml".to_owned(), include_str!("../../templates/workspace/rust-toolchain.toml.in")),
        ("rustfmt.toml".to_owned(), include_str!("../../templates/workspace/rustfmt.toml.in")),
        (SETTINGS.to_owned(), include_str!("../../templates/workspace/project.toml.in")),
        (format!("{types}/Cargo.toml"), include_str!("../../templates/types/Cargo.toml.in")),
        (types_root(model), include_str!("../../templates/types/lib.rs.in")),
        (format!("{client}/Cargo.toml"), include_str!("../../templates/client/Cargo.toml.in")),
        (format!("{operator}/Cargo.toml"), include_str!("../../templates/operator/Cargo.toml.in")),
        (format!("{operator}/src/lib.rs"), include_str!("../../templates/operator/lib.rs.in")),
        (format!("{operator}/src/main.rs"), include_str!("../../templates/operator/main.rs.in")),
        (format!("{operator}/src/options.rs"), include_str!("../../templates/operator/options.rs.in")),
        (format!("{operator}/tests/description.rs"), include_str!("../../templates/operator/description.rs.in")),
        ("xtask/Cargo.toml".to_owned(), include_str!("../../templates/xtask/Cargo.toml.in")),
        ("xtask/src/main.rs".to_owned(), include_str!("../../templates/xtask/main.rs.in")),
    ];
    files.into_iter().map(|(path, template)| (path, values.fill(template))).collect()
}
