//! The regular expressions of rules. The server uses RE2, whose syntax the `regex` crate follows.

use std::{cell::RefCell, rc::Rc};

use regex::{Regex, RegexBuilder};

use crate::pattern::sized::{self, SizedCache};

/// The maximum size of a compiled pattern in bytes.
const MAX_SIZE: usize = 10 << 20;

/// The budget in bytes of the cache, which each thread has. Rules with loops evaluate the same few patterns repeatedly.
const CACHE_BUDGET: usize = 16 << 20;

thread_local! {
    static CACHE: RefCell<SizedCache<Rc<Regex>>> = RefCell::new(SizedCache::new(CACHE_BUDGET));
}

/// Compiles a pattern. The error is Go's message.
pub(crate) fn compile(pattern: &str) -> Result<Rc<Regex>, String> {
    CACHE.with_borrow_mut(|cache| {
        if let Some(regex) = cache.get(pattern) {
            return Ok(regex);
        }
        let compiled = sized::compile(&mut RegexBuilder::new(pattern), MAX_SIZE);
        let (regex, size) = compiled.map_err(|error| go_message(pattern, &error))?;
        let regex = Rc::new(regex);
        cache.insert(pattern, Rc::clone(&regex), size);
        Ok(regex)
    })
}

/// The message of Go's `regexp` for the frequent errors, or else that of the `regex` crate.
fn go_message(pattern: &str, error: &regex::Error) -> String {
    let text = error.to_string();
    let from = |c: char| pattern.find(c).map_or(pattern, |at| &pattern[at..]);
    let what = if text.contains("unclosed character class") {
        format!("missing closing ]: `{}`", from('['))
    } else if text.contains("unclosed group") {
        format!("missing closing ): `{pattern}`")
    } else if text.contains("unopened group") {
        format!("unexpected ): `{pattern}`")
    } else if text.contains("repetition operator missing expression") {
        let operator = pattern.find(['*', '+', '?']).map_or(pattern, |at| &pattern[at..=at]);
        format!("missing argument to repetition operator: `{operator}`")
    } else if text.contains("look-around") {
        let start = pattern.find("(?").map_or(pattern, |at| pattern.get(at..at + 3).unwrap_or(pattern));
        format!("invalid or unsupported Perl syntax: `{start}`")
    } else {
        text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
    };
    format!("error parsing regexp: {what}")
}
