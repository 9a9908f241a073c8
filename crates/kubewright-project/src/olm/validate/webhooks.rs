//! Rules of the webhooks of the ClusterServiceVersion.

use kubewright_names::validation::is_dns_1123_subdomain;
use serde_json::Value;

use super::{Findings, duplicates, list, strings, text};

const FIELD: &str = "spec.webhookdefinitions";
const CONVERSION: &str = "ConversionWebhook";
/// The configurations of webhooks: a webhook for them could lock out the administrator.
const ADMISSION_GROUP: &str = "admissionregistration.k8s.io";
const ADMISSION_RESOURCES: [&str; 5] = [
    "*",
    "mutatingwebhookconfiguration",
    "mutatingwebhookconfigurations",
    "validatingwebhookconfiguration",
    "validatingwebhookconfigurations",
];

pub(super) fn validate(csv: &Value, findings: &mut Findings) {
    let spec = &csv["spec"];
    let webhooks: Vec<_> = list(spec, "webhookdefinitions").collect();
    if webhooks.is_empty() {
        return;
    }
    install_modes(spec, findings);
    deployments(spec, &webhooks, findings);
    names(&webhooks, findings);
    conversions(spec, &webhooks, findings);
    for webhook in webhooks.iter().filter(|webhook| text(webhook, "type") != CONVERSION) {
        rules(webhook, findings);
    }
}

fn install_modes(spec: &Value, findings: &mut Findings) {
    let mut modes = list(spec, "installModes").filter(|mode| mode["supported"] == Value::Bool(true));
    if modes.any(|mode| text(mode, "type") != "AllNamespaces") {
        let message = "a bundle with webhooks supports only the install mode `AllNamespaces`";
        findings.error("webhook-install-modes", "spec.installModes", message, "remove the others");
    }
}

fn deployments(spec: &Value, webhooks: &[&Value], findings: &mut Findings) {
    let deployments: Vec<_> =
        list(&spec["install"]["spec"], "deployments").map(|deployment| text(deployment, "name")).collect();
    for webhook in webhooks {
        let deployment = text(webhook, "deploymentName");
        if !deployments.contains(&deployment) {
            let message =
                format!("{:?} refers to the missing deployment {deployment:?}", text(webhook, "generateName"));
            findings.error("webhook-deployment", FIELD, message, "use the name of a deployment of the bundle");
        }
    }
}

fn names(webhooks: &[&Value], findings: &mut Findings) {
    let name = |webhook: &&Value| text(webhook, "generateName").to_owned();
    for webhook in webhooks.iter().filter(|webhook| !is_dns_1123_subdomain(&name(webhook))) {
        let help = "use lowercase letters, digits, `-` and `.`";
        findings.error("webhook-name", FIELD, format!("invalid name {:?}", name(webhook)), help);
    }
    let of_type = |webhook: &&'_ Value| (text(webhook, "type").to_owned(), name(webhook));
    let all: Vec<_> = webhooks.iter().map(of_type).collect();
    for (kind, name) in duplicates(&all) {
        let message = format!("the {kind} {name:?} occurs more than once");
        findings.error("webhook-name", FIELD, message, "rename one of them");
    }
}

fn conversions(spec: &Value, webhooks: &[&Value], findings: &mut Findings) {
    let owned: Vec<_> = list(&spec["customresourcedefinitions"], "owned").map(|owned| text(owned, "name")).collect();
    let conversions = webhooks.iter().filter(|webhook| text(webhook, "type") == CONVERSION);
    let converted: Vec<_> = conversions.flat_map(|webhook| strings(webhook, "conversionCRDs")).collect();
    for name in converted.iter().filter(|name| !owned.contains(name)) {
        let message = format!("the converted definition {name:?} is not owned");
        findings.error("webhook-conversion", FIELD, message, "convert only definitions of the bundle");
    }
    for name in duplicates(converted) {
        let message = format!("the definition {name:?} is converted more than once");
        findings.error("webhook-conversion", FIELD, message, "keep one of the webhooks");
    }
}

fn rules(webhook: &Value, findings: &mut Findings) {
    let name = text(webhook, "generateName");
    for rule in list(webhook, "rules") {
        let forbidden = strings(rule, "apiGroups").find(|group| match *group {
            "*" | "olm.operatorframework.io" => true,
            ADMISSION_GROUP => strings(rule, "resources")
                .any(|resource| ADMISSION_RESOURCES.contains(&resource.to_lowercase().as_str())),
            _ => false,
        });
        if let Some(group) = forbidden {
            let message = format!("the rules of {name:?} cover {group:?}, which OLM forbids");
            findings.error("webhook-rules", FIELD, message, "name the groups and resources that the webhook validates");
        }
    }
}
