//! The row of a Pod, with the summary of its containers (`printPod` of kube-apiserver).

use serde_json::{Value, json};

use super::row::{NONE, Row, condition, list, text, time};

/// The summary of the containers of a pod.
struct Summary {
    reason: String,
    ready: usize,
    total: usize,
    restarts: i64,
    last_restart: Option<jiff::Timestamp>,
}

pub(super) fn cells(row: &Row<'_>) -> Vec<Value> {
    let summary = Summary::new(row);
    let restarts = match summary.last_restart.filter(|_| summary.restarts > 0) {
        Some(at) => format!("{} ({} ago)", summary.restarts, row.ago(at)),
        None => summary.restarts.to_string(),
    };
    let ip = row.list("status.podIPs").first().map(|ip| text(&ip["ip"])).filter(|ip| !ip.is_empty()).unwrap_or(NONE);
    vec![
        row.name(),
        json!(format!("{}/{}", summary.ready, summary.total)),
        json!(summary.reason),
        json!(restarts),
        row.age(),
        json!(ip),
        json!(row.text_or("spec.nodeName", NONE)),
        json!(row.text_or("status.nominatedNodeName", NONE)),
        json!(readiness_gates(row)),
    ]
}

/// Returns the conditions of a row: whether the pod has completed.
pub(super) fn conditions(row: &Row<'_>) -> Vec<Value> {
    let (reason, message) = match row.text("status.phase") {
        "Succeeded" => ("Succeeded", "The pod has completed successfully."),
        "Failed" => ("Failed", "The pod failed."),
        _ => return Vec::new(),
    };
    vec![json!({ "type": "Completed", "status": "True", "reason": reason, "message": message })]
}

fn readiness_gates(row: &Row<'_>) -> String {
    let gates = row.list("spec.readinessGates");
    if gates.is_empty() {
        return NONE.to_owned();
    }
    let conditions = row.list("status.conditions");
    let ready = gates.iter().filter(|gate| condition(conditions, text(&gate["conditionType"])) == "True").count();
    format!("{ready}/{}", gates.len())
}

impl Summary {
    fn new(row: &Row<'_>) -> Self {
        let sidecars = row.list("spec.initContainers").iter().filter(|container| is_sidecar(container)).count();
        let mut summary = Self {
            reason: phase(row),
            ready: 0,
            total: row.list("spec.containers").len() + sidecars,
            restarts: 0,
            last_restart: None,
        };
        let sidecar_restarts = summary.add_init_containers(row);
        if let Some((restarts, last)) = sidecar_restarts {
            (summary.restarts, summary.last_restart) = (restarts, last);
            summary.add_containers(row);
        }
        summary.apply_deletion(row);
        summary
    }

    /// Adds the init containers. If they have completed, returns the restarts of the sidecars.
    fn add_init_containers(&mut self, row: &Row<'_>) -> Option<(i64, Option<jiff::Timestamp>)> {
        let specs = row.list("spec.initContainers");
        let (mut restarts, mut last) = (0, None);
        let mut is_initializing = false;
        for (index, status) in row.list("status.initContainerStatuses").iter().enumerate() {
            let is_sidecar = specs.iter().any(|spec| spec["name"] == status["name"] && is_sidecar(spec));
            self.add_restarts(status);
            if is_sidecar {
                restarts += status["restartCount"].as_i64().unwrap_or_default();
                last = last.max(last_termination(status));
            }
            let terminated = &status["state"]["terminated"];
            if terminated.is_object() && terminated["exitCode"].as_i64().unwrap_or_default() == 0 {
                continue;
            }
            if is_sidecar && status["started"] == true {
                self.ready += usize::from(status["ready"] == true);
                continue;
            }
            let waiting_reason = text(&status["state"]["waiting"]["reason"]);
            self.reason = if terminated.is_object() {
                format!("Init:{}", termination_reason(terminated))
            } else if !matches!(waiting_reason, "" | "PodInitializing") {
                format!("Init:{waiting_reason}")
            } else {
                format!("Init:{index}/{}", specs.len())
            };
            is_initializing = true;
            break;
        }
        let is_initialized = !is_initializing || condition(row.list("status.conditions"), "Initialized") == "True";
        is_initialized.then_some((restarts, last))
    }

    /// Adds the containers, the last one first.
    fn add_containers(&mut self, row: &Row<'_>) {
        let mut is_running = false;
        let mut failure = None;
        for status in row.list("status.containerStatuses").iter().rev() {
            self.add_restarts(status);
            let terminated = &status["state"]["terminated"];
            let waiting_reason = text(&status["state"]["waiting"]["reason"]);
            if !waiting_reason.is_empty() {
                waiting_reason.clone_into(&mut self.reason);
            } else if terminated.is_object() {
                self.reason = termination_reason(terminated);
                if terminated["exitCode"].as_i64().unwrap_or_default() != 0 {
                    failure = Some(self.reason.clone());
                }
            } else if status["ready"] == true && status["state"]["running"].is_object() {
                is_running = true;
                self.ready += 1;
            }
        }
        if self.reason == "Completed" {
            let is_ready = is_running && condition(row.list("status.conditions"), "Ready") == "True";
            match failure {
                _ if is_ready => "Running".clone_into(&mut self.reason),
                Some(failure) => self.reason = failure,
                None if is_running => "NotReady".clone_into(&mut self.reason),
                None => {}
            }
        }
    }

    fn apply_deletion(&mut self, row: &Row<'_>) {
        if !row.is_terminating() {
            return;
        }
        if row.text("status.reason") == "NodeLost" {
            "Unknown".clone_into(&mut self.reason);
        } else if !matches!(row.text("status.phase"), "Failed" | "Succeeded") {
            "Terminating".clone_into(&mut self.reason);
        }
    }

    fn add_restarts(&mut self, status: &Value) {
        self.restarts += status["restartCount"].as_i64().unwrap_or_default();
        self.last_restart = self.last_restart.max(last_termination(status));
    }
}

/// Returns the reason of a pod without its containers.
fn phase(row: &Row<'_>) -> String {
    const GATED: &str = "SchedulingGated";
    let is_gated = |condition: &&Value| condition["type"] == "PodScheduled" && condition["reason"] == GATED;
    if list(row.get("status.conditions")).iter().any(|condition| is_gated(&condition)) {
        return GATED.to_owned();
    }
    row.text_or("status.reason", row.text("status.phase")).to_owned()
}

/// Returns whether an init container is a sidecar.
fn is_sidecar(container: &Value) -> bool {
    container["restartPolicy"] == "Always"
}

fn last_termination(status: &Value) -> Option<jiff::Timestamp> {
    time(&status["lastState"]["terminated"]["finishedAt"])
}

/// Returns the reason of the termination of a container.
fn termination_reason(terminated: &Value) -> String {
    let (reason, signal) = (text(&terminated["reason"]), terminated["signal"].as_i64().unwrap_or_default());
    match (reason, signal) {
        ("", 0) => format!("ExitCode:{}", terminated["exitCode"].as_i64().unwrap_or_default()),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}
