//! Metrics and logs of a controller.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use http::StatusCode;
use kube::core::Status;
use kubewright_runtime::{
    Error, ObjectKey,
    controller::{Action, Controller, ReconcileError},
};

use crate::{
    fixture::{Fixture, Running, recorder, with_state},
    log::LOG,
};

/// Reconciles with the outcome that the name of the object selects.
async fn outcome_by_name(key: ObjectKey) -> Result<Action, ReconcileError> {
    match key.name() {
        "fails" => Err(ReconcileError::new("failed")),
        "conflicts" => {
            let status = Status::failure("modified", "Conflict").with_code(StatusCode::CONFLICT.as_u16());
            Err(Error::new("update", "configmaps", key.name(), kube::Error::Api(Box::new(status))).into())
        }
        "terminal" => Err(ReconcileError::terminal("invalid")),
        "panics" => panic!("panicked"),
        "hangs" => std::future::pending().await,
        "requeue" => Ok(Action::Requeue),
        "requeue-after" => Ok(Action::RequeueAfter(Duration::from_secs(60))),
        _ => Ok(Action::Done),
    }
}

/// Creates a reconciler that has the outcome of the name once for each key, and then succeeds.
fn outcome_once() -> impl kubewright_runtime::Reconciler {
    with_state(Mutex::new(Vec::new()), |done: Arc<Mutex<Vec<ObjectKey>>>, key| async move {
        let is_done = {
            let mut done = done.lock().unwrap();
            let is_done = done.contains(&key);
            done.push(key.clone());
            is_done
        };
        if is_done { Ok(Action::Done) } else { outcome_by_name(key).await }
    })
}

#[tokio::test(start_paused = true)]
async fn metrics_have_the_names_of_controller_runtime() {
    let fixture = Fixture::started();
    for name in ["succeeds", "fails", "terminal", "panics", "hangs", "requeue", "requeue-after"] {
        fixture.config_map(name).await;
    }
    let metrics = kubewright_runtime::metrics::Metrics::default();
    let builder = Controller::new("maps", &fixture.config_maps).metrics(metrics.clone());
    let builder = builder.reconciliation_timeout(Duration::from_millis(1400)).max_concurrent_reconciles(2);
    let controller = builder.build(outcome_once());
    let line = |line: &str| metrics.text().lines().any(|found| found == line);
    let name = "controller_runtime_";
    assert!(line(&format!("{name}reconcile_errors_total{{controller=\"maps\"}} 0")), "{}", metrics.text());
    let running = Running::new(controller);
    tokio::time::sleep(Duration::from_secs(10)).await;
    for expected in [
        // Four that were requeued and one that succeeded at once; the terminal error and the delayed key do not run
        // again.
        "reconcile_total{controller=\"maps\",result=\"success\"} 5",
        "reconcile_total{controller=\"maps\",result=\"error\"} 4",
        "reconcile_total{controller=\"maps\",result=\"requeue\"} 1",
        "reconcile_total{controller=\"maps\",result=\"requeue_after\"} 1",
        "reconcile_errors_total{controller=\"maps\"} 4",
        "terminal_reconcile_errors_total{controller=\"maps\"} 1",
        "reconcile_panics_total{controller=\"maps\"} 1",
        "reconcile_timeouts_total{controller=\"maps\"} 1",
        "reconcile_time_seconds_count{controller=\"maps\"} 11",
        "reconcile_time_seconds_bucket{le=\"1.25\",controller=\"maps\"} 10",
        "reconcile_time_seconds_bucket{le=\"60.0\",controller=\"maps\"} 11",
        "max_concurrent_reconciles{controller=\"maps\"} 2.0",
        "active_workers{controller=\"maps\"} 0.0",
    ] {
        assert!(line(&format!("{name}{expected}")), "{expected}: {}", metrics.text());
    }
    assert!(line("workqueue_adds_total{name=\"maps\"} 11"), "metrics of the queue: {}", metrics.text());
    for name in [
        "depth",
        "adds_total",
        "queue_duration_seconds_bucket",
        "work_duration_seconds_count",
        "unfinished_work_seconds",
        "longest_running_processor_seconds",
        "retries_total",
    ] {
        let has_name = |line: &str| line.starts_with(&format!("workqueue_{name}{{")) && line.contains("name=\"maps\"");
        assert!(metrics.text().lines().any(has_name), "{name}: {}", metrics.text());
    }
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_logged_with_controller_namespace_name_and_reconcile_id_and_a_conflict_is_not() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let reconciler = with_state((outcome_once(), recorder), |state, key: ObjectKey| async move {
        state.1.record(key.clone());
        tracing::info!("reconciling");
        kubewright_runtime::Reconciler::reconcile(&state.0, key).await
    });
    let running = Running::new(Controller::new("logged", &fixture.config_maps).build(reconciler));
    for name in ["conflicts", "fails"] {
        fixture.config_map(name).await;
        records.next().await;
        records.next().await;
    }
    running.stop().await.unwrap();
    let is_logged = |name: &str, text: &str| {
        let span = format!("reconcile{{controller=\"logged\" namespace=\"default\" name=\"{name}\" reconcileID=");
        LOG.lines(&span).iter().any(|line| line.contains(text))
    };
    assert!(is_logged("fails", "retrying error=failed"), "{:?}", LOG.lines("logged"));
    assert!(is_logged("fails", "reconciling"), "logs of the reconciler are in the span");
    assert!(!is_logged("conflicts", "retrying"), "{:?}", LOG.lines("logged"));
}

#[tokio::test(start_paused = true)]
async fn queue_ages_are_computed_at_the_scrape() {
    let fixture = Fixture::started();
    fixture.config_map("hangs").await;
    let metrics = kubewright_runtime::metrics::Metrics::default();
    let builder = Controller::new("maps", &fixture.config_maps).metrics(metrics.clone());
    let running = Running::new(builder.graceful_shutdown_timeout(Duration::ZERO).build(outcome_by_name));
    tokio::time::sleep(Duration::from_secs(100)).await;
    let text = metrics.text();
    let line = text.lines().find(|line| line.starts_with("workqueue_longest_running_processor_seconds"));
    assert!(line.is_some_and(|line| line.ends_with("{name=\"maps\"} 100.0")), "{text}");
    running.stop().await.unwrap_err();
}
