//! The files of a chart, for an operator of Widgets. `tests/tests/e2e/chart.rs` renders that of the Logger operator.

use std::collections::BTreeSet;

use kubewright_codegen::File;
use kubewright_project::{Chart, render};
use serde_json::{Value, json};

use crate::fixture::project;

fn chart(settings: &str) -> Chart {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.org"},
    });
    let alerts = json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "alerts"},
        "spec": {"summary": "{{ $labels.widget }} is down"},
    });
    Chart {
        project: project(settings),
        version: "1.2.3".to_owned(),
        description: "An operator of widgets".to_owned(),
        definitions: vec![definition],
        monitoring: vec![("alerts.yaml".to_owned(), alerts)],
    }
}

fn text(files: &[File], path: &str) -> String {
    let path = format!("charts/widget-operator/{path}");
    files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("no {path}")).contents.clone()
}

fn templates(files: &[File]) -> impl Iterator<Item = &File> {
    files.iter().filter(|file| file.path.contains("/templates/"))
}

/// Returns the values that the templates use.
fn used(files: &[File]) -> BTreeSet<String> {
    let name = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(text.len());
        text[..end].trim_end_matches('.').to_owned()
    };
    templates(files).flat_map(|file| file.contents.split(".Values.").skip(1).map(name)).collect()
}

/// Returns the paths of the values that a schema accepts, up to two levels.
fn accepted(schema: &Value) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for (name, value) in schema["properties"].as_object().unwrap() {
        match value.get("properties").and_then(Value::as_object) {
            Some(children) => paths.extend(children.keys().map(|key| format!("{name}.{key}"))),
            None => {
                paths.insert(name.clone());
            }
        }
    }
    paths
}

#[test]
fn values_schema_readme_and_templates_have_the_same_values() {
    let files = chart("prometheus = true").render().unwrap();
    let readme = text(&files, "README.md");
    let documented: BTreeSet<String> =
        readme.lines().filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned())).collect();
    assert!(documented.contains("image.repository") && documented.contains("metrics.serviceMonitor"));
    assert_eq!(used(&files), documented);
    let schema: Value = serde_json::from_str(&text(&files, "values.schema.json")).unwrap();
    let mut accepted = accepted(&schema);
    assert!(accepted.remove("global"));
    assert_eq!(accepted, documented);
    let values: Value = serde_saphyr::from_str(&text(&files, "values.yaml")).unwrap();
    for path in &documented {
        assert!(values.pointer(&format!("/{}", path.replace('.', "/"))).is_some(), "no default of {path}");
    }
}

#[test]
fn defaults_are_those_of_the_settings() {
    let files = chart("replicas = 3\nargs = ['--a']\nenv = { A = '1' }\nnamespaced = true").render().unwrap();
    let values: Value = serde_saphyr::from_str(&text(&files, "values.yaml")).unwrap();
    assert_eq!(values["replicas"], 3);
    assert_eq!(values["args"], json!(["--a"]));
    assert_eq!(values["env"], json!([{"name": "A", "value": "1"}]));
    assert_eq!(values["image"], json!({"repository": "widgets", "tag": "1", "digest": "", "pullPolicy": ""}));
    assert_eq!(values["resources"]["limits"]["memory"], "128Mi");
    assert_eq!(values["rbac"]["namespaced"], true);
    assert_eq!(values["metrics"]["serviceMonitor"], false);
}

#[test]
fn every_block_is_closed() {
    for File { path, contents } in templates(&chart("").render().unwrap()) {
        let count = |action: &str| contents.matches(action).count();
        let opened = count("{{- if ") + count("{{- with ") + count("{{- define ");
        assert_eq!(opened, count("{{- end }}") + count("{{- end -}}") + count("{{ end -}}"), "{path}:\n{contents}");
    }
}

#[test]
fn the_chart_has_the_objects_of_the_configuration() {
    let files = chart("").render().unwrap();
    for File { path, .. } in render(&project("prometheus = true\nnetwork-policy = true")).unwrap() {
        let path = path.strip_prefix("config/").unwrap();
        // The namespace is that of the release.
        if !path.ends_with("kustomization.yaml") && path != "manager/namespace.yaml" {
            let document = text(&files, &format!("templates/{}", path.strip_prefix("default/").unwrap_or(path)));
            assert!(document.contains("{{ include \"widget-operator."), "{document}");
            assert!(!document.contains("namespace: system"), "{document}");
        }
    }
}

#[test]
fn releases_share_no_pods() {
    for File { path, contents } in templates(&chart("").render().unwrap()) {
        let pods = contents.matches("control-plane: controller-manager").count();
        let releases = contents.matches("app.kubernetes.io/instance: {{ .Release.Name | quote }}").count();
        assert!(releases >= pods, "{path}:\n{contents}");
    }
}

#[test]
fn braces_of_alerts_are_no_actions() {
    let alerts = text(&chart("").render().unwrap(), "templates/prometheus/alerts.yaml");
    assert!(alerts.contains(r#"summary: "{{ "{{" }} $labels.widget }} is down""#), "{alerts}");
    assert!(alerts.contains("namespace: {{ .Release.Namespace | quote }}"), "{alerts}");
}

#[test]
fn definitions_are_kept_or_applied_by_a_job_with_few_permissions() {
    let files = chart("").render().unwrap();
    let definition = text(&files, "templates/crd/widgets.example.org.yaml");
    assert!(definition.contains("helm.sh/resource-policy: keep"), "{definition}");
    assert!(definition.contains("if and .Values.crds.install (not .Values.crds.job)"), "{definition}");
    let role = text(&files, "templates/crd-job/role.yaml");
    assert!(role.contains("resourceNames:\n  - widgets.example.org\n"), "{role}");
    // Those of the comment in the first line.
    assert_eq!(role.matches('*').count(), 2, "{role}");
    let job = text(&files, "templates/crd-job/job.yaml");
    assert!(job.contains("- args:\n        - crds\n        - apply\n"), "{job}");
    assert!(job.contains("helm.sh/hook: \"pre-install,pre-upgrade\""), "{job}");
}

#[test]
fn an_operator_has_only_the_values_of_its_parts() {
    let mut small = chart("replicas = 1");
    small.definitions.clear();
    small.project.description.servers.retain(|server| server.name == "health");
    small.project.description.lease = None;
    let files = small.render().unwrap();
    let used = used(&files);
    let is_absent = |group: &str| !used.iter().any(|path| path.starts_with(group));
    assert!(is_absent("crds.") && is_absent("metrics.") && is_absent("networkPolicy."), "{used:?}");
    let schema: Value = serde_json::from_str(&text(&files, "values.schema.json")).unwrap();
    assert_eq!(schema["properties"]["replicas"]["maximum"], 1);
    assert_eq!(accepted(&schema).len(), used.len() + 1);
}

#[test]
fn objects_without_a_name_are_errors() {
    let mut broken = chart("");
    broken.definitions.push(json!({}));
    assert!(broken.render().unwrap_err().to_string().contains("`metadata.name`"));
}
