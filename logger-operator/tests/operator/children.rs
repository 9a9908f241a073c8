//! The children of a Logger equal the documents in `tests/golden`. `GOLDEN=record` writes them.

use std::{collections::BTreeSet, fs, path::PathBuf};

use logger_operator::children::{AgentOptions, Children, desired};
use logger_types::v2::{Logger, LoggerSpec};
use serde_json::{Value, json};

use crate::fixture::logger;

fn children(replicas: Option<i32>, image: &str) -> Vec<Value> {
    let mut logger = logger("audit");
    logger.spec.replicas = replicas;
    children_of(logger, image)
}

fn children_of(mut logger: Logger, image: &str) -> Vec<Value> {
    logger.metadata.namespace = Some("default".to_owned());
    let operator_namespace = "operators".to_owned();
    let agent = AgentOptions { image: image.to_owned(), toleration_seconds: 30, operator_namespace };
    let Children { workload, service, network_policy, disruption_budget } = desired(&logger, &agent);
    let mut all = vec![serde_json::to_value(workload).unwrap(), serde_json::to_value(service).unwrap()];
    all.extend(network_policy.map(|policy| serde_json::to_value(policy).unwrap()));
    all.extend(disruption_budget.map(|budget| serde_json::to_value(budget).unwrap()));
    all
}

/// Returns the children of a Logger with these fields of its spec.
fn children_with(fields: Value) -> Vec<Value> {
    let mut spec = json!({"name": "audit-log", "interval": "1m30s", "replicas": 2});
    spec.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let spec: LoggerSpec = serde_json::from_value(spec).unwrap();
    children_of(Logger { spec, ..logger("audit") }, "registry.example.com/logger-agent:1.0.0")
}

#[test]
fn children_equal_the_golden_files() {
    let with_replicas = [0, 1, 2, 5].map(|replicas| {
        let children = children(Some(replicas), "registry.example.com/logger-agent:1.0.0");
        (format!("{replicas}-replicas"), children)
    });
    let per_node = json!({
        "placement": "PerNode",
        "source": {"accept": ["Audit"], "recordsPerSecond": 500},
        "storage": {"emptyDir": {"sizeLimit": "2Gi"}},
        "resources": {"limits": {"memory": "256Mi"}},
    });
    let volume_claim = json!({
        "durability": "Record",
        "rotation": {"maxSize": "8Mi", "maxAge": "30m", "retention": {"maxSize": "9Gi", "maxAge": "720h"}},
        "storage": {"volumeClaim": {"storageClassName": "fast", "size": "10Gi"}},
    });
    let peers = json!({"source": {"from": [
        {"podSelector": {"matchLabels": {"app": "shop"}}},
        {"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "In", "values": ["a"]}]}},
        {"ipBlock": {"cidr": "10.0.0.0/24", "except": ["10.0.0.7/32"]}},
    ]}});
    let tokens = json!({"storage": {"volumeClaim": {"size": "10Gi"}}, "source": {
        "auditTokens": {"name": "api-server", "key": "token"},
        "activityTokens": {"name": "shops", "key": "tokens", "optional": true},
    }});
    let others = [("per-node", per_node), ("volume-claim", volume_claim), ("peers", peers), ("tokens", tokens)];
    let others = others.map(|(name, fields)| (name.to_owned(), children_with(fields)));
    for (name, actual) in with_replicas.into_iter().chain(others) {
        let directory = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("tests/golden");
        let file = directory.join(format!("{name}.yaml"));
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
    let [old, new] = ["a:1", "b:2"].map(|image| children(Some(2), image).swap_remove(0));
    assert_eq!(old["spec"]["selector"], new["spec"]["selector"]);
}

/// Pods of the standard `restricted`, by the fields that it requires.
#[test]
fn agents_meet_the_pod_security_standard_restricted() {
    let per_node = children_with(json!({"placement": "PerNode"}));
    let volume_claim = children_with(json!({"storage": {"volumeClaim": {"size": "1Gi"}}}));
    for (mut children, volume) in [(children(Some(2), "a"), true), (per_node, true), (volume_claim, false)] {
        check_restricted(&children.swap_remove(0)["spec"]["template"]["spec"], volume);
    }
}

fn check_restricted(pod: &Value, has_volume: bool) {
    assert_eq!(pod["securityContext"]["runAsNonRoot"], json!(true));
    assert_eq!(pod["securityContext"]["seccompProfile"]["type"], json!("RuntimeDefault"));
    let container = &pod["containers"][0]["securityContext"];
    assert_eq!(container["allowPrivilegeEscalation"], json!(false));
    assert_eq!(container["capabilities"], json!({"drop": ["ALL"]}));
    let volumes: BTreeSet<_> =
        pod["volumes"][0].as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    assert_eq!(volumes, if has_volume { BTreeSet::from(["emptyDir", "name"]) } else { BTreeSet::new() });
    assert_eq!(pod["automountServiceAccountToken"], json!(false));
}
