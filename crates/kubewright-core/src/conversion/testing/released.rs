//! Objects of released versions, which decode and convert for ever.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{Failure, difference::first_difference};
use crate::{conversion::Converter, scheme::Scheme};

/// Verifies the objects in the YAML files of a directory and its subdirectories, which `cargo xtask release-fixtures`
/// writes for each release:
/// - Each decodes into the type of its version, and every field survives. A renamed field would not.
/// - Each converts into every version of its kind that a converter has, decodes there, and converts back without loss.
///
/// Returns the number of objects. A directory that does not exist has none: nothing is released yet.
///
/// # Errors
/// A file cannot be read, or the first object for which this does not hold.
pub fn verify_released(
    scheme: &Scheme,
    converters: &[Converter],
    directory: impl AsRef<Path>,
) -> Result<usize, Failure> {
    let mut count = 0;
    for file in files(directory.as_ref())? {
        let text = fs::read_to_string(&file).map_err(|error| unreadable(&file, &error))?;
        let documents: Vec<Value> = serde_saphyr::from_multiple(&text).map_err(|error| unreadable(&file, &error))?;
        for document in &documents {
            verify(scheme, converters, document).map_err(|failure| failure.with("file", file.display()))?;
        }
        count += documents.len();
    }
    Ok(count)
}

fn unreadable(file: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::new(format!("cannot read {}: {error}", file.display()))
}

/// Returns the YAML files of the directory and its subdirectories, sorted.
fn files(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let (mut files, mut directories) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(directory) = directories.pop() {
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(unreadable(&directory, &error)),
        };
        for entry in entries {
            let path = entry.map_err(|error| unreadable(&directory, &error))?.path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "yaml") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn verify(scheme: &Scheme, converters: &[Converter], object: &Value) -> Result<(), Failure> {
    let decoded = decode(scheme, object)?;
    if let Some(field) = missing(object, &decoded, "") {
        return Err(Failure::new("a field of a released object is lost when it is decoded")
            .with("field", field)
            .with("object", object));
    }
    let group =
        object["apiVersion"].as_str().and_then(|version| version.split_once('/')).map_or("", |(group, _)| group);
    let is_of_kind = |converter: &&Converter| object["kind"] == converter.kind() && converter.group() == group;
    let Some(converter) = converters.iter().find(is_of_kind) else { return Ok(()) };
    let from = object["apiVersion"].as_str().unwrap_or_default();
    for version in converter.versions() {
        let convert = |object: &Value, version: &str| {
            converter.convert(object.clone(), version).map_err(|error| {
                Failure::new(format!("a released object does not convert into {version}: {error}"))
                    .with("object", object)
            })
        };
        let converted = convert(object, version.api_version)?;
        decode(scheme, &converted)?;
        if let Some(difference) = first_difference(object, &convert(&converted, from)?) {
            let property = format!("a released object differs after a conversion into {version} and back");
            return Err(Failure::new(property).with("difference", difference).with("object", object));
        }
    }
    Ok(())
}

/// Decodes the object into the type of its version, and returns its JSON encoding.
fn decode(scheme: &Scheme, object: &Value) -> Result<Value, Failure> {
    let json = object.to_string();
    let decoded = scheme
        .decode(json.as_bytes())
        .map_err(|error| Failure::new(format!("an object does not decode: {error}")).with("object", object))?;
    let text = decoded.to_json().map_err(|error| Failure::new(format!("an object does not encode: {error}")))?;
    serde_json::from_str(&text).map_err(|error| Failure::new(format!("an object does not encode: {error}")))
}

/// Returns the path of a value that is missing or different in another one. The other one can have more fields, such as
/// defaults.
fn missing(value: &Value, other: &Value, path: &str) -> Option<String> {
    match (value, other) {
        (Value::Object(fields), Value::Object(others)) => fields.iter().find_map(|(name, value)| {
            let path = format!("{path}.{name}");
            match others.get(name) {
                Some(other) => missing(value, other, &path),
                None => Some(path),
            }
        }),
        (Value::Array(items), Value::Array(others)) if items.len() == others.len() => {
            let mut pairs = items.iter().zip(others).enumerate();
            pairs.find_map(|(index, (value, other))| missing(value, other, &format!("{path}[{index}]")))
        }
        _ => first_difference(value, other).map(|difference| format!("{path}{difference}")),
    }
}
