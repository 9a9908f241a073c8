//! The values of a chart: one list, from which `values.yaml`, `values.schema.json` and the table of the README are
//! printed.

use serde_json::{Map, Value, json};

use super::{MARK, template::Template};
use crate::{
    config::{POD_LABEL, Project},
    settings::CertificateMode,
};

/// What an operator can lack.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    /// The definitions of kinds.
    pub(super) definitions: bool,
    /// The server of metrics.
    pub(super) metrics: bool,
    /// Webhooks.
    pub(super) webhooks: bool,
}

/// A value that users can set.
pub(super) struct Declaration {
    /// The name, with the name of its group before a dot.
    path: &'static str,
    description: &'static str,
    schema: Value,
    default: Value,
}

fn declare(path: &'static str, description: &'static str, schema: Value, default: impl Into<Value>) -> Declaration {
    Declaration { path, description, schema, default: default.into() }
}

fn switch(path: &'static str, description: &'static str, default: bool) -> Declaration {
    declare(path, description, json!({"type": "boolean"}), default)
}

/// Declares all values. The defaults are those of the rendered Deployment and of the settings.
pub(super) fn declarations(project: &Project, resources: Value, parts: Parts) -> Vec<Declaration> {
    let mut all = container(project, resources);
    all.extend(pod());
    all.extend([
        switch("serviceAccount.create", "Creates the service account of the operator.", true),
        declare(
            "serviceAccount.name",
            "The service account; by default that of the release, or `default` if none is created.",
            json!({"type": "string"}),
            "",
        ),
        declare("serviceAccount.annotations", "Annotations of the service account.", texts(), json!({})),
        switch("rbac.create", "Creates the roles and their bindings.", true),
        switch(
            "rbac.namespaced",
            "Restricts the operator to the namespace of the release, with a Role in place of a ClusterRole.",
            project.settings.namespaced,
        ),
    ]);
    if parts.definitions {
        all.extend(definitions());
    }
    if parts.metrics {
        all.extend(metrics(project));
    }
    if parts.metrics || parts.webhooks {
        let policies = "Admits only connections to the metrics and the webhooks, and to the metrics only those of \
                        clients in namespaces with the label `metrics: enabled`.";
        all.push(switch("networkPolicy.enabled", policies, project.settings.network_policy));
    }
    if parts.webhooks {
        let certificate = "Uses a certificate of cert-manager for the webhooks. Otherwise the operator issues it.";
        let is_default = project.settings.webhooks.certificates == CertificateMode::CertManager;
        all.push(switch("certManager.enabled", certificate, is_default));
    }
    let budget = "Creates a PodDisruptionBudget, so that a drain never stops all replicas.";
    all.push(switch("podDisruptionBudget.enabled", budget, true));
    all
}

fn container(project: &Project, resources: Value) -> Vec<Declaration> {
    let settings = &project.settings;
    let (repository, tag, digest) = split_image(&settings.image);
    let mut replicas = json!({"type": "integer", "minimum": 0});
    // Several replicas without leader election or sharding would do the same work.
    if !project.description.allows_replicas() {
        replicas["maximum"] = json!(1);
    }
    let env: Vec<_> = settings.env.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    let pull_policy = json!({"type": "string", "enum": ["", "Always", "IfNotPresent", "Never"]});
    let digest_schema = json!({"type": "string", "pattern": "^(sha256:[0-9a-f]{64})?$"});
    let args = json!({"type": "array", "items": {"type": "string"}});
    vec![
        declare("replicas", "The number of replicas.", replicas, settings.replicas),
        declare("image.repository", "The image without tag.", json!({"type": "string", "minLength": 1}), repository),
        declare("image.tag", "The tag of the image.", json!({"type": "string"}), tag),
        declare("image.digest", "The digest of the image, such as `sha256:..`.", digest_schema, digest),
        declare("image.pullPolicy", "The pull policy; empty for that of Kubernetes.", pull_policy, ""),
        declare("imagePullSecrets", "The secrets with credentials of the registry.", objects(), json!([])),
        declare("args", "The flags of the operator.", args, json!(settings.args)),
        declare("env", "Environment variables of the operator.", objects(), env),
        declare("logLevel", "The filter of the log, `RUST_LOG`; empty for `info`.", json!({"type": "string"}), ""),
        declare("resources", "The requests and limits of the container.", json!({"type": "object"}), resources),
    ]
}

fn pod() -> Vec<Declaration> {
    // These select the pods of the release.
    let reserved = json!({"enum": ["app.kubernetes.io/name", "app.kubernetes.io/instance", POD_LABEL]});
    let mut labels = texts();
    labels["propertyNames"] = json!({"not": reserved});
    let mut annotations = texts();
    annotations["propertyNames"] = json!({"not": {"enum": ["kubectl.kubernetes.io/default-container"]}});
    vec![
        declare("nodeSelector", "Labels of the nodes of the pods.", texts(), json!({})),
        declare("tolerations", "Tolerations of the pods.", objects(), json!([])),
        declare("affinity", "The affinity of the pods.", json!({"type": "object"}), json!({})),
        declare("podAnnotations", "Further annotations of the pods.", annotations, json!({})),
        declare("podLabels", "Further labels of the pods.", labels, json!({})),
    ]
}

