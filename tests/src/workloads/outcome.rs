//! The outcome of a scenario as data: without names, times and addresses that differ from run to run.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde_json::{Map, Value};

use super::{
    cluster::ZONE,
    differences::Differences,
    objects::{Objects, controller, name},
    observer::{History, Transitions, is_ordered},
};

/// The fields of the metadata that differ from run to run.
const VOLATILE: [&str; 4] = ["uid", "resourceVersion", "managedFields", "creationTimestamp"];
/// The fields with addresses.
const ADDRESSES: [&str; 3] = ["podIP", "hostIP", "ip"];
/// The fields of a Node that its machine determines.
const OF_MACHINE: [&str; 5] = ["addresses", "allocatable", "capacity", "nodeInfo", "phase"];
/// The kinds whose transitions do not depend on which of several changes a controller sees first.
const WITH_TRANSITIONS: [&str; 4] = ["Deployment", "Job", "Node", "Pod"];

/// The state of a Deployment that is not reported if its controller sees several changes at once.
const COALESCED: &str = "True ReplicaSetUpdated";

/// The reason of an error of kube-scheduler that is not the fault of the pod.
const SCHEDULER_ERROR: &str = "SchedulerError";
/// The condition of a pod whose scheduling failed with an error that kube-scheduler retries, such as a stale cache when
/// the predecessor of the same name was just deleted.
const RETRIED: &str = "False SchedulerError";
/// The condition of a pod that no node fits.
const UNSCHEDULABLE: &str = "False Unschedulable";

/// A position in an outcome.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The kind of the object.
    pub kind: String,
    /// The name of the object, with placeholders for hashes and random parts.
    pub object: String,
    /// The path of a field, `transitions.TYPE`, `events.TYPE REASON` or `order`.
    pub path: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.kind, self.object, self.path)
    }
}

/// The outcome of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome(BTreeMap<Place, String>);

impl Outcome {
    pub(super) fn new(objects: &Objects, history: &History, events: &[Value], revisions: &[Value]) -> Self {
        let hashes = Hashes::new(objects, revisions);
        let mut values = BTreeMap::new();
        add_objects(objects, &hashes, &mut values);
        add_transitions(history, &hashes, &mut values);
        add_events(history, events, &hashes, &mut values);
        let order = without_repetitions(history.order.iter().map(String::as_str));
        if !order.is_empty() {
            let place = Place { kind: "StatefulSet".to_owned(), object: "pods".to_owned(), path: "order".to_owned() };
            values.insert(place, order.join(", "));
        }
        Outcome(values)
    }

    /// Returns the value at each position.
    #[must_use]
    pub fn values(&self) -> &BTreeMap<Place, String> {
        &self.0
    }

    /// Returns a line for each difference to the outcome on a real control plane that has no reason.
    #[must_use]
    pub fn unexplained(&self, real: &Outcome, differences: &Differences) -> Vec<String> {
        let places: BTreeSet<&Place> = self.0.keys().chain(real.0.keys()).collect();
        let differing = places.into_iter().filter(|place| self.0.get(*place) != real.0.get(*place));
        let unexplained = differing.filter(|place| !differences.explain(place));
        let text = |outcome: &Outcome, place: &Place| outcome.0.get(place).map_or("absent", String::as_str).to_owned();
        unexplained
            .map(|place| {
                format!("{place}\n    simulator:     {}\n    control plane: {}", text(self, place), text(real, place))
            })
            .collect()
    }
}

/// The hashes in names and labels, with the revisions that they stand for.
struct Hashes(Vec<(String, String)>);

impl Hashes {
    fn new(objects: &Objects, revisions: &[Value]) -> Self {
        let of_set = |set: &Value| {
            let (_, deployment) = controller(set)?;
            let hash = set["metadata"]["labels"]["pod-template-hash"].as_str()?;
            let revision = set["metadata"]["annotations"]["deployment.kubernetes.io/revision"].as_str()?;
            Some((hash.to_owned(), format!("<{deployment} revision {revision}>")))
        };
        let of_revision = |revision: &Value| {
            let (_, owner) = controller(revision)?;
            let hash = name(revision).strip_prefix(owner)?.strip_prefix('-')?;
            Some((hash.to_owned(), format!("<{owner} revision {}>", revision["revision"])))
        };
        let sets = objects.0.iter().filter(|((kind, _), _)| *kind == "ReplicaSet").map(|(_, set)| set);
        Hashes(sets.filter_map(of_set).chain(revisions.iter().filter_map(of_revision)).collect())
    }

