//! A resource request: its parameters, its object and its options.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::{
    api::{
        endpoint::Endpoint,
        error::{ApiError, FieldError, Result},
        object::{Object, Stored},
        webhook::CallFn,
    },
    authorization::user::User,
    controllers::controlled_state::ControlledState,
    resource::{
        managed_fields::{self, Author},
        registry::Resource,
        webhook_conversions::Conversions,
    },
    storage::state::State,
    wire::{content::Encoding, negotiation::Representation, request::Query},
};

/// The maximum number of times that a write starts again because its object was changed in between.
const MAX_ATTEMPTS: usize = 100;
/// The maximum length of the name of a manager, in bytes.
const MAX_MANAGER_LENGTH: usize = 128;

/// A request for a served resource.
#[derive(Debug)]
pub(crate) struct ResourceRequest {
    pub(crate) user: Arc<User>,
    pub(crate) kind: Arc<Resource>,
    pub(crate) namespace: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) endpoint: Endpoint,
    pub(crate) query: Query,
    /// The field manager: from the query, or else from the user agent.
    pub(crate) manager: String,
    /// The media type of the body, without parameters.
    pub(crate) content_type: String,
    pub(crate) body: Bytes,
    /// The representation of objects in the response.
    pub(crate) representation: Representation,
    /// The encoding of the response.
    pub(crate) encoding: Encoding,
    /// The errors of strict decoding: unknown fields of the operations of a JSON patch.
    pub(crate) strict_errors: Mutex<Vec<String>>,
    /// The warnings of the response.
    pub(crate) warnings: Mutex<Vec<String>>,
    /// Calls webhooks; `None` if the server calls none.
    pub(crate) webhooks: Option<Webhooks>,
}

/// Calls the webhooks of one request.
#[derive(Clone)]
pub(crate) struct Webhooks {
    pub(crate) call: Arc<CallFn>,
    pub(crate) conversions: Arc<Conversions>,
}

impl Webhooks {
    pub(crate) fn new(call: Arc<CallFn>) -> Self {
        let conversions = Arc::new(Conversions::new(Arc::clone(&call)));
        Self { call, conversions }
    }
}

impl fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhooks").field("conversions", &self.conversions).finish_non_exhaustive()
    }
}

impl ResourceRequest {
    /// Returns a resource whose objects the request converts.
    pub(crate) fn bind(&self, kind: Arc<Resource>) -> Arc<Resource> {
        match &self.webhooks {
            Some(webhooks) => kind.bound_to(&webhooks.conversions),
            None => kind,
        }
    }

    /// Returns the stored object that the request names, if it exists.
    pub(crate) fn stored(&self, state: &State) -> Option<Stored> {
        let namespace = self.namespace.as_deref().unwrap_or_default();
        state.store.get(&self.kind.storage_key(), namespace, self.name())
    }

    /// Returns the object of a built-in kind that the request names, in the version of the request.
    ///
    /// # Errors
    /// It does not exist.
    pub(crate) fn existing(&self, state: &State) -> Result<Stored> {
        let stored = self.stored(state).ok_or_else(|| ApiError::not_found(&self.kind, self.name()))?;
        self.kind.read(&stored)
    }

    /// Returns the object that the request names, in the version of the request, if it exists.
    ///
    /// # Errors
    /// It cannot be converted to that version.
    pub(crate) async fn find(&self, state: &ControlledState) -> Result<Option<Stored>> {
        let stored = self.stored(&state.lock());
        match stored {
            Some(stored) => self.kind.read_now(&stored).await.map(Some),
            None => Ok(None),
        }
    }

    /// Computes something that may need conversions by a webhook, as [`Conversions::resolve`] does. The warnings of
    /// the response are those of the last computation.
    pub(crate) async fn resolve<T>(&self, mut compute: impl FnMut() -> T) -> T {
        let Some(webhooks) = &self.webhooks else { return compute() };
        let warnings = self.warnings.lock().len();
        let compute = || {
            self.warnings.lock().truncate(warnings);
            compute()
        };
        webhooks.conversions.resolve(compute).await
    }

    /// Returns the attempts of a write of the object of this name, which starts again if another request has changed
    /// the object in between.
    pub(crate) fn attempts<'a>(&'a self, name: &'a str) -> Attempts<'a> {
        Attempts { request: self, name, warnings: self.warnings.lock().len(), begun: 0 }
    }

    /// Updates the managed fields of an object that the request writes in place of `live`.
    pub(crate) async fn track(&self, live: Option<&Object>, new: Object) -> Object {
        let track = |mut new: Object| {
            managed_fields::track(self.author(), live, &mut new);
            new
        };
        // Without a webhook the object is not copied.
        match self.kind.calls_webhook() {
            true => self.resolve(|| track(new.clone())).await,
            false => track(new),
        }
    }

