//! The rows of built-in kinds, in the columns of `columns.json`

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    pods,
    row::{NONE, Row, UNKNOWN, UNSET, condition, first_few, joined, or_none, text},
    workloads,
};

/// The cells of an object of a resource (`plural.group`), if it has columns of its own.
pub(super) fn cells(resource: &str, row: &Row<'_>) -> Option<Vec<Value>> {
    let cells: fn(&Row<'_>) -> Vec<Value> = match resource {
        "configmaps" => config_map,
        "events" => |row| event(row, &CORE_EVENT),
        "namespaces" => |row| named(row, vec![json!(row.text("status.phase"))]),
        "nodes" => node,
        "persistentvolumeclaims" => claim,
        "persistentvolumes" => volume,
        "pods" => pods::cells,
        "resourcequotas" => quota,
        "secrets" => |row| named(row, vec![json!(row.text("type")), json!(row.count("data"))]),
        "serviceaccounts" => |row| named(row, Vec::new()),
        "services" => service,
        "controllerrevisions.apps" => revision,
        "daemonsets.apps" => workloads::daemon_set,
        "deployments.apps" => workloads::deployment,
        "replicasets.apps" => workloads::replica_set,
        "statefulsets.apps" => workloads::stateful_set,
        "cronjobs.batch" => workloads::cron_job,
        "jobs.batch" => workloads::job,
        "leases.coordination.k8s.io" => |row| named(row, vec![json!(row.text("spec.holderIdentity"))]),
        "endpointslices.discovery.k8s.io" => endpoint_slice,
        "events.events.k8s.io" => |row| event(row, &NEW_EVENT),
        "ingresses.networking.k8s.io" => ingress,
        "ingressclasses.networking.k8s.io" => ingress_class,
        "networkpolicies.networking.k8s.io" => |row| named(row, vec![json!(row.selector("spec.podSelector"))]),
        "poddisruptionbudgets.policy" => budget,
        "clusterrolebindings.rbac.authorization.k8s.io" | "rolebindings.rbac.authorization.k8s.io" => binding,
        "priorityclasses.scheduling.k8s.io" => priority_class,
        "storageclasses.storage.k8s.io" => storage_class,
        "mutatingwebhookconfigurations.admissionregistration.k8s.io"
        | "validatingwebhookconfigurations.admissionregistration.k8s.io" => {
            |row| named(row, vec![json!(row.count("webhooks"))])
        }
        _ => return None,
    };
    Some(cells(row))
}

/// The name, what is between, and the age.
fn named(row: &Row<'_>, between: Vec<Value>) -> Vec<Value> {
    let mut cells = vec![row.name()];
    cells.extend(between);
    cells.push(row.age());
    cells
}

/// The name, marked if an annotation makes this the default of its kind.
fn name_of_class(row: &Row<'_>, annotation: &str) -> Value {
    let annotations = row.object.metadata.annotations.as_ref();
    let is_default = annotations.and_then(|annotations| annotations.get(annotation)).is_some_and(|text| text == "true");
    if is_default { json!(format!("{} (default)", row.object.name())) } else { row.name() }
}

fn config_map(row: &Row<'_>) -> Vec<Value> {
    named(row, vec![json!(row.count("data") + row.count("binaryData"))])
}

/// What the fields of an Event are called in one of its groups.
struct EventFields {
    first: &'static str,
    last: &'static str,
    count: &'static str,
    object: &'static str,
    source: &'static str,
    controller: &'static str,
    message: &'static str,
}

const CORE_EVENT: EventFields = EventFields {
    first: "firstTimestamp",
    last: "lastTimestamp",
    count: "count",
    object: "involvedObject",
    source: "source",
    controller: "reportingComponent",
    message: "message",
};

const NEW_EVENT: EventFields = EventFields {
    first: "deprecatedFirstTimestamp",
    last: "deprecatedLastTimestamp",
    count: "deprecatedCount",
    object: "regarding",
    source: "deprecatedSource",
    controller: "reportingController",
    message: "note",
};

