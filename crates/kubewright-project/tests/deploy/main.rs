//! The commands that an installation runs: their order, what they apply, and which errors precede the first write.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "allowed in tests, and test helpers are part of them")]

mod fixture;

use std::{
    env, fs, os::unix::fs::PermissionsExt, path::PathBuf, process::Command, sync::mpsc::channel, thread::sleep,
    time::Duration,
};

use fixture::{Fixture, MANIFEST};
use kubewright_project::deploy::{Kubeconfig, Kubectl, Manifest, Outcome, Program};

/// A response that contains one definition, with this manager of its spec.
fn existing_definition(manager: &str) -> String {
    let fields = format!(r#"[{{"manager": "{manager}", "fieldsV1": {{"f:spec": {{}}}}}}]"#);
    let metadata = format!(r#"{{"name": "widgets.example.org", "managedFields": {fields}}}"#);
    let definition = format!(r#"{{"metadata": {metadata}, "spec": {{"scope": "Namespaced"}}}}"#);
    format!("'get customresourcedefinitions'*) echo '{definition}'; exit 0 ;;")
}

/// A response that contains the namespace, with this manager.
fn existing_namespace(manager: &str) -> String {
    let metadata = format!(r#"{{"name": "widget-system", "managedFields": [{{"manager": "{manager}"}}]}}"#);
    format!("'get namespace widget-system'*) echo '{{\"metadata\": {metadata}}}'; exit 0 ;;")
}

#[test]
fn the_namespace_and_the_definitions_are_applied_before_the_operator() {
    let fixture = Fixture::new("");
    fixture.installation(Manifest::parse(MANIFEST).unwrap()).deploy().unwrap();
    let apply = "apply --server-side --force-conflicts --field-manager=widget-operator-deploy --filename=-";
    let expected = [
        format!("{apply} --dry-run=server"),
        apply.to_owned(),
        "wait --for=condition=Established --timeout=60s customresourcedefinition/widgets.example.org".to_owned(),
        apply.to_owned(),
        "rollout status deployment/manager --namespace=widget-system --timeout=5m".to_owned(),
    ];
    assert_eq!(fixture.log_after_checks(), expected);
    // The namespace does not exist yet, so that only objects without a namespace can be validated before.
    let kinds = |list: &[&str]| list.iter().map(|kind| (*kind).to_owned()).collect::<Vec<_>>();
    let first = ["Namespace", "CustomResourceDefinition"];
    let expected = [kinds(&[first[0], first[1], "ClusterRole"]), kinds(&first), kinds(&["ClusterRole", "Deployment"])];
    assert_eq!(fixture.applied_kinds(), expected);
}

#[test]
fn the_image_is_replaced_in_memory() {
    let fixture = Fixture::new("");
    let mut manifest = Manifest::parse(MANIFEST).unwrap();
    manifest.set_image("registry.example.org/widgets:2").unwrap();
    fixture.installation(manifest.clone()).deploy().unwrap();
    let input = fixture.input();
    assert!(input.contains("registry.example.org/widgets:2") && !input.contains("widgets:1"), "{input}");
    let again = Manifest::parse(&manifest.to_yaml().unwrap()).unwrap();
    assert_eq!(again.objects(), manifest.objects());
    let mut others = Manifest::parse("kind: Namespace\n").unwrap();
    assert!(others.set_image("a").unwrap_err().to_string().contains("no Deployment"));
}

#[test]
fn errors_precede_the_first_write() {
    let cases = [
        ("'get --raw'*) echo 'connection refused' >&2; exit 1 ;;".to_owned(), "the cluster is unreachable"),
        ("api-resources*) echo 'namespaces v1 false Namespace'; exit 0 ;;".to_owned(), "the cluster does not serve"),
        ("'auth can-i'*) echo no; exit 1 ;;".to_owned(), "permissions are missing: create "),
        (existing_definition("helm"), "the definition `widgets.example.org` is managed by `helm`"),
        ("*--dry-run=server*) echo 'it is invalid' >&2; exit 1 ;;".to_owned(), "`kubectl apply"),
    ];
    for (response, expected) in cases {
        let fixture = Fixture::new(&response);
        let installation = fixture.try_installation(Manifest::parse(MANIFEST).unwrap());
        let error = installation.and_then(|installation| installation.deploy()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
        assert!(fixture.writes().is_empty(), "{error}: {:?}", fixture.writes());
    }
}

#[test]
fn a_plan_writes_nothing() {
    let fixture = Fixture::new("");
    let plan = fixture.installation(Manifest::parse(MANIFEST).unwrap()).plan().unwrap();
    let expected = [
        "Namespace widget-system",
        "CustomResourceDefinition widgets.example.org",
        "ClusterRole manager-role",
        "Deployment widget-system/manager",
    ];
    assert_eq!(plan, expected);
    assert!(fixture.writes().is_empty());
}

#[test]
fn a_missing_kubectl_is_an_error_with_help() {
    let error = Kubectl::at("/nowhere/kubectl").kustomize(&Fixture::directory_with_kustomization()).unwrap_err();
    assert!(error.to_string().ends_with("install kubectl, or set KUBECTL to its path"), "{error}");
}

#[test]
fn configuration_that_is_not_rendered_is_an_error_with_help() {
    let directory = tempfile::tempdir().unwrap();
    let error = Kubectl::at("/nowhere/kubectl").kustomize(directory.path()).unwrap_err().to_string();
    assert!(error.ends_with("run `cargo xtask manifests`"), "{error}");
}

#[test]
fn a_rollout_that_fails_has_reasons() {
    let pod = r#"{"items": [{"metadata": {"name": "manager-1"}, "status": {"containerStatuses": [
        {"ready": false, "state": {"waiting": {"reason": "ImagePullBackOff"}}}]}}]}"#;
    let fixture = Fixture::new(&format!(
        "'rollout status'*) echo 'error: timed out' >&2; exit 1 ;;\n'get pods'*) echo '{}'; exit 0 ;;",
        pod.replace('\n', " ")
    ));
    let error = fixture.installation(Manifest::parse(MANIFEST).unwrap()).deploy().unwrap_err().to_string();
    let expected = "Deployment widget-system/manager is not rolled out: timed out\n  pod manager-1: ImagePullBackOff";
    assert_eq!(error, expected);
    let without_pods = Fixture::new("'rollout status'*) echo 'error: timed out' >&2; exit 1 ;;");
    let error = without_pods.installation(Manifest::parse(MANIFEST).unwrap()).deploy().unwrap_err().to_string();
    assert!(error.contains("not rolled out: timed out\n  no pod exists; check"), "{error}");
}

