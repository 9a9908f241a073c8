//! Rules of every object of a bundle.

use serde_json::Value;

use super::{Bundle, Findings, Manifest, list, text};
use crate::olm::{CSV_KIND, DEFINITION_KIND, SUPPORTED_KINDS};

pub(super) fn validate(bundle: &Bundle, findings: &mut Findings) {
    let accounts = service_accounts(bundle);
    for Manifest { file, object } in &bundle.manifests {
        findings.file.clone_from(file);
        let (kind, name) = (text(object, "kind"), text(&object["metadata"], "name"));
        if kind.is_empty() || name.is_empty() || text(object, "apiVersion").is_empty() {
            let message = "`apiVersion`, `kind` or `metadata.name` is missing";
            findings.error("object-incomplete", "", message, "add it, or remove the file");
            continue;
        }
        if ![CSV_KIND, DEFINITION_KIND].contains(&kind) && !SUPPORTED_KINDS.contains(&kind) {
            let help = "remove it, and let the operator create the object";
            findings.error("kind-unsupported", "kind", format!("OLM does not support {kind} in bundles"), help);
        }
        if !object["metadata"]["namespace"].is_null() {
            let message = "OLM installs the object in the namespace of the operator";
            findings.error("namespace-set", "metadata.namespace", message, "remove the namespace");
        }
        if kind == "ServiceAccount" && accounts.contains(&name) {
            let message = format!("OLM creates the service account {name:?} of the ClusterServiceVersion itself");
            findings.error("service-account", "metadata.name", message, "remove the object");
        }
        if kind == "PodDisruptionBudget" {
            disruption_budget(&object["spec"], findings);
        }
    }
}

/// Returns the service accounts of the deployments.
fn service_accounts(bundle: &Bundle) -> Vec<&str> {
    let install = bundle.service_version().map(|csv| &csv.object["spec"]["install"]["spec"]);
    let deployments = install.into_iter().flat_map(|install| list(install, "deployments"));
    deployments.map(|deployment| text(&deployment["spec"]["template"]["spec"], "serviceAccountName")).collect()
}

fn disruption_budget(spec: &Value, findings: &mut Findings) {
    let is = |field: &str, values: &[Value]| values.contains(&spec[field]);
    for (field, blocks) in [
        ("maxUnavailable", is("maxUnavailable", &["0%".into(), 0.into()])),
        ("minAvailable", is("minAvailable", &["100%".into()])),
    ] {
        if blocks {
            let help = "let at least one pod be evicted";
            findings.error("budget-blocks-drains", format!("spec.{field}"), "no node can be drained", help);
        }
    }
}
