//! The kinds of the control plane, of storage and of devices.

use serde_json::{Value, json};

use crate::support::*;

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";

/// Sends a request and returns the code and the JSON of the response.
async fn send(client: &kube::Client, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let (content_type, body) = match method {
        "GET" | "DELETE" => (JSON, String::new()),
        "PATCH" => (MERGE, body.to_string()),
        _ => (JSON, body.to_string()),
    };
    let (code, body) = raw(client, method, path, content_type, &body).await;
    (code, serde_json::from_str(&body).unwrap())
}

fn pod_template() -> Value {
    json!({ "metadata": { "labels": { "app": "a" } }, "spec": { "containers": [{ "name": "c", "image": "i" }] } })
}

/// Returns the collections of kinds, with the contents of a valid object.
fn valid_objects() -> Vec<(&'static str, &'static str, Value)> {
    let device = json!({ "devices": { "requests": [{ "name": "gpu", "exactly": { "deviceClassName": "gpus" } }] } });
    let slice = json!({
        "driver": "d.example.com",
        "nodeName": "n",
        "pool": { "name": "p", "generation": 1, "resourceSliceCount": 1 },
    });
    let attachment = json!({ "attacher": "d", "nodeName": "n", "source": { "persistentVolumeName": "v" } });
    vec![
        ("/api/v1/namespaces/default/podtemplates", "a", json!({ "template": pod_template() })),
        ("/api/v1/namespaces/default/replicationcontrollers", "a", json!({ "spec": { "template": pod_template() } })),
        (
            "/apis/apiregistration.k8s.io/v1/apiservices",
            "v2.example.com",
            json!({
                "spec": { "group": "example.com", "version": "v2", "groupPriorityMinimum": 9, "versionPriority": 9 },
            }),
        ),
        (
            "/apis/networking.k8s.io/v1/ipaddresses",
            "192.168.0.7",
            json!({ "spec": { "parentRef": { "resource": "services", "namespace": "default", "name": "s" } } }),
        ),
        ("/apis/networking.k8s.io/v1/servicecidrs", "a", json!({ "spec": { "cidrs": ["192.168.0.0/24"] } })),
        ("/apis/node.k8s.io/v1/runtimeclasses", "a", json!({ "handler": "runc" })),
        ("/apis/resource.k8s.io/v1/deviceclasses", "a", json!({ "spec": {} })),
        ("/apis/resource.k8s.io/v1/namespaces/default/resourceclaims", "a", json!({ "spec": device })),
        (
            "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates",
            "a",
            json!({ "spec": { "spec": device } }),
        ),
        ("/apis/resource.k8s.io/v1/resourceslices", "a", json!({ "spec": slice })),
        ("/apis/storage.k8s.io/v1/csidrivers", "a", json!({ "spec": {} })),
        ("/apis/storage.k8s.io/v1/csinodes", "a", json!({ "spec": { "drivers": [{ "name": "d", "nodeID": "n" }] } })),
        ("/apis/storage.k8s.io/v1/namespaces/default/csistoragecapacities", "a", json!({ "storageClassName": "s" })),
        ("/apis/storage.k8s.io/v1/volumeattachments", "a", json!({ "spec": attachment })),
        ("/apis/storage.k8s.io/v1/volumeattributesclasses", "a", json!({ "driverName": "d" })),
        (
            "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings",
            "a",
            json!({ "spec": { "policyName": "p" } }),
        ),
    ]
}

