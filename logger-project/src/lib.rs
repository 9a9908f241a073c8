//! Renders the manifests of an operator from the description that its program prints, from its kinds and from one file
//! of settings.
//!
//! [`render`] returns all files of `config/` in the layout of kubebuilder. Every object is typed, and no file is edited.
//! The `xtask` of a project passes its kinds to [`cli`](fn@cli), which has all commands.
//!
//! The modules are layers. Each imports only from the lines above its own:
//!
//! | modules | contents |
//! |---|---|
//! | [`settings`] | names, replicas and switches of a project |
//! | [`rbac`] | rules as controller-gen normalizes them, and roles |
//! | [`config`] | the files of `config/` |
//! | [`workspace`] | the project on the disk, and its program |
//! | [`olm`] | bundles for Operator Lifecycle Manager, their validation, catalogs and scorecards |
//! | [`cli`](mod@cli) | the commands of `cargo xtask`; the only layer that writes |

pub mod cli;
pub mod config;
pub mod olm;
pub mod rbac;
pub mod settings;
pub mod workspace;

pub use cli::{Command, cli};
pub use config::{MARK, Project, RenderError, render};
pub use settings::{OlmSettings, Settings, SettingsError};
pub use workspace::{Workspace, WorkspaceError};
