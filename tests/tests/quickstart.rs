//! The quickstart as its users start it, without a cluster, and where it must fail.

use tests::quickstart;

#[test]
fn it_tells_the_story_on_the_embedded_api_server() {
    let output = quickstart(&[]);
    let story = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{story}{}", String::from_utf8_lossy(&output.stderr));
    let mut rest = story.as_str();
    for expected in [
        "CRD:        loggers.example.com installed",
        "ADDED default/audit",
        "MODIFIED default/audit  Available, 2 of 2, every 60 s",
        "MODIFIED default/audit  Available, 3 of 3, every 30 s",
        "REFUSED cannot create loggers.example.com `broken`",
        "DELETED default/access",
        "  State      Available",
        "DELETED default/audit",
        "CRD:        loggers.example.com removed",
    ] {
        let at = rest.find(expected).unwrap_or_else(|| panic!("not told in its place: {expected}\n{story}"));
        rest = &rest[at..];
    }
}

#[test]
fn it_says_what_it_cannot_use_and_why() {
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
        (["--crd".to_owned(), file("broken.yaml", "a: [")], "holds no CustomResourceDefinition"),
        (["--crd".to_owned(), file("pod.yaml", "apiVersion: v1\nkind: Pod\n")], "holds no CustomResourceDefinition"),
        (["--namespace".to_owned(), "nowhere".to_owned()], "namespaces \"nowhere\" not found"),
    ] {
        let output = quickstart(&[&args[0], &args[1]]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.starts_with("error: ") && said.contains(expected), "{args:?}: {said}");
    }
}