#[tokio::test]
async fn every_kind_is_created_read_listed_and_deleted() {
    let client = client().await;
    for (collection, name, mut body) in valid_objects() {
        body["metadata"] = json!({ "name": name });
        let (code, created) = send(&client, "POST", collection, &body).await;
        assert_eq!(code, 201, "{collection}: {created}");
        let path = format!("{collection}/{name}");
        let (code, read) = send(&client, "GET", &path, &Value::Null).await;
        assert_eq!((code, &read), (200, &created), "{collection}");
        let (code, list) = send(&client, "GET", collection, &Value::Null).await;
        let is_listed = list["items"].as_array().unwrap().iter().any(|item| item["metadata"]["name"] == name);
        assert!(code == 200 && is_listed, "{collection}: {list}");
        if created["metadata"]["finalizers"].is_array() {
            let (code, changed) = send(&client, "PATCH", &path, &json!({ "metadata": { "finalizers": null } })).await;
            assert_eq!(code, 200, "{collection}: {changed}");
        }
        let (code, deleted) = send(&client, "DELETE", &path, &Value::Null).await;
        assert_eq!(code, 200, "{collection}: {deleted}");
        assert_eq!(send(&client, "GET", &path, &Value::Null).await.0, 404, "{collection}");
    }
}

#[tokio::test]
async fn defaults_are_those_of_go() {
    let client = client().await;
    let objects = valid_objects();
    let created = async |collection: &str| {
        let (path, name, mut body) =
            objects.iter().find(|(path, ..)| path.ends_with(collection)).cloned().expect("the kind has an object");
        body["metadata"] = json!({ "name": name });
        send(&client, "POST", path, &body).await.1
    };
    let controller = created("replicationcontrollers").await;
    assert_eq!(controller["metadata"]["labels"], json!({ "app": "a" }));
    assert_eq!((&controller["spec"]["selector"], &controller["spec"]["replicas"]), (&json!({ "app": "a" }), &json!(1)));
    assert_eq!(controller["status"], json!({ "replicas": 0 }));
    let driver = created("csidrivers").await;
    assert_eq!(driver["spec"]["volumeLifecycleModes"], json!(["Persistent"]));
    assert!(driver["metadata"]["generation"].is_null(), "{driver}");
    let class = created("volumeattributesclasses").await;
    assert_eq!(class["metadata"]["finalizers"], json!(["kubernetes.io/vac-protection"]));
    let claim = created("resourceclaims").await;
    let request = &claim["spec"]["devices"]["requests"][0]["exactly"];
    assert_eq!((&request["allocationMode"], &request["count"]), (&json!("ExactCount"), &json!(1)));
}

#[tokio::test]
async fn invalid_objects_are_rejected() {
    let client = client().await;
    let cases = [
        ("/apis/node.k8s.io/v1/runtimeclasses", json!({ "metadata": { "name": "a" }, "handler": "A" }), "handler"),
        (
            "/api/v1/namespaces/default/replicationcontrollers",
            json!({ "metadata": { "name": "a" }, "spec": { "selector": { "app": "b" }, "template": pod_template() } }),
            "`selector` does not match template `labels`",
        ),
        (
            "/apis/storage.k8s.io/v1/volumeattachments",
            json!({ "metadata": { "name": "a" }, "spec": { "attacher": "d", "nodeName": "n" } }),
            "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName",
        ),
        (
            "/apis/storage.k8s.io/v1/namespaces/default/csistoragecapacities",
            json!({ "metadata": { "name": "a" } }),
            "storageClassName: Invalid value: \"\"",
        ),
    ];
    for (path, body, expected) in cases {
        let (code, status) = send(&client, "POST", path, &body).await;
        let message = status["message"].as_str().unwrap_or_default();
        assert!(code == 422 && message.contains(expected), "{path}: {code} {message}");
    }
}

