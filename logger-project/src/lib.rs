//! Renders the manifests of an operator from the description that its program prints, from its kinds and from one file
//! of settings.
//!
//! [`render`] returns all files of `config/` in the layout of kubebuilder. It has no access to the disk or to a
//! cluster: every object is typed, and no file is edited.
//!
//! The modules are layers. Each imports only from the lines above its own:
//!
//! | modules | contents |
//! |---|---|
//! | [`settings`] | names, replicas and switches of a project |
//! | [`rbac`] | rules as controller-gen normalizes them, and roles |
//! | [`config`] | the files of `config/` |

pub mod config;
pub mod rbac;
pub mod settings;

pub use config::{MARK, Project, RenderError, render};
pub use settings::{Settings, SettingsError};
