//! Errors and warnings of the generator, each with the Rust item it is about.

use std::fmt;

use logger_core::meta::{ApiGroup, ApiKind};

/// One error or warning about one Rust item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The type or field, such as `my_types::v1::Widget.spec.size`.
    pub item: String,
    /// Where the kind is declared, such as `src/v1/widget.rs:12`, if that is known.
    pub location: Option<String>,
    /// What is wrong, then a suggestion.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.location {
            write!(f, "{location}: ")?;
        }
        write!(f, "`{}`: {}", self.item, self.message)
    }
}

/// All errors of one run. There is at least one.
#[derive(Clone, Debug, Default, thiserror::Error)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    pub(crate) fn push(&mut self, item: impl Into<RustItem>, message: impl Into<String>) {
        self.0.push(item.into().diagnostic(message));
    }

    /// Returns the value, or the errors if there are any.
    pub(crate) fn or<T>(self, value: T) -> Result<T, Diagnostics> {
        match self.0.is_empty() {
            true => Ok(value),
            false => Err(self),
        }
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Diagnostics(vec![diagnostic])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.0.iter().enumerate() {
            let newline = if i == 0 { "" } else { "\n" };
            write!(f, "{newline}{diagnostic}")?;
        }
        Ok(())
    }
}

/// A Rust item that diagnostics are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RustItem {
    /// The path of a type or field, such as `my_types::v1::Widget`.
    pub(crate) path: String,
    /// File and line of the kind it belongs to.
    pub(crate) location: Option<String>,
}

impl RustItem {
    /// Returns the type of a kind.
    pub(crate) fn of_kind(group: &ApiGroup, kind: &ApiKind) -> Self {
        RustItem { path: format!("{}::{}", group.module, kind.rust_name), location: location(kind) }
    }

    /// Returns another item that belongs to the same kind.
    pub(crate) fn with_path(&self, path: impl Into<String>) -> Self {
        RustItem { path: path.into(), location: self.location.clone() }
    }

    /// Returns the field at a JSON path below this item.
    pub(crate) fn at(&self, path: &str) -> Self {
        self.with_path(format!("{}{path}", self.path))
    }

    pub(crate) fn diagnostic(self, message: impl Into<String>) -> Diagnostic {
        Diagnostic { item: self.path, location: self.location, message: message.into() }
    }
}

impl From<String> for RustItem {
    fn from(path: String) -> Self {
        RustItem { path, location: None }
    }
}

impl From<&str> for RustItem {
    fn from(path: &str) -> Self {
        path.to_owned().into()
    }
}

impl From<&RustItem> for RustItem {
    fn from(item: &RustItem) -> Self {
        item.clone()
    }
}

/// Returns file and line of the declaration of a kind.
// `ApiKind` has no location yet; this is the only place to read it from.
fn location(_kind: &ApiKind) -> Option<String> {
    None
}
