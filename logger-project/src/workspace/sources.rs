//! The files of a project that a bundle contains.

use std::{collections::BTreeSet, fs, path::Path};

use logger_core::description::KindDescription;
use serde_json::Value;

use super::WorkspaceError;
use crate::settings::Settings;

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
        // A kind can have several versions.
        let definitions: BTreeSet<_> =
            kinds.iter().map(|kind| format!("config/crd/bases/{}_{}.yaml", kind.group, kind.plural)).collect();
        let mut sources = Sources::default();
        for path in definitions {
            sources.definitions.extend(objects(root, &path)?);
        }
        for file in &settings.samples {
            sources.samples.extend(objects(root, &format!("config/samples/{file}"))?);
        }
        if settings.prometheus {
            for path in settings.prometheus_resources.iter().map(|file| format!("config/prometheus/{file}")) {
                let objects = objects(root, &path)?;
                sources.resources.extend(objects.into_iter().map(|object| Resource { path: path.clone(), object }));
            }
        }
        sources.icon = settings.olm.icon.as_deref().map(|path| icon(root, path)).transpose()?;
        Ok(sources)
    }
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