    fn replace(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (hash, revision)| text.replace(hash, revision))
    }

    /// Returns an object, or a part of it, without what differs from run to run.
    fn normalize(&self, value: &Value) -> Value {
        match value {
            Value::Object(fields) => Value::Object(fields.iter().map(|(key, value)| self.field(key, value)).collect()),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.normalize(item)).collect()),
            Value::String(text) if is_time(text) => Value::from("<time>"),
            Value::String(text) if is_uid(text) => Value::from("<uid>"),
            Value::String(text) => Value::from(self.replace(text)),
            other => other.clone(),
        }
    }

    fn field(&self, key: &str, value: &Value) -> (String, Value) {
        let value = match value {
            Value::String(_) if ADDRESSES.contains(&key) => Value::from("<address>"),
            // Equal nodes are chosen at random.
            Value::String(_) if key == "nodeName" => Value::from("<node>"),
            value => self.normalize(value),
        };
        (self.replace(key), value)
    }
}

/// Adds the fields of all objects. Objects with the same name but for random parts are numbered.
fn add_objects(objects: &Objects, hashes: &Hashes, values: &mut BTreeMap<Place, String>) {
    let mut groups: BTreeMap<(&str, String), Vec<BTreeMap<String, String>>> = BTreeMap::new();
    for (&(kind, _), object) in &objects.0 {
        let generic_name = hashes.replace(&Transitions::new(kind, object).generic_name);
        let mut fields = BTreeMap::new();
        flatten(&normalized(kind, object, hashes), "", &mut fields);
        groups.entry((kind, generic_name)).or_default().push(fields);
    }
    for ((kind, object), mut members) in groups {
        members.sort();
        for (number, fields) in (1..).zip(members) {
            let object = format!("{object} #{number}");
            let place = |path| Place { kind: kind.to_owned(), object: object.clone(), path };
            values.extend(fields.into_iter().map(|(path, value)| (place(path), value)));
        }
    }
}

fn normalized(kind: &str, object: &Value, hashes: &Hashes) -> Value {
    let is_random = object["metadata"]["generateName"].is_string() && !is_ordered(object);
    let mut object = hashes.normalize(object);
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.retain(|key, _| !VOLATILE.contains(&key.as_str()) && (!is_random || key != "name"));
    }
    // Equal nodes are chosen at random.
    if kind == "Pod" && object["metadata"]["labels"][ZONE].is_string() {
        object["metadata"]["labels"][ZONE] = Value::from("<zone>");
    }
    if kind == "Pod" && object["spec"]["nodeName"].is_string() {
        omit_retried(&mut object);
    }
    if let Some(status) = object["status"].as_object_mut().filter(|_| kind == "Node") {
        status.retain(|key, _| !OF_MACHINE.contains(&key.as_str()));
    }
    object
}

/// Replaces the condition of a scheduling error of a pod that is on a node. kube-scheduler can write the error of an
/// attempt for a deleted pod to its successor of the same name, after that one was scheduled.
fn omit_retried(pod: &mut Value) {
    let conditions = pod["status"]["conditions"].as_array_mut().into_iter().flatten();
    let failed = conditions.filter(|condition| condition["reason"] == SCHEDULER_ERROR);
    for condition in failed.filter_map(Value::as_object_mut) {
        condition.retain(|field, _| !["message", "observedGeneration", "reason"].contains(&field.as_str()));
        condition.insert("status".to_owned(), Value::from("True"));
    }
}

/// Adds a path for each value. Items of lists have their type or name in the path, and taints their key and effect:
/// kube-controller-manager adds them by two loops, in either order. An empty list or object is an absent one, as Go
/// encodes it.
fn flatten(value: &Value, path: &str, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| flatten(value, &joined(path, key), into)),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let key = item.as_object().and_then(key_of).unwrap_or_else(|| index.to_string());
                flatten(item, &joined(path, &key), into);
            }
        }
        Value::Null => {}
        Value::String(text) => drop(into.insert(path.to_owned(), text.clone())),
        other => drop(into.insert(path.to_owned(), other.to_string())),
    }
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn key_of(item: &Map<String, Value>) -> Option<String> {
    let text = |field: &str| item.get(field).and_then(Value::as_str);
    let taint = || Some(format!("{}:{}", text("key")?, text("effect")?)).filter(|_| !item.contains_key("operator"));
    text("type").or_else(|| text("name")).map(str::to_owned).or_else(taint)
}

/// Returns steps without the immediate repetition of two, whose number depends on when a controller sees changes:
/// - kube-controller-manager replaces a pod of a StatefulSet twice if its cache is stale, so that the first replacement
///   has the old revision;
/// - a Deployment that becomes available again does not report a short outage.
fn without_repetitions<'a>(steps: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut once: Vec<&str> = Vec::new();
    for step in steps {
        once.push(step);
        if let [.., a, b, c, d] = once[..]
            && (a, b) == (c, d)
        {
            once.truncate(once.len() - 2);
        }
    }
    once
}