fn event(row: &Row<'_>, fields: &EventFields) -> Vec<Value> {
    let unknown = || UNKNOWN.to_owned();
    let first = row.since(fields.first).or_else(|| row.since("eventTime")).unwrap_or_else(unknown);
    let mut last = row.since(fields.last).unwrap_or_else(|| first.clone());
    let mut count = Some(row.number(fields.count)).filter(|count| *count != 0).unwrap_or(1);
    if row.get("series").is_object() {
        last = row.since("series.lastObservedTime").unwrap_or_else(unknown);
        count = row.number("series.count");
    }
    let object = row.get(fields.object);
    let target = [text(&object["kind"]).to_lowercase(), text(&object["name"]).to_owned()];
    let target = target.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
    let source = row.get(fields.source);
    let part = |of_source: &str, path: &str| {
        let old = text(&source[of_source]);
        if old.is_empty() { row.text(path) } else { old }.to_owned()
    };
    let source = [part("component", fields.controller), part("host", "reportingInstance")];
    let source = source.join(", ");
    vec![
        json!(last),
        json!(row.text("type")),
        json!(row.text("reason")),
        json!(target),
        json!(text(&object["fieldPath"])),
        json!(source.strip_suffix(", ").unwrap_or(&source)),
        json!(row.text(fields.message).trim()),
        json!(first),
        json!(count),
        row.name(),
    ]
}

fn node(row: &Row<'_>) -> Vec<Value> {
    const VERSION: &str = "status.nodeInfo.kubeletVersion";
    let ready = match condition(row.list("status.conditions"), "Ready") {
        "" => "Unknown",
        "True" => "Ready",
        _ => "NotReady",
    };
    let closed = if row.get("spec.unschedulable") == true { ",SchedulingDisabled" } else { "" };
    let roles = or_none(joined(roles(row).into_iter()));
    let mut cells =
        vec![row.name(), json!(format!("{ready}{closed}")), json!(roles), row.age(), json!(row.text(VERSION))];
    let address = |type_: &str| {
        let found = row.list("status.addresses").iter().find(|address| address["type"] == type_);
        found.map_or(NONE, |address| text(&address["address"]))
    };
    let mut kernel = row.text_or("status.nodeInfo.kernelVersion", UNKNOWN).to_owned();
    match row.text("status.nodeInfo.architecture") {
        "" => {}
        architecture => kernel = format!("{kernel} ({architecture})"),
    }
    cells.extend([json!(address("InternalIP")), json!(address("ExternalIP"))]);
    cells.push(json!(row.text_or("status.nodeInfo.osImage", UNKNOWN)));
    cells.push(json!(kernel));
    cells.push(json!(row.text_or("status.nodeInfo.containerRuntimeVersion", UNKNOWN)));
    cells
}

fn roles(row: &Row<'_>) -> BTreeSet<String> {
    let role = |(label, value): (&String, &String)| match label.strip_prefix("node-role.kubernetes.io/") {
        Some(role) => Some(role.to_owned()),
        None => (label == "kubernetes.io/role").then(|| value.clone()),
    };
    let labels = row.object.metadata.labels.iter().flatten();
    labels.filter_map(role).filter(|role| !role.is_empty()).collect()
}

fn claim(row: &Row<'_>) -> Vec<Value> {
    let is_bound = !row.text("spec.volumeName").is_empty();
    let of_bound = |text: String| if is_bound { text } else { String::new() };
    let capacity = text(&row.get("status.capacity")["storage"]);
    vec![
        row.name(),
        json!(phase(row)),
        json!(row.text("spec.volumeName")),
        json!(of_bound(if capacity.is_empty() { "0" } else { capacity }.to_owned())),
        json!(of_bound(access_modes(row, "status.accessModes"))),
        json!(storage_class_of(row)),
        json!(row.get("spec.volumeAttributesClassName").as_str().unwrap_or(UNSET)),
        row.age(),
        json!(row.get("spec.volumeMode").as_str().unwrap_or(UNSET)),
    ]
}

fn volume(row: &Row<'_>) -> Vec<Value> {
    let claim = row.get("spec.claimRef");
    let claim = if claim.is_object() {
        format!("{}/{}", text(&claim["namespace"]), text(&claim["name"]))
    } else {
        String::new()
    };
    let capacity = text(&row.get("spec.capacity")["storage"]);
    vec![
        row.name(),
        json!(if capacity.is_empty() { "0" } else { capacity }),
        json!(access_modes(row, "spec.accessModes")),
        json!(row.text("spec.persistentVolumeReclaimPolicy")),
        json!(phase(row)),
        json!(claim),
        json!(storage_class_of(row)),
        json!(row.get("spec.volumeAttributesClassName").as_str().unwrap_or(UNSET)),
        json!(row.text("status.reason")),
        row.age(),
        json!(row.get("spec.volumeMode").as_str().unwrap_or(UNSET)),
    ]
}