#[test]
fn custom_resources_are_deleted_first_and_the_namespace_last() {
    let fixture = Fixture::new(&existing_definition("widget-operator-deploy"));
    let kept = fixture.installation(Manifest::parse(MANIFEST).unwrap()).undeploy(false).unwrap().len();
    assert_eq!(kept, 0);
    let expected = [
        "delete widgets.example.org --all --wait=true --timeout=5m --all-namespaces",
        "delete --ignore-not-found --wait=true --timeout=5m --filename=-",
        "delete customresourcedefinitions --ignore-not-found --wait=true --timeout=5m widgets.example.org",
        "delete namespace widget-system --ignore-not-found --wait=true --timeout=5m",
    ];
    assert_eq!(fixture.writes(), expected);
    // The operator is stopped before it loses its permissions.
    assert_eq!(fixture.applied_kinds(), [["Deployment", "ClusterRole"]]);
}

#[test]
fn orphans_and_their_namespace_are_kept() {
    let response = existing_definition("widget-operator-deploy");
    let fixture = Fixture::new(&format!(
        "{response}\n{}\n'get widgets.example.org'*) echo widget/a; exit 0 ;;",
        existing_namespace("widget-operator-deploy")
    ));
    let installation = fixture.installation(Manifest::parse(MANIFEST).unwrap());
    let [kept] = &installation.undeploy(true).unwrap()[..] else { panic!("one namespace") };
    assert_eq!(kept.to_string(), "namespace/widget-system is kept: it contains custom resources");
    assert_eq!(fixture.writes(), ["delete --ignore-not-found --wait=true --timeout=5m --filename=-"]);
}

#[test]
fn a_namespace_that_others_created_is_neither_changed_nor_deleted() {
    let fixture = Fixture::new(&existing_namespace("kubectl-create"));
    let installation = fixture.installation(Manifest::parse(MANIFEST).unwrap());
    installation.deploy().unwrap();
    assert!(fixture.applied_kinds().iter().flatten().all(|kind| kind != "Namespace"), "{:?}", fixture.applied_kinds());
    let [kept] = &installation.undeploy(false).unwrap()[..] else { panic!("one namespace") };
    assert_eq!(kept.to_string(), "namespace/widget-system is kept: the operator did not create it");
    assert!(fixture.writes().iter().all(|write| !write.starts_with("delete namespace")), "{:?}", fixture.writes());
}

