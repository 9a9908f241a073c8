//! Regular expressions in Go's syntax (RE2), which the API server uses for `pattern`.
//!
//! A pattern is parsed by Go's rules and translated to the syntax of the `regex` crate. Syntax that only one of them
//! supports (lookarounds, nested classes, `(?x)`, counts over 1000) is therefore rejected, and matches are those of Go.

mod class;
mod error;
mod escape;
mod flags;
mod parser;

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use regex::{Regex, RegexBuilder};

pub use error::Error;

/// A pattern that Go's `regexp.Compile` accepts.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// `None` if the `regex` crate cannot run the pattern.
    regex: Option<Regex>,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// The error of Go's `regexp.Compile`.
    pub fn new(pattern: &str) -> Result<Self, Error> {
        /// The maximum size of a compiled pattern, and of the cache of a match, in bytes.
        const SIZE_LIMIT: usize = 64 << 20;
        let translated = parser::translate(pattern)?;
        let mut builder = RegexBuilder::new(&translated);
        let regex = builder.size_limit(SIZE_LIMIT).dfa_size_limit(SIZE_LIMIT).nest_limit(4000).build().ok();
        Ok(Self { regex })
    }

    /// Whether the pattern matches anywhere in a text.
    ///
    /// A pattern that only Go can run, because of its size or an unknown script, matches every text. `\B` uses the word
    /// characters of Unicode, where Go uses those of ASCII.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.as_ref().is_none_or(|regex| regex.is_match(text))
    }
}

/// Compiles a pattern, or returns it from a cache.
pub(crate) fn compiled(pattern: &str) -> Result<Arc<Pattern>, Error> {
    /// The number of patterns at which the cache is cleared.
    const CACHE_CAPACITY: usize = 1000;
    static CACHE: LazyLock<Mutex<HashMap<String, Arc<Pattern>>>> = LazyLock::new(Mutex::default);
    let cache = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(cached) = cache().get(pattern) {
        return Ok(cached.clone());
    }
    let compiled = Arc::new(Pattern::new(pattern)?);
    let mut cache = cache();
    if cache.len() >= CACHE_CAPACITY {
        cache.clear();
    }
    cache.insert(pattern.to_owned(), compiled.clone());
    Ok(compiled)
}

#[cfg(test)]
mod tests;