fn phase<'a>(row: &Row<'a>) -> &'a str {
    if row.is_ending() { "Terminating" } else { row.text("status.phase") }
}

/// The class a volume or a claim is of: an old annotation goes before the field.
fn storage_class_of(row: &Row<'_>) -> String {
    let annotations = row.object.metadata.annotations.as_ref();
    let annotated = annotations.and_then(|annotations| annotations.get("volume.beta.kubernetes.io/storage-class"));
    annotated.cloned().unwrap_or_else(|| row.text("spec.storageClassName").to_owned())
}

fn access_modes(row: &Row<'_>, path: &str) -> String {
    const SHORT: [(&str, &str); 4] =
        [("ReadWriteOnce", "RWO"), ("ReadOnlyMany", "ROX"), ("ReadWriteMany", "RWX"), ("ReadWriteOncePod", "RWOP")];
    let modes = row.list(path);
    joined(
        SHORT.iter().filter(|(mode, _)| modes.iter().any(|found| found == mode)).map(|(_, short)| (*short).to_owned()),
    )
}

fn quota(row: &Row<'_>) -> Vec<Value> {
    let used = row.get("status.used");
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    let mut hard: Vec<_> = row.get("status.hard").as_object().into_iter().flatten().collect();
    hard.sort_by_key(|(resource, _)| *resource);
    for (resource, hard) in hard {
        let used = used[resource].as_str().unwrap_or("0");
        let list = if resource.starts_with("limits.") { &mut limits } else { &mut requests };
        list.push(format!("{resource}: {used}/{}", text(hard)));
    }
    named(row, vec![json!(requests.join(", ")), json!(limits.join(", "))])
}

fn service(row: &Row<'_>) -> Vec<Value> {
    let cluster_ip = row.list("spec.clusterIPs").first().map_or(NONE, text);
    let ports = row.list("spec.ports").iter().map(|port| {
        let (number, protocol) = (port["port"].as_i64().unwrap_or_default(), text(&port["protocol"]));
        match port["nodePort"].as_i64().unwrap_or_default() {
            0 => format!("{number}/{protocol}"),
            node => format!("{number}:{node}/{protocol}"),
        }
    });
    vec![
        row.name(),
        json!(row.text("spec.type")),
        json!(cluster_ip),
        json!(external_ip(row)),
        json!(or_none(joined(ports))),
        row.age(),
        json!(row.labels("spec.selector")),
    ]
}

fn external_ip(row: &Row<'_>) -> String {
    let external = row.list("spec.externalIPs").iter().map(|ip| text(ip).to_owned());
    match row.text("spec.type") {
        "ClusterIP" | "NodePort" => or_none(joined(external)),
        "LoadBalancer" => {
            let all = joined(ingress_points(row).into_iter().chain(external));
            if all.is_empty() { "<pending>".to_owned() } else { all }
        }
        "ExternalName" => row.text("spec.externalName").to_owned(),
        _ => UNKNOWN.to_owned(),
    }
}

/// Where a load balancer can be reached.
fn ingress_points(row: &Row<'_>) -> BTreeSet<String> {
    let points = row.list("status.loadBalancer.ingress").iter();
    let address = |point: &Value| match text(&point["ip"]) {
        "" => text(&point["hostname"]).to_owned(),
        ip => ip.to_owned(),
    };
    points.map(address).filter(|address| !address.is_empty()).collect()
}

fn ingress(row: &Row<'_>) -> Vec<Value> {
    let ports = if row.count("spec.tls") > 0 { "80, 443" } else { "80" };
    vec![
        row.name(),
        json!(row.get("spec.ingressClassName").as_str().unwrap_or(NONE)),
        json!(hosts(row)),
        json!(joined(ingress_points(row).into_iter())),
        json!(ports),
        row.age(),
    ]
}

