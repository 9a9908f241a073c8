//! CRDs as files: descriptions cut, the size kept to, written as YAML.

use std::collections::BTreeMap;

use logger_core::wire::Plain;
use serde_json::Value;

use super::{Definition, descriptions, kustomization, parallel, size};
use crate::Layout;
use crate::diagnostic::Diagnostics;
use crate::file::File;

/// A file for each definition, and what else the options ask for.
pub(crate) fn files(definitions: &BTreeMap<String, Definition>, layout: &Layout) -> Result<Vec<File>, Diagnostics> {
    let definitions: Vec<_> = definitions.iter().collect();
    let written = parallel::map(&definitions, |(path, definition)| {
        let mut found = Diagnostics::default();
        let fitting = fit(definition, layout, &mut found);
        let document = fitting.and_then(|fitting| {
            let document = write(&fitting.crd, &definition.item, &mut found)?;
            Some(File::yaml((*path).clone(), layout, &format!("{}{document}", fitting.note())))
        });
        (document, found)
    });
    let (mut found, mut files) = (Diagnostics::default(), Vec::new());
    for (file, more) in written {
        files.extend(file);
        found.0.extend(more.0);
    }
    if layout.crd.kustomization {
        files.push(kustomization::file(definitions.iter().map(|(path, _)| *path), layout));
    }
    found.or(files)
}

/// A definition that keeps to the options.
pub(super) struct Fitting {
    pub(super) crd: Value,
    /// How many descriptions were left out for the size, and which size that is.
    left_out: usize,
    max_bytes: usize,
}

impl Fitting {
    /// Says in the file what is not in it.
    fn note(&self) -> String {
        match self.left_out {
            0 => String::new(),
            1 => format!("# 1 description is left out, the deepest, to keep to {} bytes.\n", self.max_bytes),
            count => {
                format!(
                    "# {count} descriptions are left out, the deepest first, to keep to {} bytes.\n",
                    self.max_bytes
                )
            }
        }
    }
}

/// Cuts descriptions to the length and the definition to the size that are asked for; `None`, with the reason noted, where
/// it is too large without them.
pub(super) fn fit(definition: &Definition, layout: &Layout, found: &mut Diagnostics) -> Option<Fitting> {
    let max_bytes = layout.crd.max_bytes;
    let mut crd = definition.crd.clone();
    if let Some(longest) = layout.crd.max_desc_len {
        descriptions::cut(&mut crd, longest);
    }
    let left_out = match max_bytes {
        0 => 0,
        _ => descriptions::leave_out(&mut crd, max_bytes),
    };
    let bytes = size::applied(&crd);
    if max_bytes != 0 && bytes > max_bytes {
        let largest = size::largest(&crd, 3);
        found.push(
            &definition.item,
            format!(
                "its CRD has {bytes} bytes without any description, and `kubectl apply` keeps at most {max_bytes} of it; \
                 the largest fields are {largest} (`--sizes` tells all). Say less of them (`serde_json::Value`), or set \
                 `--max-bytes 0` and install with `kubectl apply --server-side`"
            ),
        );
        return None;
    }
    Some(Fitting { crd, left_out, max_bytes })
}

/// The document, keys sorted; `None`, with the reason noted, where YAML cannot hold it.
pub(super) fn write(value: &Value, item: &str, found: &mut Diagnostics) -> Option<String> {
    serde_saphyr::to_string(&Plain(value))
        .inspect_err(|error| found.push(item, format!("its CRD cannot be written as YAML: {error}")))
        .ok()
}
