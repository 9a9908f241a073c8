//! The depth of JSON, and a larger stack for code that walks deep values.
//!
//! Guarantees:
//! - JSON is at most as deep as kube-apiserver accepts it.
//! - Requests, watches and drops use a large stack once a body is deeper than usual ones. Until then, they cost
//!   nothing.
//! - A large stack exists only while its code runs, so that there are at most as many as threads.

use std::{
    pin::Pin,
    sync::atomic::{AtomicBool, Ordering},
    task::{Context, Poll},
};

use futures::Stream;
use serde_json::Value;

/// The maximum depth of JSON (`maxNestingDepth` of Go's `encoding/json`).
pub(crate) const MAX_DEPTH: usize = 10_000;

/// The depth up to which values are walked on any stack.
const MAX_SHALLOW_DEPTH: usize = 100;
/// The size of a large stack: space for values of twice the maximum depth, which patches can create. Only the pages
/// that are used need memory.
const LARGE_STACK: usize = 512 << 20;
/// The remaining size from which on a stack is large enough.
const LARGE_ENOUGH: usize = LARGE_STACK / 2;

/// Whether a body was deeper than usual ones, so that values can be deep.
static HAS_DEEP_VALUES: AtomicBool = AtomicBool::new(false);

/// JSON is deeper than the maximum. The character starts the first value that is too deep.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("invalid character '{0}' exceeded max depth")]
pub(crate) struct TooDeep(pub(crate) char);

/// Returns the depth of a JSON text. The depth of an invalid text is that of its brackets.
///
/// # Errors
/// The text is deeper than the maximum.
pub(crate) fn of_json(text: &[u8]) -> Result<usize, TooDeep> {
    let (mut depth, mut max) = (0_usize, 0);
    let mut is_string = false;
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_string = !is_string,
            b'\\' if is_string => {
                bytes.next();
            }
            _ if is_string => {}
            b'{' | b'[' if depth == MAX_DEPTH => return Err(TooDeep(char::from(*byte))),
            b'{' | b'[' => {
                depth += 1;
                max = max.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(max)
}

/// Returns an upper bound of the depth of a YAML text: its brackets and its indentation.
fn of_yaml(text: &[u8]) -> usize {
    let is_indicator = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'-' | b'?' | b':');
    let indentation = text.split(|byte| *byte == b'\n').map(|line| line.iter().take_while(is_indicator).count()).max();
    brackets(text).saturating_add(indentation.unwrap_or_default())
}

/// Returns the number of opening brackets, also of those in strings: an upper bound of the depth of a JSON text.
fn brackets(text: &[u8]) -> usize {
    text.iter().filter(|byte| matches!(byte, b'{' | b'[')).count()
}

/// Returns the depth of a value.
pub(crate) fn of_value(value: &Value) -> usize {
    let mut max = 0;
    let mut pending = vec![(value, 1)];
    while let Some((value, depth)) = pending.pop() {
        match value {
            Value::Array(items) => pending.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(fields) => pending.extend(fields.values().map(|field| (field, depth + 1))),
            _ => continue,
        }
        max = max.max(depth);
    }
    max
}

/// Prepares for the values of a body: deep ones need a large stack from now on.
pub(crate) fn prepare_for(body: &[u8]) {
    if can_be_deep(body) {
        HAS_DEEP_VALUES.store(true, Ordering::Relaxed);
    }
}

/// Returns whether a body can be deeper than usual ones. Only JSON with many brackets is read completely.
fn can_be_deep(body: &[u8]) -> bool {
    if !body.starts_with(b"{") && !body.starts_with(b"[") {
        return of_yaml(body) > MAX_SHALLOW_DEPTH;
    }
    brackets(body) > MAX_SHALLOW_DEPTH && of_json(body).map_or(true, |depth| depth > MAX_SHALLOW_DEPTH)
}

/// Returns whether values can be deep.
pub(crate) fn has_deep_values() -> bool {
    HAS_DEEP_VALUES.load(Ordering::Relaxed)
}

/// Calls a function that walks values, with a stack that is large enough.
pub(crate) fn with_stack<T>(call: impl FnOnce() -> T) -> T {
    if has_deep_values() { stacker::maybe_grow(LARGE_ENOUGH, LARGE_STACK, call) } else { call() }
}

/// A future or a stream that is polled and dropped with a stack that is large enough.
pub(crate) struct WithStack<T>(Option<Pin<Box<T>>>);

impl<T> WithStack<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self(Some(Box::pin(inner)))
    }
}

impl<F: Future> Future for WithStack<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        match &mut self.0 {
            Some(future) => with_stack(|| future.as_mut().poll(context)),
            None => Poll::Pending,
        }
    }
}

impl<S: Stream> Stream for WithStack<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        match &mut self.0 {
            Some(stream) => with_stack(|| stream.as_mut().poll_next(context)),
            None => Poll::Ready(None),
        }
    }
}

impl<T> Drop for WithStack<T> {
    fn drop(&mut self) {
        let inner = self.0.take();
        with_stack(|| drop(inner));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_depth_of_a_text_is_that_of_its_value() {
        for value in [json!(1), json!([]), json!({ "a": [1, { "[{": "]\\\"[" }], "b": {} }), json!([[], [[]]])] {
            assert_eq!(of_json(value.to_string().as_bytes()), Ok(of_value(&value)), "{value}");
        }
        assert_eq!(of_json("[".repeat(MAX_DEPTH).as_bytes()), Ok(MAX_DEPTH));
        assert_eq!(of_json("[".repeat(MAX_DEPTH + 1).as_bytes()), Err(TooDeep('[')));
        assert_eq!(TooDeep('{').to_string(), "invalid character '{' exceeded max depth");
    }

    #[test]
    fn bodies_deeper_than_usual_ones_are_found() {
        let nested = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
        for shallow in
            [nested(MAX_SHALLOW_DEPTH), format!("[{}1]", "[],".repeat(200)), format!("{{\"a\":\"{}\"}}", nested(200))]
        {
            assert!(!can_be_deep(shallow.as_bytes()), "{shallow}");
        }
        for deep in
            [nested(MAX_SHALLOW_DEPTH + 1), nested(MAX_DEPTH + 1), "- ".repeat(200), format!(" {}", nested(200))]
        {
            assert!(can_be_deep(deep.as_bytes()), "{deep}");
        }
    }

    #[test]
    fn the_depth_of_a_yaml_text_is_bounded() {
        assert!(of_yaml(b"a:\n  b:\n    - - c") >= 4);
        assert!(of_yaml("- ".repeat(200).as_bytes()) > 200);
        assert!(of_yaml("a: {b: ".repeat(200).as_bytes()) >= 200);
    }
}
