//! Plans of the files of a project: what `cargo kubewright init` and `cargo xtask create api` write.
//!
//! Guarantees:
//! - a plan is computed from a typed model and a snapshot of the tree; nothing accesses the disk;
//! - all problems of a request are reported together, before there is a plan;
//! - a request whose result exists has an empty plan;
//! - the files that start with the [`MARK`] are written completely. In a file of the user, one line is inserted,
//!   replaced or removed, and the plan explains it;
//! - the model is stored in `PROJECT`, in version 3 of the schema of kubebuilder.

mod apis;
mod conversions;
mod dependencies;
mod files;
mod import;
mod init;
mod model;
mod names;
mod plan;
mod project_file;
mod rename;
mod template;
mod templates;
mod tree;
mod webhooks;

pub use apis::{create_api, create_version, delete_api, edit, overwritten};
pub use dependencies::{Dependencies, Reference};
pub use files::MARK;
pub use import::{Imported, delete_import, external_groups, import};
pub use init::init;
pub use model::{External, Model, Resource, ResourceWebhooks};
pub use plan::{Plan, Problems, Step};
pub use rename::{Rename, rename_api};
pub use tree::Tree;
pub use webhooks::{NewWebhooks, create_webhooks};
