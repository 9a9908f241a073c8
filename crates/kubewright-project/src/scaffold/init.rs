//! A new project: a workspace with types, client, operator and `xtask`.

use super::{
    apis::SETTINGS,
    dependencies::Dependencies,
    files::{Files, client_root, empty_client, owned, types_root},
    model::Model,
    plan::{Plan, Problems, Step},
    template::Values,
    templates,
};

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
    let values = Values::from_model(model).with("crates", dependencies.line());
    let values = values.with("note_about_images", dependencies.note_about_images());
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
        (format!("{operator}/tests/description.rs"), templates::OPERATOR_DESCRIPTION),
        ("xtask/Cargo.toml".to_owned(), templates::XTASK_MANIFEST),
        ("xtask/src/main.rs".to_owned(), templates::XTASK_MAIN),
    ];
    files.into_iter().map(|(path, template)| (path, values.fill(template))).collect()
}
