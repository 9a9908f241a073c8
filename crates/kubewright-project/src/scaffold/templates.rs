//! The texts of the files that are created once, with `{{names}}` that [`Values`](super::template::Values) replaces.

/// Embeds a template.
macro_rules! template {
    ($path:literal) => {
        include_str!(concat!("../../templates/", $path))
    };
}

pub(super) const WORKSPACE_MANIFEST: &str = template!("workspace/Cargo.toml.in");
pub(super) const CARGO_CONFIG: &str = template!("workspace/cargo-config.toml.in");
pub(super) const DOCKERIGNORE: &str = template!("workspace/dockerignore.in");
pub(super) const CI: &str = template!("workspace/ci.yaml.in");
pub(super) const GITIGNORE: &str = template!("workspace/gitignore.in");
pub(super) const DOCKERFILE: &str = template!("workspace/Dockerfile.in");
pub(super) const README: &str = template!("workspace/README.md.in");
pub(super) const RUST_TOOLCHAIN: &str = template!("workspace/rust-toolchain.toml.in");
pub(super) const RUSTFMT: &str = template!("workspace/rustfmt.toml.in");
pub(super) const SETTINGS: &str = template!("workspace/project.toml.in");
pub(super) const TYPES_MANIFEST: &str = template!("types/Cargo.toml.in");
pub(super) const TYPES_ROOT: &str = template!("types/lib.rs.in");
pub(super) const CLIENT_MANIFEST: &str = template!("client/Cargo.toml.in");
pub(super) const OPERATOR_MANIFEST: &str = template!("operator/Cargo.toml.in");
pub(super) const OPERATOR_ROOT: &str = template!("operator/lib.rs.in");
pub(super) const OPERATOR_MAIN: &str = template!("operator/main.rs.in");
pub(super) const OPERATOR_DESCRIPTION: &str = template!("operator/description.rs.in");
pub(super) const XTASK_MANIFEST: &str = template!("xtask/Cargo.toml.in");
pub(super) const XTASK_MAIN: &str = template!("xtask/main.rs.in");
pub(super) const KIND: &str = template!("api/kind.rs.in");
pub(super) const CONTROLLER: &str = template!("api/controller.rs.in");
pub(super) const TEST: &str = template!("api/test.rs.in");
pub(super) const SAMPLE: &str = template!("api/sample.yaml.in");
pub(super) const DEFAULTER: &str = template!("api/defaulter.rs.in");
pub(super) const VALIDATOR: &str = template!("api/validator.rs.in");
pub(super) const CONVERSION: &str = template!("api/conversion.rs.in");
