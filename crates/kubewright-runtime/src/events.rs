//! Event recorder: reports what happens to objects as events of `events.k8s.io/v1`, for `kubectl events` and `kubectl
//! describe`.

mod config;
mod correlator;
mod metrics;
mod name;
mod new_event;
mod reporter;
mod sink;
mod worker;
mod writes;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use k8s_openapi::jiff::Timestamp;
use kube::Client;
use tokio::{
    sync::mpsc::{self, error::TrySendError},
    time::Instant,
};

pub use config::EventConfig;
pub use new_event::{EventType, NewEvent};
pub use reporter::InvalidControllerName;
pub use worker::{EventWorker, FlushError};

use crate::object::ApiObject;
use correlator::Occurrence;
use reporter::Reporter;

/// The maximum number of events that wait for the worker, as in client-go.
const QUEUE_CAPACITY: usize = 1000;

/// Records events about objects. Clones share the worker, and so do recorders of
/// [other controllers](Self::for_controller).
///
/// Guarantees:
/// - recording never blocks and never fails: an event is queued, and the [`EventWorker`] writes it. If 1000 events
///   wait, or the worker has stopped, the event is dropped and counted;
/// - equal events are one series: the first one creates an event, the second one patches its `series` at once, and
///   later ones are counted and written every 30 minutes. A series without an event for 6 minutes is written a last
///   time, and the next event starts a new one;
/// - events are equal if controller, instance, kind, namespace, name, UID, type, reason, action, UID of the related
///   object and note (or [series key](NewEvent::series_key)) are equal. The resource version of an object is ignored;
/// - if more than 10 different notes of otherwise equal events are recorded within 10 minutes, one event with the note
///   `(combined from similar events): ..` represents the remaining ones;
/// - the creation of an event and the first patch of a series take a token of the object: 25 at once, and one more
///   every 5 minutes. Without a token a new event is dropped and counted, and a repeated event is only counted in its
///   series;
/// - memory is bounded: the 10,000 most recent series are known. The count of an older one is written when it is
///   evicted;
/// - requests that fail with 429, a 5xx code or without a response are retried with a back-off, up to 12 tries in all.
///   An event that no longer exists is created again. Other failures are logged and counted;
/// - every event is accepted by the validation of the API server: texts are cut to their maximum length, and empty ones
///   are replaced, see [`NewEvent::new`];
/// - when the worker is stopped, it writes what was recorded before, within the
///   [flush timeout](EventConfig::flush_timeout).
///
/// An event is in the namespace of its object, or in `default` if the object is cluster-scoped. The program needs the
/// verbs `create` and `patch` for `events.events.k8s.io`:
///
/// ```yaml
/// - apiGroups: [events.k8s.io]
///   resources: [events]
///   verbs: [create, patch]
/// ```
///
/// ```
/// # use k8s_openapi::api::core::v1::ConfigMap;
/// # use kube::Client;
/// use kubewright_runtime::CancellationToken;
/// use kubewright_runtime::events::{EventConfig, EventRecorder, EventType};
///
/// # async fn run(client: Client, object: ConfigMap) -> Result<(), Box<dyn std::error::Error>> {
/// let (recorder, worker) = EventRecorder::new(client, "config-maps", EventConfig::default())?;
/// let stop = CancellationToken::new();
/// let running = tokio::spawn(worker.run(stop.clone()));
///
/// recorder.event(&object, EventType::Warning, "FailedMount", "Mounting", "volume `data` does not exist");
///
/// stop.cancel();
/// running.await??;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct EventRecorder {
    reporter: Arc<Reporter>,
    config: Arc<EventConfig>,
    queue: mpsc::Sender<Queued>,
    overflow: Arc<AtomicU64>,
}

/// An event in the queue, with the time at which it was recorded.
type Queued = (Occurrence, Instant);

impl EventRecorder {
    /// Creates a recorder for a controller, and the worker that writes its events. Run the worker for as long as events
    /// are recorded.
    ///
    /// The name of the controller is the `reportingController` of the events: a qualified name such as `config-maps` or
    /// `example.com/config-maps`.
    ///
    /// The worker limits the duration of a request, including the retries of kube's client, to 30 seconds.
    ///
    /// # Errors
    /// Fails if the name of the controller is not a qualified name: the API server would reject every event.
    pub fn new(
        client: Client,
        controller: &str,
        config: EventConfig,
    ) -> Result<(Self, EventWorker), InvalidControllerName> {
        let reporter = Arc::new(Reporter::new(controller, &config)?);
        let (queue, receiver) = mpsc::channel(QUEUE_CAPACITY);
        let (config, overflow) = (Arc::new(config), Arc::default());
        let worker = EventWorker::new(client, receiver, Arc::clone(&overflow), config.flush_timeout);
        Ok((EventRecorder { reporter, config, queue, overflow }, worker))
    }

    /// Returns a recorder for another controller of the program. Its events pass through the same worker.
    ///
    /// # Errors
    /// Fails if the name of the controller is not a qualified name.
    pub fn for_controller(&self, controller: &str) -> Result<Self, InvalidControllerName> {
        let reporter = Arc::new(Reporter::new(controller, &self.config)?);
        Ok(EventRecorder { reporter, ..self.clone() })
    }

    /// Records an event about an object: why the action was taken (`FailedMount`), the action (`Mounting`), and a note
    /// for people.
    pub fn event<K: ApiObject>(
        &self,
        object: &K,
        type_: EventType,
        reason: impl Into<String>,
        action: impl Into<String>,
        note: impl Into<String>,
    ) {
        self.record(NewEvent::new(object.object_ref(&()), type_, reason, action, note));
    }

    /// Records an event about an object and a related one, such as the Pod that an action created.
    pub fn event_about<K: ApiObject, R: ApiObject>(
        &self,
        object: &K,
        related: &R,
        type_: EventType,
        reason: impl Into<String>,
        action: impl Into<String>,
        note: impl Into<String>,
    ) {
        let event = NewEvent::new(object.object_ref(&()), type_, reason, action, note);
        self.record(event.related(related.object_ref(&())));
    }

    /// Records an event with options, or about an object that is only known by its reference.
    pub fn record(&self, event: NewEvent) {
        let occurrence = Occurrence { reporter: Arc::clone(&self.reporter), event, time: Timestamp::now() };
        match self.queue.try_send((occurrence, Instant::now())) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                self.reporter.metrics.queue_full.inc();
                self.overflow.fetch_add(1, Ordering::Relaxed);
            }
            Err(TrySendError::Closed(_)) => {
                self.reporter.metrics.stopped.inc();
            }
        }
    }
}

impl fmt::Debug for EventRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventRecorder").field("reporter", &self.reporter).finish_non_exhaustive()
    }
}
