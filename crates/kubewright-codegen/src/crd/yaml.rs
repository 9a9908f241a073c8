//! CRD files: descriptions truncated, the size limit enforced, written as YAML.

use kubewright_core::wire::Plain;
use serde_json::Value;

use super::{
    definition::{Definition, Definitions},
    descriptions, kustomization,
    served::{Served, ServedDefinitions},
    size,
};
use crate::{
    diagnostic::{Diagnostic, Diagnostics, RustItem},
    layout::Layout,
    output::File,
    parallel,
};

/// Generated CRD files.
pub(crate) struct CrdFiles {
    pub(crate) files: Vec<File>,
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Returns a file for each definition, and a kustomization if the options enable it.
pub(crate) fn files(definitions: &Definitions, layout: &Layout) -> Result<CrdFiles, Diagnostics> {
    let definitions: Vec<_> = definitions.iter().collect();
    let results = parallel::map(&definitions, |(path, definition)| {
        let mut errors = Diagnostics::default();
        let fitted = fit(definition, layout, &mut errors);
        let file = fitted.and_then(|fitted| {
            let document = write(&fitted.crd, &definition.item, &mut errors)?;
            let file = File::yaml((*path).clone(), layout, &format!("{}{document}", fitted.comment()));
            Some((file, fitted.warning(&definition.item)))
        });
        (file, errors)
    });
    let mut errors = Diagnostics::default();
    let mut all = CrdFiles { files: Vec::new(), warnings: Vec::new() };
    for ((_, definition), (file, more)) in definitions.iter().zip(results) {
        all.warnings.extend(definition.warnings.iter().cloned());
        errors.0.extend(more.0);
        if let Some((file, warning)) = file {
            all.files.push(file);
            all.warnings.extend(warning);
        }
    }
    if layout.crd.kustomization {
        all.files.push(kustomization::file(definitions.iter().map(|(path, _)| *path), layout));
    }
    errors.or(all)
}

/// Returns all definitions in one file without descriptions, for servers rather than readers.
pub(crate) fn without_descriptions(
    path: String,
    definitions: &ServedDefinitions,
    layout: &Layout,
) -> Result<File, Diagnostics> {
    let mut errors = Diagnostics::default();
    let document = |definition: &Served| {
        let mut crd = definition.crd.clone();
        descriptions::truncate(&mut crd, 0);
        write(&crd, &definition.item, &mut errors)
    };
    let documents: Vec<_> = definitions.values().filter_map(document).collect();
    errors.or(File::yaml(path, layout, &documents.join("---\n")))
}

/// A definition within the size limit.
pub(super) struct Fitted {
    pub(super) crd: Value,
    /// How many descriptions were dropped, and the limit.
    dropped: usize,
    max_bytes: usize,
}

impl Fitted {
    /// Returns a comment for the file about the dropped descriptions.
    fn comment(&self) -> String {
        match self.dropped {
            0 => String::new(),
            count => format!("# {} to stay within {} bytes.\n", dropped(count), self.max_bytes),
        }
    }

    /// Returns a warning about the dropped descriptions.
    pub(super) fn warning(&self, item: &RustItem) -> Option<Diagnostic> {
        let message = || {
            format!(
                "{} from its CRD to stay within {} bytes; shorten them with `--max-desc-len`, or set another limit with \
                 `--max-bytes`",
                dropped(self.dropped),
                self.max_bytes
            )
        };
        (self.dropped > 0).then(|| item.clone().diagnostic(message()))
    }
}

fn dropped(count: usize) -> String {
    match count {
        1 => "1 description was dropped".to_owned(),
        count => format!("{count} descriptions were dropped, the deepest first,"),
    }
}

/// Truncates the descriptions and enforces the size limit. Returns `None` and adds an error if the definition is too
/// large without any description.
pub(super) fn fit(definition: &Definition, layout: &Layout, errors: &mut Diagnostics) -> Option<Fitted> {
    let max_bytes = layout.crd.max_bytes;
    let mut crd = definition.crd.clone();
    if let Some(max_chars) = layout.crd.max_desc_len {
        descriptions::truncate(&mut crd, max_chars);
    }
    let dropped = match max_bytes {
        0 => 0,
        _ => descriptions::drop_deepest(&mut crd, max_bytes),
    };
    let bytes = size::annotations(&crd);
    if max_bytes != 0 && bytes > max_bytes {
        let largest = size::largest(&crd, 3);
        errors.push(
            &definition.item,
            format!(
                "its CRD has {bytes} bytes without descriptions, more than the {max_bytes} that `kubectl apply` can store \
                 in an annotation; the largest fields are {largest} (`--sizes` lists all). Use `serde_json::Value` for \
                 some of them, or set `--max-bytes 0` and install it with `kubectl apply --server-side`"
            ),
        );
        return None;
    }
    Some(Fitted { crd, dropped, max_bytes })
}

/// Returns the document with sorted keys. Returns `None` and adds an error if it cannot be written as YAML.
fn write(value: &Value, item: &RustItem, errors: &mut Diagnostics) -> Option<String> {
    serde_saphyr::to_string(&Plain(value))
        .inspect_err(|error| errors.push(item, format!("its CRD cannot be written as YAML: {error}")))
        .ok()
}
