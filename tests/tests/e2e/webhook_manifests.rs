//! The manifests of an operator with webhooks: kustomize builds them, the names refer to each other, and the server and
//! the definitions of cert-manager accept them.

use std::{fs, path::Path, sync::Arc};

use envtest::ControlPlane;
use kubewright_core::description::{
    AdmissionType, AdmissionWebhookDescription, ConversionWebhookDescription, KindDescription, OperatorDescription,
    ServerDescription,
};
use kubewright_project::{Project, Settings, render};
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use super::{
    Suite, external,
    manifests::{accept, kubectl, succeeded},
    trial,
};

const NAMESPACE: &str = "hook-operator-system";
const DEFINITION: &str = "hooks.manifests.example.org";

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    vec![trial(suite, "webhook_manifests::the_server_accepts_the_manifests_of_both_modes", |control_plane| {
        let is_installed = external::install(control_plane)?;
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
        succeeded(&kubectl(control_plane, &["apply", "--server-side", "-f", "-"], &namespace)?)?;
        let result = ["self-managed", "cert-manager"].into_iter().try_for_each(|mode| {
            check(control_plane, mode, is_installed)
                .map_err(|failed| Failed::from(format!("{mode}: {}", failed.message().unwrap_or_default())))
        });
        succeeded(&kubectl(control_plane, &["delete", "--wait=false", "-f", "-"], &namespace)?)?;
        result
    })]
}

fn project(mode: &str) -> Result<Project, Failed> {
    let kind = |version: &str| KindDescription {
        group: "manifests.example.org".to_owned(),
        version: version.to_owned(),
        kind: "Hook".to_owned(),
        plural: "hooks".to_owned(),
        namespaced: true,
    };
    let conversion = ConversionWebhookDescription::new("manifests.example.org", "Hook", "hooks");
    let admission = [AdmissionType::Mutating, AdmissionType::Validating]
        .map(|admission| AdmissionWebhookDescription::new(admission, kind("v2")));
    let server = |name: &str, port, https, paths: &[&str]| ServerDescription {
        name: name.to_owned(),
        port,
        https,
        authenticated: false,
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
    };
    let paths = [admission[0].path.as_str(), &admission[1].path, &conversion.path];
    let servers = vec![
        server("health", 8081, false, &["/livez", "/readyz"]),
        server("metrics", 8443, true, &["/metrics"]),
        server("webhook", 9443, true, &paths),
    ];
    let description = OperatorDescription {
        servers,
        admission_webhooks: admission.to_vec(),
        conversion_webhooks: vec![conversion],
        lease: Some("hook-operator".to_owned()),
        ..OperatorDescription::default()
    };
    let settings = Settings::parse(&format!(
        "name = 'hook-operator'\nimage = 'hooks:1'\nnetwork-policy = true\nwebhooks.certificates = '{mode}'"
    ))?;
    Ok(Project { settings, description, kinds: vec![kind("v1"), kind("v2")] })
}

/// Writes the files of `config/`, and the definition that `cargo xtask codegen` writes.
fn write(root: &Path, project: &Project) -> Result<(), Failed> {
    let schema = json!({"openAPIV3Schema": {"type": "object"}});
    let version =
        |name: &str, storage: bool| json!({"name": name, "served": true, "storage": storage, "schema": schema});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": DEFINITION},
        "spec": {
            "group": "manifests.example.org",
            "names": {"kind": "Hook", "listKind": "HookList", "plural": "hooks", "singular": "hook"},
            "scope": "Namespaced",
            "versions": [version("v1", false), version("v2", true)],
        },
    });
    let write = |path: &str, contents: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().ok_or("a file has a directory")?)?;
        Ok::<_, Failed>(fs::write(path, contents)?)
    };
    write("config/crd/bases/manifests.example.org_hooks.yaml", &definition.to_string())?;
    render(project)?.iter().try_for_each(|file| write(&file.path, &file.contents))
}

/// Builds `config/default`.
fn built(control_plane: &ControlPlane, mode: &str) -> Result<Vec<Value>, Failed> {
    let root = tempfile::tempdir()?;
    write(root.path(), &project(mode)?)?;
    let output = control_plane.kubectl().arg("kustomize").arg(root.path().join("config/default")).output()?;
    succeeded(&output)?;
    let text = String::from_utf8(output.stdout)?;
    text.split("\n---\n").map(|document| Ok(serde_saphyr::from_str(document)?)).collect()
}

fn check(control_plane: &ControlPlane, mode: &str, is_installed: bool) -> Result<(), Failed> {
    let objects = built(control_plane, mode)?;
    let find = |kind: &str, name: &str| {
        let found = objects.iter().find(|object| object["kind"] == kind && object["metadata"]["name"] == name);
        found.ok_or_else(|| Failed::from(format!("no {kind} {name}")))
    };
    let service = "hook-operator-webhook-service";
    find("Service", service)?;
    let configuration = find("ValidatingWebhookConfiguration", "hook-operator-validating-webhook-configuration")?;
    let definition = find("CustomResourceDefinition", DEFINITION)?;
    for config in [
        &configuration["webhooks"][0]["clientConfig"]["service"],
        &definition["spec"]["conversion"]["webhook"]["clientConfig"]["service"],
    ] {
        assert_eq!((&config["name"], &config["namespace"]), (&json!(service), &json!(NAMESPACE)));
    }
    let has_certificate = mode == "cert-manager";
    if has_certificate {
        let certificate = find("Certificate", "hook-operator-serving-cert")?;
        let issuer = certificate["spec"]["issuerRef"]["name"].as_str().unwrap_or_default();
        find("Issuer", issuer)?;
        let annotation = &configuration["metadata"]["annotations"]["cert-manager.io/inject-ca-from"];
        assert_eq!(*annotation, format!("{NAMESPACE}/hook-operator-serving-cert"));
        assert_eq!(definition["metadata"]["annotations"]["cert-manager.io/inject-ca-from"], *annotation);
    }
    let appliable = objects.iter().filter(|object| is_installed || !external::is_external(object));
    appliable.filter(|object| object["kind"] != "Namespace").try_for_each(|object| accept(control_plane, object))
}
