//! What is measured and logged.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::StatusCode;
use kube::core::Status;
use logger_runtime::controller::{Action, Controller, ReconcileError};
use logger_runtime::{Error, ObjectKey};

use crate::stage::{LOG, Running, Stage, diary, shared};

/// Does what the name of the object says.
async fn as_named(key: ObjectKey) -> Result<Action, ReconcileError> {
    match key.name() {
        "fails" => Err(ReconcileError::new("it fails")),
        "conflicts" => {
            let status = Status::failure("it was changed", "Conflict").with_code(StatusCode::CONFLICT.as_u16());
            Err(Error::new("update", "configmaps", key.name(), kube::Error::Api(Box::new(status))).into())
        }
        "wrong" => Err(ReconcileError::terminal("it is wrong")),
        "panics" => panic!("it panics"),
        "hangs" => std::future::pending().await,
        "again" => Ok(Action::Requeue),
        "later" => Ok(Action::RequeueAfter(Duration::from_secs(60))),
        _ => Ok(Action::Done),
    }
}

/// Does it the first time, and succeeds then.
fn once() -> impl logger_runtime::Reconciler {
    shared(Mutex::new(Vec::new()), |done: Arc<Mutex<Vec<ObjectKey>>>, key| async move {
        let is_done = {
            let mut done = done.lock().unwrap();
            let is_done = done.contains(&key);
            done.push(key.clone());
            is_done
        };
        if is_done { Ok(Action::Done) } else { as_named(key).await }
    })
}

#[cfg(feature = "prometheus")]
#[tokio::test(start_paused = true)]
async fn it_measures_under_the_names_of_controller_runtime() {
    let stage = Stage::started();
    for name in ["succeeds", "fails", "wrong", "panics", "hangs", "again", "later"] {
        stage.config_map(name).await;
    }
    let metrics = logger_runtime::metrics::PrometheusMetrics::default();
    let builder = Controller::for_informer("maps", &stage.config_maps).metrics(Arc::new(metrics.clone()));
    let builder = builder.reconcile_timeout(Duration::from_millis(1400)).workers(2);
    let controller = builder.build(once());
    let line = |line: &str| metrics.text().lines().any(|found| found == line);
    let name = "controller_runtime_";
    assert!(line(&format!("{name}reconcile_errors_total{{controller=\"maps\"}} 0")), "{}", metrics.text());
    let running = Running::new(controller);
    tokio::time::sleep(Duration::from_secs(10)).await;
    for expected in [
        // The five that came again and succeeded then, and the one that succeeded at once; what comes later is still to come.
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
    assert!(line("workqueue_adds_total{name=\"maps\"} 11"), "its queue measures, too: {}", metrics.text());
    for name in [
        "depth",
        "adds_total",
        "queue_duration_seconds_bucket",
        "work_duration_seconds_count",
        "unfinished_work_seconds",
        "longest_running_processor_seconds",
        "retries_total",
    ] {
        let is_of_it = |line: &str| line.starts_with(&format!("workqueue_{name}{{")) && line.contains("name=\"maps\"");
        assert!(metrics.text().lines().any(is_of_it), "{name}: {}", metrics.text());
    }
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_logged_with_controller_key_and_number_and_a_conflict_is_not() {
    let stage = Stage::started();
    let (diary, mut reader) = diary();
    let work = shared((once(), diary), |state, key: ObjectKey| async move {
        state.1.note(key.clone());
        tracing::info!("working on it");
        logger_runtime::Reconciler::reconcile(&state.0, key).await
    });
    let running = Running::new(Controller::for_informer("logged", &stage.config_maps).build(work));
    for name in ["conflicts", "fails"] {
        stage.config_map(name).await;
        reader.next().await;
        reader.next().await;
    }
    running.stop().await.unwrap();
    let says = |key: &str, text: &str| {
        let span = format!("reconcile{{controller=\"logged\" key={key} reconcile_id=");
        LOG.lines(&span).iter().any(|line| line.contains(text))
    };
    assert!(says("default/fails", "trying again error=it fails"), "{:?}", LOG.lines("logged"));
    assert!(says("default/fails", "working on it"), "what the work logs is in the span");
    assert!(!says("default/conflicts", "trying again"), "{:?}", LOG.lines("logged"));
}

#[cfg(feature = "prometheus")]
#[tokio::test(start_paused = true)]
async fn ages_in_its_queue_are_as_of_the_scrape() {
    let stage = Stage::started();
    stage.config_map("hangs").await;
    let metrics = logger_runtime::metrics::PrometheusMetrics::default();
    let builder = Controller::for_informer("maps", &stage.config_maps).metrics(Arc::new(metrics.clone()));
    let running = Running::new(builder.grace_period(Duration::ZERO).build(as_named));
    tokio::time::sleep(Duration::from_secs(100)).await;
    let text = metrics.text();
    let line = text.lines().find(|line| line.starts_with("workqueue_longest_running_processor_seconds"));
    assert!(line.is_some_and(|line| line.ends_with("{name=\"maps\"} 100.0")), "{text}");
    running.stop().await.unwrap_err();
}