#[test]
fn a_namespace_with_workloads_of_others_is_not_deleted() {
    let owned = r#"{"kind": "Pod", "metadata": {"name": "manager-1", "ownerReferences": [{"kind": "ReplicaSet"}]}}"#;
    let other = r#"{"kind": "Deployment", "metadata": {"name": "database", "namespace": "widget-system"}}"#;
    let fixture = Fixture::new(&format!(
        "{}\n'get deployments,'*) echo '{{\"items\": [{owned}, {other}]}}'; exit 0 ;;",
        existing_namespace("widget-operator-deploy")
    ));
    let [kept] = &fixture.installation(Manifest::parse(MANIFEST).unwrap()).undeploy(false).unwrap()[..] else {
        panic!("one namespace")
    };
    assert_eq!(kept.reason, "it contains Deployment widget-system/database");
}

#[test]
fn a_webhook_that_the_objects_lack_is_removed_before_they_are_applied() {
    let fields = r#"{"f:webhooks": {"k:{\"name\":\"a.example.org\"}": {}, "k:{\"name\":\"b.example.org\"}": {}}}"#;
    let managers = format!(r#"[{{"manager": "widget-operator-deploy", "fieldsV1": {fields}}}]"#);
    let metadata = format!(r#"{{"name": "widget", "resourceVersion": "7", "managedFields": {managers}}}"#);
    let webhooks = r#"[{"name": "a.example.org"}, {"name": "b.example.org"}]"#;
    let live = format!(r#"{{"metadata": {metadata}, "webhooks": {webhooks}}}"#);
    let fixture = Fixture::new(&format!("'get ValidatingWebhookConfiguration widget'*) echo '{live}'; exit 0 ;;"));
    let manifest = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: widget
webhooks:
- name: a.example.org
";
    fixture.installation(Manifest::parse(manifest).unwrap()).deploy().unwrap();
    let patch = r#"{"metadata":{"resourceVersion":"7"},"webhooks":[{"name":"a.example.org"}]}"#;
    let expected = [
        format!(
            "patch ValidatingWebhookConfiguration widget --type=merge --field-manager=widget-operator-deploy --patch={patch}"
        ),
        "apply --server-side --force-conflicts --field-manager=widget-operator-deploy --filename=-".to_owned(),
    ];
    assert_eq!(fixture.writes(), expected);
}

#[test]
fn finalizers_that_remain_are_explained() {
    let widget = r#"{"items": [{"kind": "Widget", "metadata":
        {"name": "a", "namespace": "b", "finalizers": ["example.org/flush"]}}]}"#;
    let fixture = Fixture::new(&format!(
        "{}\n'delete widgets'*) echo 'timed out' >&2; exit 1 ;;\n'get widgets'*) echo '{}'; exit 0 ;;",
        existing_definition("widget-operator-deploy"),
        widget.replace('\n', " ")
    ));
    let installation = fixture.installation(Manifest::parse(MANIFEST).unwrap());
    let error = installation.undeploy(false).unwrap_err().to_string();
    assert!(error.ends_with("\n  Widget b/a: example.org/flush"), "{error}");
    assert_eq!(fixture.writes().len(), 1);
}

#[test]
fn only_new_definitions_are_returned_for_a_later_removal() {
    let manifest = Manifest::parse(MANIFEST).unwrap();
    let new = Fixture::new("").installation(manifest.clone()).install().unwrap();
    assert_eq!(new, ["widgets.example.org"]);
    let fixture = Fixture::new(&existing_definition("widget-operator-deploy"));
    assert!(fixture.installation(manifest).install().unwrap().is_empty());
}

/// A webhook configuration of the operator, after [`MANIFEST`].
const CONFIGURATION: &str = "\
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: widget-operator-validating-webhook-configuration
webhooks:
- name: vwidget-v1.example.org
  clientConfig:
    service:
      name: widget-operator-webhook-service
      namespace: widget-system
      path: /validate
";

