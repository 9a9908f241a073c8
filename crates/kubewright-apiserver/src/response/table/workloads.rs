//! The rows of workloads.

use serde_json::{Value, json};

use super::{
    duration,
    row::{NONE, Row, UNSET, condition, time},
};

const CONTAINERS: &str = "spec.template.spec.containers";

/// Appends the containers, images and selector.
fn with_template(row: &Row<'_>, mut cells: Vec<Value>, containers: &str, selector: &str) -> Vec<Value> {
    cells.extend(row.containers(containers));
    cells.push(json!(row.selector(selector)));
    cells
}

fn numbers<const N: usize>(row: &Row<'_>, paths: [&str; N]) -> Vec<Value> {
    std::iter::once(row.name()).chain(paths.iter().map(|path| json!(row.number(path)))).collect()
}

pub(super) fn daemon_set(row: &Row<'_>) -> Vec<Value> {
    let counts = [
        "status.desiredNumberScheduled",
        "status.currentNumberScheduled",
        "status.numberReady",
        "status.updatedNumberScheduled",
        "status.numberAvailable",
    ];
    let mut cells = numbers(row, counts);
    cells.extend([json!(row.labels("spec.template.spec.nodeSelector")), row.age()]);
    with_template(row, cells, CONTAINERS, "spec.selector")
}

pub(super) fn deployment(row: &Row<'_>) -> Vec<Value> {
    let cells = vec![
        row.name(),
        ready(row),
        json!(row.number("status.updatedReplicas")),
        json!(row.number("status.availableReplicas")),
        row.age(),
    ];
    with_template(row, cells, CONTAINERS, "spec.selector")
}

pub(super) fn pod_template(row: &Row<'_>) -> Vec<Value> {
    let [names, images] = row.containers("template.spec.containers");
    vec![row.name(), names, images, json!(row.labels("template.metadata.labels"))]
}

pub(super) fn replication_controller(row: &Row<'_>) -> Vec<Value> {
    let mut cells = numbers(row, ["spec.replicas", "status.replicas", "status.readyReplicas"]);
    cells.push(row.age());
    cells.extend(row.containers(CONTAINERS));
    cells.push(json!(row.labels("spec.selector")));
    cells
}

pub(super) fn replica_set(row: &Row<'_>) -> Vec<Value> {
    let mut cells = numbers(row, ["spec.replicas", "status.replicas", "status.readyReplicas"]);
    cells.push(row.age());
    with_template(row, cells, CONTAINERS, "spec.selector")
}

pub(super) fn stateful_set(row: &Row<'_>) -> Vec<Value> {
    let [names, images] = row.containers(CONTAINERS);
    vec![row.name(), ready(row), row.age(), names, images]
}

fn ready(row: &Row<'_>) -> Value {
    json!(format!("{}/{}", row.number("status.readyReplicas"), row.number("spec.replicas")))
}

pub(super) fn job(row: &Row<'_>) -> Vec<Value> {
    let succeeded = row.number("status.succeeded");
    let completions = match (row.get("spec.completions").as_i64(), row.number("spec.parallelism")) {
        (Some(completions), _) => format!("{succeeded}/{completions}"),
        (None, parallelism) if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
        (None, _) => format!("{succeeded}/1"),
    };
    let cells = vec![row.name(), json!(job_status(row)), json!(completions), json!(job_duration(row)), row.age()];
    with_template(row, cells, CONTAINERS, "spec.selector")
}

fn job_status(row: &Row<'_>) -> &'static str {
    let conditions = row.list("status.conditions");
    let found = |types: [&'static str; 3]| types.into_iter().find(|type_| condition(conditions, type_) == "True");
    let is = |type_| condition(conditions, type_) == "True";
    if is("Complete") {
        "Complete"
    } else if is("Failed") {
        "Failed"
    } else if row.is_terminating() {
        "Terminating"
    } else {
        found(["Suspended", "FailureTarget", "SuccessCriteriaMet"]).unwrap_or("Running")
    }
}

fn job_duration(row: &Row<'_>) -> String {
    let Some(start) = time(row.get("status.startTime")) else {
        return String::new();
    };
    let end = time(row.get("status.completionTime")).unwrap_or(row.now);
    duration::ago(start, end)
}

pub(super) fn cron_job(row: &Row<'_>) -> Vec<Value> {
    let suspend = row.get("spec.suspend").as_bool();
    let cells = vec![
        row.name(),
        json!(row.text("spec.schedule")),
        json!(row.get("spec.timeZone").as_str().unwrap_or(NONE)),
        suspend.map_or_else(|| json!(UNSET), |suspend| json!(if suspend { "True" } else { "False" })),
        json!(row.count("status.active")),
        json!(row.since("status.lastScheduleTime").unwrap_or_else(|| NONE.to_owned())),
        row.age(),
    ];
    with_template(row, cells, "spec.jobTemplate.spec.template.spec.containers", "spec.jobTemplate.spec.selector")
}
