//! Running an informer: the reflectors' events change the store and are distributed to the handlers.

use std::{
    borrow::Cow,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
};

use futures::{
    FutureExt, StreamExt,
    future::{BoxFuture, join_all, select},
};
use tokio_util::sync::CancellationToken;

use super::{
    Config, Shared,
    config::ErrorHandler,
    event::{AnyObject, Event, erase},
    lock,
    metrics::MetricsConfig,
    run_guard::RunGuard,
    shared_processor::AnyStore,
};
use crate::{
    error::Error,
    object::{ApiObject, ObjectKey, ResourceVersion, resource_name},
    reflector::{self, Reflector},
    store::{Change, Store},
};

impl<K: ApiObject> Shared<K> {
    pub(super) async fn run(&self, cancelled: CancellationToken) {
        let config = lock(&self.config).take();
        let Some(config) = config else {
            tracing::warn!(resource = resource_name::<K>(), "the informer was already started and is not run again");
            return;
        };
        let Some(guard) = self.processor.start(cancelled.clone(), metrics_config(&config)) else { return };
        let (store, Config { reflector, on_error, .. }) = (self.store.clone(), config);
        let reflector = reflector.reuse(move |namespace, name, version| store.get_at_version(namespace, name, version));
        let runs = self.apis.iter().enumerate().map(|(source, api)| {
            let reflector = Reflector::with_config(api.clone(), reflector.clone());
            self.run_reflector(source, reflector, on_error.clone()).boxed()
        });
        run_until(cancelled, runs.collect(), guard).await;
    }

    /// Handles the events of a reflector, without end.
    async fn run_reflector(&self, source: usize, reflector: Reflector<K>, on_error: Option<ErrorHandler>) {
        let mut events = pin!(reflector.events());
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => self.handle_event(source, event).await,
                Err(error) => self.handle_error(&error, on_error.as_ref()),
            }
        }
    }

    async fn handle_event(&self, source: usize, event: reflector::Event<K>) {
        let is_list = matches!(event, reflector::Event::Replaced { .. });
        let initial = !self.processor.has_synced();
        *lock(&self.last_error) = None;
        let Some(event) = self.merger.merge(source, event, &self.store) else {
            // The other namespaces are not listed yet. This reflector continues when they are.
            return self.processor.wait_for_sync().await;
        };
        self.processor.distribute(|distribute| {
            for change in self.store.apply(event) {
                let event = match change {
                    Change::Added(object) => Event::Added { object, initial },
                    Change::Updated { old, new } => Event::Updated { old, new },
                    Change::Deleted { object, final_state_unknown } => Event::Deleted { object, final_state_unknown },
                };
                let key = ObjectKey::from_object(event.object().as_ref());
                distribute(&key, event.map(erase));
            }
        });
        match (is_list, initial) {
            (true, true) => self.processor.mark_synced(),
            (true, false) => self.processor.resync_all(),
            (false, _) => {}
        }
    }

    fn handle_error(&self, error: &Error, on_error: Option<&ErrorHandler>) {
        let text = error.to_string();
        tracing::warn!(resource = resource_name::<K>(), error = text, "retrying");
        *lock(&self.last_error) = Some(text);
        if let Some(on_error) = on_error
            && catch_unwind(AssertUnwindSafe(|| on_error(error))).is_err()
        {
            tracing::error!(resource = resource_name::<K>(), "the error handler panicked");
        }
    }
}

fn metrics_config<K: ApiObject>(config: &Config<K>) -> Option<MetricsConfig> {
    let text = |text: Cow<'_, str>| text.into_owned();
    Some(MetricsConfig {
        provider: Arc::clone(config.reflector.metrics_provider()?),
        name: config.name.clone(),
        group: text(K::group(&())),
        version: text(K::version(&())),
        resource: text(K::plural(&())),
    })
}

/// Runs the reflectors until cancelled, then stops the handlers.
async fn run_until(cancelled: CancellationToken, runs: Vec<BoxFuture<'_, ()>>, guard: RunGuard) {
    select(pin!(cancelled.cancelled_owned()), join_all(runs)).await;
    guard.stop().await;
}

impl<K: ApiObject> AnyStore for Store<K> {
    fn objects(&self) -> Vec<Arc<dyn AnyObject>> {
        self.list().into_iter().map(erase).collect()
    }

    fn resource_version(&self) -> Option<ResourceVersion> {
        Store::resource_version(self)
    }

    fn stop(&self) {
        Store::stop(self);
    }
}
