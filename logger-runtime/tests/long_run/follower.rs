//! An informer with five handlers: one that is plain, a slow one, one that panics, one that comes late and is removed, and
//! one that resyncs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fastrand::Rng;
use futures::StreamExt;
use kube::Api;
use kube::api::ListParams;
use logger_runtime::ApiObject;
use logger_runtime::informer::{Event, HandlerOptions, Registration, SharedInformer};
use logger_runtime::reflector::Config;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::NAMESPACES;
use crate::view::{Versions, View, differences, versions};

/// Longer than anything takes that was left behind by faults: a watch that hangs, then the slow handler's backlog.
const PATIENCE: Duration = Duration::from_secs(6 * 3600);

pub(crate) struct Follower<K> {
    informer: SharedInformer<K>,
    /// The server, without faults.
    server: Api<K>,
    rng: Rng,
    views: Vec<(&'static str, View)>,
    late: Option<(Registration, View)>,
    removed: Option<View>,
    resyncs: Arc<AtomicUsize>,
    panics: Registration,
    cancelled: CancellationToken,
    running: JoinHandle<()>,
    slow: JoinHandle<()>,
}

impl<K: ApiObject> Follower<K> {
    /// Starts an informer at the end of a bad line.
    pub(crate) fn start(line: Api<K>, server: Api<K>, rng: Rng) -> Self {
        Self::start_with(line, server, rng, |config| config)
    }

    /// The same, for an informer that is told more.
    pub(crate) fn start_with(
        line: Api<K>,
        server: Api<K>,
        mut rng: Rng,
        configure: impl FnOnce(Config<K>) -> Config<K>,
    ) -> Self {
        let informer = SharedInformer::new(line);
        informer.configure(|config| config.reflector(configure)).unwrap();
        let [plain, slow, panics, resyncs] = [(); 4].map(|()| View::default());
        let heard = plain.clone();
        drop(informer.add_event_handler(move |event| heard.hear(event)).unwrap());
        let slow_task = follow_slowly(&informer, slow.clone(), rng.fork());
        let panicking = follow_in_panic(&informer, panics.clone(), rng.fork());
        let resynced = follow_with_resyncs(&informer, resyncs.clone());
        let cancelled = CancellationToken::new();
        let (running, token) = (informer.clone(), cancelled.clone());
        Self {
            running: tokio::spawn(async move { running.run(token).await }),
            informer,
            server,
            rng,
            views: vec![("plain", plain), ("slow", slow), ("panics", panics), ("resyncs", resyncs)],
            late: None,
            removed: None,
            resyncs: resynced,
            panics: panicking,
            cancelled,
            slow: slow_task,
        }
    }

    /// Removes the late handler, and adds another, some time in a round.
    pub(crate) async fn change_handlers(&mut self, round: Duration) {
        let moment = |rng: &mut Rng| round.mul_f64(rng.f64() / 2.0);
        sleep(moment(&mut self.rng)).await;
        if let Some((registration, view)) = self.late.take() {
            registration.remove().await;
            view.removed();
            self.removed = Some(view);
        }
        sleep(moment(&mut self.rng)).await;
        let view = View::default();
        let heard = view.clone();
        let registration = self.informer.add_event_handler(move |event| heard.hear(event)).unwrap();
        self.late = Some((registration, view));
    }

    /// Waits until all is as it is at the server.
    pub(crate) async fn equals_the_server(&self) {
        let list = self.server.list(&ListParams::default()).await.unwrap();
        let expected = versions(&list.items);
        let who = K::plural(&());
        for (name, view) in &self.views {
            view.becomes(&expected, PATIENCE, &format!("{who}, {name}")).await;
        }
        if let Some((_, view)) = &self.late {
            view.becomes(&expected, PATIENCE, &format!("{who}, late")).await;
        }
        self.removed.iter().for_each(|view| view.fitted(&format!("{who}, removed")));
        self.store_is(&expected);
    }

    fn store_is(&self, expected: &Versions) {
        let store = self.informer.store();
        let stored = versions(store.list().iter().map(AsRef::as_ref));
        assert!(stored == *expected, "the store {}", differences(&stored, expected));
        assert_eq!(store.len(), expected.len());
        let by_namespace = NAMESPACES.iter().flat_map(|namespace| store.list_namespace(namespace));
        let by_namespace = by_namespace.collect::<Vec<_>>();
        assert_eq!(versions(by_namespace.iter().map(AsRef::as_ref)), *expected, "the index of namespaces");
    }

    /// Stops it: everything must end by itself.
    pub(crate) async fn stop(self) {
        assert!(self.resyncs.load(Ordering::Relaxed) > 0, "nothing was told again");
        assert!(self.panics.panics() > 0, "nothing panicked");
        self.cancelled.cancel();
        self.running.await.unwrap();
        self.slow.await.unwrap();
    }
}

fn follow_slowly<K: ApiObject>(informer: &SharedInformer<K>, view: View, mut rng: Rng) -> JoinHandle<()> {
    let mut events = informer.events().unwrap();
    tokio::spawn(async move {
        while let Some(event) = events.next().await {
            view.hear(&event);
            sleep(Duration::from_millis(rng.u64(..20_000))).await;
        }
    })
}

fn follow_in_panic<K: ApiObject>(informer: &SharedInformer<K>, view: View, mut rng: Rng) -> Registration {
    let handler = move |event: &Event<K>| {
        view.hear(event);
        if rng.u32(..10) == 0 {
            // A panic that no hook prints.
            std::panic::resume_unwind(Box::new("on purpose"));
        }
    };
    informer.add_event_handler(handler).unwrap()
}

fn follow_with_resyncs<K: ApiObject>(informer: &SharedInformer<K>, view: View) -> Arc<AtomicUsize> {
    let resyncs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&resyncs);
    let version = |object: &K| object.meta().resource_version.clone();
    let handler = move |event: &Event<K>| {
        view.hear(event);
        if let Event::Updated { old, new } = event {
            count.fetch_add(usize::from(version(old) == version(new)), Ordering::Relaxed);
        }
    };
    let options = HandlerOptions::new().resync(Duration::from_secs(45));
    drop(informer.add_event_handler_with(options, handler).unwrap());
    resyncs
}
