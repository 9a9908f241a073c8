//! Limits of sizes. `tests/src/scenarios/limits.rs` compares them with those of the real server.

use kube::{
    ResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::json;

use crate::support::*;

/// The maximum size of a request of etcd.
const MAX_REQUEST: usize = 3 << 19;

#[tokio::test]
async fn managed_fields_that_do_not_fit_are_removed() {
    let api = widgets(&client().await);
    let mut outcomes = Vec::new();
    for length in (MAX_REQUEST - 2000..MAX_REQUEST).step_by(100) {
        let large = widget_with(&format!("w{length}"), json!({ "name": "x", "free": { "k": "x".repeat(length) } }));
        let outcome = match api.create(&PostParams::default(), &large).await {
            Ok(stored) if stored.managed_fields().is_empty() => "without managed fields",
            Ok(_) => "complete",
            Err(error) => {
                let message = "etcdserver: request is too large".to_owned();
                assert_eq!(rejection::<()>(Err(error)), (500, String::new(), message));
                "rejected"
            }
        };
        outcomes.push(outcome);
    }
    outcomes.dedup();
    assert_eq!(outcomes, ["complete", "without managed fields", "rejected"]);
}

#[tokio::test]
async fn an_apply_that_does_not_fit_is_rejected() {
    let api = widgets(&client().await);
    let large = |length: usize| widget_with("a", json!({ "name": "x", "free": { "k": "x".repeat(length) } }));
    let applied = PatchParams::apply("m");
    api.patch("a", &applied, &Patch::Apply(large(1000))).await.unwrap();
    let (code, _, message) = rejection(api.patch("a", &applied, &Patch::Apply(large(MAX_REQUEST))).await);
    assert_eq!((code, message.as_str()), (500, "etcdserver: request is too large"));
    assert_eq!(api.get("a").await.unwrap().data["spec"]["free"]["k"], "x".repeat(1000));
}

#[tokio::test]
async fn a_dry_run_of_a_large_object_is_accepted() {
    let large = widget_with("a", json!({ "name": "x", "free": { "k": "x".repeat(MAX_REQUEST) } }));
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    widgets(&client().await).create(&dry_run, &large).await.unwrap();
}

#[tokio::test]
async fn defaults_that_multiply_an_object_are_rejected() {
    let client = kubewright_apiserver::ApiServer::new().client();
    let item = json!({ "type": "object", "properties": {
        "text": { "type": "string", "default": "x".repeat(100 << 10) },
    } });
    let mut definition = widget_definition();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["items"] =
        json!({ "type": "array", "items": item });
    create_definition(&client, definition).await;
    let with_items = |count: usize| widget_with("a", json!({ "name": "x", "items": vec![json!({}); count] }));
    let api = widgets(&client);
    let (code, _, message) = rejection(api.create(&PostParams::default(), &with_items(10_000)).await);
    assert_eq!((code, message.as_str()), (500, "etcdserver: request is too large"));
    let stored = create(&api, &with_items(2)).await;
    assert_eq!(stored.data["spec"]["items"][1]["text"], "x".repeat(100 << 10));
}

#[tokio::test]
async fn a_row_is_not_much_larger_than_its_object() {
    let client = kubewright_apiserver::ApiServer::new().client();
    let mut definition = widget_definition();
    let column = |index: usize| json!({ "name": format!("C{index}"), "type": "string", "jsonPath": ".spec.free.k" });
    definition["spec"]["versions"][0]["additionalPrinterColumns"] = (0..1000).map(column).collect();
    create_definition(&client, definition).await;
    create(&widgets(&client), &widget_with("a", json!({ "name": "x", "free": { "k": "x".repeat(100 << 10) } }))).await;
    let request = http::Request::get("/apis/example.com/v1/namespaces/default/widgets/a?includeObject=None")
        .header(http::header::ACCEPT, "application/json;as=Table;v=v1;g=meta.k8s.io")
        .body(kube::client::Body::empty())
        .unwrap();
    let body = client.send(request).await.unwrap().into_body().collect_bytes().await.unwrap();
    let table: serde_json::Value = serde_json::from_slice(&body).unwrap();
    let cells = table["rows"][0]["cells"].as_array().unwrap();
    let shown = cells.iter().skip(1).filter(|cell| cell.is_string()).count();
    assert_eq!((cells.len(), shown), (1001, 2), "the second text makes the cells larger than the object");
}

#[tokio::test]
async fn warnings_of_many_unknown_fields_are_truncated() {
    let unknown: serde_json::Map<String, serde_json::Value> =
        (0..10_000).map(|index| (format!("unknown{index}"), json!(1))).collect();
    let mut spec = json!({ "name": "x" });
    spec["nest"] = json!({ "a": "a", "b": 1 });
    spec["nest"].as_object_mut().unwrap().extend(unknown);
    let body = json!({ "apiVersion": "example.com/v1", "kind": "Widget", "metadata": { "name": "a" }, "spec": spec });
    let request = http::Request::post("/apis/example.com/v1/namespaces/default/widgets")
        .header(http::header::CONTENT_TYPE, "application/json")
        .body(kube::client::Body::from(body.to_string().into_bytes()))
        .unwrap();
    let response = client().await.send(request).await.unwrap();
    let warnings = response.headers().get_all(http::header::WARNING).iter();
    let length: usize = warnings.map(|warning| warning.len()).sum();
    assert_eq!(response.status(), http::StatusCode::CREATED);
    assert!((4096..10_000).contains(&length), "{length}");
}

#[tokio::test]
async fn bodies_are_nested_up_to_127_levels() {
    const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";
    let client = client().await;
    let nested = |depth: usize| [r#"{"a":"#.repeat(depth), "1".to_owned(), "}".repeat(depth)].concat();
    let widget = |depth: usize| {
        let kind = r#""apiVersion":"example.com/v1","kind":"Widget""#;
        let metadata = r#"{"name":"a","resourceVersion":"VERSION"}"#;
        format!(r#"{{{kind},"metadata":{metadata},"spec":{{"name":"x","free":{}}}}}"#, nested(depth - 2))
    };
    let merge = |depth: usize| format!(r#"{{"spec":{{"free":{{"b":{}}}}}}}"#, nested(depth - 3));
    let add = |path: &str, depth: usize| {
        let value = nested(depth - 2);
        format!(r#"[{{"op":"add","path":"/spec/free{path}/c","value":{value}}}]"#)
    };
    let request = async |method: &str, suffix: &str, media_type: &str, body: &str| {
        raw(&client, method, &format!("{WIDGETS}{suffix}"), &format!("application/{media_type}"), body).await
    };
    let apply = "/a?fieldManager=m&force=true";
    let mut version = String::new();
    for (method, suffix, media_type, body) in [
        ("POST", "", "json", widget(127)),
        ("GET", "", "json", String::new()),
        ("PUT", "/a", "json", widget(127)),
        ("PATCH", "/a", "merge-patch+json", merge(127)),
        ("PATCH", "/a", "json-patch+json", add("", 126)),
        ("PATCH", apply, "apply-patch+yaml", widget(127)),
        ("GET", "?watch=true&resourceVersion=0&timeoutSeconds=1", "json", String::new()),
        ("DELETE", "/a", "json", String::new()),
    ] {
        let (code, answer) = request(method, suffix, media_type, &body.replace("VERSION", &version)).await;
        assert!((200..300).contains(&code), "{method} {media_type}: {answer}");
        let rest = answer.split(r#""resourceVersion":""#).last().unwrap_or_default();
        version = rest.split('"').next().unwrap_or_default().to_owned();
    }
    let (code, answer) = request("POST", "", "json", &widget(20).replace("VERSION", "")).await;
    assert_eq!(code, 201, "{answer}");
    for (method, suffix, media_type, body, expected, message) in [
        ("POST", "", "json", widget(128), 400, "recursion limit exceeded"),
        ("POST", "", "yaml", widget(200), 400, "exceeded max depth of 127"),
        ("PUT", "/a", "json", widget(9000), 400, "recursion limit exceeded"),
        ("PATCH", "/a", "merge-patch+json", merge(128), 400, "recursion limit exceeded"),
        ("PATCH", "/a", "json-patch+json", add("", 128), 400, "recursion limit exceeded"),
        ("PATCH", "/a", "json-patch+json", add(&"/a".repeat(10), 127), 422, "the server rejected our request"),
        ("PATCH", apply, "apply-patch+yaml", widget(200), 400, "exceeded max depth of 127"),
    ] {
        let (code, answer) = request(method, suffix, media_type, &body).await;
        assert!(code == expected && answer.contains(message), "{method} {media_type}: {code} {answer}");
    }
}
