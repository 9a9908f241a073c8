//! What the user of a controller writes: a function from a key to what comes next.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use futures::future::BoxFuture;

use crate::key::ObjectKey;

/// Makes what is so for one object what is wanted of it.
///
/// It is given the key and not the object: it looks into a lister for what is so now, and finds nothing there if the object is
/// gone. It may be called at any time and must come to the same each time. A controller never calls it twice at once with one
/// key. Where its future is dropped, by a time limit or a stop, it is simply not called back: what it left half done, the next
/// call finds.
///
/// A closure is one, with any error that says what is wrong, and with or without an [`Action`]:
///
/// ```
/// use logger_runtime::controller::{Action, ReconcileError, Reconciler};
/// use logger_runtime::{Error, ObjectKey};
///
/// async fn quiet(_: ObjectKey) -> Result<(), Error> {
///     Ok(())
/// }
///
/// async fn busy(key: ObjectKey) -> Result<Action, ReconcileError> {
///     let count: u32 = key.name().parse().map_err(ReconcileError::terminal)?;
///     Ok(if count > 7 { Action::Requeue } else { Action::Done })
/// }
///
/// fn takes(_: impl Reconciler) {}
/// takes(quiet);
/// takes(busy);
/// takes(|key| async move { busy(key).await });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not reconcile",
    label = "expected a function from `ObjectKey` to a future of `Result<Action, ReconcileError>`",
    note = "the function is `Fn(ObjectKey) -> impl Future<Output = Result<A, E>> + Send`: `A` is `Action` or `()`, `E` is any \
            `std::error::Error + Send + Sync` or `ReconcileError`; what it captures is cloned into each future"
)]
pub trait Reconciler: Send + Sync + 'static {
    /// Works on the object of this key. An error is told, and unless it is
    /// [terminal](ReconcileError::terminal) the key comes again, later each time.
    fn reconcile(&self, key: ObjectKey) -> impl Future<Output = Result<Action, ReconcileError>> + Send;
}

impl<F, Fut, A, E> Reconciler for F
where
    F: Fn(ObjectKey) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<A, E>> + Send,
    A: Into<Action>,
    E: Into<ReconcileError>,
{
    fn reconcile(&self, key: ObjectKey) -> impl Future<Output = Result<Action, ReconcileError>> + Send {
        let work = self(key);
        async move { work.await.map(Into::into).map_err(Into::into) }
    }
}

/// A reconciler of any type: the controller's loop is compiled once.
pub(super) trait AnyReconciler: Send + Sync {
    fn reconcile(&self, key: ObjectKey) -> BoxFuture<'_, Result<Action, ReconcileError>>;
}

impl<R: Reconciler> AnyReconciler for R {
    fn reconcile(&self, key: ObjectKey) -> BoxFuture<'_, Result<Action, ReconcileError>> {
        Box::pin(Reconciler::reconcile(self, key))
    }
}

/// What comes next for a key whose work succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing, until something changes. Its failures are forgotten.
    Done,
    /// The key comes again as after a failure: soon, and later each time.
    Requeue,
    /// The key comes again after this long, or earlier if something changes. Its failures are forgotten. Zero is at once.
    RequeueAfter(Duration),
}

impl From<()> for Action {
    fn from((): ()) -> Self {
        Action::Done
    }
}

/// Why the work on a key failed: any error, by `?`.
///
/// It is no [`std::error::Error`] itself, so that every error can become one. An error that is none either, such as
/// `anyhow::Error` or a text, becomes one by [`new`](Self::new).
pub struct ReconcileError {
    cause: Box<dyn StdError + Send + Sync>,
    is_terminal: bool,
}

impl ReconcileError {
    /// An error that may pass: the key comes again, later each time.
    pub fn new(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        ReconcileError { cause: cause.into(), is_terminal: false }
    }

    /// An error that no repetition mends, such as a spec that asks for what cannot be: the key comes again only when
    /// something changes. Its failures are forgotten, so that the next one starts from the shortest delay.
    pub fn terminal(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        ReconcileError { cause: cause.into(), is_terminal: true }
    }

    /// Whether no repetition mends it.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// What went wrong, to be downcast.
    pub fn cause(&self) -> &(dyn StdError + Send + Sync + 'static) {
        self.cause.as_ref()
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for ReconcileError {
    fn from(cause: E) -> Self {
        Self::new(cause)
    }
}

/// On one line, with the causes that the text of what they caused does not tell.
impl fmt::Display for ReconcileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut told = self.cause.to_string();
        let mut next = self.cause.source();
        while let Some(cause) = next {
            let text = cause.to_string();
            if !told.contains(&text) {
                told = format!("{told}: {text}");
            }
            next = cause.source();
        }
        f.write_str(&told)
    }
}

impl fmt::Debug for ReconcileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.is_terminal { "Terminal" } else { "Transient" };
        f.debug_tuple(name).field(&self.cause).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] std::num::ParseIntError);

    fn failing() -> Result<Action, ReconcileError> {
        "x".parse::<u32>().map_err(Outer)?;
        Ok(Action::Done)
    }

    #[test]
    fn any_error_becomes_one_and_is_told_with_its_causes() {
        let error = failing().unwrap_err();
        assert_eq!(error.to_string(), "outer: invalid digit found in string");
        assert!(error.cause().downcast_ref::<Outer>().is_some() && !error.is_terminal());
        assert_eq!(ReconcileError::new("text").to_string(), "text");
        assert!(ReconcileError::terminal("text").is_terminal());
    }
}