#[tokio::test]
async fn certificates_are_approved_and_issued_by_subresources() {
    const PATH: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let client = client().await;
    let spec =
        json!({ "request": "YQ==", "signerName": "example.com/s", "usages": ["client auth"], "username": "other" });
    let (code, request) = send(
        &client,
        "POST",
        PATH,
        &json!({ "metadata": { "name": "a" }, "spec": spec, "status": { "certificate": "YQ==" } }),
    )
    .await;
    assert_eq!(code, 201, "{request}");
    assert_eq!((&request["spec"]["username"], &request["status"]), (&json!("admin"), &json!({})));
    let approval = json!({ "status": { "conditions": [{ "type": "Approved", "status": "True", "reason": "r" }] } });
    let (code, status) = send(&client, "PATCH", &format!("{PATH}/a/status"), &approval).await;
    assert_eq!(code, 422, "{status}");
    let (code, approved) = send(&client, "PATCH", &format!("{PATH}/a/approval"), &approval).await;
    assert_eq!(code, 200, "{approved}");
    assert!(approved["status"]["conditions"][0]["lastTransitionTime"].is_string(), "{approved}");
    let certificate = json!({ "status": { "certificate": "Yw==" } });
    let (_, ignored) = send(&client, "PATCH", &format!("{PATH}/a/approval"), &certificate).await;
    assert!(ignored["status"]["certificate"].is_null(), "{ignored}");
    let (code, issued) = send(&client, "PATCH", &format!("{PATH}/a/status"), &certificate).await;
    assert_eq!((code, &issued["status"]["certificate"]), (200, &json!("Yw==")));
    assert_eq!(issued["status"]["conditions"], approved["status"]["conditions"]);
    let (_, changed) =
        send(&client, "PATCH", &format!("{PATH}/a"), &json!({ "spec": { "signerName": "b.c/d" } })).await;
    assert_eq!(changed["spec"]["signerName"], "example.com/s");
    let selected =
        send(&client, "GET", &format!("{PATH}?fieldSelector=spec.signerName=example.com/s"), &Value::Null).await.1;
    assert_eq!(selected["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn replication_controllers_are_scaled_by_their_labels() {
    const PATH: &str = "/api/v1/namespaces/default/replicationcontrollers";
    let client = client().await;
    let body = json!({ "metadata": { "name": "a" }, "spec": { "template": pod_template() } });
    assert_eq!(send(&client, "POST", PATH, &body).await.0, 201);
    let (code, scale) = send(&client, "PATCH", &format!("{PATH}/a/scale"), &json!({ "spec": { "replicas": 4 } })).await;
    assert_eq!((code, &scale["spec"]["replicas"], &scale["status"]["selector"]), (200, &json!(4), &json!("app=a")));
    let (_, scaled) = send(&client, "GET", &format!("{PATH}/a"), &Value::Null).await;
    assert_eq!((&scaled["spec"]["replicas"], &scaled["metadata"]["generation"]), (&json!(4), &json!(2)));
}

#[tokio::test]
async fn the_service_of_the_server_has_endpoints_and_a_reserved_address() {
    const SERVICES: &str = "/api/v1/namespaces/default/services";
    let client = client().await;
    let (code, service) = send(&client, "GET", &format!("{SERVICES}/kubernetes"), &Value::Null).await;
    assert_eq!((code, &service["spec"]["clusterIP"]), (200, &json!("10.0.0.1")), "{service}");
    for path in ["/api/v1/namespaces/default/endpoints", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"]
    {
        assert_eq!(send(&client, "GET", &format!("{path}/kubernetes"), &Value::Null).await.0, 200, "{path}");
    }
    let other = json!({ "metadata": { "name": "a" }, "spec": { "clusterIP": "10.0.0.1", "ports": [{ "port": 80 }] } });
    let (code, status) = send(&client, "POST", SERVICES, &other).await;
    let message = status["message"].as_str().unwrap_or_default();
    assert!(code == 422 && message.contains("provided IP is already allocated"), "{code} {message}");
}

#[tokio::test]
async fn subresources_are_discovered() {
    let client = client().await;
    let names = async |path: &str| {
        let (_, list) = send(&client, "GET", path, &Value::Null).await;
        let names = list["resources"].as_array().unwrap().iter().filter_map(|resource| resource["name"].as_str());
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let resources = names("/apis/certificates.k8s.io/v1").await;
    let expected = ["", "/approval", "/status"].map(|suffix| format!("certificatesigningrequests{suffix}"));
    assert_eq!(resources, expected);
    assert!(names("/api/v1").await.contains(&"namespaces/finalize".to_owned()));
}
