//! CustomResourceDefinitions: from kinds and their schemas to YAML.

pub(crate) mod conventions;
mod conversion;
mod definition;
mod definitions;
mod descriptions;
pub(crate) mod kustomization;
pub(crate) mod overrides;
pub(crate) mod patch;
pub(crate) mod rule_report;
mod rust_paths;
mod served;
pub(crate) mod size;
mod validate;
mod version;
mod yaml;

pub(crate) use definition::{Definition, Definitions, path};
pub(crate) use definitions::{definitions, files};
pub(crate) use rust_paths::RustPaths;
pub(crate) use served::served;
pub(crate) use yaml::{CrdFiles, files as files_of, without_descriptions};
