//! What the operator prints about itself: the permissions that follow from its registration and those it declares.

use std::process::Command;

use kubewright_core::description::{OperatorDescription, PermissionScope};

fn describe(args: &[&str]) -> OperatorDescription {
    let mut program = Command::new(env!("CARGO_BIN_EXE_logger-operator"));
    let output = program.args(["manifests", "--agent-image=agent:1"]).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns whether the operator declares this verb on this resource.
fn allows(description: &OperatorDescription, scope: PermissionScope, resource: &str, verb: &str) -> bool {
    let mut permissions = description.permissions.iter().filter(|permission| permission.scope == scope);
    permissions.any(|permission| {
        let resources = permission.rule.resources.as_deref().unwrap_or_default();
        resources.iter().any(|name| name == resource) && permission.rule.verbs.iter().any(|name| name == verb)
    })
}

#[test]
fn permissions_follow_from_what_is_registered() {
    let description = describe(&["--leader-elect"]);
    for (resource, verb) in [
        ("loggers", "watch"),
        ("loggers/status", "patch"),
        ("loggers/finalizers", "update"),
        ("deployments", "create"),
        ("services", "patch"),
        ("networkpolicies", "patch"),
        ("poddisruptionbudgets", "delete"),
        ("pods", "list"),
        ("events", "create"),
    ] {
        assert!(allows(&description, PermissionScope::Namespaced, resource, verb), "{verb} {resource}");
    }
    assert!(!allows(&description, PermissionScope::Namespaced, "loggers", "create"));
    assert!(!allows(&description, PermissionScope::Namespaced, "pods", "delete"));
    assert!(allows(&description, PermissionScope::OwnNamespace, "leases", "update"));
    assert!(allows(&description, PermissionScope::Reviews, "tokenreviews", "create"));
}

#[test]
fn the_default_logger_needs_to_be_created() {
    let description = describe(&["--ensure-default-logger"]);
    assert!(allows(&description, PermissionScope::Namespaced, "loggers", "create"));
    assert_eq!(description.lease, None);
}

#[test]
fn informers_have_their_namespaces_and_selectors() {
    let description = describe(&["--namespace=b", "--namespace=a"]);
    let pods = description.informers.iter().find(|informer| informer.kind.plural == "pods").unwrap();
    assert_eq!(pods.namespaces, ["a", "b"]);
    assert_eq!(pods.label_selector.as_deref(), Some("app.kubernetes.io/name=logger-agent"));
}

#[test]
fn ports_are_described_without_being_used() {
    let used = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = used.local_addr().unwrap();
    let description = describe(&[&format!("--metrics-bind-address={address}")]);
    let metrics = description.servers.iter().find(|server| server.name == "metrics").unwrap();
    assert_eq!((metrics.port, metrics.https, metrics.authenticated), (address.port(), true, true));
}
