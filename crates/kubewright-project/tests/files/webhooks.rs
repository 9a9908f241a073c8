//! The webhooks of an operator of Widgets: in `config/`, in the chart, and in the bundle.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::{
        admissionregistration::v1::MatchCondition,
        apps::v1::Deployment,
        core::v1::{Container, PodSpec, Service},
        networking::v1::NetworkPolicy,
        rbac::v1::{ClusterRole, Role},
    },
    apimachinery::pkg::util::intstr::IntOrString,
};
use kubewright_codegen::File;
use kubewright_core::description::{
    AdmissionType, AdmissionWebhookDescription, ConversionWebhookDescription, FailurePolicy, KindDescription,
    MatchPolicy, Operation, Permission, PermissionScope, ServerDescription, SideEffects, Verb,
};
use kubewright_project::{
    Chart, Project,
    olm::{self, BundleOptions},
    render,
    workspace::{Package, Sources},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::fixture;

const CONVERT: &str = "/convert/widgets.example.org";
const CERTIFICATE_DIRECTORY: &str = "/tmp/k8s-webhook-server/serving-certs";

/// Returns the facts of the markers in `controller-gen.yaml`.
fn admission(widgets: &KindDescription) -> Vec<AdmissionWebhookDescription> {
    let pods = KindDescription {
        group: String::new(),
        version: "v1".to_owned(),
        kind: "Pod".to_owned(),
        plural: "pods".to_owned(),
        namespaced: true,
    };
    let validating = AdmissionWebhookDescription {
        failure_policy: FailurePolicy::Ignore,
        side_effects: SideEffects::NoneOnDryRun,
        match_policy: MatchPolicy::Exact,
        timeout_seconds: 5,
        operations: vec![Operation::Create, Operation::Delete],
        subresources: vec!["status".to_owned()],
        ..AdmissionWebhookDescription::new(AdmissionType::Validating, widgets.clone())
    };
    vec![
        validating,
        AdmissionWebhookDescription::new(AdmissionType::Validating, pods),
        AdmissionWebhookDescription::new(AdmissionType::Mutating, widgets.clone()),
    ]
}

/// An operator with webhooks and, as the program describes it, with the permissions to issue their certificate.
fn project(settings: &str) -> Project {
    let mut project = fixture::project(settings);
    let description = &mut project.description;
    description.admission_webhooks = admission(&project.kinds[0]);
    description.conversion_webhooks = vec![ConversionWebhookDescription::new("example.org", "Widget", "widgets")];
    let paths = description.admission_webhooks.iter().map(|webhook| webhook.path.clone());
    let paths = paths.chain([CONVERT.to_owned()]).collect();
    let server = ServerDescription { name: "webhook".to_owned(), port: 9443, https: true, authenticated: false, paths };
    description.servers.push(server);
    let secret = Permission::new(PermissionScope::Certificates, "", "secrets", [Verb::Get, Verb::Patch]);
    let group = "admissionregistration.k8s.io";
    let bundle = |resource| Permission::new(PermissionScope::CaBundles, group, resource, [Verb::Get, Verb::Patch]);
    description.permissions.extend([
        secret.named("widget-operator-webhook-server-cert"),
        bundle("mutatingwebhookconfigurations").named("widget-operator-mutating-webhook-configuration"),
    ]);
    project
}

const CERT_MANAGER: &str = "webhooks.certificates = 'cert-manager'";

fn files(settings: &str) -> Vec<File> {
    render(&project(settings)).unwrap()
}

fn find<'a>(files: &'a [File], path: &str) -> Option<&'a File> {
    files.iter().find(|file| file.path == format!("config/{path}"))
}

fn read<T: DeserializeOwned>(files: &[File], path: &str) -> T {
    serde_saphyr::from_str(&find(files, path).unwrap_or_else(|| panic!("no {path}")).contents).unwrap()
}

fn pod(files: &[File]) -> (PodSpec, Container) {
    let deployment: Deployment = read(files, "manager/manager.yaml");
    let pod = deployment.spec.unwrap().template.spec.unwrap();
    let container = pod.containers[0].clone();
    (pod, container)
}

fn error(change: impl FnOnce(&mut Project)) -> String {
    let mut project = project("");
    change(&mut project);
    render(&project).unwrap_err().to_string()
}

