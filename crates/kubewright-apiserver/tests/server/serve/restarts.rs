//! Behaviour that continues after a restart of the program.

use serde_json::{Value, json};

use super::program::{Program, send};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const DESKS: &str = "/apis/example.com/v1/namespaces/default/desks";

/// Stops the program gracefully and starts it again on the same directory.
fn restart(program: Program, args: &[&str]) -> Program {
    program.terminate();
    assert!(program.wait().success());
    Program::start(args)
}

#[test]
fn dependents_of_an_owner_from_before_a_restart_are_collected() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["--data-dir", directory.path().to_str().unwrap()];
    let program = Program::start(&args);
    let owner = post(&program, CONFIG_MAPS, &json!({ "metadata": { "name": "owner" } }));
    let reference =
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"] });
    for name in ["first", "second"] {
        let metadata = json!({ "name": name, "ownerReferences": [reference], "finalizers": finalizers(name) });
        post(&program, CONFIG_MAPS, &json!({ "metadata": metadata }));
    }
    let program = restart(program, &args);
    assert_eq!(delete(&program, &format!("{CONFIG_MAPS}/owner")), 200);
    assert_eq!(program.get(&format!("{CONFIG_MAPS}/first"), "").code, 404);
    // A dependent with a finalizer is being deleted, and is removed with the finalizer, also after another restart.
    let program = restart(program, &args);
    let held = program.get(&format!("{CONFIG_MAPS}/second"), "").json();
    assert!(held["metadata"]["deletionTimestamp"].is_string(), "{held}");
    merge(&program, &format!("{CONFIG_MAPS}/second"), &json!({ "metadata": { "finalizers": null } }));
    assert_eq!(program.get(&format!("{CONFIG_MAPS}/second"), "").code, 404);
}

fn finalizers(name: &str) -> Value {
    if name == "second" { json!(["example.com/hold"]) } else { json!([]) }
}

#[test]
fn a_terminating_namespace_is_removed_with_its_last_finalizer() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["--data-dir", directory.path().to_str().unwrap()];
    let program = Program::start(&args);
    post(&program, "/api/v1/namespaces", &json!({ "metadata": { "name": "shop" } }));
    let path = "/api/v1/namespaces/shop/configmaps";
    post(&program, path, &json!({ "metadata": { "name": "held", "finalizers": ["example.com/hold"] } }));
    assert_eq!(delete(&program, "/api/v1/namespaces/shop"), 200);
    let program = restart(program, &args);
    assert_eq!(program.get("/api/v1/namespaces/shop", "").json()["status"]["phase"], "Terminating");
    merge(&program, &format!("{path}/held"), &json!({ "metadata": { "finalizers": null } }));
    assert_eq!(program.get("/api/v1/namespaces/shop", "").code, 404);
}

#[test]
fn definitions_and_their_objects_are_unchanged() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["--data-dir", directory.path().to_str().unwrap()];
    let program = Program::start(&args);
    post(&program, DEFINITIONS, &definition());
    post(&program, DESKS, &desk("mine", &json!({})));
    merge(&program, &format!("{DESKS}/mine/status"), &json!({ "status": { "legs": 2 } }));
    let paths = [format!("{DEFINITIONS}/desks.example.com"), format!("{DESKS}/mine"), format!("{DESKS}/mine/scale")];
    let before: Vec<Value> = paths.iter().map(|path| program.get(path, "").json()).collect();
    let document = program.get("/openapi/v3/apis/example.com/v1", "");
    let program = restart(program, &args);
    for (path, before) in paths.iter().zip(before) {
        assert_eq!(program.get(path, "").json(), before, "{path}");
    }
    let again = program.get("/openapi/v3/apis/example.com/v1", "");
    assert_eq!(again.header("etag"), document.header("etag"));
    // The schema defaults and validates, and the printer columns apply.
    assert_eq!(post(&program, DESKS, &desk("other", &json!({})))["spec"]["legs"], 4);
    let rejected = program.post(DESKS, desk("bad", &json!({ "legs": 0 })).to_string().as_bytes());
    assert_eq!(rejected.code, 422);
    let table = program.get(DESKS, "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n").json();
    assert_eq!(table["rows"][0]["cells"], json!(["mine", 4]));
    // The kind is removed with its definition.
    assert_eq!(delete(&program, &format!("{DEFINITIONS}/desks.example.com")), 200);
    let program = restart(program, &args);
    assert_eq!(program.get(DESKS, "").code, 404);
}

fn definition() -> Value {
    let spec = json!({ "type": "object", "default": {}, "properties": {
        "legs": { "type": "integer", "minimum": 1, "default": 4 },
    } });
    let status = json!({ "type": "object", "properties": { "legs": { "type": "integer" } } });
    json!({
        "metadata": { "name": "desks.example.com" },
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": { "kind": "Desk", "plural": "desks" },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": spec, "status": status } } },
                "subresources": {
                    "status": {}, "scale": { "specReplicasPath": ".spec.legs", "statusReplicasPath": ".status.legs" },
                },
                "additionalPrinterColumns": [{ "name": "Legs", "type": "integer", "jsonPath": ".spec.legs" }],
            }],
        },
    })
}

fn desk(name: &str, spec: &Value) -> Value {
    json!({ "apiVersion": "example.com/v1", "kind": "Desk", "metadata": { "name": name }, "spec": spec })
}

/// Creates an object and returns the stored one.
fn post(program: &Program, path: &str, object: &Value) -> Value {
    let answer = program.post(path, object.to_string().as_bytes());
    assert_eq!(answer.code, 201, "{}", answer.text());
    answer.json()
}

fn merge(program: &Program, path: &str, patch: &Value) {
    let headers = "Content-Type: application/merge-patch+json\r\n";
    let answer = send(program.address(), "PATCH", path, headers, patch.to_string().as_bytes()).unwrap();
    assert_eq!(answer.code, 200, "{}", answer.text());
}

fn delete(program: &Program, path: &str) -> u16 {
    send(program.address(), "DELETE", path, "", b"").unwrap().code
}
