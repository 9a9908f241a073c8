//! How a project wants its files written: flags of the command, or a table in a manifest.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::{CrdOptions, EmbeddedMetadata, Floats, Layout};

/// How files are written. A project says it once, in `[package.metadata.codegen]` of the manifest of its types or its
/// client, with the names of the flags; a flag counts before the table.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Settings {
    /// A text that stands at the top of each generated source and CRD: a file below the root. Comment signs are added.
    #[arg(long, value_name = "FILE")]
    pub header: Option<PathBuf>,
    /// What stands for `YEAR` in the header.
    #[arg(long)]
    pub year: Option<u16>,
    /// The most characters a description in a CRD may have: cut at a sentence, else at a word; 0 leaves them out.
    #[arg(long, value_name = "CHARS")]
    pub max_desc_len: Option<usize>,
    /// The most bytes a CRD may have as `kubectl apply` keeps it, 262144 by default: the deepest descriptions are left
    /// out to keep to it; 0 sets no bound.
    #[arg(long, value_name = "BYTES")]
    pub max_bytes: Option<usize>,
    /// Whether fields may be floating-point numbers; by default only those that say so.
    #[arg(long, value_enum)]
    pub floats: Option<Floats>,
    /// How much of the metadata of embedded objects is described; by default a subset.
    #[arg(long, value_enum)]
    pub embedded_metadata: Option<EmbeddedMetadata>,
    /// Write a `kustomization.yaml` that names the CRD files beside them.
    #[arg(long)]
    pub kustomization: bool,
}

impl Settings {
    /// These, and others where these say nothing.
    pub(super) fn or(self, others: Settings) -> Settings {
        Settings {
            header: self.header.or(others.header),
            year: self.year.or(others.year),
            max_desc_len: self.max_desc_len.or(others.max_desc_len),
            max_bytes: self.max_bytes.or(others.max_bytes),
            floats: self.floats.or(others.floats),
            embedded_metadata: self.embedded_metadata.or(others.embedded_metadata),
            kustomization: self.kustomization || others.kustomization,
        }
    }

    pub(super) fn put_into(self, layout: &mut Layout, root: &Path) -> Result<()> {
        if let Some(file) = &self.header {
            let file = root.join(file);
            let text =
                std::fs::read_to_string(&file).with_context(|| format!("cannot read the header {}", file.display()))?;
            layout.header = header(&text, self.year);
        }
        let default = CrdOptions::default();
        layout.crd = CrdOptions {
            max_desc_len: self.max_desc_len,
            max_bytes: self.max_bytes.unwrap_or(default.max_bytes),
            floats: self.floats.unwrap_or(default.floats),
            embedded_metadata: self.embedded_metadata.unwrap_or(default.embedded_metadata),
            kustomization: self.kustomization,
        };
        Ok(())
    }
}

/// The text without comment signs of its own, so that a header written for another language serves too.
fn header(text: &str, year: Option<u16>) -> String {
    let bare = |line: &str| -> String {
        let line = line.trim_end().trim_end_matches("*/").trim_end();
        let line = ["/*", "*/", "//", "#", " *", "*"].iter().find_map(|sign| line.strip_prefix(sign)).unwrap_or(line);
        line.strip_prefix(' ').unwrap_or(line).to_owned()
    };
    let lines = text.lines().map(bare).collect::<Vec<_>>().join("\n");
    let text = year.map_or_else(|| lines.clone(), |year| lines.replace("YEAR", &year.to_string()));
    text.trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_of_any_language_serves() {
        for text in [
            "Copyright YEAR The Makers\n\nAll of it.\n",
            "/*\nCopyright YEAR The Makers\n\nAll of it.\n*/\n",
            "// Copyright YEAR The Makers\n//\n// All of it.",
            "# Copyright YEAR The Makers\n#\n# All of it.\n\n",
            "/*\n * Copyright YEAR The Makers\n *\n * All of it.\n */",
        ] {
            assert_eq!(header(text, Some(2026)), "Copyright 2026 The Makers\n\nAll of it.", "{text}");
        }
        assert_eq!(header("Copyright YEAR", None), "Copyright YEAR");
    }
}
