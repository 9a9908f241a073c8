//! An error with its causes on one line.

use std::{error::Error as StdError, fmt};

/// Any error that a function of the user can return: an error type, a `String`, an `anyhow::Error` or a
/// `ReconcileError` of controllers.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// Displays an error on one line, followed by those of its sources that its text does not contain.
#[derive(Clone, Copy, Debug)]
pub struct WithCauses<'a>(pub &'a (dyn StdError + 'static));

impl fmt::Display for WithCauses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut message = self.0.to_string();
        let mut next = self.0.source();
        while let Some(cause) = next {
            let text = cause.to_string();
            if !message.contains(&text) {
                message = format!("{message}: {text}");
            }
            next = cause.source();
        }
        f.write_str(&message)
    }
}
