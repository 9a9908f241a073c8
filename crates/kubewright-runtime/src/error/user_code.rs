//! Panics of user code, such as a transform, a filter or an implementation of `Deserialize`.

use std::{
    any::Any,
    borrow::Cow,
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::object::ObjectKey;

/// The maximum length of the message of a panic, in bytes.
const MAX_MESSAGE_LEN: usize = 500;

/// User code panicked. The panic was caught.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} panicked{}: {message}", for_object(.object))]
#[non_exhaustive]
pub struct UserCodePanicked {
    /// The user code, such as `the transform`.
    pub what: Cow<'static, str>,
    /// The object for which it was called, if there is one.
    pub object: Option<ObjectKey>,
    /// The message of the panic.
    pub message: String,
}

impl UserCodePanicked {
    pub(crate) fn new(what: impl Into<Cow<'static, str>>, object: Option<ObjectKey>, message: String) -> Self {
        UserCodePanicked { what: what.into(), object, message }
    }
}

fn for_object(object: &Option<ObjectKey>) -> String {
    object.as_ref().map_or_else(String::new, |key| format!(" for `{key}`"))
}

/// Calls user code and catches its panic. Returns the message of the panic as the error.
pub(crate) fn catch_panic<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| panic_message(panic.as_ref()))
}

/// Returns the message of a panic, with a bounded length.
#[must_use]
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    let mut text = text.unwrap_or_else(|| "no message".to_owned());
    text.truncate(text.floor_char_boundary(MAX_MESSAGE_LEN));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_caught_with_its_message() {
        let caught = |message: String| UserCodePanicked::new("the transform", None, message).to_string();
        let static_message = catch_panic::<()>(|| panic!("failed")).unwrap_err();
        assert_eq!(caught(static_message), "the transform panicked: failed");
        let formatted = catch_panic::<()>(|| panic!("{} failed", 3)).unwrap_err();
        let error = UserCodePanicked::new("the filter", Some(ObjectKey::namespaced("default", "a")), formatted);
        assert_eq!(error.to_string(), "the filter panicked for `default/a`: 3 failed");
        let long = catch_panic::<()>(|| panic!("{}", "ü".repeat(1000))).unwrap_err();
        assert!(long.len() <= MAX_MESSAGE_LEN, "{}", long.len());
    }
}