/// The first three hosts; how many more there are counts rules.
fn hosts(row: &Row<'_>) -> String {
    const FEW: usize = 3;
    let rules = row.list("spec.rules");
    let mut hosts = Vec::new();
    let mut more = false;
    for rule in rules {
        more |= hosts.len() == FEW;
        let host = text(&rule["host"]);
        if !more && !host.is_empty() {
            hosts.push(host);
        }
    }
    match (hosts.is_empty(), more) {
        (true, _) => "*".to_owned(),
        (false, true) => format!("{} + {} more...", hosts.join(","), rules.len() - FEW),
        (false, false) => hosts.join(","),
    }
}

fn ingress_class(row: &Row<'_>) -> Vec<Value> {
    let parameters = row.get("spec.parameters");
    let group = parameters["apiGroup"].as_str().map(|group| format!(".{group}")).unwrap_or_default();
    let parameters = match parameters.is_object() {
        true => format!("{}{group}/{}", text(&parameters["kind"]), text(&parameters["name"])),
        false => NONE.to_owned(),
    };
    let name = name_of_class(row, "ingressclass.kubernetes.io/is-default-class");
    vec![name, json!(row.text("spec.controller")), json!(parameters), row.age()]
}

fn budget(row: &Row<'_>) -> Vec<Value> {
    let bound = |path: &str| match row.get(path) {
        Value::Null => json!("N/A"),
        Value::Number(number) => json!(number.to_string()),
        other => other.clone(),
    };
    let allowed = json!(row.number("status.disruptionsAllowed"));
    named(row, vec![bound("spec.minAvailable"), bound("spec.maxUnavailable"), allowed])
}

fn binding(row: &Row<'_>) -> Vec<Value> {
    let role = row.get("roleRef");
    let mut cells = named(row, vec![json!(format!("{}/{}", text(&role["kind"]), text(&role["name"])))]);
    for kind in ["User", "Group", "ServiceAccount"] {
        let subjects = row.list("subjects").iter().filter(|subject| subject["kind"] == kind);
        let names = subjects.map(|subject| match kind {
            "ServiceAccount" => format!("{}/{}", text(&subject["namespace"]), text(&subject["name"])),
            _ => text(&subject["name"]).to_owned(),
        });
        cells.push(json!(names.collect::<Vec<_>>().join(", ")));
    }
    cells
}

fn revision(row: &Row<'_>) -> Vec<Value> {
    let owners = row.object.metadata.owner_references.iter().flatten();
    let controller = owners.into_iter().find(|owner| owner.controller == Some(true)).map(|owner| {
        let group = owner.api_version.rsplit_once('/').map(|(group, _)| format!(".{group}")).unwrap_or_default();
        format!("{}{group}/{}", owner.kind, owner.name)
    });
    let controller = controller.map_or_else(
        || NONE.to_owned(),
        |text| text.split_once('/').map_or(text.clone(), |(kind, name)| format!("{}/{name}", kind.to_lowercase())),
    );
    named(row, vec![json!(controller), json!(row.number("revision"))])
}

fn priority_class(row: &Row<'_>) -> Vec<Value> {
    let is_default = row.get("globalDefault") == true;
    let mut cells = named(row, vec![json!(row.number("value")), json!(is_default)]);
    cells.push(json!(row.text("preemptionPolicy")));
    cells
}

fn storage_class(row: &Row<'_>) -> Vec<Value> {
    vec![
        name_of_class(row, "storageclass.kubernetes.io/is-default-class"),
        json!(row.text("provisioner")),
        json!(row.text_or("reclaimPolicy", "Delete")),
        json!(row.text_or("volumeBindingMode", "Immediate")),
        json!(row.get("allowVolumeExpansion") == true),
        row.age(),
    ]
}

fn endpoint_slice(row: &Row<'_>) -> Vec<Value> {
    const FEW: usize = 3;
    let port = |port: &Value| match (port["port"].as_i64(), port["name"].as_str()) {
        (Some(number), _) => number.to_string(),
        (None, Some(name)) => name.to_owned(),
        (None, None) => "*".to_owned(),
    };
    let ports: Vec<String> = row.list("ports").iter().map(port).collect();
    let addresses = row.list("endpoints").iter().filter_map(|endpoint| endpoint["addresses"].as_array()).flatten();
    let addresses: Vec<String> = addresses.map(|address| text(address).to_owned()).collect();
    let few = |all: &[String]| json!(first_few(all, FEW, UNSET));
    named(row, vec![json!(row.text("addressType")), few(&ports), few(&addresses)])
}
