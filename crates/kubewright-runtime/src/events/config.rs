//! Options of an event recorder.

use std::time::Duration;

use crate::metrics::Metrics;

/// Options of an [`EventRecorder`](super::EventRecorder).
#[derive(Clone, Debug)]
pub struct EventConfig {
    pub(super) instance: Option<String>,
    pub(super) flush_timeout: Duration,
    pub(super) metrics: Metrics,
}

impl EventConfig {
    /// Sets the `reportingInstance` of the events. By default it is `<controller>-<hostname>`; in a Pod, the host name
    /// is the name of the Pod.
    #[must_use]
    pub fn instance(mut self, instance: impl Into<String>) -> Self {
        let instance: String = instance.into();
        self.instance = Some(instance).filter(|instance| !instance.is_empty());
        self
    }

    /// Sets how long a stopped worker can take to write the recorded events: 10 seconds by default.
    #[must_use]
    pub fn flush_timeout(mut self, timeout: Duration) -> Self {
        self.flush_timeout = timeout;
        self
    }

    /// Sets where the recorder counts its events. By default they are not counted.
    #[must_use]
    pub fn metrics(mut self, metrics: Metrics) -> Self {
        self.metrics = metrics;
        self
    }
}

impl Default for EventConfig {
    fn default() -> Self {
        EventConfig { instance: None, flush_timeout: Duration::from_secs(10), metrics: Metrics::default() }
    }
}
