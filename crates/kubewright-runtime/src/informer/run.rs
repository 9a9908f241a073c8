//! Running an informer: the reflectors' events change the store and are distributed to the handlers.

use std::{borrow::Cow, panic::AssertUnwindSafe, pin::pin, sync::Arc};

use futures::{
    FutureExt, StreamExt,
    future::{BoxFuture, Either, select, select_all},
};
use tokio_util::sync::CancellationToken;

use super::{
    Config, Shared,
    config::{ErrorHandler, InformerFailed},
    event::Event,
    metrics::MetricsConfig,
    namespace_merger::Merged,
    run_guard::RunGuard,
    shared_processor::AnyStore,
    stored::{AnyStored, erase},
};
use crate::{
    error::{Error, ObjectError, UserCodePanicked, catch_panic, panic_message},
    object::{ApiObject, ObjectKey, ResourceVersion, resource_name},
    reflector::{Reflector, StoredEvent},
    store::{Change, Store},
};

/// The maximum number of skipped objects that the last error contains.
const MAX_NAMED_OBJECTS: usize = 3;

impl<K: ApiObject> Shared<K> {
    pub(super) async fn run(&self, cancelled: CancellationToken) -> Result<(), InformerFailed> {
        let config = self.config.lock().take();
        let Some(config) = config else {
            tracing::warn!(resource = resource_name::<K>(), "the informer was already started and is not run again");
            return Ok(());
        };
        let metrics = metrics_config(&config);
        let Some(guard) = RunGuard::start(&self.processor, config.name.clone(), cancelled.clone(), metrics) else {
            return Ok(());
        };
        if let Either::Right((reason, _)) = select(pin!(cancelled.cancelled_owned()), self.run_reflectors(config)).await
        {
            self.processor.fail(reason);
        }
        guard.stop().await;
        self.processor.health.failure().map_or(Ok(()), Err)
    }

