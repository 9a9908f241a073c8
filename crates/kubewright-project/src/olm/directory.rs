//! A bundle on the disk.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{ANNOTATION, CSV_KIND, DEFINITION_KIND, EXAMPLES};

/// The file of the annotations, relative to the directory of a bundle.
pub(super) const ANNOTATIONS: &str = "metadata/annotations.yaml";
/// Files of this size are not read. OLM rejects bundles with more than 1 MiB, compressed.
const MAX_FILE: u64 = 16 << 20;

/// A bundle on the disk. Reading does not validate it: [`validate`](fn@super::validate) reports what cannot be decoded.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// The annotations; null if their file is missing or is not YAML.
    pub annotations: Value,
    /// The other files of the metadata, such as dependencies and properties.
    pub metadata: Vec<Manifest>,
    /// The objects of the manifests, in the order of the names of their files.
    pub manifests: Vec<Manifest>,
    /// The files that cannot be decoded, with the reason.
    pub undecodable: Vec<(String, String)>,
}

/// An object of a bundle.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The file, relative to the directory of the bundle.
    pub file: String,
    /// The object.
    pub object: Value,
}

/// A bundle that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {path}: {source}; is it the directory of a bundle?")]
pub struct BundleReadError {
    path: PathBuf,
    source: io::Error,
}

impl Bundle {
    /// Reads the directory of a bundle, which has the directory `metadata`, and that of the manifests.
    ///
    /// # Errors
    /// Fails if a directory or a file of it cannot be read.
    pub fn read(directory: &Path) -> Result<Self, BundleReadError> {
        let mut undecodable = Vec::new();
        let mut metadata = objects(directory, "metadata", &mut undecodable)?;
        let index = metadata.iter().position(|manifest| manifest.file == ANNOTATIONS);
        let mut file = index.map_or(Value::Null, |index| metadata.remove(index).object);
        let annotations = file.get_mut("annotations").map(Value::take).unwrap_or_default();
        let manifests = annotations[format!("{ANNOTATION}manifests.v1")].as_str().unwrap_or("manifests/");
        let manifests = objects(directory, manifests.trim_matches('/'), &mut undecodable)?;
        Ok(Bundle { annotations, metadata, manifests, undecodable })
    }

    /// Returns an annotation of the bundle, without its prefix.
    pub(super) fn annotation(&self, name: &str) -> Option<&str> {
        self.annotations[format!("{ANNOTATION}{name}")].as_str()
    }

    /// Returns the objects of a kind.
    pub(super) fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Manifest> {
        self.manifests.iter().filter(move |manifest| manifest.object["kind"] == *kind)
    }

    /// Returns the definitions.
    pub(super) fn definitions(&self) -> impl Iterator<Item = &Manifest> {
        self.of_kind(DEFINITION_KIND)
    }

    /// Returns the first ClusterServiceVersion.
    pub(super) fn service_version(&self) -> Option<&Manifest> {
        self.of_kind(CSV_KIND).next()
    }

    /// Returns the examples of the ClusterServiceVersion.
    pub(super) fn examples(&self) -> Result<Vec<Value>, serde_json::Error> {
        let manifest = self.service_version();
        let examples = manifest.and_then(|manifest| manifest.object["metadata"]["annotations"][EXAMPLES].as_str());
        examples.map_or_else(|| Ok(Vec::new()), serde_json::from_str)
    }
}

/// Reads the objects in the files of a directory, in the order of their names.
fn objects(
    root: &Path,
    directory: &str,
    undecodable: &mut Vec<(String, String)>,
) -> Result<Vec<Manifest>, BundleReadError> {
    let path = root.join(directory);
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| BundleReadError { path, source }
    };
    let entries =
        fs::read_dir(&path).and_then(|entries| entries.collect::<io::Result<Vec<_>>>()).map_err(failed(&path))?;
    let mut paths: Vec<_> = entries.into_iter().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    paths.sort();
    let mut objects = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let file = format!("{directory}/{name}");
        if fs::metadata(&path).map_err(failed(&path))?.len() > MAX_FILE {
            undecodable.push((file, format!("it has more than {MAX_FILE} bytes")));
            continue;
        }
        let contents = fs::read(&path).map_err(failed(&path))?;
        match decode(&contents) {
            Ok(decoded) => objects.extend(decoded.into_iter().map(|object| Manifest { file: file.clone(), object })),
            Err(reason) => undecodable.push((file, reason)),
        }
    }
    Ok(objects)
}

fn decode(contents: &[u8]) -> Result<Vec<Value>, String> {
    let options = serde_saphyr::options! { with_snippet: false };
    let text = std::str::from_utf8(contents).map_err(|error| error.to_string())?;
    serde_saphyr::from_multiple_with_options(text, options).map_err(|error| error.to_string())
}
