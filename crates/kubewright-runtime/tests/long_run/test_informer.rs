//! An informer with five handlers: a plain one, a slow one, one that panics, one that is added late and removed, and
//! one with resyncs.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use fastrand::Rng;
use futures::StreamExt;
use kube::{Api, api::ListParams};
use kubewright_runtime::{
    ApiObject,
    informer::{Event, HandlerOptions, HandlerRegistration, SharedInformer},
    reflector::Config,
};
use tokio::{task::JoinHandle, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::{
    NAMESPACES,
    replica::{Replica, Versions, differences, versions},
};

/// Exceeds the longest recovery from a fault: a hanging watch, then the backlog of the slow handler.
const TIMEOUT: Duration = Duration::from_secs(6 * 3600);

pub(crate) struct TestInformer<K> {
    informer: SharedInformer<K>,
    /// The server, without faults.
    server: Api<K>,
    rng: Rng,
    replicas: Vec<(&'static str, Replica)>,
    late: Option<(HandlerRegistration, Replica)>,
    removed: Option<Replica>,
    resyncs: Arc<AtomicUsize>,
    panics: HandlerRegistration,
    cancelled: CancellationToken,
    running: JoinHandle<()>,
    slow: JoinHandle<()>,
}

impl<K: ApiObject> TestInformer<K> {
    /// Starts an informer of `api`, whose requests meet faults.
    pub(crate) fn start(api: Api<K>, server: Api<K>, rng: Rng) -> Self {
        Self::start_with(api, server, rng, |config| config)
    }

    /// Starts an informer with custom options.
    pub(crate) fn start_with(
        api: Api<K>,
        server: Api<K>,
        mut rng: Rng,
        configure: impl FnOnce(Config<K>) -> Config<K>,
    ) -> Self {
        let informer = SharedInformer::new(api);
        informer.configure(|config| config.reflector(configure)).unwrap();
        let [plain, slow, panics, resyncs] = [(); 4].map(|()| Replica::default());
        let replica = plain.clone();
        drop(informer.add_event_handler(move |event| replica.apply(event)).unwrap());
        let slow_task = spawn_slow_subscriber(&informer, slow.clone(), rng.fork());
        let panicking = add_panicking_handler(&informer, panics.clone(), rng.fork());
        let resynced = add_resyncing_handler(&informer, resyncs.clone());
        let cancelled = CancellationToken::new();
        let (running, token) = (informer.clone(), cancelled.clone());
        Self {
            running: tokio::spawn(async move { running.run(token).await.unwrap() }),
            informer,
            server,
            rng,
            replicas: vec![("plain", plain), ("slow", slow), ("panics", panics), ("resyncs", resyncs)],
            late: None,
            removed: None,
            resyncs: resynced,
            panics: panicking,
            cancelled,
            slow: slow_task,
        }
    }

    /// Removes the late handler and adds another, at random times of a round.
    pub(crate) async fn change_handlers(&mut self, round: Duration) {
        let moment = |rng: &mut Rng| round.mul_f64(rng.f64() / 2.0);
        sleep(moment(&mut self.rng)).await;
        if let Some((registration, replica)) = self.late.take() {
            registration.remove().await;
            replica.mark_removed();
            self.removed = Some(replica);
        }
        sleep(moment(&mut self.rng)).await;
        let replica = Replica::default();
        let handler_replica = replica.clone();
        let registration = self.informer.add_event_handler(move |event| handler_replica.apply(event)).unwrap();
        self.late = Some((registration, replica));
    }

    /// Waits until the store and all handlers equal the server.
    pub(crate) async fn assert_equals_server(&self) {
        let list = self.server.list(&ListParams::default()).await.unwrap();
        let expected = versions(&list.items);
        let resource = K::plural(&());
        for (name, replica) in &self.replicas {
            replica.wait_until_equal(&expected, TIMEOUT, &format!("{resource}, {name}")).await;
        }
        if let Some((_, replica)) = &self.late {
            replica.wait_until_equal(&expected, TIMEOUT, &format!("{resource}, late")).await;
        }
        self.removed.iter().for_each(|replica| replica.assert_consistent(&format!("{resource}, removed")));
        self.assert_store_equals(&expected);
    }

    fn assert_store_equals(&self, expected: &Versions) {
        let store = self.informer.store();
        let stored = versions(store.list().iter().map(AsRef::as_ref));
        assert!(stored == *expected, "the store {}", differences(&stored, expected));
        assert_eq!(store.len(), expected.len());
        let by_namespace = NAMESPACES.iter().flat_map(|namespace| store.list_namespace(namespace));
        let by_namespace = by_namespace.collect::<Vec<_>>();
        assert_eq!(versions(by_namespace.iter().map(AsRef::as_ref)), *expected, "the namespace index");
    }

    /// Stops the informer and waits for its tasks to end.
    pub(crate) async fn stop(self) {
        assert!(self.resyncs.load(Ordering::Relaxed) > 0, "no resyncs");
        assert!(self.panics.panics() > 0, "no panics");
        self.cancelled.cancel();
        self.running.await.unwrap();
        self.slow.await.unwrap();
    }
}

fn spawn_slow_subscriber<K: ApiObject>(informer: &SharedInformer<K>, replica: Replica, mut rng: Rng) -> JoinHandle<()> {
    let mut events = informer.events().unwrap();
    tokio::spawn(async move {
        while let Some(event) = events.next().await {
            replica.apply(&event);
            sleep(Duration::from_millis(rng.u64(..20_000))).await;
        }
    })
}

fn add_panicking_handler<K: ApiObject>(
    informer: &SharedInformer<K>,
    replica: Replica,
    mut rng: Rng,
) -> HandlerRegistration {
    let handler = move |event: &Event<K>| {
        replica.apply(event);
        if rng.u32(..10) == 0 {
            // Does not invoke the panic hook.
            std::panic::resume_unwind(Box::new("injected panic"));
        }
    };
    informer.add_event_handler(handler).unwrap()
}

fn add_resyncing_handler<K: ApiObject>(informer: &SharedInformer<K>, replica: Replica) -> Arc<AtomicUsize> {
    let resyncs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&resyncs);
    let version = |object: &K| object.meta().resource_version.clone();
    let handler = move |event: &Event<K>| {
        replica.apply(event);
        if let Event::Updated { old, new } = event {
            count.fetch_add(usize::from(version(old) == version(new)), Ordering::Relaxed);
        }
    };
    let options = HandlerOptions::new().resync(Duration::from_secs(45));
    drop(informer.add_event_handler_with(options, handler).unwrap());
    resyncs
}