    /// Returns the manager, the kind and the endpoint that own the fields of a write.
    pub(crate) fn author(&self) -> Author<'_> {
        Author { manager: &self.manager, kind: &self.kind, endpoint: &self.endpoint }
    }

    /// Returns the name in the path, or an empty string for a collection.
    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    /// Returns whether unknown fields are errors.
    pub(crate) fn is_strict(&self) -> bool {
        self.query.get("fieldValidation") == Some("Strict")
    }

    /// Adds errors of lenient decoding to the warnings, unless the client ignores them.
    pub(crate) fn warn(&self, strict_errors: &[String]) {
        if self.query.get("fieldValidation") != Some("Ignore") {
            self.warnings.lock().extend_from_slice(strict_errors);
        }
    }

    /// Returns whether the request is a server-side apply.
    pub(crate) fn is_apply(&self) -> bool {
        self.content_type == "application/apply-patch+yaml"
    }

    /// Validates the options of a create or an update; `options` is their name in errors.
    pub(crate) fn write_options(&self, options: &str) -> Result<Options> {
        self.options(options, Vec::new())
    }

    /// Validates the options of a patch.
    pub(crate) fn patch_options(&self) -> Result<Options> {
        let mut errors = Vec::new();
        if self.is_apply() && self.query.get("fieldManager").is_none() {
            errors.push(FieldError::required("fieldManager", "is required for apply patch"));
        } else if !self.is_apply() && self.query.has("force") {
            errors.push(FieldError::forbidden("force", "may not be specified for non-apply patch"));
        }
        self.options("PatchOptions", errors)
    }

    fn options(&self, options: &str, mut errors: Vec<FieldError>) -> Result<Options> {
        let dry_run = self.query.get("dryRun").map(str::to_owned);
        errors.extend(check_manager(self.query.get("fieldManager").unwrap_or_default()));
        errors.extend(check_dry_run(dry_run.as_slice()));
        errors.extend(check_validation(self.query.get("fieldValidation").unwrap_or_default()));
        if errors.is_empty() {
            return Ok(Options { dry_run: dry_run.is_some(), force: self.query.flag("force") });
        }
        Err(ApiError::invalid_of(options, "meta.k8s.io", "", &errors))
    }
}

/// The attempts of a write.
pub(crate) struct Attempts<'a> {
    request: &'a ResourceRequest,
    name: &'a str,
    /// The number of warnings before the first attempt.
    warnings: usize,
    begun: usize,
}

impl Attempts<'_> {
    /// Begins an attempt, without the warnings of those before.
    ///
    /// # Errors
    /// A conflict, after 100 attempts.
    pub(crate) fn begin(&mut self) -> Result<()> {
        if self.begun == MAX_ATTEMPTS {
            return Err(ApiError::modified(&self.request.kind, self.name));
        }
        self.begun += 1;
        self.request.warnings.lock().truncate(self.warnings);
        Ok(())
    }
}

/// The options of a write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// Processes the write without storing the result.
    pub(crate) dry_run: bool,
    /// Lets an apply take ownership of fields of other managers.
    pub(crate) force: bool,
}

/// Returns the field manager: the `fieldManager` of the query, or else the user agent up to its version.
pub(crate) fn manager(query: &Query, user_agent: &str) -> String {
    if let Some(manager) = query.get("fieldManager") {
        return manager.to_owned();
    }
    let name = user_agent.split('/').next().unwrap_or_default();
    let mut manager: String = name.chars().filter(|c| is_print(*c)).collect();
    manager.truncate(manager.floor_char_boundary(MAX_MANAGER_LENGTH));
    if manager.is_empty() { "unknown".to_owned() } else { manager }
}

fn check_manager(manager: &str) -> Vec<FieldError> {
    const FIELD: &str = "fieldManager";
    let too_long = (manager.len() > MAX_MANAGER_LENGTH).then(|| FieldError::too_long(FIELD, MAX_MANAGER_LENGTH));
    let unprintable = manager.char_indices().filter(|(_, c)| !is_print(*c)).map(|(position, c)| {
        let detail = format!("invalid character U+{:04X} (at position {position})", u32::from(c));
        FieldError::invalid(FIELD, format!("{manager:?}"), detail)
    });
    too_long.into_iter().chain(unprintable).collect()
}

/// Returns whether a character is printable (Go's `unicode.IsPrint`). U+0020 is the only printable space.
fn is_print(c: char) -> bool {
    c == ' ' || !c.is_control() && !c.is_whitespace()
}

fn check_validation(validation: &str) -> Option<FieldError> {
    const KNOWN: [&str; 4] = ["", "Ignore", "Strict", "Warn"];
    let error = || FieldError::unsupported("fieldValidation", format!("{validation:?}"), &KNOWN.map(str::to_owned));
    (!KNOWN.contains(&validation)).then(error)
}

/// Parses a `dryRun` list.
pub(crate) fn is_dry_run(requested: &[String], options: &str) -> Result<bool> {
    match check_dry_run(requested) {
        None => Ok(!requested.is_empty()),
        Some(error) => Err(ApiError::invalid_of(options, "meta.k8s.io", "", &[error])),
    }
}

/// Rejects any value except `All`.
fn check_dry_run(requested: &[String]) -> Option<FieldError> {
    let unknown = requested.iter().find(|value| *value != "All")?;
    Some(FieldError::unsupported("dryRun", format!("[{unknown:?}]"), &["All".to_owned()]))
}