#[test]
fn configurations_are_those_of_controller_gen() {
    let files = files("");
    let expected = include_str!("webhooks/controller-gen.yaml").split("\n---\n").skip(1);
    let expected: Vec<Value> = expected.map(|document| serde_saphyr::from_str(document).unwrap()).collect();
    for (path, mut expected) in ["mutating", "validating"].into_iter().zip(expected) {
        expected["metadata"]["labels"] = json!({"app.kubernetes.io/name": "widget-operator"});
        assert_eq!(read::<Value>(&files, &format!("webhook/{path}_webhook_configuration.yaml")), expected);
    }
}

#[test]
fn the_service_connects_to_the_port_of_the_server() {
    let service: Service = read(&files(""), "webhook/service.yaml");
    let spec = service.spec.unwrap();
    let port = &spec.ports.unwrap()[0];
    assert_eq!((port.port, &port.target_port), (443, &Some(IntOrString::Int(9443))));
    assert_eq!(spec.selector.unwrap()["control-plane"], "controller-manager");
    let (_, container) = pod(&files(""));
    assert!(container.ports.unwrap().iter().any(|port| port.name.as_deref() == Some("webhook")));
}

#[test]
fn the_operator_issues_its_certificate_by_default() {
    let files = files("");
    let (pod, container) = pod(&files);
    assert_eq!((pod.volumes, container.volume_mounts), (None, None));
    assert_eq!(container.args.unwrap(), ["run"]);
    let variable = &container.env.unwrap()[0];
    assert_eq!((variable.name.as_str(), variable.value.as_deref()), ("NAME_PREFIX", Some("widget-operator")));
    let role: Role = read(&files, "rbac/webhook_cert_role.yaml");
    assert_eq!(role.rules.unwrap()[0].resource_names.as_ref().unwrap(), &["widget-operator-webhook-server-cert"]);
    let role: ClusterRole = read(&files, "rbac/ca_bundle_role.yaml");
    let names = role.rules.unwrap()[0].resource_names.clone().unwrap();
    assert_eq!(names, ["widget-operator-mutating-webhook-configuration"]);
    assert!(!files.iter().any(|file| file.contents.contains("cert-manager.io/")));
}

#[test]
fn cert_manager_issues_the_certificate_and_writes_the_bundles() {
    let files = files(CERT_MANAGER);
    let (pod, container) = pod(&files);
    let secret = pod.volumes.unwrap()[0].secret.clone().unwrap();
    assert_eq!(secret.secret_name.as_deref(), Some("widget-operator-webhook-server-cert"));
    assert_eq!(container.volume_mounts.unwrap()[0].mount_path, CERTIFICATE_DIRECTORY);
    assert_eq!(container.args.unwrap(), ["run", &format!("--webhook-cert-path={CERTIFICATE_DIRECTORY}")]);
    assert_eq!(container.env, None);
    let certificate: Value = read(&files, "certmanager/certificate.yaml");
    let service = "widget-operator-webhook-service.widget-operator-system.svc";
    assert_eq!(certificate["spec"]["dnsNames"], json!([service, format!("{service}.cluster.local")]));
    assert_eq!(certificate["spec"]["issuerRef"]["name"], "widget-operator-selfsigned-issuer");
    let annotation = json!({"cert-manager.io/inject-ca-from": "widget-operator-system/widget-operator-serving-cert"});
    for path in [
        "webhook/mutating_webhook_configuration.yaml",
        "webhook/validating_webhook_configuration.yaml",
        "default/conversion_example.org_widgets.yaml",
    ] {
        assert_eq!(read::<Value>(&files, path)["metadata"]["annotations"], annotation, "{path}");
    }
    assert!(
        find(&files, "rbac/webhook_cert_role.yaml").is_none() && find(&files, "rbac/ca_bundle_role.yaml").is_none()
    );
}

#[test]
fn definitions_are_patched_with_the_final_names() {
    let files = files("");
    let patch: Value = read(&files, "default/conversion_example.org_widgets.yaml");
    let expected = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.org"},
        "spec": {"conversion": {
            "strategy": "Webhook",
            "webhook": {
                "clientConfig": {"service": {
                    "name": "widget-operator-webhook-service",
                    "namespace": "widget-operator-system",
                    "path": CONVERT,
                }},
                "conversionReviewVersions": ["v1"],
            },
        }},
    });
    assert_eq!(patch, expected);
    let kustomization: Value = read(&files, "default/kustomization.yaml");
    assert_eq!(kustomization["patches"], json!([{"path": "conversion_example.org_widgets.yaml"}]));
    assert!(kustomization["resources"].as_array().unwrap().contains(&json!("../webhook")));
}

