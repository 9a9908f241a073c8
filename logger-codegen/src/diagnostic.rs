//! What cannot be generated, and which Rust item is at fault.

use std::fmt;

/// One mistake in one Rust item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The type or field, such as `my_types::v1::Widget.spec.size`.
    pub item: String,
    /// What is wrong and the way out.
    pub message: String,
}

/// Every mistake that was found. There is at least one.
#[derive(Clone, Debug, Default, thiserror::Error)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    pub(crate) fn push(&mut self, item: impl Into<String>, message: impl Into<String>) {
        self.0.push(Diagnostic { item: item.into(), message: message.into() });
    }

    /// The value, if nothing was found.
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
        for (i, Diagnostic { item, message }) in self.0.iter().enumerate() {
            let newline = if i == 0 { "" } else { "\n" };
            write!(f, "{newline}`{item}`: {message}")?;
        }
        Ok(())
    }
}
