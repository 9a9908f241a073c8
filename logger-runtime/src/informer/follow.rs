//! An informer that runs: what its reflectors tell changes the store, and then the handlers hear of it.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;

use futures::future::{BoxFuture, join_all, select};
use futures::{FutureExt, StreamExt};
use tokio_util::sync::CancellationToken;

use super::config::ErrorHandler;
use super::event::{AnyObject, Event, erased};
use super::hub::AnyStore;
use super::measured::Measures;
use super::running::Running;
use super::{Config, Shared, lock};
use crate::error::Error;
use crate::key::ObjectKey;
use crate::object::{ApiObject, resource};
use crate::reflector::{self, Reflector};
use crate::store::{Change, Store};
use crate::version::ResourceVersion;

impl<K: ApiObject> Shared<K> {
    pub(super) async fn run(&self, cancelled: CancellationToken) {
        let config = lock(&self.config).take();
        let Some(config) = config else {
            tracing::warn!(resource = resource::<K>(), "this informer was started before; it is not run again");
            return;
        };
        let Some(running) = self.hub.start(cancelled.clone(), measures(&config)) else { return };
        let (store, Config { reflector, on_error, .. }) = (self.store.clone(), config);
        let reflector = reflector.reuse(move |namespace, name, version| store.same(namespace, name, version));
        let followed = self.apis.iter().enumerate().map(|(source, api)| {
            let reflector = Reflector::with(api.clone(), reflector.clone());
            self.follow(source, reflector, on_error.clone()).boxed()
        });
        until(cancelled, followed.collect(), running).await;
    }

    /// Does what a reflector tells, for ever.
    async fn follow(&self, source: usize, reflector: Reflector<K>, on_error: Option<ErrorHandler>) {
        let mut events = pin!(reflector.events());
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => self.apply(source, event).await,
                Err(error) => self.note(&error, on_error.as_ref()),
            }
        }
    }

    async fn apply(&self, source: usize, event: reflector::Event<K>) {
        let is_all = matches!(event, reflector::Event::Replaced { .. });
        let initial = !self.hub.has_synced();
        *lock(&self.last_error) = None;
        let Some(event) = self.join.event(source, event, &self.store) else {
            // The others are not listed yet: this one goes on when they are.
            return self.hub.wait_for_sync().await;
        };
        self.hub.change(|tell| {
            for change in self.store.receive(event) {
                let event = match change {
                    Change::Added(object) => Event::Added { object, initial },
                    Change::Updated { old, new } => Event::Updated { old, new },
                    Change::Deleted { object, final_state_unknown } => Event::Deleted { object, final_state_unknown },
                };
                let key = ObjectKey::of(event.object().as_ref());
                tell(&key, event.map(erased));
            }
        });
        match (is_all, initial) {
            (true, true) => self.hub.listed(),
            (true, false) => self.hub.resync_all(),
            (false, _) => {}
        }
    }

    fn note(&self, error: &Error, on_error: Option<&ErrorHandler>) {
        let text = error.to_string();
        tracing::warn!(resource = resource::<K>(), error = text, "retrying");
        *lock(&self.last_error) = Some(text);
        if let Some(on_error) = on_error
            && catch_unwind(AssertUnwindSafe(|| on_error(error))).is_err()
        {
            tracing::error!(resource = resource::<K>(), "the handler of errors panicked");
        }
    }
}

/// What is measured, if anything is.
fn measures<K: ApiObject>(config: &Config<K>) -> Option<Measures> {
    let text = |text: Cow<'_, str>| text.into_owned();
    Some(Measures {
        metrics: Arc::clone(config.metrics.as_ref()?),
        name: config.name.clone(),
        group: text(K::group(&())),
        version: text(K::version(&())),
        resource: text(K::plural(&())),
    })
}

/// Follows all of them until cancelled.
async fn until(cancelled: CancellationToken, followed: Vec<BoxFuture<'_, ()>>, running: Running) {
    select(pin!(cancelled.cancelled_owned()), join_all(followed)).await;
    running.stop().await;
}

impl<K: ApiObject> AnyStore for Store<K> {
    fn objects(&self) -> Vec<Arc<dyn AnyObject>> {
        self.list().into_iter().map(erased).collect()
    }

    fn version(&self) -> Option<ResourceVersion> {
        Store::version(self)
    }

    fn stop(&self) {
        Store::stop(self);
    }
}
