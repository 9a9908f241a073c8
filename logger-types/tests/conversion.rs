//! The conversion between the versions of a Logger loses nothing, and an edit through `v1` changes that field only.

#![expect(clippy::unwrap_used, reason = "allowed in tests, and test helpers are part of them")]

use kubewright::core::{
    Converter,
    conversion::testing::{Failure, Options, verify},
};
use logger_types::{v1, v2};
use serde_json::{Value, json};

const V1: &str = "example.com/v1";
const V2: &str = "example.com/v2";

fn convert(object: &Value, version: &str) -> Value {
    let converter = Converter::hub::<v2::Logger>().spoke::<v1::Logger>().build();
    converter.convert(object.clone(), version).unwrap()
}

/// Returns a complete object: it has a UID.
fn logger(api_version: &str, spec: Value) -> Value {
    json!({"apiVersion": api_version, "kind": "Logger", "metadata": {"name": "web", "uid": "8a1f"}, "spec": spec})
}

#[test]
fn v1_converts_without_loss() -> Result<(), Failure> {
    verify::<v1::Logger>(&Options::default())
}

#[test]
fn a_logger_of_v1_has_the_defaults_of_before() {
    let stored = convert(&logger(V1, json!({"name": "web", "timeInterval": 60, "replicas": 2})), V2);
    assert_eq!(stored, logger(V2, json!({"name": "web", "interval": "60s", "replicas": 2})));
}

#[test]
fn an_interval_that_v1_expresses_otherwise_is_restored_until_it_is_changed() {
    let stored = logger(V2, json!({"name": "web", "interval": "1m30s"}));
    let mut shown = convert(&stored, V1);
    assert_eq!(shown["spec"], json!({"name": "web", "timeInterval": 90}));
    assert_eq!(convert(&shown, V2), stored);
    shown["spec"]["timeInterval"] = json!(30);
    assert_eq!(convert(&shown, V2)["spec"]["interval"], json!("30s"));
}

#[test]
fn fields_of_v2_survive_a_change_through_v1() {
    let spec = json!({
        "name": "web", "interval": "60s", "replicas": 2, "placement": "Spread", "durability": "Record",
        "source": {"accept": ["Audit"]}, "rotation": {"maxSize": "1Mi", "retention": {"maxAge": "24h"}},
        "storage": {"volumeClaim": {"size": "1Gi"}}, "resources": {"limits": {"memory": "64Mi"}},
    });
    let mut shown = convert(&logger(V2, spec.clone()), V1);
    assert_eq!(shown["spec"], json!({"name": "web", "timeInterval": 60, "replicas": 2}));
    shown["spec"]["replicas"] = json!(3);
    let mut expected = logger(V2, spec);
    expected["spec"]["replicas"] = json!(3);
    assert_eq!(convert(&shown, V2), expected);
}

#[test]
fn the_replicas_of_v1_are_the_ready_ones() {
    let mut stored = logger(V2, json!({"name": "web", "interval": "60s"}));
    stored["status"] = json!({
        "state": "Available", "workload": "Deployment", "desiredReplicas": 3, "replicas": 3, "readyReplicas": 2,
        "updatedReplicas": 1,
    });
    let shown = convert(&stored, V1);
    assert_eq!(shown["status"], json!({"state": "Available", "replicas": 2}));
    assert_eq!(convert(&shown, V2), stored);
}

#[test]
fn rust_values_convert() {
    let spec = v2::LoggerSpec { name: "web".to_owned(), interval: "1h".to_owned(), ..v2::LoggerSpec::default() };
    let logger = v2::Logger { spec, ..v2::Logger::default() };
    let old = v1::Logger::try_from(logger.clone()).unwrap();
    assert_eq!(old.spec.time_interval, 3600);
    assert_eq!(v2::Logger::try_from(old).unwrap(), logger);
}
