//! Patterns as Go's `regexp` takes them (RE2), which is what the API server runs.
//!
//! A pattern is parsed by Go's rules and put into the words of the `regex` crate, so that what either takes for itself alone
//! (lookarounds, nested classes, `(?x)`, counts over 1000, ..) cannot slip through, and a match is a match in Go.

mod class;
mod parse;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use regex::{Regex, RegexBuilder};

/// A pattern that Go's `regexp.Compile` takes.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Option<Regex>,
}

/// Why Go does not take a pattern, in its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub(crate) code: &'static str,
    pub(crate) part: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error parsing regexp: {}: `{}`", self.code, self.part)
    }
}

impl std::error::Error for Error {}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// Go would not take it.
    pub fn new(pattern: &str) -> Result<Self, Error> {
        /// Bytes a compiled pattern may take, and the memory of a run.
        const SIZE: usize = 64 << 20;
        let words = parse::translated(pattern)?;
        let regex = RegexBuilder::new(&words).size_limit(SIZE).dfa_size_limit(SIZE).nest_limit(4000).build().ok();
        Ok(Self { regex })
    }

    /// Whether the pattern is found in a text. One that only Go can run (of enormous size, or of a script it alone knows)
    /// counts as found. `\B` goes by Unicode words here, by those of ASCII in Go.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.as_ref().is_none_or(|regex| regex.is_match(text))
    }
}

/// The pattern, compiled once for as long as it is in use with few others.
pub(crate) fn compiled(pattern: &str) -> Result<Arc<Pattern>, Error> {
    /// Patterns that are kept; then all are forgotten.
    const MOST: usize = 1000;
    static KEPT: LazyLock<Mutex<HashMap<String, Arc<Pattern>>>> = LazyLock::new(Mutex::default);
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept().get(pattern) {
        return Ok(known.clone());
    }
    let new = Arc::new(Pattern::new(pattern)?);
    let mut kept = kept();
    if kept.len() >= MOST {
        kept.clear();
    }
    kept.insert(pattern.to_owned(), new.clone());
    Ok(new)
}

#[cfg(test)]
mod tests;
