//! Generates the client crate, the CRD files, the admission policies and the API reference from the kinds of a compiled
//! types crate.
//!
//! The `xtask` of a project links its types crate and passes its groups:
//!
//! ```no_run
//! # mod my_types { pub fn groups() -> &'static [kubewright_core::meta::ApiGroup] { &[] } }
//! fn main() -> std::process::ExitCode {
//!     kubewright_codegen::cli(my_types::groups())
//! }
//! ```
//!
//! An `xtask` with other commands flattens [`Command`] into its own. [`run`] checks the generated files in a test, and
//! [`generate`] returns them without access to the disk.
//!
//! The modules are layers, the lowest first: `crates`, `names`, `parallel`, `layout`, `diagnostic` and `schema_path`;
//! `api`, `output` and `snippet`; `apply`, `crd` and `explain`; `emit`, `docs`, `import` and `policy`; `generate`;
//! `cli`. A layer only imports from lower ones.

mod api;
mod apply;
mod cli;
mod crates;
mod crd;
mod diagnostic;
mod docs;
mod emit;
mod explain;
mod generate;
mod import;
mod layout;
mod names;
mod output;
mod parallel;
mod policy;
mod schema_path;
mod snippet;

pub use cli::{
    cli,
    codegen::{Action, Args, run},
    command::Command,
    crd::{AllowedChange, Check, Crd, Diff, Import},
    docs::Docs,
    project::ProjectDirs,
    release_fixtures::ReleaseFixtures,
    settings::Settings,
    write::write_files,
};
pub use crates::Crates;
pub use diagnostic::{Diagnostic, Diagnostics};
pub use generate::{Generated, definitions, generate, generate_with_warnings, reference};
pub use import::ImportedModule;
pub use layout::{CrdOptions, EmbeddedMetadata, Floats, Layout};
pub use output::{Drift, File, Plan, WriteResult};

/// Items of the other crates of this repository and of its tests. Not part of the public API: no stability guarantees.
#[doc(hidden)]
pub mod internal {
    pub use crate::{
        cli::{
            print::drawn,
            repository::{run_attributes, run_kubernetes},
        },
        import::{KubernetesTypes, differences, import, normalize},
        output::{FormatError, Style, rustfmt},
    };
}
