//! The paths of the crates of kubewright in generated sources, which depend on the manifest of their package.

use std::path::Path;

use kubewright_names::manifest::{self, Dependency, ManifestError};

/// The single crates that generated sources refer to, and their modules in the facade.
const MODULES: [(&str, &str); 4] = [
    ("kubewright_apiserver", "fake"),
    ("kubewright_apply", "apply"),
    ("kubewright_core", "core"),
    ("kubewright_runtime", "runtime"),
];

/// The dependency by which the package of generated sources refers to kubewright.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Crates {
    /// `kubewright-core`, `kubewright-runtime` and others.
    #[default]
    Single,
    /// The facade `kubewright`, under this name.
    Facade(String),
}

impl Crates {
    /// Returns the dependency in a manifest; `None` if it has none.
    ///
    /// # Errors
    /// The manifest cannot be read, or requires two versions.
    pub(crate) fn from_manifest(manifest: &Path) -> Result<Option<Self>, ManifestError> {
        match manifest::dependency(manifest) {
            Ok(Dependency::Facade(name)) => Ok(Some(Crates::Facade(name))),
            Ok(Dependency::Core(_)) => Ok(Some(Crates::Single)),
            Err(ManifestError::Missing(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces the paths of the single crates in a source by those of this dependency.
    pub(crate) fn rename(&self, source: String) -> String {
        match self {
            Crates::Single => source,
            Crates::Facade(facade) => MODULES.iter().fold(source, |source, (single, module)| {
                replace_path(&source, &format!("{single}::"), &format!("{facade}::{module}::"))
            }),
        }
    }
}

/// Replaces the beginning of paths, but not the end of longer names.
fn replace_path(source: &str, from: &str, to: &str) -> String {
    let mut replaced = String::with_capacity(source.len());
    let mut rest = source;
    while let Some((before, after)) = rest.split_once(from) {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        replaced += before;
        replaced += if before.ends_with(is_name) { from } else { to };
        rest = after;
    }
    replaced + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_facade() {
        let source = "use kubewright_runtime::kube::Client;\n#[serde(crate = \"kubewright_core::serde\")]\n\
                      type A = Vec<kubewright_apply::core_v1::PodSpecApply>;\nuse my_kubewright_core::Fake;\n";
        let facade = "use kw::runtime::kube::Client;\n#[serde(crate = \"kw::core::serde\")]\n\
                      type A = Vec<kw::apply::core_v1::PodSpecApply>;\nuse my_kubewright_core::Fake;\n";
        assert_eq!(Crates::Facade("kw".to_owned()).rename(source.to_owned()), facade);
        assert_eq!(Crates::Single.rename(source.to_owned()), source);
    }
}