#[test]
fn local_webhooks_are_applied_and_deleted_without_those_in_the_cluster() {
    let fixture = Fixture::new("");
    let manifest = Manifest::parse(&format!("{MANIFEST}{CONFIGURATION}")).unwrap();
    let local = fixture.installation(manifest).at_url("https://127.0.0.1:9443").unwrap();
    local.install_webhooks().unwrap();
    local.delete_webhooks().unwrap();
    let expected = [
        "apply --server-side --force-conflicts --field-manager=widget-operator-deploy --filename=-",
        "delete --ignore-not-found --wait=true --timeout=5m --filename=-",
    ];
    assert_eq!(fixture.writes(), expected);
    assert_eq!(fixture.applied_kinds(), [["ValidatingWebhookConfiguration"]; 2]);
    let input = fixture.input();
    assert!(input.contains("\"https://127.0.0.1:9443/validate\""), "{input}");
    assert!(input.contains("\"widget-operator-local-validating-webhook-configuration\""), "{input}");
    let without = fixture.installation(Manifest::parse(MANIFEST).unwrap());
    assert!(without.at_url("https://127.0.0.1:9443").is_none());
}

#[test]
fn the_bundles_of_local_webhooks_are_read_until_the_operator_has_written_them() {
    let get = "get ValidatingWebhookConfiguration widget-operator-local-validating-webhook-configuration";
    let found = r#"{"kind": "ValidatingWebhookConfiguration", "webhooks": [{"clientConfig": {"caBundle": "Q0E="}}]}"#;
    let manifest = Manifest::parse(&format!("{MANIFEST}{CONFIGURATION}")).unwrap();
    for (response, expected) in [("", None), (found, Some("Q0E=")), (&found.replace("Q0E=", ""), None)] {
        let fixture = Fixture::new(&format!("'{get}'*) echo '{response}' ;;"));
        let local = fixture.installation(manifest.clone()).at_url("https://127.0.0.1:9443").unwrap();
        assert_eq!(local.ca_bundles().unwrap(), [expected.map(str::to_owned)]);
    }
}

#[test]
fn definitions_are_restored_except_for_deleted_ones() {
    let fixture = Fixture::new("");
    let installation = fixture.installation(Manifest::parse(MANIFEST).unwrap());
    installation.restore_definitions(&["widgets.example.org".to_owned()]).unwrap();
    assert!(fixture.writes().is_empty());
    installation.restore_definitions(&[]).unwrap();
    assert_eq!(fixture.applied_kinds(), [["CustomResourceDefinition"]]);
}

#[test]
fn a_program_uses_the_context_of_kubectl() {
    let fixture = Fixture::new(
        "'config view --minify --flatten --raw') echo 'current-context: a' ;;\n'config view --minify'*) echo b ;;",
    );
    let kubeconfig = Kubeconfig::from_context(&fixture.kubectl()).unwrap();
    let file = PathBuf::from(kubeconfig.variable());
    assert_eq!(fs::read_to_string(&file).unwrap(), "current-context: a\n");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    drop(kubeconfig);
    assert!(!file.exists());
    assert_eq!(fixture.kubectl().namespace().unwrap(), "b");
    assert_eq!(Fixture::new("").kubectl().namespace().unwrap(), "default");
}

#[test]
fn a_program_in_another_directory_uses_the_same_kubeconfig() {
    let paths = ["/a", "b/c"].map(PathBuf::from);
    let kubeconfig = Kubeconfig::from_paths(&env::join_paths(&paths).unwrap()).unwrap();
    let expected = [paths[0].clone(), env::current_dir().unwrap().join(&paths[1])];
    assert_eq!(env::split_paths(kubeconfig.variable()).collect::<Vec<_>>(), expected);
}

#[test]
fn an_interrupt_stops_the_program_with_a_signal() {
    let directory = tempfile::tempdir().unwrap();
    let script = "trap 'echo stopped >state; exit 0' TERM; echo >ready; while :; do sleep 0.1; done";
    let mut command = Command::new("sh");
    let mut program = Program::start(command.args(["-c", script]).current_dir(directory.path())).unwrap();
    while !directory.path().join("ready").exists() {
        sleep(Duration::from_millis(10));
    }
    let (sender, interrupts) = channel();
    sender.send(()).unwrap();
    assert_eq!(program.wait(&interrupts).unwrap(), Outcome::Interrupted);
    program.stop(&interrupts).unwrap();
    assert_eq!(fs::read_to_string(directory.path().join("state")).unwrap(), "stopped\n");
}