fn add_transitions(history: &History, hashes: &Hashes, values: &mut BTreeMap<Place, String>) {
    let mut sequences: BTreeMap<Place, BTreeSet<String>> = BTreeMap::new();
    for observed in history.transitions.values().filter(|observed| WITH_TRANSITIONS.contains(&observed.kind)) {
        for (type_, states) in &observed.conditions {
            let object = hashes.replace(&observed.generic_name);
            let place = Place { kind: observed.kind.to_owned(), object, path: format!("transitions.{type_}") };
            let is_omitted = |state: &str| {
                [COALESCED, RETRIED].contains(&state) || state == UNSCHEDULABLE && observed.is_scheduled_later()
            };
            let states = states.iter().map(String::as_str).filter(|state| !is_omitted(state));
            sequences.entry(place).or_default().insert(without_repetitions(states).join(", then "));
        }
    }
    let joined = sequences.into_iter().map(|(place, all)| (place, all.into_iter().collect::<Vec<_>>().join("; or ")));
    values.extend(joined);
}

/// Adds the events about observed objects: their reasons, not their number, since equal events are aggregated. The
/// events of scheduling errors that are [retried](RETRIED) are omitted.
fn add_events(history: &History, events: &[Value], hashes: &Hashes, values: &mut BTreeMap<Place, String>) {
    for event in events.iter().filter(|event| !is_retried(event)) {
        let about = &event["regarding"];
        let is_subject =
            |observed: &&Transitions| about["kind"] == observed.kind && about["name"] == observed.name.as_str();
        let Some(observed) = history.transitions.values().find(is_subject) else { continue };
        let text = |field: &str| event[field].as_str().unwrap_or_default();
        if text("reason") == "FailedScheduling" && observed.is_scheduled_later() {
            continue;
        }
        let object = hashes.replace(&observed.generic_name);
        let path = format!("events.{} {}", text("type"), text("reason"));
        values.insert(Place { kind: observed.kind.to_owned(), object, path }, "recorded".to_owned());
    }
}

/// Reports whether an event is that of a scheduling error: no count of the nodes that do not fit.
fn is_retried(event: &Value) -> bool {
    event["reason"] == "FailedScheduling" && !event["note"].as_str().is_some_and(|note| note.contains(" are available"))
}

/// Reports whether a text is a time such as `2026-01-31T12:00:00Z`.
fn is_time(text: &str) -> bool {
    let is_digit = |index: usize| text.as_bytes()[index].is_ascii_digit();
    text.len() >= 20
        && text.ends_with('Z')
        && text.as_bytes()[10] == b'T'
        && [0, 5, 8, 11, 14].into_iter().all(is_digit)
}

