//! The errors of definitions.

use std::time::Duration;

/// Definitions that cannot be applied, or objects that cannot be migrated.
#[derive(Debug, thiserror::Error)]
pub enum CrdError {
    /// The text is not YAML.
    #[error("the definitions are not YAML: {0}")]
    Syntax(#[source] Box<serde_saphyr::Error>),
    /// A document is something else than a definition.
    #[error("`{kind}` of `{api_version}` is not a CustomResourceDefinition of `apiextensions.k8s.io/v1` with a name")]
    NotADefinition {
        /// The `apiVersion` of the document.
        api_version: String,
        /// The `kind` of the document.
        kind: String,
    },
    /// A definition of the cluster cannot be decoded.
    #[error("cannot decode the definition `{name}`: {source}")]
    Decode {
        /// The name of the definition.
        name: String,
        /// The error of the decoder.
        source: serde_json::Error,
    },
    /// The definitions have changes that are not allowed.
    #[error(
        "incompatible changes: {}; keep the old version served beside a new one, or allow breaking changes explicitly",
        changes.join("; ")
    )]
    Incompatible {
        /// The changes, with the names of their definitions.
        changes: Vec<String>,
    },
    /// A request failed.
    #[error("cannot {action} `{name}`: {source}")]
    Request {
        /// The request, such as `apply the definition`.
        action: &'static str,
        /// The name of the object.
        name: String,
        /// The error of the client.
        source: Box<kube::Error>,
    },
    /// Another definition has the same names.
    #[error("the names of the definition `{name}` are not accepted: {message}")]
    NamesNotAccepted {
        /// The name of the definition.
        name: String,
        /// The message of the condition.
        message: String,
    },
    /// The API server does not serve the definition.
    #[error("the definition `{name}` is not established after {timeout:?}; see `kubectl describe crd {name}`")]
    NotEstablished {
        /// The name of the definition.
        name: String,
        /// How long was waited.
        timeout: Duration,
    },
    /// The definition does not exist.
    #[error("the definition `{name}` does not exist; see `kubectl get crds`")]
    NotFound {
        /// The name of the definition.
        name: String,
    },
    /// The cluster does not complete the migration that it has started.
    #[error(
        "the StorageVersionMigration `{migration}` of the definition `{name}` has not ended after {limit:?}; see `kubectl \
         describe storageversionmigration {migration}`"
    )]
    NotMigrated {
        /// The name of the definition.
        name: String,
        /// The name of the StorageVersionMigration.
        migration: String,
        /// How long was waited.
        limit: Duration,
    },
    /// The definition cannot be used for a migration.
    #[error("the definition `{name}` has no {missing}")]
    Incomplete {
        /// The name of the definition.
        name: String,
        /// What it lacks.
        missing: &'static str,
    },
    /// The definition was changed or deleted during the migration.
    #[error("the definition `{name}` was changed during the migration of its objects; run it again")]
    Changed {
        /// The name of the definition.
        name: String,
    },
    /// Other clients write an object all the time.
    #[error("`{name}` was changed by other clients during each of {attempts} attempts to migrate it; run it again")]
    Conflicts {
        /// The name of the object.
        name: String,
        /// The number of attempts.
        attempts: usize,
    },
}

impl CrdError {
    /// Returns the error of a request.
    pub(super) fn request(action: &'static str, name: &str) -> impl FnOnce(kube::Error) -> CrdError + use<> {
        let name = name.to_owned();
        move |source| CrdError::Request { action, name, source: Box::new(source) }
    }
}
