//! The files of a project that a bundle contains.

use std::{fs, path::Path};

use kubewright_core::description::KindDescription;
use serde_json::Value;

use super::WorkspaceError;
use crate::{config::definition_files, settings::Settings};

/// The directory of the objects of `prometheus-resources`.
const MONITORING: &str = "config/prometheus/";

/// The files of a project that a bundle contains.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The definitions of the kinds.
    pub definitions: Vec<Value>,
    /// The objects of `config/samples`.
    pub samples: Vec<Value>,
    /// The user's objects of `config/prometheus`.
    pub resources: Vec<Resource>,
    /// The icon.
    pub icon: Option<Icon>,
}

/// An object in a file of the user.
#[derive(Clone, Debug)]
pub struct Resource {
    /// The path, relative to the root of the project.
    pub path: String,
    /// The object.
    pub object: Value,
}

/// An icon.
#[derive(Clone, Debug)]
pub struct Icon {
    /// The media type, such as `image/svg+xml`.
    pub media_type: &'static str,
    /// The file.
    pub data: Vec<u8>,
}

impl Sources {
    pub(super) fn read(root: &Path, settings: &Settings, kinds: &[KindDescription]) -> Result<Self, WorkspaceError> {
        let mut sources = Sources { definitions: definitions(root, kinds)?, ..Sources::default() };
        for file in &settings.samples {
            sources.samples.extend(objects(root, &format!("config/samples/{file}"))?);
        }
        if settings.prometheus {
            let resource = |(file, object)| Resource { path: format!("{MONITORING}{file}"), object };
            sources.resources.extend(monitoring(root, settings)?.into_iter().map(resource));
        }
        sources.icon = settings.olm.icon.as_deref().map(|path| icon(root, path)).transpose()?;
        Ok(sources)
    }
}

/// Reads the definitions that `cargo xtask codegen` has written.
pub(super) fn definitions(root: &Path, kinds: &[KindDescription]) -> Result<Vec<Value>, WorkspaceError> {
    let files = definition_files(kinds).into_iter().map(|file| objects(root, &format!("config/crd/{file}")));
    Ok(files.collect::<Result<Vec<_>, _>>()?.concat())
}

/// Reads the objects of `prometheus-resources`, with their files.
pub(super) fn monitoring(root: &Path, settings: &Settings) -> Result<Vec<(String, Value)>, WorkspaceError> {
    let mut found = Vec::new();
    for file in &settings.prometheus_resources {
        let objects = objects(root, &format!("{MONITORING}{file}"))?;
        found.extend(objects.into_iter().map(|object| (file.clone(), object)));
    }
    Ok(found)
}

/// Reads the objects of a file.
fn objects(root: &Path, path: &str) -> Result<Vec<Value>, WorkspaceError> {
    let failed = |source| WorkspaceError::File { path: path.to_owned(), source };
    let text = fs::read_to_string(root.join(path)).map_err(failed)?;
    serde_saphyr::from_multiple(&text)
        .map_err(|source| WorkspaceError::Yaml { path: path.to_owned(), source: Box::new(source) })
}

fn icon(root: &Path, path: &str) -> Result<Icon, WorkspaceError> {
    let media_type = match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        _ => return Err(WorkspaceError::Icon(path.to_owned())),
    };
    let data = fs::read(root.join(path)).map_err(|source| WorkspaceError::File { path: path.to_owned(), source })?;
    Ok(Icon { media_type, data })
}
