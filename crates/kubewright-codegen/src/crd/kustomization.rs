//! The `kustomization.yaml` that lists the CRD files beside it.

use crate::{layout::Layout, output::File};

/// Returns its path.
pub(crate) fn path(layout: &Layout) -> String {
    format!("{}/kustomization.yaml", layout.crd_dir)
}

/// Returns the kustomization of these files of the CRD directory.
pub(super) fn file<'a>(paths: impl Iterator<Item = &'a String>, layout: &Layout) -> File {
    let resources: String =
        paths.filter_map(|path| path.rsplit('/').next()).map(|name| format!("- {name}\n")).collect();
    let resources =
        if resources.is_empty() { "resources: []\n".to_owned() } else { format!("resources:\n{resources}") };
    let document = format!("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n{resources}");
    File::yaml(path(layout), layout, &document)
}
