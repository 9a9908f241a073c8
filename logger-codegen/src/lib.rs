//! Generates the client crate and the CRD files from the kinds of a compiled types crate: groups in, files out.
//!
//! A project's `xtask` links its types crate and hands its groups over; that is all it takes:
//!
//! ```no_run
//! # mod my_types { pub fn groups() -> &'static [logger_core::meta::ApiGroup] { &[] } }
//! fn main() -> std::process::ExitCode {
//!     logger_codegen::cli(my_types::groups())
//! }
//! ```

mod api;
mod apply;
mod cli;
mod crd;
mod crd_command;
mod deprecation;
mod diagnostic;
mod docs;
mod emit;
mod explain;
mod file;
pub mod import;
mod names;
mod report;

use std::collections::BTreeSet;

use logger_core::meta::ApiGroup;

pub use cli::{Action, Args, Command, Docs, Place, Settings, cli, run, run_attributes, run_kubernetes};
pub use crd::options::{CrdOptions, EmbeddedMetadata, Floats};
pub use crd_command::{Allowed, Check, Crd, Diff, Import};
pub use diagnostic::{Diagnostic, Diagnostics};
pub use file::{Drift, File, Plan, Written};

use api::Api;

/// Where generated files go, relative to the root of the workspace.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Name of the types crate in Rust, such as `logger_types`. Generated files bear it, so that several types crates may
    /// share a directory: each removes its own stray files only.
    pub types_crate: String,
    /// Name of the client crate in Rust, such as `logger_client`.
    pub client_crate: String,
    /// Directory of its sources, such as `logger-client/src`.
    pub client_dir: String,
    /// Directory of the CRD files, such as `config/crd/bases`.
    pub crd_dir: String,
    /// The cargo features that the client's package declares. A layer whose name is among them (`applyconfigurations`,
    /// `clientset`, `informers`, `scheme`) is there only with its feature; the others are always there. The fake clientset is
    /// there only if `fake` is declared: it needs the API server in memory.
    pub features: BTreeSet<String>,
    /// What stands below the generated mark of each source and CRD file, without comment signs: a licence, say. May be
    /// empty.
    pub header: String,
    /// Directory of the API reference, such as `docs/api`.
    pub docs_dir: String,
    /// How CRD files are written.
    pub crd: CrdOptions,
}

impl Layout {
    /// The header as comments.
    pub(crate) fn header_in(&self, comment: &str) -> String {
        self.header.lines().map(|line| format!("{comment} {line}").trim_end().to_owned() + "\n").collect()
    }

    /// The usual places for a types crate: `my-client/src` beside `my-types`, and `config/crd/bases`.
    pub fn for_types_crate(types_crate: &str) -> Self {
        let client_crate = format!("{}_client", types_crate.strip_suffix("_types").unwrap_or(types_crate));
        let client_dir = format!("{}/src", client_crate.replace('_', "-"));
        Layout {
            types_crate: types_crate.to_owned(),
            client_crate,
            client_dir,
            crd_dir: "config/crd/bases".to_owned(),
            features: BTreeSet::new(),
            header: String::new(),
            docs_dir: "docs/api".to_owned(),
            crd: CrdOptions::default(),
        }
    }
}

/// Makes every file from the groups of a types crate. Nothing is read or written here.
///
/// # Errors
/// A kind cannot be generated: every mistake is named with its Rust item.
pub fn generate(groups: &[ApiGroup], layout: &Layout) -> Result<Vec<File>, Diagnostics> {
    let api = Api::new(groups)?;
    let definitions = crd::definitions(groups, layout)?;
    let crds = crd::files_of(&definitions, layout)?;
    let mut files = emit::client(&api, &definitions, layout)?;
    files.extend(crds);
    files.sort();
    Ok(files)
}

/// Makes the API reference: a Markdown page for each version of each group that has definitions.
///
/// # Errors
/// A definition cannot be made: every mistake is named with its Rust item.
pub fn reference(groups: &[ApiGroup], layout: &Layout) -> Result<Vec<File>, Diagnostics> {
    docs::pages(groups, layout)
}

/// Makes the files of the crate of apply configurations of Kubernetes' own types, which generated clients stand on.
///
/// # Errors
/// None that a caller could mend.
pub fn generate_kubernetes(layout: &Layout) -> Result<Vec<File>, Diagnostics> {
    emit::kubernetes(layout)
}
