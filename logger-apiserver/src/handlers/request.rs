//! One request for a resource, and the server state it works on.

use std::{cell::RefCell, sync::Arc};

use bytes::Bytes;

use crate::{
    api::{
        endpoint::Endpoint,
        error::{ApiError, FieldError, Result},
        object::Stored,
    },
    resource::{managed_fields::Author, registry::Resource},
    storage::state::State,
    wire::{content::Encoding, duplicate_fields, negotiation::Representation, request::Query},
};

/// The longest name of a manager, in bytes.
const LONGEST_MANAGER: usize = 128;

/// A request for a resource that is served.
#[derive(Debug)]
pub(crate) struct ResourceRequest {
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
    /// How much of objects the client wants.
    pub(crate) representation: Representation,
    /// How it wants them written.
    pub(crate) encoding: Encoding,
    /// The errors of strict decoding, such as duplicate fields.
    pub(crate) strict_errors: RefCell<Vec<String>>,
    /// The warnings of the response.
    pub(crate) warnings: RefCell<Vec<String>>,
}

impl ResourceRequest {
    /// Returns the object that the request names, in the version of the request.
    ///
    /// # Errors
    /// It does not exist, or cannot be converted.
    pub(crate) fn existing(&self, state: &State) -> Result<Stored> {
        self.find(state)?.ok_or_else(|| ApiError::not_found(&self.kind, self.name()))
    }

    /// Returns the object that the request names, if it exists.
    ///
    /// # Errors
    /// It cannot be converted to the version of the request.
    pub(crate) fn find(&self, state: &State) -> Result<Option<Stored>> {
        let namespace = self.namespace.as_deref().unwrap_or_default();
        let stored = state.store.get(&self.kind.storage_key(), namespace, self.name());
        stored.map(|stored| self.kind.read(&stored)).transpose()
    }

    /// Returns the manager, the kind and the endpoint that own the fields of a write.
    pub(crate) fn author(&self) -> Author<'_> {
        Author { manager: &self.manager, kind: &self.kind, endpoint: &self.endpoint }
    }

    /// The name in the path, or nothing when the request is for a collection.
    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    /// Returns whether unknown and duplicate fields are errors.
    pub(crate) fn is_strict(&self) -> bool {
        self.query.get("fieldValidation") == Some("Strict")
    }

    /// Adds errors of lenient decoding to the warnings, unless the client ignores them.
    pub(crate) fn warn(&self, mistakes: &[String]) {
        if self.query.get("fieldValidation") != Some("Ignore") {
            let each = mistakes.iter().flat_map(|mistake| duplicate_fields::each(mistake));
            self.warnings.borrow_mut().extend(each.map(str::to_owned));
        }
    }

    /// Whether the body is to be applied.
    pub(crate) fn is_apply(&self) -> bool {
        self.content_type == "application/apply-patch+yaml"
    }

    /// Validates the options of a create or an update; `options` is their name in errors.
    pub(crate) fn write_options(&self, options: &str) -> Result<Options> {
        self.options(options, Vec::new())
    }

    /// As [`write_options`](Self::write_options), of a patch.
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

/// What the query of a write asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// The write is to be answered as if done, and not done.
    pub(crate) dry_run: bool,
    /// An apply takes what others own.
    pub(crate) force: bool,
}

/// Returns the field manager: the `fieldManager` of the query, or else the user agent up to its version.
pub(crate) fn manager(query: &Query, user_agent: &str) -> String {
    if let Some(manager) = query.get("fieldManager") {
        return manager.to_owned();
    }
    let name = user_agent.split('/').next().unwrap_or_default();
    let mut manager: String = name.chars().filter(|c| is_print(*c)).collect();
    manager.truncate(manager.floor_char_boundary(LONGEST_MANAGER));
    if manager.is_empty() { "unknown".to_owned() } else { manager }
}

fn check_manager(manager: &str) -> Vec<FieldError> {
    const FIELD: &str = "fieldManager";
    let too_long = (manager.len() > LONGEST_MANAGER).then(|| FieldError::too_long(FIELD, LONGEST_MANAGER));
    let unprintable = manager.char_indices().filter(|(_, c)| !is_print(*c)).map(|(position, c)| {
        let why = format!("invalid character U+{:04X} (at position {position})", u32::from(c));
        FieldError::invalid(FIELD, format!("{manager:?}"), why)
    });
    too_long.into_iter().chain(unprintable).collect()
}

/// As Go's `unicode.IsPrint`: of all spaces only the plain one is.
fn is_print(c: char) -> bool {
    c == ' ' || !c.is_control() && !c.is_whitespace()
}

fn check_validation(validation: &str) -> Option<FieldError> {
    const KNOWN: [&str; 4] = ["", "Ignore", "Strict", "Warn"];
    let error = || FieldError::unsupported("fieldValidation", format!("{validation:?}"), &KNOWN.map(str::to_owned));
    (!KNOWN.contains(&validation)).then(error)
}

/// Reads a `dryRun` list.
pub(crate) fn is_dry_run(asked: &[String], options: &str) -> Result<bool> {
    match check_dry_run(asked) {
        None => Ok(!asked.is_empty()),
        Some(error) => Err(ApiError::invalid_of(options, "meta.k8s.io", "", &[error])),
    }
}

/// `All` is the only value there is.
fn check_dry_run(asked: &[String]) -> Option<FieldError> {
    let unknown = asked.iter().find(|value| *value != "All")?;
    Some(FieldError::unsupported("dryRun", format!("[{unknown:?}]"), &["All".to_owned()]))
}
