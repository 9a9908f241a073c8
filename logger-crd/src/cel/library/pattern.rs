//! Regular expressions as rules use them.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use regex::{Regex, RegexBuilder};

/// The most memory a compiled pattern may take, in bytes.
const MAX_SIZE: usize = 10 << 20;

/// How many compiled patterns a thread keeps: a rule that loops asks for the same few again and again.
const KEPT: usize = 64;

thread_local! {
    static COMPILED: RefCell<HashMap<String, Rc<Regex>>> = RefCell::default();
}

/// A pattern compiled. The server's engine is RE2, which the crate's syntax follows.
pub(in crate::cel) fn compile(pattern: &str) -> Result<Rc<Regex>, String> {
    COMPILED.with_borrow_mut(|compiled| {
        if let Some(regex) = compiled.get(pattern) {
            return Ok(Rc::clone(regex));
        }
        let regex =
            RegexBuilder::new(pattern).size_limit(MAX_SIZE).build().map_err(|error| told_by_go(pattern, &error))?;
        if compiled.len() >= KEPT {
            compiled.clear();
        }
        let regex = Rc::new(regex);
        compiled.insert(pattern.to_owned(), Rc::clone(&regex));
        Ok(regex)
    })
}

/// The error in the words of Go's engine, for the mistakes people make.
fn told_by_go(pattern: &str, error: &regex::Error) -> String {
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
