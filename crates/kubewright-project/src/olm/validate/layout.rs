//! Rules of the directory: annotations, files, size.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};

use super::{Bundle, Findings, list, text};
use crate::olm::{ANNOTATION, CSV_KIND, directory::ANNOTATIONS};

/// The limit of the compressed manifests, which OLM stores in one object.
const MAX_SIZE: usize = 1 << 20;

pub(super) fn validate(bundle: &Bundle, findings: &mut Findings) {
    annotations(bundle, findings);
    dependencies(bundle, findings);
    for (file, reason) in &bundle.undecodable {
        findings.file.clone_from(file);
        findings.error("file-undecodable", "", format!("it cannot be decoded: {reason}"), "correct its YAML");
    }
    findings.file = "manifests".to_owned();
    let count = bundle.of_kind(CSV_KIND).count();
    if count != 1 {
        let message = format!("it has {count} objects of the kind {CSV_KIND}");
        findings.error("csv-count", "", message, "a bundle has exactly one; run `cargo xtask bundle`");
    }
    match compressed_size(bundle) {
        Ok(size) if size <= MAX_SIZE => {}
        Ok(size) => {
            let message = format!("it has {size} bytes after compression, more than {MAX_SIZE}");
            findings.error(
                "bundle-size",
                "",
                message,
                "shorten the descriptions of the definitions with `--max-desc-len`",
            );
        }
        Err(error) => {
            let message = format!("it cannot be compressed: {error}");
            findings.error("bundle-size", "", message, "correct the manifests");
        }
    }
}

fn compressed_size(bundle: &Bundle) -> std::io::Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    for manifest in &bundle.manifests {
        encoder.write_all(manifest.object.to_string().as_bytes())?;
    }
    Ok(encoder.finish()?.len())
}

fn annotations(bundle: &Bundle, findings: &mut Findings) {
    ANNOTATIONS.clone_into(&mut findings.file);
    if !bundle.annotations.is_object() {
        let help = "run `cargo xtask bundle`";
        return findings.error("annotations-missing", "annotations", "there are no annotations", help);
    }
    for (name, expected) in [
        ("mediatype.v1", Some("registry+v1")),
        ("manifests.v1", Some("manifests/")),
        ("metadata.v1", Some("metadata/")),
        ("package.v1", None),
        ("channels.v1", None),
    ] {
        let found = bundle.annotation(name).unwrap_or_default();
        if found.is_empty() || expected.is_some_and(|expected| expected != found) {
            let help = format!("set it to {}", expected.map_or("a name".to_owned(), |value| format!("`{value}`")));
            let message = format!("the value is {found:?}");
            findings.error("annotation-invalid", format!("annotations.{ANNOTATION}{name}"), message, &help);
        }
    }
    channels(bundle, findings);
}

fn channels(bundle: &Bundle, findings: &mut Findings) {
    let channels: Vec<_> = bundle.annotation("channels.v1").unwrap_or_default().split(',').map(str::trim).collect();
    if let Some(default) = bundle.annotation("channel.default.v1").filter(|default| !channels.contains(default)) {
        let field = format!("annotations.{ANNOTATION}channel.default.v1");
        let message = format!("{default:?} is not one of the channels {channels:?}");
        findings.error("channel-default", field, message, "use one of the channels, or remove the annotation");
    }
    let is_recommended = |name: &str| ["candidate", "fast", "stable"].iter().any(|prefix| name.starts_with(prefix));
    for channel in channels.iter().filter(|name| !name.is_empty() && !is_recommended(name)) {
        let message = format!("the channel {channel:?} does not show how stable it is");
        let help = "use a name that starts with `candidate`, `fast` or `stable`";
        findings.warning("channel-name", format!("annotations.{ANNOTATION}channels.v1"), message, help);
    }
}

/// OLM v1 installs no dependencies.
fn dependencies(bundle: &Bundle, findings: &mut Findings) {
    for manifest in &bundle.metadata {
        findings.file.clone_from(&manifest.file);
        for part in ["dependencies", "properties"] {
            for (index, entry) in list(&manifest.object, part).enumerate() {
                let kind = text(entry, "type");
                let is_required = ["olm.gvk.required", "olm.package.required"].contains(&kind);
                if is_required || kind == "olm.constraint" || part == "dependencies" {
                    let message = format!("OLM v1 rejects bundles with the dependency `{kind}`");
                    let help = "remove it, and describe in `description` what must be installed first";
                    findings.error("olm-dependency", format!("{part}[{index}].type"), message, help);
                }
            }
        }
    }
}
