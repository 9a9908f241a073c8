//! Simulated containers: they become ready, end or fail after some time, without a process.

use std::{fmt, sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::{Container, Pod};
use kube::ResourceExt;
use tokio::time::{Instant, sleep_until};

use super::lifecycle::Exit;
use crate::model::clock::after;

/// What a simulated container does. It is ready at once and runs until it is stopped, unless options change that.
///
/// Annotations of a pod have the same effect on all of its containers:
///
/// | Annotation | Value | Option |
/// |---|---|---|
/// | `simulator/ready-after` | a duration such as `500ms`, `5s` or `2m` | [`ready_after`](Self::ready_after) |
/// | `simulator/never-ready` | `true` | [`never_ready`](Self::never_ready) |
/// | `simulator/exit-after` | a duration | [`exit_after`](Self::exit_after) |
/// | `simulator/exit-code` | a number; 0 by default | [`exit_after`](Self::exit_after) |
/// | `simulator/ends-after` | a duration | [`ends_after`](Self::ends_after) |
/// | `simulator/missing-image` | `true` | [`missing_image`](Self::missing_image) |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behavior {
    ready_after: Option<Duration>,
    exit: Option<(Duration, i32)>,
    ends_after: Duration,
    is_image_missing: bool,
}

impl Default for Behavior {
    fn default() -> Self {
        Behavior { ready_after: Some(Duration::ZERO), exit: None, ends_after: Duration::ZERO, is_image_missing: false }
    }
}

impl Behavior {
    /// Makes the container ready after this time.
    #[must_use]
    pub fn ready_after(self, delay: Duration) -> Self {
        Behavior { ready_after: Some(delay), ..self }
    }

    /// The container runs, but is never ready.
    #[must_use]
    pub fn never_ready(self) -> Self {
        Behavior { ready_after: None, ..self }
    }

    /// The container ends after this time with an exit code. It is restarted according to the policy of its pod.
    #[must_use]
    pub fn exit_after(self, delay: Duration, code: i32) -> Self {
        Behavior { exit: Some((delay, code)), ..self }
    }

    /// The container ends this time after SIGTERM; at once by default. It is killed at the end of the grace period.
    #[must_use]
    pub fn ends_after(self, delay: Duration) -> Self {
        Behavior { ends_after: delay, ..self }
    }

    /// The image of the container cannot be pulled.
    #[must_use]
    pub fn missing_image(self) -> Self {
        Behavior { is_image_missing: true, ..self }
    }

    pub(super) fn is_image_missing(&self) -> bool {
        self.is_image_missing
    }

    /// Returns the behavior with the changes of the annotations of a pod. Invalid values are ignored.
    fn with_annotations(mut self, pod: &Pod) -> Self {
        let annotations = pod.annotations();
        let text = |name: &str| annotations.get(&format!("simulator/{name}")).map(String::as_str);
        let duration = |name: &str| text(name).and_then(parse_duration);
        if let Some(delay) = duration("ready-after") {
            self.ready_after = Some(delay);
        }
        if text("never-ready") == Some("true") {
            self.ready_after = None;
        }
        if let Some(delay) = duration("exit-after") {
            let code = text("exit-code").and_then(|code| code.parse().ok()).unwrap_or_default();
            self.exit = Some((delay, code));
        }
        if let Some(delay) = duration("ends-after") {
            self.ends_after = delay;
        }
        self.is_image_missing |= text("missing-image") == Some("true");
        self
    }
}

/// Parses a duration such as `500ms`, `5s` or `2m`.
fn parse_duration(text: &str) -> Option<Duration> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: u64 = number.parse().ok()?;
    match unit {
        "ms" => Some(Duration::from_millis(number)),
        "" | "s" => Some(Duration::from_secs(number)),
        "m" => number.checked_mul(60).map(Duration::from_secs),
        _ => None,
    }
}

type BehaviorOf = dyn Fn(&Pod, &Container) -> Behavior + Send + Sync;

/// Simulates containers.
#[derive(Clone)]
pub struct Simulated(Arc<BehaviorOf>);

impl Default for Simulated {
    /// All containers have the default behavior, with the changes of annotations.
    fn default() -> Self {
        Self::new(|_, _| Behavior::default())
    }
}

impl Simulated {
    /// Creates a runtime whose containers behave as the function returns when they start. Annotations of a pod override
    /// it.
    pub fn new(behavior: impl Fn(&Pod, &Container) -> Behavior + Send + Sync + 'static) -> Self {
        Simulated(Arc::new(behavior))
    }

    pub(super) fn behavior(&self, pod: &Pod, container: &Container) -> Behavior {
        (self.0)(pod, container).with_annotations(pod)
    }
}

impl fmt::Debug for Simulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulated").finish_non_exhaustive()
    }
}

/// A running simulated container.
#[derive(Debug)]
pub(super) struct SimulatedContainer {
    started: Instant,
    behavior: Behavior,
    /// When it ends after a signal, and with which code.
    ends: Option<(Instant, i32)>,
}

impl SimulatedContainer {
    pub(super) fn start(behavior: Behavior) -> Self {
        SimulatedContainer { started: Instant::now(), behavior, ends: None }
    }

    /// Waits until it ends. Can be cancelled and called again.
    pub(super) async fn wait(&self) -> Exit {
        let exit = self.behavior.exit.map(|(delay, code)| (after(self.started, delay), code));
        match [exit, self.ends].into_iter().flatten().min_by_key(|(end, _)| *end) {
            Some((end, code)) => {
                sleep_until(end).await;
                Exit { code, signal: None }
            }
            None => std::future::pending().await,
        }
    }

    pub(super) fn terminate(&mut self) {
        self.ends.get_or_insert((after(Instant::now(), self.behavior.ends_after), 0));
    }

    pub(super) fn kill(&mut self) {
        self.ends = Some((Instant::now(), 137));
    }

    /// Returns when it becomes ready; `None` if it never does.
    pub(super) fn ready_at(&self) -> Option<Instant> {
        self.behavior.ready_after.map(|delay| after(self.started, delay))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn annotations_override_the_function() {
        let annotations = json!({
            "simulator/ready-after": "1500ms", "simulator/exit-after": "2m", "simulator/exit-code": "3",
            "simulator/ends-after": "soon",
        });
        let pod: Pod = serde_json::from_value(json!({"metadata": {"annotations": annotations}})).unwrap();
        let runtime = Simulated::new(|_, _| Behavior::default().never_ready());
        let expected =
            Behavior::default().ready_after(Duration::from_millis(1500)).exit_after(Duration::from_secs(120), 3);
        assert_eq!(runtime.behavior(&pod, &Container::default()), expected);
    }
}