fn definitions() -> [Declaration; 3] {
    let job = "Applies the definitions with a Job of the operator before each install and upgrade, which rejects \
               breaking changes. Otherwise they are templates.";
    [
        switch("crds.install", "Installs the definitions. Disable it if they are managed elsewhere.", true),
        switch("crds.job", job, true),
        switch("crds.keep", "Keeps definitions that are templates when the release is uninstalled.", true),
    ]
}

fn metrics(project: &Project) -> [Declaration; 2] {
    [
        switch("metrics.enabled", "Creates a Service of the metrics.", true),
        switch(
            "metrics.serviceMonitor",
            "Creates a ServiceMonitor and the alerts, for the Prometheus operator.",
            project.settings.prometheus,
        ),
    ]
}

fn texts() -> Value {
    json!({"type": "object", "additionalProperties": {"type": "string"}})
}

fn objects() -> Value {
    json!({"type": "array", "items": {"type": "object"}})
}

/// Splits a reference to an image into repository, tag and digest, of which the last two can be empty.
fn split_image(image: &str) -> (&str, &str, &str) {
    let (name, digest) = image.split_once('@').unwrap_or((image, ""));
    match name.rsplit_once(':') {
        // A colon before a slash separates the port of the registry.
        Some((repository, tag)) if !tag.contains('/') => (repository, tag, digest),
        _ => (name, "", digest),
    }
}

/// Prints `values.yaml`.
pub(super) fn yaml(declarations: &[Declaration]) -> String {
    let mut text = format!("# {MARK}\n");
    let mut open = "";
    for Declaration { path, description, default, .. } in declarations {
        let (group, name) = path.split_once('.').unwrap_or(("", *path));
        if group != open && !group.is_empty() {
            text += &format!("{group}:\n");
        }
        open = group;
        let indent = if group.is_empty() { 0 } else { 2 };
        text += &format!("{:indent$}# {description}\n", "");
        text += &Template::from(default.clone()).print_entry(indent, name);
    }
    text
}

/// Prints `values.schema.json`. Every value is required, because its default exists unless it is removed with null.
pub(super) fn schema(declarations: &[Declaration]) -> String {
    let mut root = Group::default();
    let mut groups: Vec<(&str, Group)> = Vec::new();
    for declaration in declarations {
        match declaration.path.split_once('.') {
            None => root.add(declaration.path, declaration.schema(), true),
            Some((group, name)) => {
                if groups.last().is_none_or(|(last, _)| *last != group) {
                    groups.push((group, Group::default()));
                }
                if let Some((_, group)) = groups.last_mut() {
                    group.add(name, declaration.schema(), true);
                }
            }
        }
    }
    groups.into_iter().for_each(|(name, group)| root.add(name, group.schema(), true));
    // Helm adds it to the values of dependencies.
    root.add("global", json!({"type": "object"}), false);
    let mut schema = root.schema();
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["$comment"] = json!(MARK);
    format!("{schema:#}\n")
}

/// The schema of a map of values.
#[derive(Default)]
struct Group {
    properties: Map<String, Value>,
    required: Vec<String>,
}

impl Group {
    fn add(&mut self, name: &str, schema: Value, is_required: bool) {
        self.properties.insert(name.to_owned(), schema);
        self.required.extend(is_required.then(|| name.to_owned()));
    }

    fn schema(self) -> Value {
        let Group { properties, required } = self;
        json!({"type": "object", "additionalProperties": false, "properties": properties, "required": required})
    }
}

impl Declaration {
    fn schema(&self) -> Value {
        let mut schema = self.schema.clone();
        schema["description"] = json!(self.description);
        schema
    }
}

/// Prints the table of the README.
pub(super) fn table(declarations: &[Declaration]) -> String {
    let mut text = "| Value | Default | Meaning |\n|---|---|---|\n".to_owned();
    for Declaration { path, description, default, .. } in declarations {
        let default = default.to_string().replace('|', "\\|");
        text += &format!("| `{path}` | `{default}` | {description} |\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_split() {
        for (image, expected) in [
            ("widgets", ("widgets", "", "")),
            ("widgets:1.0", ("widgets", "1.0", "")),
            ("localhost:5000/widgets", ("localhost:5000/widgets", "", "")),
            ("localhost:5000/widgets:1@sha256:ab", ("localhost:5000/widgets", "1", "sha256:ab")),
            ("widgets@sha256:ab", ("widgets", "", "sha256:ab")),
        ] {
            assert_eq!(split_image(image), expected, "{image}");
        }
    }
}