#[test]
fn a_network_policy_admits_the_api_server() {
    let policy: NetworkPolicy = read(&files("network-policy = true"), "network-policy/allow-webhook-traffic.yaml");
    let rule = &policy.spec.unwrap().ingress.unwrap()[0];
    assert_eq!(rule.from, None);
    assert_eq!(rule.ports.as_ref().unwrap()[0].port, Some(IntOrString::Int(9443)));
}

#[test]
fn webhooks_without_metrics_have_a_network_policy() {
    let mut project = project("network-policy = true");
    project.description.servers.remove(1);
    let files = render(&project).unwrap();
    let kustomization: Value = read(&files, "network-policy/kustomization.yaml");
    assert_eq!(kustomization["resources"], json!(["allow-webhook-traffic.yaml"]));
}

#[test]
fn webhooks_that_the_api_server_rejects_are_errors() {
    let first = |change: fn(&mut AdmissionWebhookDescription)| {
        error(|project| change(&mut project.description.admission_webhooks[0]))
    };
    assert!(first(|webhook| webhook.name = "vpod-v1.core.k8s.io".to_owned()).contains("it is registered twice"));
    assert!(first(|webhook| webhook.name = "widget.org".to_owned()).contains("at least three labels"));
    assert!(first(|webhook| webhook.timeout_seconds = 31).ends_with("invalid timeout of 31 s: expected 1 to 30"));
    assert!(first(|webhook| webhook.operations.clear()).contains("it has no operations"));
    let condition = MatchCondition { name: "a".to_owned(), expression: "true".to_owned() };
    let many = |count| {
        error(|project| {
            project.description.admission_webhooks[0].match_conditions = vec![condition.clone(); count];
        })
    };
    assert!(many(65).contains("65 match conditions: expected at most 64"));
    assert!(many(2).contains("two match conditions have the name `a`"));
    let unknown = error(|project| project.description.conversion_webhooks[0].plural = "gadgets".to_owned());
    assert!(unknown.contains("this project does not define it"), "{unknown}");
    let without_tls = error(|project| project.description.servers[2].https = false);
    assert!(without_tls.starts_with("no HTTPS server of the operator has the paths of all webhooks"), "{without_tls}");
}

fn chart() -> BTreeMap<String, String> {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.org"},
        "spec": {"scope": "Namespaced"},
    });
    let chart = Chart {
        project: project(""),
        version: "1.2.3".to_owned(),
        description: "An operator of widgets".to_owned(),
        definitions: vec![definition],
        monitoring: Vec::new(),
    };
    let files = chart.render().unwrap().into_iter();
    files.map(|File { path, contents }| (path.replacen("charts/widget-operator/", "", 1), contents)).collect()
}

#[test]
fn a_chart_has_both_modes() {
    let files = chart();
    let deployment = &files["templates/manager/manager.yaml"];
    for part in [
        "{{- if .Values.certManager.enabled }}\n        - \"--webhook-cert-path=",
        "{{- if not .Values.certManager.enabled }}\n",
        "secretName: {{ include \"widget-operator.fullname\" . }}-webhook-server-cert\n",
    ] {
        assert!(deployment.contains(part), "{part}\n{deployment}");
    }
    for (path, condition) in [
        ("certmanager/issuer.yaml", "{{- if .Values.certManager.enabled }}"),
        ("certmanager/certificate.yaml", "{{- if .Values.certManager.enabled }}"),
        ("rbac/webhook_cert_role.yaml", "{{- if and .Values.rbac.create (not .Values.certManager.enabled) }}"),
        ("rbac/ca_bundle_role_binding.yaml", "{{- if and .Values.rbac.create (not .Values.certManager.enabled) }}"),
    ] {
        let template = &files[&format!("templates/{path}")];
        assert!(template.contains(condition), "{path}:\n{template}");
    }
}

