//! Where generated files go, and options for their contents.

use std::collections::BTreeSet;

use kubewright_core::meta::ApiGroup;
use serde::Deserialize;

use crate::crates::Crates;

/// Where generated files go, relative to the root of the workspace.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Name of the types crate in Rust, such as `logger_types`. The mark of every generated file contains it, so
    /// several types crates can share a directory: each removes only its own stray files.
    pub types_crate: String,
    /// Path of the client in Rust, such as `logger_client`, or `my_operator::client` for a module.
    pub client_crate: String,
    /// Source directory of the client, such as `logger-client/src`, or `my-operator/src/client` for a module.
    pub client_dir: String,
    /// Path of the client below the root of the types crate, such as `client`, if it is a module of that crate; empty
    /// if it is a crate.
    pub client_module: String,
    /// Directory of the CRD files, such as `config/crd/bases`.
    pub crd_dir: String,
    /// The cargo features that the client's package declares. A layer whose name is among them (`applyconfigurations`,
    /// `clientset`, `informers`, `scheme`) is generated behind that feature; the others are always compiled. The fake
    /// clientset is generated only if `fake` is declared, because it depends on the in-memory API server.
    pub features: BTreeSet<String>,
    /// The dependency by which the client refers to kubewright.
    pub crates: Crates,
    /// Text below the generated mark of each source and CRD file, without comment signs, such as a license header. May
    /// be empty.
    pub header: String,
    /// Directory of the API reference, such as `docs/api`.
    pub docs_dir: String,
    /// Groups whose definitions belong to other projects: their kinds are part of the client, but have no CRD files and
    /// no policies.
    pub external: BTreeSet<String>,
    /// Options for CRD files.
    pub crd: CrdOptions,
}

impl Layout {
    /// Returns the directory of the admission policies: `config/policy` beside `config/crd/bases`, or `policy` in any
    /// other directory of the CRD files.
    pub fn policy_dir(&self) -> String {
        match self.crd_dir.strip_suffix("crd/bases") {
            Some(parent) if parent.is_empty() || parent.ends_with('/') => format!("{parent}policy"),
            _ => format!("{}/policy", self.crd_dir),
        }
    }

    /// Returns the groups whose definitions are generated.
    pub(crate) fn own_groups(&self, groups: &[ApiGroup]) -> Vec<ApiGroup> {
        groups.iter().filter(|group| !self.external.contains(group.group)).copied().collect()
    }

    /// Returns the header as comment lines.
    pub(crate) fn header_in(&self, comment: &str) -> String {
        self.header.lines().map(|line| format!("{comment} {line}").trim_end().to_owned() + "\n").collect()
    }

    /// Returns the default layout of a types crate: `my-client/src` beside `my-types`, and `config/crd/bases`.
    pub fn for_types_crate(types_crate: &str) -> Self {
        let client_crate = format!("{}_client", types_crate.strip_suffix("_types").unwrap_or(types_crate));
        let client_dir = format!("{}/src", client_crate.replace('_', "-"));
        Layout {
            types_crate: types_crate.to_owned(),
            client_crate,
            client_dir,
            client_module: String::new(),
            crd_dir: "config/crd/bases".to_owned(),
            features: BTreeSet::new(),
            crates: Crates::default(),
            header: String::new(),
            docs_dir: "docs/api".to_owned(),
            external: BTreeSet::new(),
            crd: CrdOptions::default(),
        }
    }

    /// Makes the client a module of the types crate, so that kinds and client are in one package:
    /// `my-operator/src/client` for the module `client` of the package in `my-operator`. The directory of a package at
    /// the root is empty.
    #[must_use]
    pub fn with_client_module(self, package_dir: &str, module: &str) -> Self {
        let slash = if package_dir.is_empty() { "" } else { "/" };
        Layout {
            client_crate: format!("{}::{module}", self.types_crate),
            client_dir: format!("{package_dir}{slash}{}", source_dir(module)),
            client_module: module.to_owned(),
            ..self
        }
    }

    /// Whether the client is a module of the types crate.
    pub(crate) fn has_client_module(&self) -> bool {
        !self.client_module.is_empty()
    }

    /// Returns the directory of the client's package; empty for the root.
    pub(crate) fn client_package(&self) -> &str {
        match self.client_dir.strip_suffix(&source_dir(&self.client_module)) {
            Some("") => "",
            Some(package) => package.strip_suffix('/').unwrap_or(&self.client_dir),
            None => &self.client_dir,
        }
    }

    /// Returns the path of the client in generated code: `crate`, or `crate::client`.
    pub(crate) fn client_path(&self) -> String {
        match self.client_module.as_str() {
            "" => "crate".to_owned(),
            module => format!("crate::{module}"),
        }
    }

    /// Returns the path of an item of the types crate in generated code, which can be in the same crate.
    pub(crate) fn types_path(&self, path: &str) -> String {
        match path.strip_prefix(self.types_crate.as_str()) {
            Some(below) if self.has_client_module() && (below.is_empty() || below.starts_with("::")) => {
                format!("crate{below}")
            }
            _ => path.to_owned(),
        }
    }
}

/// Returns the source directory of a module below the directory of its package. The root module has no name.
fn source_dir(module: &str) -> String {
    match module {
        "" => "src".to_owned(),
        module => format!("src/{}", module.replace("::", "/")),
    }
}

/// Options for CRD files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrdOptions {
    /// The maximum number of characters of a description. Longer ones are truncated at the end of a sentence, or of a
    /// word if the first sentence is too long. 0 drops all descriptions; `None` keeps them complete.
    pub max_desc_len: Option<usize>,
    /// The maximum size in bytes of a definition as `kubectl apply` stores it in an annotation. Descriptions of larger
    /// definitions are dropped, the deepest first. 0 means no limit.
    pub max_bytes: usize,
    /// Whether fields may hold floating-point numbers.
    pub floats: Floats,
    /// How much of the metadata of embedded objects the schema describes.
    pub embedded_metadata: EmbeddedMetadata,
    /// Whether a `kustomization.yaml` that lists the CRD files is written beside them, and one beside the policies.
    pub kustomization: bool,
}

impl CrdOptions {
    /// The total size limit of all annotations of an object (apimachinery, `TotalAnnotationSizeLimitB`).
    pub const MAX_BYTES: usize = 262_144;
}

impl Default for CrdOptions {
    fn default() -> Self {
        CrdOptions {
            max_desc_len: None,
            max_bytes: CrdOptions::MAX_BYTES,
            floats: Floats::default(),
            embedded_metadata: EmbeddedMetadata::default(),
            kustomization: false,
        }
    }
}

/// Whether fields may hold floating-point numbers, which languages format and compare differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Floats {
    /// All fields may.
    Allow,
    /// Only fields with `#[schema(allow_float)]`.
    #[default]
    Deny,
}

/// How much of the metadata of embedded objects, such as that of a pod template, the schema describes. The API server
/// prunes fields that it does not describe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmbeddedMetadata {
    /// Name, namespace, labels, annotations and finalizers.
    #[default]
    Subset,
    /// Every field.
    Full,
    /// Nothing: `type: object`.
    None,
}
