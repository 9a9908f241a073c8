//! Where a project gets kubewright from.

/// The crate that a project depends on.
const CRATE: &str = "kubewright";

/// Where a project gets kubewright from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dependencies {
    /// From a git repository.
    Git {
        /// Its URL.
        url: String,
        /// The commit; by default that of the default branch.
        reference: Option<Reference>,
    },
    /// From a directory with a checkout of the toolchain, relative to the root of the project, with `/` as the
    /// separator.
    Path(String),
    /// From the registry, in this version.
    Version(String),
}

/// A commit of a git repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The hash of a commit, or a name of a reference.
    Rev(String),
    /// A tag.
    Tag(String),
    /// The last commit of a branch.
    Branch(String),
}

impl Dependencies {
    /// Returns the manifest of the crate, relative to the root of a checkout of the toolchain.
    pub fn manifest() -> String {
        format!("{}/Cargo.toml", directory(CRATE))
    }

    /// Returns the line of the crate in the dependencies of a workspace.
    pub(super) fn line(&self) -> String {
        format!("{CRATE} = {{ {} }}", self.source(CRATE))
    }

    /// Returns what an image of the project needs, for its README; empty if it needs nothing.
    pub(super) fn note_about_images(&self) -> String {
        match self {
            Dependencies::Path(path) => format!(
                "kubewright is in `{path}`, outside of the build context of the image and of the checkout of\ncontinuous \
                 integration. Both need `git = \"URL\"` in place of `path` in `Cargo.toml`.\n\n"
            ),
            Dependencies::Git { .. } | Dependencies::Version(_) => String::new(),
        }
    }

    /// Returns the source of a crate, as the start of an inline table of TOML.
    fn source(&self, name: &str) -> String {
        match self {
            Dependencies::Git { url, reference } => {
                let reference = reference.as_ref().map(|reference| match reference {
                    Reference::Rev(rev) => format!(", rev = {}", quoted(rev)),
                    Reference::Tag(tag) => format!(", tag = {}", quoted(tag)),
                    Reference::Branch(branch) => format!(", branch = {}", quoted(branch)),
                });
                format!("git = {}{}", quoted(url), reference.unwrap_or_default())
            }
            Dependencies::Path(path) => format!("path = {}", quoted(&format!("{path}/{}", directory(name)))),
            Dependencies::Version(version) => format!("version = {}", quoted(version)),
        }
    }
}

/// Returns the directory of a crate in a checkout of the toolchain.
fn directory(name: &str) -> String {
    format!("crates/{name}")
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