#[test]
fn names_in_a_chart_are_those_of_the_release() {
    let files = chart();
    let name = "{{ include \"widget-operator.fullname\" . }}";
    let configuration = &files["templates/webhook/validating_webhook_configuration.yaml"];
    let id = format!("cert-manager.io/inject-ca-from: {{{{ .Release.Namespace }}}}/{name}-serving-cert\n");
    assert!(configuration.contains(&id), "{configuration}");
    assert!(configuration.contains(&format!(" name: {name}-webhook-service\n")), "{configuration}");
    let certificate = &files["templates/certmanager/certificate.yaml"];
    assert!(
        certificate.contains(&format!("- {name}-webhook-service.{{{{ .Release.Namespace }}}}.svc\n")),
        "{certificate}"
    );
    let role = &files["templates/rbac/webhook_cert_role.yaml"];
    assert!(role.contains(&format!("resourceNames:\n  - {name}-webhook-server-cert\n")), "{role}");
    let definition = &files["templates/crd/widgets.example.org.yaml"];
    assert!(definition.contains("strategy: Webhook\n"), "{definition}");
    assert!(
        definition.contains("{{- if or .Values.crds.keep .Values.certManager.enabled }}\n  annotations:\n"),
        "{definition}"
    );
    let job = &files["templates/crd-job/job.yaml"];
    assert!(job.contains("- --inject-ca-from={{ .Release.Namespace }}/"), "{job}");
    assert!(files.values().all(|file| !file.contains("namespace: system")));
}

fn bundle(change: impl FnOnce(&mut Project)) -> Result<Vec<File>, olm::BundleError> {
    let mut project = project("");
    change(&mut project);
    let package = Package {
        name: "widget-operator".to_owned(),
        version: "1.2.3".to_owned(),
        description: None,
        authors: Vec::new(),
        repository: None,
        homepage: None,
        license: None,
        keywords: Vec::new(),
    };
    let sources = Sources { definitions: Vec::new(), samples: Vec::new(), resources: Vec::new(), icon: None };
    olm::bundle(&project, &package, &sources, &BundleOptions::default())
}

#[test]
fn a_bundle_declares_webhooks_whose_objects_olm_creates() {
    let files = bundle(|_| {}).unwrap();
    let path = "bundle/manifests/widget-operator.clusterserviceversion.yaml";
    let csv = files.iter().find(|file| file.path == path).unwrap();
    let csv: Value = serde_saphyr::from_str(&csv.contents).unwrap();
    let webhooks = csv["spec"]["webhookdefinitions"].as_array().unwrap();
    let names = webhooks.iter().map(|webhook| format!("{} {}", webhook["type"], webhook["generateName"]));
    let expected = [
        "\"MutatingAdmissionWebhook\" \"mwidget-v1.example.org\"",
        "\"ValidatingAdmissionWebhook\" \"vpod-v1.core.k8s.io\"",
        "\"ValidatingAdmissionWebhook\" \"vwidget-v1.example.org\"",
        "\"ConversionWebhook\" \"cwidgets.example.org\"",
    ];
    assert_eq!(names.collect::<Vec<_>>(), expected);
    assert_eq!(webhooks[0]["deploymentName"], "widget-operator-controller-manager");
    assert_eq!((&webhooks[0]["containerPort"], &webhooks[0]["targetPort"]), (&json!(443), &json!(9443)));
    assert_eq!(webhooks[0]["webhookPath"], "/mutate-example-org-v1-widget");
    assert_eq!(webhooks[2]["timeoutSeconds"], 5);
    assert_eq!(webhooks[3]["conversionCRDs"], json!(["widgets.example.org"]));
    let container = &csv["spec"]["install"]["spec"]["deployments"][0]["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["args"][1], format!("--webhook-cert-path={CERTIFICATE_DIRECTORY}"));
    let text = csv.to_string();
    assert!(!text.contains("secrets") && !text.contains("mutatingwebhookconfigurations"), "{text}");
    for kind in ["webhookconfiguration", "webhook-service", "certificate", "issuer"] {
        assert!(!files.iter().any(|file| file.path.contains(kind)), "{kind}");
    }
}

#[test]
fn fields_that_olm_ignores_are_errors() {
    let condition = MatchCondition { name: "a".to_owned(), expression: "true".to_owned() };
    let error = bundle(|project| project.description.admission_webhooks[0].match_conditions = vec![condition]);
    let expected = "webhook `vwidget-v1.example.org`: OLM does not support `matchConditions`; let the handler ignore \
                    other objects, and remove it";
    assert_eq!(error.unwrap_err().to_string(), expected);
}
