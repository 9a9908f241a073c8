//! The children of a Logger equal the documents in `tests/golden`. `GOLDEN=record` writes them.

use std::{collections::BTreeSet, fs, path::PathBuf};

use logger_operator::children::{AgentOptions, Children, desired};
use serde_json::{Value, json};

use crate::fixture::logger;

fn children(replicas: Option<i32>, image: &str) -> Vec<Value> {
    let mut logger = logger("audit");
    logger.metadata.namespace = Some("default".to_owned());
    logger.spec.replicas = replicas;
    let Children { deployment, service, disruption_budget } =
        desired(&logger, &AgentOptions { image: image.to_owned(), toleration_seconds: 30 });
    let mut all = vec![serde_json::to_value(deployment).unwrap(), serde_json::to_value(service).unwrap()];
    all.extend(disruption_budget.map(|budget| serde_json::to_value(budget).unwrap()));
    all
}

#[test]
fn children_equal_the_golden_files() {
    for replicas in [0, 1, 2, 5] {
        let actual = children(Some(replicas), "registry.example.com/logger-agent:1.0.0");
        let directory = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("tests/golden");
        let file = directory.join(format!("{replicas}-replicas.yaml"));
        if std::env::var("GOLDEN").is_ok_and(|value| value == "record") {
            let documents: Vec<_> = actual.iter().map(|child| serde_saphyr::to_string(child).unwrap()).collect();
            fs::write(&file, documents.join("---\n")).unwrap();
        }
        let expected: Vec<Value> = serde_saphyr::from_multiple(&fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(actual, expected, "{}", file.display());
    }
}

#[test]
fn a_logger_without_replicas_has_one_agent() {
    assert_eq!(children(None, "a"), children(Some(1), "a"));
}

#[test]
fn the_image_is_in_the_container_only() {
    let text = |image: &str| serde_json::to_string(&children(Some(2), image)).unwrap();
    assert_eq!(text("registry/agent:1.2.3").matches("1.2.3").count(), 1);
    let [one, other] = ["a:1", "b:2"].map(|image| children(Some(2), image).swap_remove(0));
    assert_eq!(one["spec"]["selector"], other["spec"]["selector"]);
}

/// Pods of the standard `restricted`, by the fields that it requires.
#[test]
fn agents_meet_the_pod_security_standard_restricted() {
    let deployment = children(Some(2), "a").swap_remove(0);
    let pod = &deployment["spec"]["template"]["spec"];
    assert_eq!(pod["securityContext"]["runAsNonRoot"], json!(true));
    assert_eq!(pod["securityContext"]["seccompProfile"]["type"], json!("RuntimeDefault"));
    let container = &pod["containers"][0]["securityContext"];
    assert_eq!(container["allowPrivilegeEscalation"], json!(false));
    assert_eq!(container["capabilities"], json!({"drop": ["ALL"]}));
    let volumes: BTreeSet<_> = pod["volumes"][0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(volumes, BTreeSet::from(["emptyDir", "name"]));
    assert_eq!(pod["automountServiceAccountToken"], json!(false));
}
