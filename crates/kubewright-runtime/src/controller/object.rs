//! Reconcilers of objects: they get the object of a key from the cache, and a context.

use std::{fmt, ops::Deref, sync::Arc};

use futures::future::BoxFuture;
use kube::Client;
use kubewright_core::verbs;

use super::{
    Controller, ControllerBuilder,
    applied::AppliedConfigurations,
    finalizer::{FinalizerEvent, finalize},
    own_writes::OwnWrites,
    reconciler::{Action, ReconcileError, Reconciler},
};
use crate::{
    client::{FieldManager, ScopedObject, TypedClient},
    object::{ApiObject, ObjectKey},
    store::Store,
};

type ReconcileResult = Result<Action, ReconcileError>;
type Reconcile<K, S> = Box<dyn Fn(Arc<K>, ReconcileContext<S>) -> BoxFuture<'static, ReconcileResult> + Send + Sync>;
type OnDeleted<S> = Box<dyn Fn(ReconcileContext<S>) -> BoxFuture<'static, ReconcileResult> + Send + Sync>;
type OnError<K, S> = Box<dyn Fn(&Arc<K>, ReconcileError, &ReconcileContext<S>) -> ReconcileResult + Send + Sync>;

/// What a reconciler needs besides the object: its key, a client and the state of the controller, to which the context
/// dereferences. Clones are cheap.
pub struct ReconcileContext<S = ()> {
    key: ObjectKey,
    shared: Arc<Shared<S>>,
}

/// The part of the context that all reconciliations share.
struct Shared<S> {
    client: Client,
    manager: FieldManager,
    writes: Arc<OwnWrites>,
    applied: AppliedConfigurations,
    state: S,
}

impl<S> ReconcileContext<S> {
    /// Returns the key of the reconciled object.
    pub fn key(&self) -> &ObjectKey {
        &self.key
    }

    /// Returns the client of the controller, which records its writes: see
    /// [`build_with_client`](ControllerBuilder::build_with_client).
    pub fn client(&self) -> &Client {
        &self.shared.client
    }

    /// Returns the field manager of the controller: its name is that of the controller, and it takes over fields that
    /// other managers own.
    pub fn field_manager(&self) -> &FieldManager {
        &self.shared.manager
    }

    /// Returns the cache of a kind that the controller watches; `None` if it does not watch it.
    pub fn store<K: ApiObject>(&self) -> Option<Store<K>> {
        self.shared.writes.store()
    }

    pub(super) fn applied(&self) -> &AppliedConfigurations {
        &self.shared.applied
    }

    /// Returns a typed client of another kind, or of the kind itself, in the namespace of the reconciled object.
    pub fn typed<K: ScopedObject>(&self) -> TypedClient<K> {
        TypedClient::scoped(self.client().clone(), self.key.namespace())
    }

    /// Reconciles an object that needs a cleanup before it is deleted. See [`finalize`].
    ///
    /// # Errors
    /// Fails with the error of the function, or if the finalizer cannot be added or removed.
    pub async fn finalize<K, Fut, A, E>(
        &self,
        finalizer: &str,
        object: Arc<K>,
        reconcile: impl FnOnce(FinalizerEvent<K>) -> Fut,
    ) -> Result<Action, ReconcileError>
    where
        K: ScopedObject + verbs::Patch,
        Fut: Future<Output = Result<A, E>>,
        A: Into<Action>,
        E: Into<ReconcileError>,
    {
        finalize(&self.typed(), finalizer, object, reconcile).await
    }
}

impl<S> Deref for ReconcileContext<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.shared.state
    }
}

impl<S> Clone for ReconcileContext<S> {
    fn clone(&self) -> Self {
        ReconcileContext { key: self.key.clone(), shared: Arc::clone(&self.shared) }
    }
}

impl<S> fmt::Debug for ReconcileContext<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReconcileContext").field("key", &self.key).finish_non_exhaustive()
    }
}

/// Builds a controller whose reconciler gets objects.
///
/// Guarantees:
/// - the reconciler gets the object from the cache, also if it is being deleted;
/// - a key whose object is not in the cache is only passed to the function of [`on_deleted`](Self::on_deleted);
/// - an error of the reconciler is passed to the function of [`on_error`](Self::on_error), which decides what follows.
///   Timeouts and panics are always retried.
#[must_use = "a controller does nothing until it is built and run"]
pub struct ObjectControllerBuilder<K, S> {
    builder: ControllerBuilder<K>,
    client: Client,
    state: Box<dyn FnOnce(Client) -> S + Send>,
    functions: Functions<K, S>,
}

