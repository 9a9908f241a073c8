//! Regular expressions in Go's syntax (RE2), which the API server uses for `pattern`.
//!
//! A pattern is parsed by Go's rules and translated to the syntax of the `regex` crate. Syntax that only one of them
//! supports (lookarounds, nested classes, `(?x)`, counts over 1000) is therefore rejected, and matches are those of Go.

mod class;
mod error;
mod escape;
mod flags;
mod parser;
pub(crate) mod sized;

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use regex::{Regex, RegexBuilder};

pub use error::Error;
use sized::SizedCache;

/// A pattern that Go's `regexp.Compile` accepts.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// `None` if the `regex` crate cannot run the pattern.
    regex: Option<Regex>,
    /// An upper bound of its size in bytes.
    size: usize,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// The error of Go's `regexp.Compile`.
    pub fn new(pattern: &str) -> Result<Self, Error> {
        /// The maximum size of a compiled pattern in bytes.
        const SIZE_LIMIT: usize = 64 << 20;
        let translated = parser::translate(pattern)?;
        let compiled = sized::compile(RegexBuilder::new(&translated).nest_limit(4000), SIZE_LIMIT).ok();
        let size = compiled.as_ref().map_or(0, |(_, size)| *size);
        Ok(Self { regex: compiled.map(|(regex, _)| regex), size })
    }

    /// Whether the pattern can be run here. Some can be run by Go only, because of their size or an unknown script.
    pub fn is_enforced(&self) -> bool {
        self.regex.is_some()
    }

    /// Whether the pattern matches anywhere in a text.
    ///
    /// A pattern that is not [enforced](Self::is_enforced) matches every text. `\B` uses the word characters of
    /// Unicode, where Go uses those of ASCII.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.as_ref().is_none_or(|regex| regex.is_match(text))
    }
}

/// Compiles a pattern, or returns it from a cache.
pub(crate) fn compiled(pattern: &str) -> Result<Arc<Pattern>, Error> {
    /// The budget of the cache in bytes: 2,000 small patterns.
    const BUDGET: usize = 64 << 20;
    static CACHE: LazyLock<Mutex<SizedCache<Arc<Pattern>>>> = LazyLock::new(|| Mutex::new(SizedCache::new(BUDGET)));
    let cache = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(cached) = cache().get(pattern) {
        return Ok(cached);
    }
    let compiled = Arc::new(Pattern::new(pattern)?);
    cache().insert(pattern, Arc::clone(&compiled), compiled.size);
    Ok(compiled)
}

#[cfg(test)]
mod tests;
