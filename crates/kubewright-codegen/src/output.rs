//! Generated files: created in memory, then compared with the tree or written to it. The only module that accesses the
//! disk for generated files.

mod file;
mod format;
mod plan;
mod staged;

pub use file::File;
pub use format::{FormatError, Style, rustfmt};
pub use plan::{Drift, Plan, WriteResult};

pub(crate) use format::manifest_of;
pub(crate) use plan::{read_manifests, write_new};
