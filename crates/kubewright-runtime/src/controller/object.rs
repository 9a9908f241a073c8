//! Reconcilers of objects: they get the object of a key from the cache, and a context.

use std::{fmt, ops::Deref, sync::Arc};

use futures::future::BoxFuture;
use kube::Client;
use kubewright_core::verbs;

use super::{
    applied::AppliedConfigurations,
    finalizer::{FinalizerEvent, finalize},
    own_writes::OwnWrites,
    reconciler::{Action, ReconcileError, Reconciler, convert},
};
use crate::{
    client::{FieldManager, ScopedObject, TypedClient},
    error::BoxError,
    events::{EventRecorder, EventType},
    object::{ApiObject, ObjectKey},
    store::Store,
};

/// The action of events that a reconciler records.
const ACTION: &str = "Reconcile";

type ReconcileResult = Result<Action, ReconcileError>;
type Reconcile<K, S> = Arc<dyn Fn(Arc<K>, ReconcileContext<S>) -> BoxFuture<'static, ReconcileResult> + Send + Sync>;
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
    recorder: Option<EventRecorder>,
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
    /// [`build_with_client`](super::ControllerBuilder::build_with_client).
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

    /// Records a normal event about an object, for `kubectl describe`: a reason in CamelCase, such as
    /// `Published`, and a note for people. Equal events are one series: see [`EventRecorder`].
    pub fn event<K: ApiObject>(&self, object: &K, reason: &str, note: impl Into<String>) {
        self.record(object, EventType::Normal, reason, note.into());
    }

    /// Records a warning about an object, like [`event`](Self::event).
    pub fn warning<K: ApiObject>(&self, object: &K, reason: &str, note: impl Into<String>) {
        self.record(object, EventType::Warning, reason, note.into());
    }

    fn record<K: ApiObject>(&self, object: &K, type_: EventType, reason: &str, note: String) {
        match &self.shared.recorder {
            Some(recorder) => recorder.event(object, type_, reason, ACTION, note),
            None => tracing::warn!(reason, note, "no event is recorded: the controller has no event recorder"),
        }
    }

    /// Reconciles an object that needs a cleanup before it is deleted. See [`finalize`], and
    /// [`finalizer`](super::ControllerBuilder::finalizer) of the builder.
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

/// The functions of a controller of objects.
///
/// Guarantees:
/// - the reconciler gets the object from the cache, also if it is being deleted;
/// - a key whose object is not in the cache is only passed to the function of
///   [`on_deleted`](super::ControllerBuilder::on_deleted);
/// - an error of the reconciler is passed to the function of [`on_error`](super::ControllerBuilder::on_error), which
///   decides what follows. Timeouts and panics are always retried;
/// - the writes of the client of the context are recorded: a key is not reconciled again before the caches contain
///   them.
pub struct ObjectReconciler<K, S = ()> {
    state: Box<dyn FnOnce(Client) -> S + Send>,
    functions: Functions<K, S>,
}

/// The functions of the user.
struct Functions<K, S> {
    reconcile: Reconcile<K, S>,
    on_deleted: Option<OnDeleted<S>>,
    on_error: Option<OnError<K, S>>,
}

impl<K: ApiObject, S: Send + Sync + 'static> ObjectReconciler<K, S> {
    pub(super) fn new<F, Fut, A, E>(state: impl FnOnce(Client) -> S + Send + 'static, reconcile: F) -> Self
    where
        F: Fn(Arc<K>, ReconcileContext<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A, E>> + Send + 'static,
        A: Into<Action> + 'static,
        E: Into<BoxError> + 'static,
    {
        let functions = Functions { reconcile: boxed(reconcile), on_deleted: None, on_error: None };
        ObjectReconciler { state: Box::new(state), functions }
    }

    pub(super) fn set_on_deleted<F, Fut, A, E>(&mut self, on_deleted: F)
    where
        F: Fn(ReconcileContext<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A, E>> + Send + 'static,
        A: Into<Action> + 'static,
        E: Into<BoxError> + 'static,
    {
        self.functions.on_deleted = Some(Box::new(move |context| Box::pin(convert(on_deleted(context)))));
    }

    pub(super) fn set_on_error<F>(&mut self, on_error: F)
    where
        F: Fn(&Arc<K>, ReconcileError, &ReconcileContext<S>) -> ReconcileResult + Send + Sync + 'static,
    {
        self.functions.on_error = Some(Box::new(on_error));
    }

    pub(super) fn with_finalizer<F, Fut, A, E>(mut self, name: &'static str, cleanup: F) -> Self
    where
        K: ScopedObject + verbs::Patch,
        F: Fn(Arc<K>, ReconcileContext<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A, E>> + Send + 'static,
        A: Into<Action> + 'static,
        E: Into<BoxError> + 'static,
    {
        let (reconcile, cleanup) = (self.functions.reconcile, boxed(cleanup));
        self.functions.reconcile = Arc::new(move |object, context: ReconcileContext<S>| {
            let (reconcile, cleanup) = (Arc::clone(&reconcile), Arc::clone(&cleanup));
            Box::pin(async move {
                let run = |event| match event {
                    FinalizerEvent::Apply(object) => reconcile(object, context.clone()),
                    FinalizerEvent::Cleanup(object) => cleanup(object, context.clone()),
                };
                context.finalize(name, object, run).await
            })
        });
        self
    }

    /// Creates the state, and returns the reconciler of keys.
    pub(super) fn start(
        self,
        store: Store<K>,
        client: Client,
        manager: FieldManager,
        recorder: Option<EventRecorder>,
        writes: Arc<OwnWrites>,
    ) -> impl Reconciler + use<K, S> {
        let state = (self.state)(client.clone());
        let shared = Shared { client, manager, recorder, writes, applied: AppliedConfigurations::new(), state };
        CachedReconciler { store, shared: Arc::new(shared), functions: self.functions }
    }
}

impl<K, S> fmt::Debug for ObjectReconciler<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectReconciler").finish_non_exhaustive()
    }
}

/// Erases the types of a function of an object.
fn boxed<K, S, F, Fut, A, E>(function: F) -> Reconcile<K, S>
where
    F: Fn(Arc<K>, ReconcileContext<S>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<A, E>> + Send + 'static,
    A: Into<Action> + 'static,
    E: Into<BoxError> + 'static,
{
    Arc::new(move |object, context| Box::pin(convert(function(object, context))))
}

/// Gets the object of each key from the cache and calls the functions of the user.
struct CachedReconciler<K, S> {
    store: Store<K>,
    shared: Arc<Shared<S>>,
    functions: Functions<K, S>,
}

impl<K: ApiObject, S: Send + Sync + 'static> Reconciler for CachedReconciler<K, S> {
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
