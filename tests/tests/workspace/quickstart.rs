//! The quickstart as users start it, without a cluster, and its errors.

use tests::quickstart;

#[test]
fn the_quickstart_runs_on_the_embedded_api_server() {
    let output = quickstart(&[]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    let mut rest = printed.as_str();
    for expected in [
        "CRD:        loggers.example.com installed",
        "ADDED default/audit",
        "MODIFIED default/audit  Available, 2 of 2, every 1m",
        "MODIFIED default/audit  Available, 3 of 3, every 30s",
        "REJECTED cannot create loggers.example.com `broken`",
        "DELETED default/access",
        "  State      Available",
        "DELETED default/audit",
        "CRD:        loggers.example.com removed",
    ] {
        let at = rest.find(expected).unwrap_or_else(|| panic!("missing or out of order: {expected}\n{printed}"));
        rest = &rest[at..];
    }
}

#[test]
fn unusable_arguments_are_reported_with_the_cause() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let unreachable = "apiVersion: v1\nkind: Config\ncurrent-context: a\n\
                       clusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]\n\
                       contexts: [{name: a, context: {cluster: a, user: a}}]\nusers: [{name: a, user: {}}]\n";
    for (args, expected) in [
        (["--kubeconfig".to_owned(), file("unreachable", unreachable)], "Connection refused"),
        (["--kubeconfig".to_owned(), "/nowhere".to_owned()], "No such file"),
        (["--crd".to_owned(), file("broken.yaml", "a: [")], "contains no CustomResourceDefinition"),
        (["--crd".to_owned(), file("pod.yaml", "apiVersion: v1\nkind: Pod\n")], "contains no CustomResourceDefinition"),
        (["--namespace".to_owned(), "nowhere".to_owned()], "namespaces \"nowhere\" not found"),
    ] {
        let output = quickstart(&[&args[0], &args[1]]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && stderr.starts_with("error: ") && stderr.contains(expected),
            "{args:?}: {stderr}"
        );
    }
}
