//! Options for the contents of generated files: flags of the command, or a table in a manifest.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::layout::{CrdOptions, EmbeddedMetadata, Floats, Layout};

/// Options for the contents of generated files. A project sets them in `[package.metadata.codegen]` of the manifest of
/// its types or its client, with the names of the flags. A flag takes precedence over the table.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Settings {
    /// File with a header for each generated source and CRD, relative to the root. Comment signs are added.
    #[arg(long, value_name = "FILE")]
    pub header: Option<PathBuf>,
    /// Replacement for `YEAR` in the header.
    #[arg(long)]
    pub year: Option<u16>,
    /// Maximum number of characters of a description in a CRD. Longer ones are truncated at the end of a sentence or a
    /// word; 0 drops all descriptions.
    #[arg(long, value_name = "CHARS")]
    pub max_desc_len: Option<usize>,
    /// Maximum size of a CRD in the annotation of `kubectl apply` [default: 262144]. The deepest descriptions are
    /// dropped to stay within it; 0 means no limit.
    #[arg(long, value_name = "BYTES")]
    pub max_bytes: Option<usize>,
    /// Whether fields may be floating-point numbers [default: only those with `#[schema(allow_float)]`].
    #[arg(long, value_enum)]
    pub floats: Option<Floats>,
    /// How much of the metadata of embedded objects the schema describes [default: subset].
    #[arg(long, value_enum)]
    pub embedded_metadata: Option<EmbeddedMetadata>,
    /// Write a `kustomization.yaml` that lists the CRD files beside them.
    #[arg(long)]
    pub kustomization: bool,
    /// Generate the client as a module of the types crate, such as `client`, in place of a client crate. The package of
    /// the types is the root, or a directory of its name beside the client's default directory; for any other set
    /// `--client-dir my-package/src/client`.
    #[arg(long, value_name = "MODULE")]
    pub client_module: Option<String>,
    /// A group whose definitions belong to another project; can be repeated. Its kinds are part of the client, but have
    /// no CRD files and no policies.
    #[arg(long, value_name = "GROUP")]
    pub external: Vec<String>,
}

impl Settings {
    /// Fills unset options from others.
    pub(super) fn or(self, others: Settings) -> Settings {
        Settings {
            header: self.header.or(others.header),
            year: self.year.or(others.year),
            max_desc_len: self.max_desc_len.or(others.max_desc_len),
            max_bytes: self.max_bytes.or(others.max_bytes),
            floats: self.floats.or(others.floats),
            embedded_metadata: self.embedded_metadata.or(others.embedded_metadata),
            kustomization: self.kustomization || others.kustomization,
            client_module: self.client_module.or(others.client_module),
            external: [self.external, others.external].concat(),
        }
    }

    /// Applies the options to a layout.
    pub(super) fn apply_to(self, layout: &mut Layout, root: &Path) -> Result<()> {
        if let Some(file) = &self.header {
            let file = root.join(file);
            let text =
                std::fs::read_to_string(&file).with_context(|| format!("cannot read the header {}", file.display()))?;
            layout.header = header(&text, self.year);
        }
        layout.external = self.external.into_iter().collect();
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

/// Removes comment signs from a header, so that one written for another language can be used.
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
    fn comment_signs_are_removed_from_headers() {
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
