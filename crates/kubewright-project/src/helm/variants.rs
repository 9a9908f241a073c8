//! The objects of an operator under different settings, and the conditions under which a chart contains them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{ChartError, Document, helpers::Helpers, place, pods, template::Template, webhooks};
use crate::{
    config::{Object, Project, manager::WATCH_NAMESPACES, metrics_server, objects, webhooks::Webhooks},
    rbac::SELF_MANAGED_ROLES,
    settings::{CertificateMode, Settings, WebhookSettings},
};

/// The documents of each file below `templates/`.
pub(super) type Templates = BTreeMap<String, Vec<Document>>;

/// The objects of an operator under different settings: with everything, in its own namespace, with one replica, and
/// with a certificate of cert-manager.
pub(super) struct Variants {
    all: BTreeMap<String, Value>,
    namespaced: BTreeMap<String, Value>,
    single: BTreeMap<String, Value>,
    cert_manager: BTreeMap<String, Value>,
    pub(super) has_webhooks: bool,
}

const DEPLOYMENT: &str = "manager/manager.yaml";

impl Variants {
    pub(super) fn from_project(project: &Project) -> Result<Self, ChartError> {
        let has_metrics = metrics_server(&project.description).is_some();
        let has_webhooks = Webhooks::from_project(project)?.is_some();
        let render = |replicas: i32, namespaced: bool, certificates| -> Result<BTreeMap<String, Value>, ChartError> {
            let settings = Settings {
                // These are values.
                env: BTreeMap::new(),
                replicas,
                namespaced,
                prometheus: has_metrics,
                network_policy: true,
                webhooks: WebhookSettings { certificates },
                ..project.settings.clone()
            };
            let objects = objects(&Project { settings, ..project.clone() })?;
            Ok(objects.into_iter().map(|Object { path, value }| (path, value)).collect())
        };
        // Several replicas need leader election or sharding.
        let several = if project.description.allows_replicas() { 2 } else { 1 };
        Ok(Variants {
            all: render(several, false, CertificateMode::SelfManaged)?,
            namespaced: render(several, true, CertificateMode::SelfManaged)?,
            single: render(1, false, CertificateMode::SelfManaged)?,
            cert_manager: render(several, false, CertificateMode::CertManager)?,
            has_webhooks,
        })
    }

    /// Returns the resources of the container.
    pub(super) fn resources(&self) -> Value {
        container(&self.all, "resources").cloned().unwrap_or_else(|| json!({}))
    }

    pub(super) fn templates(&self, helpers: Helpers<'_>) -> Result<Templates, ChartError> {
        let mut templates = Templates::new();
        let paths = self.all.keys().chain(self.namespaced.keys()).chain(self.cert_manager.keys());
        let paths: BTreeSet<&String> = paths.collect();
        // The namespace is that of the release.
        for path in paths.into_iter().filter(|path| *path != "manager/namespace.yaml") {
            let mut documents = Vec::new();
            for (condition, value) in self.alternatives(path) {
                let mut template = place(value.clone(), helpers)?;
                self.place_values(path, &mut template, helpers)?;
                let conditions = conditions(path).into_iter().chain(condition.map(str::to_owned)).collect();
                documents.push(Document { conditions, template });
            }
            templates.insert(path.strip_prefix("default/").unwrap_or(path).to_owned(), documents);
        }
        Ok(templates)
    }

    /// Returns what the file contains under different values, each with its condition.
    fn alternatives(&self, path: &str) -> Vec<(Option<&'static str>, &Value)> {
        let (all, namespaced, single) = (self.all.get(path), self.namespaced.get(path), self.single.get(path));
        let choices = if path == DEPLOYMENT {
            // The variables are placed in it.
            vec![(None, all)]
        } else if path.starts_with("certmanager/") {
            vec![(None, self.cert_manager.get(path))]
        } else if all != namespaced {
            vec![(Some(".Values.rbac.namespaced"), namespaced), (Some("not .Values.rbac.namespaced"), all)]
        } else if all != single {
            vec![(Some("gt (int .Values.replicas) 1"), all), (Some("le (int .Values.replicas) 1"), single)]
        } else {
            vec![(None, all)]
        };
        choices.into_iter().filter_map(|(condition, value)| Some((condition, value?))).collect()
    }

    fn place_values(&self, path: &str, template: &mut Template, helpers: Helpers<'_>) -> Result<(), ChartError> {
        match path {
            DEPLOYMENT => {
                let variables = container(&self.namespaced, "env").and_then(Value::as_array);
                let namespaced = |variable: &&Value| variable["name"] == WATCH_NAMESPACES;
                let variables = variables.into_iter().flatten().filter(namespaced);
                let variables = variables.cloned().map(Template::from).collect();
                pods::place_deployment(template, variables, self.has_webhooks, helpers)
            }
            "rbac/service_account.yaml" => {
                let metadata = template.map_at("/metadata")?;
                metadata.set("name", helpers.service_account());
                metadata.set("annotations", Template::With(".Values.serviceAccount.annotations".to_owned()));
                Ok(())
            }
            "network-policy/allow-metrics-traffic.yaml" => {
                let ingress = template.at("/spec/ingress")?;
                *ingress = ingress.clone().only_if(".Values.metrics.enabled");
                Ok(())
            }
            "certmanager/certificate.yaml" => webhooks::place_certificate(template, helpers),
            path if path.starts_with("webhook/") && path.ends_with("configuration.yaml") => {
                webhooks::place_configuration(template, helpers)
            }
            path if is_self_managed(path) && path.ends_with("_role.yaml") => webhooks::place_rules(template, helpers),
            _ => Ok(()),
        }
    }
}

/// Returns a field of the container of the Deployment.
fn container<'a>(objects: &'a BTreeMap<String, Value>, field: &str) -> Option<&'a Value> {
    objects.get(DEPLOYMENT)?.pointer(&format!("/spec/template/spec/containers/0/{field}"))
}

/// Returns the conditions of a file of `config/`.
pub(super) fn conditions(path: &str) -> Vec<String> {
    let conditions: &[&str] = match path.split_once('/') {
        Some(("rbac", "service_account.yaml")) => &[".Values.serviceAccount.create"],
        Some(("rbac", _)) if is_self_managed(path) => &[".Values.rbac.create", webhooks::SELF_MANAGED],
        Some(("rbac", _)) => &[".Values.rbac.create"],
        Some(("manager", "disruption_budget.yaml")) => &[".Values.podDisruptionBudget.enabled"],
        Some(("default", "metrics_service.yaml")) => &[".Values.metrics.enabled"],
        Some(("prometheus", _)) => &[".Values.metrics.enabled", ".Values.metrics.serviceMonitor"],
        Some(("network-policy", _)) => &[".Values.networkPolicy.enabled"],
        Some(("certmanager", _)) => &[webhooks::CERT_MANAGER],
        _ => &[],
    };
    conditions.iter().map(|condition| (*condition).to_owned()).collect()
}

/// Returns whether the file is one of the roles of an operator that issues the certificate of its webhooks itself.
fn is_self_managed(path: &str) -> bool {
    let file = path.strip_prefix("rbac/");
    file.is_some_and(|file| SELF_MANAGED_ROLES.iter().any(|role| file.starts_with(&role.replace('-', "_"))))
}
