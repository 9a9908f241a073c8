//! The rows of built-in kinds, in the columns of `columns.json`.

use serde_json::{Value, json};

use super::{
    autoscalers, cluster, control_plane, events, network, pods,
    row::{NONE, Row, join, text},
    storage, workloads,
};

/// The rows of a resource.
type Cells = fn(&Row<'_>) -> Vec<Value>;

/// The resources (`plural.group`) with specific columns, by group.
const CELLS: &[(&str, Cells)] = &[
    ("configmaps", config_map),
    ("endpoints", network::endpoints),
    ("events", |row| events::event(row, &events::CORE_EVENT)),
    ("namespaces", |row| row.with_name_and_age(vec![json!(row.text("status.phase"))])),
    ("nodes", cluster::node),
    ("persistentvolumeclaims", cluster::claim),
    ("persistentvolumes", cluster::volume),
    ("pods", pods::cells),
    ("podtemplates", workloads::pod_template),
    ("replicationcontrollers", workloads::replication_controller),
    ("resourcequotas", cluster::quota),
    ("secrets", |row| row.with_name_and_age(vec![json!(row.text("type")), json!(row.count("data"))])),
    ("serviceaccounts", |row| row.with_name_and_age(Vec::new())),
    ("services", network::service),
    ("mutatingadmissionpolicies.admissionregistration.k8s.io", |row| {
        control_plane::admission_policy(row, "spec.mutations")
    }),
    ("mutatingadmissionpolicybindings.admissionregistration.k8s.io", control_plane::admission_policy_binding),
    ("mutatingwebhookconfigurations.admissionregistration.k8s.io", |row| {
        row.with_name_and_age(vec![json!(row.count("webhooks"))])
    }),
    ("validatingadmissionpolicies.admissionregistration.k8s.io", |row| {
        control_plane::admission_policy(row, "spec.validations")
    }),
    ("validatingadmissionpolicybindings.admissionregistration.k8s.io", control_plane::admission_policy_binding),
    ("validatingwebhookconfigurations.admissionregistration.k8s.io", |row| {
        row.with_name_and_age(vec![json!(row.count("webhooks"))])
    }),
    ("controllerrevisions.apps", revision),
    ("daemonsets.apps", workloads::daemon_set),
    ("deployments.apps", workloads::deployment),
    ("replicasets.apps", workloads::replica_set),
    ("statefulsets.apps", workloads::stateful_set),
    ("horizontalpodautoscalers.autoscaling", autoscalers::autoscaler),
    ("cronjobs.batch", workloads::cron_job),
    ("jobs.batch", workloads::job),
    ("certificatesigningrequests.certificates.k8s.io", control_plane::certificate_signing_request),
    ("leases.coordination.k8s.io", |row| row.with_name_and_age(vec![json!(row.text("spec.holderIdentity"))])),
    ("endpointslices.discovery.k8s.io", network::endpoint_slice),
    ("events.events.k8s.io", |row| events::event(row, &events::NEW_EVENT)),
    ("ingressclasses.networking.k8s.io", network::ingress_class),
    ("ingresses.networking.k8s.io", network::ingress),
    ("ipaddresses.networking.k8s.io", storage::ip_address),
    ("networkpolicies.networking.k8s.io", |row| row.with_name_and_age(vec![json!(row.selector("spec.podSelector"))])),
    ("servicecidrs.networking.k8s.io", |row| {
        row.with_name_and_age(vec![json!(join(row.list("spec.cidrs").iter().map(|range| text(range).to_owned())))])
    }),
    ("runtimeclasses.node.k8s.io", |row| row.with_name_and_age(vec![json!(row.text("handler"))])),
    ("poddisruptionbudgets.policy", budget),
    ("clusterrolebindings.rbac.authorization.k8s.io", binding),
    ("rolebindings.rbac.authorization.k8s.io", binding),
    ("deviceclasses.resource.k8s.io", |row| row.with_name_and_age(Vec::new())),
    ("resourceclaims.resource.k8s.io", storage::resource_claim),
    ("resourceclaimtemplates.resource.k8s.io", |row| row.with_name_and_age(Vec::new())),
    ("resourceslices.resource.k8s.io", storage::resource_slice),
    ("priorityclasses.scheduling.k8s.io", cluster::priority_class),
    ("csidrivers.storage.k8s.io", storage::csi_driver),
    ("csinodes.storage.k8s.io", |row| row.with_name_and_age(vec![json!(row.count("spec.drivers"))])),
    ("storageclasses.storage.k8s.io", cluster::storage_class),
    ("volumeattachments.storage.k8s.io", storage::volume_attachment),
    ("volumeattributesclasses.storage.k8s.io", |row| row.with_name_and_age(vec![json!(row.text("driverName"))])),
];

/// Returns the cells of an object of a resource (`plural.group`), if it has specific columns.
pub(super) fn cells(resource: &str, row: &Row<'_>) -> Option<Vec<Value>> {
    let (_, cells) = CELLS.iter().find(|(known, _)| *known == resource)?;
    Some(cells(row))
}

fn config_map(row: &Row<'_>) -> Vec<Value> {
    row.with_name_and_age(vec![json!(row.count("data") + row.count("binaryData"))])
}

fn budget(row: &Row<'_>) -> Vec<Value> {
    let bound = |path: &str| match row.get(path) {
        Value::Null => json!("N/A"),
        Value::Number(number) => json!(number.to_string()),
        other => other.clone(),
    };
    let allowed = json!(row.number("status.disruptionsAllowed"));
    row.with_name_and_age(vec![bound("spec.minAvailable"), bound("spec.maxUnavailable"), allowed])
}

fn binding(row: &Row<'_>) -> Vec<Value> {
    let role = row.get("roleRef");
    let mut cells = row.with_name_and_age(vec![json!(format!("{}/{}", text(&role["kind"]), text(&role["name"])))]);
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
    row.with_name_and_age(vec![json!(controller), json!(row.number("revision"))])
}
