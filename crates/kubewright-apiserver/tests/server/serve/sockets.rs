//! The program's responses on a socket.

use std::io::{BufRead, BufReader, Read};

use super::program::{Program, open, send};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const AGGREGATED: &str = "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList\r\n";

#[test]
fn health_checks_are_listed_and_can_be_excluded() {
    let program = Program::start(&[]);
    assert_eq!(program.get("/livez", "").text(), "ok");
    assert_eq!(program.get("/readyz/ping", "").text(), "ok");
    assert_eq!(program.get("/livez/nothing", "").code, 404);
    assert_eq!(
        program.get("/livez?verbose&exclude=storage&exclude=nope", "").text(),
        "[+]ping ok\n[+]storage excluded: ok\n\
         warn: some health checks cannot be excluded: no matches for \"nope\"\nlivez check passed\n"
    );
}

#[test]
fn aggregated_discovery_is_sent_again_only_if_it_changed() {
    let program = Program::start(&[]);
    let first = program.get("/apis", AGGREGATED);
    assert_eq!(first.json()["kind"], "APIGroupDiscoveryList");
    let if_none_match = format!("{AGGREGATED}If-None-Match: {}\r\n", first.header("etag").to_uppercase());
    let again = program.get("/apis", &if_none_match);
    assert_eq!((again.code, again.body.len()), (304, 0));
    let core = program.get("/api", AGGREGATED).json();
    assert_eq!(core["items"][0]["versions"][0]["version"], "v1");
}

#[test]
fn every_kind_is_in_openapi_with_field_validation_of_patches() {
    let program = Program::start(&[]);
    let index = program.get("/openapi/v3", "").json();
    let url = index["paths"]["apis/apps/v1"]["serverRelativeURL"].as_str().unwrap().to_owned();
    let document = program.get(&url, "").json();
    let deployment = &document["components"]["schemas"]["io.k8s.api.apps.v1.Deployment"];
    assert_eq!(deployment["x-kubernetes-group-version-kind"][0]["kind"], "Deployment");
    let patch = &document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
    assert!(patch["parameters"].as_array().unwrap().iter().any(|parameter| parameter["name"] == "fieldValidation"));
    assert_eq!(program.get("/openapi/v3/apis/nothing/v1", "").code, 404);
    assert_eq!(program.get("/openapi/v2", "Accept: application/x-protobuf\r\n").code, 406);
}

#[test]
fn openapi_documents_are_addressed_by_hash_and_change_with_their_definition() {
    let program = Program::start(&[]);
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let definition = |description: &str| {
        let schema = serde_json::json!({ "openAPIV3Schema": { "type": "object", "description": description } });
        serde_json::json!({
            "metadata": { "name": "desks.example.com" },
            "spec": {
                "group": "example.com", "scope": "Namespaced", "names": { "kind": "Desk", "plural": "desks" },
                "versions": [{ "name": "v1", "served": true, "storage": true, "schema": schema }],
            },
        })
    };
    assert_eq!(program.post(definitions, definition("A desk.").to_string().as_bytes()).code, 201);
    let url = || program.get("/openapi/v3", "").json()["paths"]["apis/example.com/v1"]["serverRelativeURL"].clone();
    let first = url();
    let document = program.get(first.as_str().unwrap(), "");
    assert_eq!(document.header("cache-control"), "public, immutable");
    assert!(document.text().contains("A desk."));
    let etag = document.header("etag").trim_matches('"').to_uppercase();
    assert!(first.as_str().unwrap().ends_with(&format!("?hash={etag}")), "{first} {etag}");
    let if_none_match = format!("If-None-Match: \"{etag}\"\r\n");
    assert_eq!(program.get("/openapi/v3/apis/example.com/v1", &if_none_match).code, 304);
    assert_eq!(url(), first, "the hash is stable");

    let patch = serde_json::json!({ "spec": definition("A better desk.")["spec"] }).to_string();
    let path = format!("{definitions}/desks.example.com");
    let merge = "Content-Type: application/merge-patch+json\r\n";
    assert_eq!(send(program.address(), "PATCH", &path, merge, patch.as_bytes()).unwrap().code, 200);
    let second = url();
    assert_ne!(second, first);
    let moved = program.get(first.as_str().unwrap(), "");
    assert_eq!((moved.code, moved.header("location")), (301, second.as_str().unwrap().to_lowercase().as_str()));
    assert!(program.get(second.as_str().unwrap(), "").text().contains("A better desk."));
    assert_eq!(program.get("/openapi/v3/apis/example.com/v1", &if_none_match).code, 200);
    assert_eq!(send(program.address(), "DELETE", &path, "", b"").unwrap().code, 200);
    assert_eq!(program.get(second.as_str().unwrap(), "").code, 404);
}

#[test]
fn every_user_is_allowed_everything() {
    let program = Program::start(&[]);
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let answer = program.post(path, br#"{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}"#);
    assert_eq!((answer.code, answer.json()["status"]["allowed"].as_bool()), (201, Some(true)));
    assert_eq!(program.get(path, "").code, 405);
}

#[test]
fn impersonated_users_are_authorized_by_roles() {
    let program = Program::start(&["--authorization-mode", "RBAC"]);
    let jane = "Impersonate-User: jane\r\n";
    // Logs are not served by the server itself.
    for (path, code) in [(CONFIG_MAPS, 200), ("/api/v1/namespaces/default/pods/web/log", 404)] {
        assert_eq!(program.get(path, "").code, code, "the administrator reads {path}");
        let denied = program.get(path, jane);
        assert_eq!(denied.code, 403, "{path}");
        let message = denied.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains("is forbidden: User \"jane\" cannot"), "{message}");
    }
}

#[test]
fn large_responses_are_compressed_for_clients_that_accept_it() {
    let program = Program::start(&[]);
    let plain = program.get("/openapi/v3/api/v1", "");
    let compressed = program.get("/openapi/v3/api/v1", "Accept-Encoding: gzip\r\n");
    assert_eq!((plain.header("content-encoding"), compressed.header("content-encoding")), ("", "gzip"));
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(compressed.body.as_slice()).read_to_end(&mut text).unwrap();
    assert!(text == plain.body);
}

#[test]
fn a_body_of_more_than_three_mebibytes_is_rejected() {
    let program = Program::start(&[]);
    let headers = "Content-Type: application/json\r\n";
    // The server may close the connection before it has read the body, and the response is lost then.
    if let Ok(answer) = send(program.address(), "POST", CONFIG_MAPS, headers, &vec![b' '; (3 << 20) + 1]) {
        assert_eq!(answer.code, 413);
        assert_eq!(answer.json()["message"], "Request entity too large: limit is 3145728");
    }
    assert_eq!(program.get("/livez", "").code, 200);
}

#[test]
fn events_are_sent_one_by_one_and_watches_end_at_shutdown() {
    let program = Program::start(&[]);
    let watch = open(program.address(), "GET", &format!("{CONFIG_MAPS}?watch=true"), "", b"").unwrap();
    let mut lines = BufReader::new(watch).lines().map_while(Result::ok).filter(|line| line.starts_with('{'));
    for name in ["a", "b"] {
        assert_eq!(program.post(CONFIG_MAPS, format!("{{\"metadata\":{{\"name\":\"{name}\"}}}}").as_bytes()).code, 201);
        let event = lines.next().unwrap();
        assert!(event.contains(&format!("\"name\":\"{name}\"")), "{event}");
    }
    program.terminate();
    assert_eq!(lines.next(), None);
    assert!(program.wait().success());
}
