//! One request for a resource, and the server state it works on

use std::sync::Arc;

use bytes::Bytes;

use crate::{
    kinds::{Kind, Kinds},
    object::Stored,
    request::Query,
    scale,
    status::{FieldError, Refusal, Result},
    store::Store,
};

/// Everything the server knows.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) store: Store,
    pub(crate) kinds: Kinds,
}

impl State {
    /// The stored object a call is about.
    pub(crate) fn existing(&self, call: &Call) -> Result<Stored> {
        let namespace = call.namespace.as_deref().unwrap_or_default();
        let stored = self.store.get(&call.kind.resource(), namespace, call.name());
        stored.ok_or_else(|| Refusal::not_found(&call.kind, call.name()))
    }
}

/// Which side of an object a request is for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Endpoint {
    /// All of it (or a collection).
    Main,
    /// `/status`.
    Status,
    /// `/scale`, whose fields are at these paths.
    Scale(scale::Paths),
}

/// A request for a resource that is served.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) kind: Arc<Kind>,
    pub(crate) namespace: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) endpoint: Endpoint,
    pub(crate) query: Query,
    /// The media type of the body, without parameters.
    pub(crate) content_type: String,
    pub(crate) body: Bytes,
}

impl Call {
    /// The name in the path, or nothing when the request is for a collection.
    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    /// Whether unknown fields are a reason to refuse the body.
    pub(crate) fn is_strict(&self) -> bool {
        self.query.get("fieldValidation") == Some("Strict")
    }

    /// Whether the write is to be answered as if done, and not done. `options` names the query in refusals.
    pub(crate) fn dry_run(&self, options: &str) -> Result<bool> {
        let asked = self.query.get("dryRun").map(str::to_owned);
        is_dry_run(asked.as_slice(), options)
    }
}

/// Reads a `dryRun` list: `All` is the only value there is.
pub(crate) fn is_dry_run(asked: &[String], options: &str) -> Result<bool> {
    if let Some(unknown) = asked.iter().find(|value| *value != "All") {
        let error = FieldError::unsupported("dryRun", format!("[{unknown:?}]"), &["All".to_owned()]);
        return Err(Refusal::invalid_of(options, "meta.k8s.io", "", &[error]));
    }
    Ok(!asked.is_empty())
}