/// The functions of the user.
struct Functions<K, S> {
    reconcile: Reconcile<K, S>,
    on_deleted: Option<OnDeleted<S>>,
    on_error: Option<OnError<K, S>>,
}

impl<K: ApiObject, S: Send + Sync + 'static> ObjectControllerBuilder<K, S> {
    pub(super) fn new<F, Fut, A, E>(
        builder: ControllerBuilder<K>,
        client: Client,
        state: impl FnOnce(Client) -> S + Send + 'static,
        reconcile: F,
    ) -> Self
    where
        F: Fn(Arc<K>, ReconcileContext<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A, E>> + Send + 'static,
        A: Into<Action> + 'static,
        E: Into<ReconcileError> + 'static,
    {
        let functions = Functions {
            reconcile: Box::new(move |object, context| Box::pin(convert(reconcile(object, context)))),
            on_deleted: None,
            on_error: None,
        };
        ObjectControllerBuilder { builder, client, state: Box::new(state), functions }
    }

    /// Calls this function for a key whose object does not exist, for example to forget what is stored about it. It is
    /// called after each deletion, but not for objects that are deleted while the program does not run: use a
    /// [finalizer](ReconcileContext::finalize) for resources outside the cluster. Without this function, such keys are done.
    pub fn on_deleted<F, Fut, A, E>(mut self, on_deleted: F) -> Self
    where
        F: Fn(ReconcileContext<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A, E>> + Send + 'static,
        A: Into<Action> + 'static,
        E: Into<ReconcileError> + 'static,
    {
        self.functions.on_deleted = Some(Box::new(move |context| Box::pin(convert(on_deleted(context)))));
        self
    }

    /// Calls this function with each error of the reconciler, for example to record an event. It returns the error, or
    /// another one, to be logged and retried, or an [`Action`] that replaces the retry.
    pub fn on_error<F>(mut self, on_error: F) -> Self
    where
        F: Fn(&Arc<K>, ReconcileError, &ReconcileContext<S>) -> Result<Action, ReconcileError> + Send + Sync + 'static,
    {
        self.functions.on_error = Some(Box::new(on_error));
        self
    }

    /// Builds the controller. Its queue is filled from now on, if its informers run.
    pub fn build(self) -> Controller {
        let ObjectControllerBuilder { builder, client, state, functions } = self;
        let (store, manager) = (builder.store(), FieldManager::new(builder.name()).force());
        builder.build_recording(&client, |client, writes| {
            let (writes, state) = (Arc::clone(writes), state(client.clone()));
            let shared = Arc::new(Shared { client, manager, writes, applied: AppliedConfigurations::new(), state });
            ObjectReconciler { store, shared, functions }
        })
    }
}

impl<K, S> fmt::Debug for ObjectControllerBuilder<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectControllerBuilder").finish_non_exhaustive()
    }
}

async fn convert<A: Into<Action>, E: Into<ReconcileError>>(
    result: impl Future<Output = Result<A, E>> + Send,
) -> ReconcileResult {
    result.await.map(Into::into).map_err(Into::into)
}

/// Gets the object of each key from the cache and calls the functions of the user.
struct ObjectReconciler<K, S> {
    store: Store<K>,
    shared: Arc<Shared<S>>,
    functions: Functions<K, S>,
}

impl<K: ApiObject, S: Send + Sync + 'static> Reconciler for ObjectReconciler<K, S> {
    async fn reconcile(&self, key: ObjectKey) -> ReconcileResult {
        let object = self.store.get_by_key(&key);
        let context = ReconcileContext { key, shared: Arc::clone(&self.shared) };
        let Some(object) = object else {
            return match &self.functions.on_deleted {
                Some(on_deleted) => on_deleted(context).await,
                None => Ok(Action::Done),
            };
        };
        let result = (self.functions.reconcile)(Arc::clone(&object), context.clone()).await;
        match (result, &self.functions.on_error) {
            (Err(error), Some(on_error)) => on_error(&object, error, &context),
            (result, _) => result,
        }
    }
}
