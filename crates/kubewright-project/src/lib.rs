//! Creates the project of an operator, and renders its manifests from the description that its program prints, from its
//! kinds and from one file of settings.
//!
//! [`scaffold`] plans the files of a project: `cargo kubewright init` creates one, and `cargo xtask create api` adds a
//! kind.
//! [`render`] returns all files of `config/` in the layout of kubebuilder, [`Chart::render`] those of a Helm chart, and
//! [`olm::bundle`] those of a bundle.
//! Every object is typed, and no file is edited.
//! The `xtask` of a project passes its kinds to [`cli`](fn@cli), which has all commands.
//!
//! The modules are layers. Each imports only from the lines above its own:
//!
//! | modules | contents |
//! |---|---|
//! | [`settings`] | names, replicas and switches of a project |
//! | [`rbac`] | rules as controller-gen normalizes them, and roles |
//! | [`config`] | the files of `config/` |
//! | [`scaffold`] | plans of the files of a project |
//! | [`helm`] | the Helm chart, from the same objects |
//! | [`workspace`] | the project on the disk, and its program |
//! | [`deploy`] | the operator in a cluster, with kubectl |
//! | [`olm`] | bundles for Operator Lifecycle Manager, their validation, catalogs and scorecards |
//! | [`cli`](mod@cli) | the commands of `cargo xtask`; the only layer that writes |

pub mod cli;
pub mod config;
pub mod deploy;
pub mod helm;
pub mod olm;
pub mod rbac;
pub mod scaffold;
pub mod settings;
pub mod workspace;

pub use cli::{Command, cli};
pub use config::{MARK, Project, RenderError, render};
pub use helm::{Chart, ChartError};
pub use settings::{CertificateMode, OlmSettings, Settings, SettingsError, WebhookSettings};
pub use workspace::{Workspace, WorkspaceError};
