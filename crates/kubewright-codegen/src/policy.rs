//! Admission policies: from the `#[policy(..)]` of kinds to YAML.

mod check;
mod default;
mod files;
mod objects;

pub(crate) use files::{files, kustomization_path};