    /// Runs the reflectors until one of them ends, which none should, and returns the reason.
    fn run_reflectors(&self, config: Config<K>) -> BoxFuture<'_, String> {
        let Config { reflector, memory, on_error, .. } = config;
        self.store.set_memory(memory);
        let (store, known) = (self.store.clone(), self.store.clone());
        let reflector = reflector.pack(self.store.packer()).look_up(
            move |namespace, name, version| store.stored_at_version(namespace, name, version),
            move |key| known.stored(key.namespace(), key.name()),
        );
        let runs: Vec<_> = self
            .apis
            .iter()
            .enumerate()
            .map(|(source, api)| {
                let reflector =
                    reflector.clone().record_skipped(&self.skipped).record_activity(&self.activities[source]);
                let reflector = Reflector::with_config(api.clone(), reflector);
                AssertUnwindSafe(self.run_reflector(source, reflector, on_error.clone())).catch_unwind().boxed()
            })
            .collect();
        if runs.is_empty() {
            return std::future::ready("it has no API to watch".to_owned()).boxed();
        }
        let reason = |result: std::thread::Result<()>| match result {
            Ok(()) => "a reflector ended".to_owned(),
            Err(panic) => format!("it panicked: {}", panic_message(panic.as_ref())),
        };
        select_all(runs).map(move |(result, _, _)| reason(result)).boxed()
    }

    /// Handles the events of a reflector, without end.
    async fn run_reflector(&self, source: usize, reflector: Reflector<K>, on_error: Option<ErrorHandler>) {
        let mut events = pin!(reflector.stored_events());
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => self.handle_event(source, event).await,
                Err(error) => self.handle_error(source, &error, on_error.as_ref()),
            }
        }
    }

    async fn handle_event(&self, source: usize, event: StoredEvent<K>) {
        self.processor.health.event_received(source);
        match self.merger.merge(source, event, &self.store) {
            Some(merged) => self.apply(merged),
            // The other namespaces are not listed yet. This reflector continues when they are.
            None => {
                let _pause = self.activities[source].pause();
                self.processor.health.wait_for_sync().await;
            }
        }
    }

    /// Changes the store and notifies the handlers.
    fn apply(&self, Merged { event, versions }: Merged<K>) {
        let is_list = matches!(event, StoredEvent::Replaced { .. });
        let initial = !self.processor.has_synced();
        self.processor.distribute(|distribute| {
            for change in self.store.apply_from(event, versions) {
                let (key, event) = self.event(change, initial);
                distribute(&key, event);
            }
        });
        self.store.take_panics().iter().for_each(|panicked| self.processor.report_panic(panicked));
        match (is_list, initial) {
            (true, true) => self.processor.mark_synced(),
            (true, false) => self.processor.resync_all(),
            (false, _) => {}
        }
    }

    /// Returns the event of a change and the key of the object.
    fn event(&self, change: Change<K>, initial: bool) -> (ObjectKey, Event<dyn AnyStored>) {
        match change {
            Change::Added(object) => (object.object_key(), Event::Added { object: erase(object), initial }),
            Change::Updated { old, new } => (new.object_key(), Event::Updated { old: erase(old), new: erase(new) }),
            Change::Deleted { object, final_state_unknown } => {
                let key = object.object_key();
                self.store.packer().forget(|| key.clone());
                (key, Event::Deleted { object: erase(object), final_state_unknown })
            }
        }
    }

    fn handle_error(&self, source: usize, error: &Error, on_error: Option<&ErrorHandler>) {
        let (resource, text) = (resource_name::<K>(), error.to_string());
        match error.object_error() {
            // Recorded as skipped until it can be decoded.
            Some(_) if self.skipped.len() > 0 => tracing::warn!(resource, error = text, "skipping an object"),
            _ => {
                tracing::warn!(resource, error = text, "retrying");
                self.processor.health.request_failed(source, text, error.is_forbidden());
            }
        }
        if error.is_forbidden()
            && let Some(merged) = self.merger.exclude(source)
        {
            self.apply(merged);
        }
        if let Some(on_error) = on_error
            && let Err(panic) = catch_panic(|| on_error(error))
        {
            self.processor.report_panic(&UserCodePanicked::new("the error handler", None, panic));
        }
    }

    pub(super) fn last_error(&self) -> Option<String> {
        self.processor.health.last_error_with(|| self.describe_skipped())
    }

    /// Returns why objects are skipped, or remain stored without being decoded.
    pub(super) fn skipped_objects(&self) -> Vec<ObjectError> {
        let mut errors = self.skipped.errors();
        errors.append(&mut self.store.undecodable().errors());
        errors
    }

    fn describe_skipped(&self) -> Option<String> {
        let (errors, count) = (self.skipped_objects(), self.skipped.len() + self.store.undecodable().len());
        let named: Vec<_> = errors.iter().take(MAX_NAMED_OBJECTS).map(ToString::to_string).collect();
        let more = match count.saturating_sub(named.len()) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        (count > 0).then(|| format!("skipped objects of {}: {}{more}", resource_name::<K>(), named.join("; ")))
    }
}

fn metrics_config<K: ApiObject>(config: &Config<K>) -> Option<MetricsConfig> {
    let text = |text: Cow<'_, str>| text.into_owned();
    Some(MetricsConfig {
        metrics: config.reflector.metrics.clone()?,
        name: config.name.clone(),
        group: text(K::group(&())),
        version: text(K::version(&())),
        resource: text(K::plural(&())),
    })
}

impl<K: ApiObject> AnyStore for Store<K> {
    fn objects(&self) -> Vec<(ObjectKey, Arc<dyn AnyStored>)> {
        self.all_stored().into_iter().map(|object| (object.object_key(), erase(object))).collect()
    }

    fn resource_version(&self) -> Option<ResourceVersion> {
        Store::resource_version(self)
    }

    fn stop(&self) {
        Store::stop(self);
    }
}