/// Reports whether a text is a UID such as `67e55044-10b1-426f-9247-bb680e5fe0c8`.
fn is_uid(text: &str) -> bool {
    let parts: Vec<usize> = text.split('-').map(str::len).collect();
    parts == [8, 4, 4, 4, 12] && text.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(name: &str, uid: &str, phase: &str) -> ((&'static str, String), Value) {
        let owner = json!({"kind": "ReplicaSet", "name": "web-7d4b8c", "uid": uid, "controller": true});
        let metadata = json!({
            "name": name, "generateName": "web-7d4b8c-", "uid": uid, "resourceVersion": uid,
            "labels": {"pod-template-hash": "7d4b8c"}, "ownerReferences": [owner],
        });
        let conditions = json!([{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-31T12:00:00Z"}]);
        let status = json!({"phase": phase, "podIP": "10.0.0.1", "conditions": conditions});
        (("Pod", name.to_owned()), json!({"metadata": metadata, "spec": {"nodeName": "a-1"}, "status": status}))
    }

    fn outcome(pods: impl IntoIterator<Item = ((&'static str, String), Value)>) -> Outcome {
        let owner = json!({"kind": "Deployment", "name": "web", "controller": true});
        let set = json!({"metadata": {
            "name": "web-7d4b8c", "labels": {"pod-template-hash": "7d4b8c"}, "ownerReferences": [owner],
            "annotations": {"deployment.kubernetes.io/revision": "2"},
        }});
        let set = (("ReplicaSet", "web-7d4b8c".to_owned()), set);
        let objects = Objects(pods.into_iter().chain([set]).collect());
        Outcome::new(&objects, &History::default(), &[], &[])
    }

    const UIDS: [&str; 2] = ["67e55044-10b1-426f-9247-bb680e5fe0c8", "0c8e5fe0-10b1-426f-9247-bb6867e55044"];

    #[test]
    fn random_parts_are_no_difference() {
        let first = outcome([pod("web-7d4b8c-aaaaa", UIDS[0], "Running")]);
        let second = outcome([pod("web-7d4b8c-zzzzz", UIDS[1], "Running")]);
        assert_eq!(first, second);
        let of_pod = first.values().iter().filter(|(place, _)| place.kind == "Pod");
        let text: Vec<_> = of_pod.map(|(place, value)| format!("{} {value}", place.path)).collect();
        assert!(text.contains(&"status.conditions.Ready.status True".to_owned()), "{text:?}");
        assert!(text.contains(&"metadata.ownerReferences.web-<web revision 2>.uid <uid>".to_owned()), "{text:?}");
        assert!(text.contains(&"status.podIP <address>".to_owned()), "{text:?}");
    }

    #[test]
    fn the_order_of_equal_objects_is_no_difference() {
        let pods = |phases: [&str; 2]| [pod("web-1", UIDS[0], phases[0]), pod("web-2", UIDS[1], phases[1])];
        assert_eq!(outcome(pods(["Running", "Pending"])), outcome(pods(["Pending", "Running"])));
    }

    #[test]
    fn scheduling_errors_that_are_retried_are_omitted() {
        let failed = |note: &str| {
            json!({
                "type": "Warning", "reason": "FailedScheduling", "note": note,
                "regarding": {"kind": "Pod", "name": "db-2"},
            })
        };
        let mut observed = Transitions::new("Pod", &json!({"metadata": {"name": "db-2"}}));
        let states = ["False SchedulerError", "True"].map(str::to_owned).to_vec();
        observed.conditions.insert("PodScheduled".to_owned(), states);
        let history = History { transitions: BTreeMap::from([("uid".to_owned(), observed)]), ..History::default() };
        let values = |note: &str| {
            let outcome = Outcome::new(&Objects::default(), &history, &[failed(note)], &[]);
            outcome.values().iter().map(|(place, value)| format!("{} {value}", place.path)).collect::<Vec<_>>()
        };
        assert_eq!(values("binding rejected: the pod is being deleted"), ["transitions.PodScheduled True"]);
        let unschedulable = ["events.Warning FailedScheduling recorded", "transitions.PodScheduled True"];
        assert_eq!(values("0/3 nodes are available: 3 Insufficient cpu."), unschedulable);
    }

    #[test]
    fn daemon_pods_whose_node_is_not_known_yet_are_scheduled() {
        let values = |owner: &str, last: &str| {
            let owners = json!([{"kind": owner, "name": "agent", "controller": true}]);
            let pod = json!({"metadata": {"name": "agent-1", "ownerReferences": owners}});
            let mut observed = Transitions::new("Pod", &pod);
            let states = ["False Unschedulable", last].map(str::to_owned).to_vec();
            observed.conditions.insert("PodScheduled".to_owned(), states);
            let event = json!({
                "type": "Warning", "reason": "FailedScheduling", "note": "0/3 nodes are available",
                "regarding": {"kind": "Pod", "name": "agent-1"},
            });
            let history = History { transitions: BTreeMap::from([("uid".to_owned(), observed)]), ..History::default() };
            Outcome::new(&Objects::default(), &history, &[event], &[]).values().len()
        };
        assert_eq!(values("DaemonSet", "True"), 1, "only the transition to True");
        assert_eq!(values("DaemonSet", "False Unschedulable"), 2);
        assert_eq!(values("ReplicaSet", "True"), 2);
    }

    #[test]
    fn a_scheduling_error_of_a_pod_on_a_node_is_omitted() {
        let scheduled = pod("db-0", UIDS[0], "Running");
        let mut late = scheduled.clone();
        let failed =
            |reason: &str| json!([{"type": "PodScheduled", "status": "False", "reason": reason, "message": "m"}]);
        late.1["status"]["conditions"] = failed(SCHEDULER_ERROR);
        let mut expected = scheduled.clone();
        expected.1["status"]["conditions"] = json!([{"type": "PodScheduled", "status": "True"}]);
        assert_eq!(outcome([late.clone()]), outcome([expected.clone()]));
        late.1["status"]["conditions"] = failed("Unschedulable");
        assert_ne!(outcome([late]), outcome([expected]));
    }

    #[test]
    fn a_difference_without_a_reason_is_reported_with_both_values() {
        let running = outcome([pod("web-1", UIDS[0], "Running")]);
        let failed = outcome([pod("web-1", UIDS[0], "Failed")]);
        let differences = Differences::default();
        assert_eq!(running.unexplained(&running, &differences), Vec::<String>::new());
        let unexplained = running.unexplained(&failed, &differences);
        assert_eq!(unexplained.len(), 1);
        let line = &unexplained[0];
        assert!(line.starts_with("Pod web-<web revision 2>-* #1 status.phase\n"), "{line}");
        assert!(line.contains("Running") && line.contains("Failed"), "{line}");
    }
}
