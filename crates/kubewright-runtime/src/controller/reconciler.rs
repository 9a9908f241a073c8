//! Reconcilers, their results and their errors.

use std::{error::Error as StdError, fmt, time::Duration};

use futures::future::BoxFuture;

use crate::{
    error::{BoxError, WithCauses},
    object::ObjectKey,
};

/// Reconciles one object: drives its observed state towards the desired state.
///
/// It gets the key and reads the object from a lister, which does not return a deleted object. It must be idempotent:
/// it can be called at any time, any number of times. A controller never calls it concurrently for one key. If its
/// future is dropped because of a timeout or a stop, it must be able to continue from any intermediate state in the
/// next call.
///
/// A closure or an async function is a reconciler, with any error type, and with or without an [`Action`] as its
/// result:
///
/// ```
/// use kubewright_runtime::controller::{Action, ReconcileError, Reconciler};
/// use kubewright_runtime::{Error, ObjectKey};
///
/// async fn without_action(_: ObjectKey) -> Result<(), Error> {
///     Ok(())
/// }
///
/// async fn with_action(key: ObjectKey) -> Result<Action, ReconcileError> {
///     let count: u32 = key.name().parse().map_err(ReconcileError::terminal)?;
///     Ok(if count > 7 { Action::Requeue } else { Action::Done })
/// }
///
/// fn accept(_: impl Reconciler) {}
/// accept(without_action);
/// accept(with_action);
/// accept(|key| async move { with_action(key).await });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not reconcile",
    label = "expected a function from `ObjectKey` to a future of `Result<Action, ReconcileError>`",
    note = "the function is `Fn(ObjectKey) -> impl Future<Output = Result<A, E>> + Send`: `A` is `Action` or `()`, `E` is \
            any error that converts to `BoxError`; what it captures is cloned into each future"
)]
pub trait Reconciler: Send + Sync + 'static {
    /// Reconciles the object of this key. An error is logged and, unless it is [terminal](ReconcileError::terminal),
    /// retried with a back-off.
    fn reconcile(&self, key: ObjectKey) -> impl Future<Output = Result<Action, ReconcileError>> + Send;
}

impl<F, Fut, A, E> Reconciler for F
where
    F: Fn(ObjectKey) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<A, E>> + Send,
    A: Into<Action>,
    E: Into<BoxError>,
{
    fn reconcile(&self, key: ObjectKey) -> impl Future<Output = Result<Action, ReconcileError>> + Send {
        convert(self(key))
    }
}

/// Converts the result of a function of the user.
pub(super) async fn convert<A: Into<Action>, E: Into<BoxError>>(
    result: impl Future<Output = Result<A, E>> + Send,
) -> Result<Action, ReconcileError> {
    result.await.map(Into::into).map_err(|error| ReconcileError::from_boxed(error.into()))
}

/// A reconciler with its type erased, so that the worker loop is compiled once.
pub(super) trait AnyReconciler: Send + Sync {
    fn reconcile(&self, key: ObjectKey) -> BoxFuture<'_, Result<Action, ReconcileError>>;
}

impl<R: Reconciler> AnyReconciler for R {
    fn reconcile(&self, key: ObjectKey) -> BoxFuture<'_, Result<Action, ReconcileError>> {
        Box::pin(Reconciler::reconcile(self, key))
    }
}

/// The result of a successful reconciliation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The key is done until the next event. Its failures are reset.
    Done,
    /// The key is requeued with a back-off, as after a failure.
    Requeue,
    /// The key is requeued after this delay, or at the next event if that is earlier. Its failures are reset. Zero
    /// requeues it at once.
    RequeueAfter(Duration),
}

impl From<()> for Action {
    fn from((): ()) -> Self {
        Action::Done
    }
}

/// The error of a reconciliation. Every error type converts to it with `?`.
///
/// It does not implement [`std::error::Error`] itself, so that every error can convert to it. Use [`new`](Self::new)
/// for other types, such as a string. A reconciler can also return an `anyhow::Error` in place of it.
pub struct ReconcileError {
    cause: BoxError,
    is_terminal: bool,
}

impl ReconcileError {
    /// Creates an error that is retried with a back-off.
    pub fn new(cause: impl Into<BoxError>) -> Self {
        ReconcileError { cause: cause.into(), is_terminal: false }
    }

    /// Creates an error that is not retried, such as an invalid spec: the key is processed again at the next event
    /// only. Its failures are reset, so that the next back-off starts with the shortest delay.
    pub fn terminal(cause: impl Into<BoxError>) -> Self {
        ReconcileError { cause: cause.into(), is_terminal: true }
    }

    /// Returns the error itself if it was boxed, or an error with this cause.
    fn from_boxed(cause: BoxError) -> Self {
        cause.downcast::<Boxed>().map_or_else(Self::new, |boxed| boxed.0)
    }

    /// Returns whether the error is terminal.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Returns the cause, for a downcast.
    pub fn cause(&self) -> &(dyn StdError + Send + Sync + 'static) {
        self.cause.as_ref()
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for ReconcileError {
    fn from(cause: E) -> Self {
        Self::new(cause)
    }
}

/// A reconciliation error as an error type, to be boxed.
#[derive(Debug)]
struct Boxed(ReconcileError);

impl fmt::Display for Boxed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for Boxed {}

impl From<ReconcileError> for BoxError {
    fn from(error: ReconcileError) -> Self {
        Box::new(Boxed(error))
    }
}

/// Formats the error on one line, followed by those of its sources that its text does not contain.
impl fmt::Display for ReconcileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        WithCauses(self.cause.as_ref()).fmt(f)
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
    fn any_error_converts_and_is_formatted_with_its_sources() {
        let error = failing().unwrap_err();
        assert_eq!(error.to_string(), "outer: invalid digit found in string");
        assert!(error.cause().downcast_ref::<Outer>().is_some() && !error.is_terminal());
        assert_eq!(ReconcileError::new("text").to_string(), "text");
        assert!(ReconcileError::terminal("text").is_terminal());
    }

    #[test]
    fn an_error_that_was_boxed_remains_terminal() {
        let error = ReconcileError::from_boxed(ReconcileError::terminal("invalid").into());
        assert!(error.is_terminal());
        assert_eq!(error.to_string(), "invalid");
        assert!(!ReconcileError::from_boxed("text".into()).is_terminal());
    }
}
