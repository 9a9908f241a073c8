//! The contents of reviews, and what responses do to the request.

use http::{Method, header::WARNING};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};

use super::*;

const ALL: &[&str] = &["*"];

#[tokio::test]
async fn a_denial_is_the_error_of_the_request() {
    let response = json!({
        "allowed": false,
        "status": { "code": 422, "reason": "Invalid", "message": "no", "details": { "causes": [{ "field": "spec" }] } },
    });
    let (_, widgets, _) = client_of(&validating(json!([webhook("deny", ALL)])), move |_, _| response.clone());
    let error = widgets.create(&PostParams::default(), &widget("a")).await.unwrap_err();
    let kube::Error::Api(status) = error else { panic!("{error}") };
    assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"));
    assert_eq!(status.message, "admission webhook \"deny.example.com\" denied the request: no");
    assert_eq!(status.details.unwrap().causes[0].field, "spec");
    assert_eq!(widgets.get_opt("a").await.unwrap(), None);
}

#[tokio::test]
async fn a_denial_without_a_status_is_an_error_without_explanation() {
    let (_, widgets, _) = client_of(&validating(json!([webhook("deny", ALL)])), |_, _| json!({ "allowed": false }));
    let rejected = rejection(widgets.create(&PostParams::default(), &widget("a")).await);
    let message = "admission webhook \"deny.example.com\" denied the request without explanation";
    assert_eq!(rejected, (400, String::new(), message.to_owned()));
}

#[tokio::test]
async fn objects_are_mutated_defaulted_and_then_validated() {
    let server = server_with(&[
        mutating(json!([webhook("first", ALL), webhook("second", ALL)])),
        validating(json!([webhook("last", ALL)])),
    ]);
    let reviews = respond(&server, |path, _| match path {
        "/first" => patched(&json!([{ "op": "add", "path": "/spec/name", "value": "first" }])),
        "/second" => patched(&json!([{ "op": "remove", "path": "/spec/timeInterval" }])),
        _ => allowed(),
    });
    let widgets = widgets(&server.client());
    // The name that the schema requires is missing.
    let created = create(&widgets, &widget_with("a", json!({}))).await;
    assert_eq!(created.data["spec"], json!({ "name": "first", "timeInterval": 5 }));
    let requests = reviews.take();
    let specs: Vec<_> = requests.iter().map(|request| &request["object"]["spec"]).collect();
    let after = json!({ "name": "first", "timeInterval": 5 });
    assert_eq!(specs, [&json!({ "timeInterval": 5 }), &after, &after]);
}

#[tokio::test]
async fn an_invalid_mutation_is_rejected_by_the_schema() {
    let (_, widgets, _) = client_of(&mutating(json!([webhook("mutate", ALL)])), |_, _| {
        patched(&json!([{ "op": "replace", "path": "/spec/timeInterval", "value": 0 }]))
    });
    let (code, _, message) = rejection(widgets.create(&PostParams::default(), &widget("a")).await);
    assert_eq!(code, 422);
    assert!(message.contains("spec.timeInterval: Invalid value: 0"), "{message}");
}

#[tokio::test]
async fn each_operation_has_its_objects() {
    let (_, widgets, reviews) = client_of(&validating(json!([webhook("all", ALL)])), |_, _| allowed());
    create(&widgets, &widget("a")).await;
    let merge = Patch::Merge(json!({ "spec": { "name": "y" } }));
    widgets.patch("a", &PatchParams::default(), &merge).await.unwrap();
    widgets.delete("a", &DeleteParams::default()).await.unwrap();
    let requests = reviews.take();
    let names = |field: &str| -> Vec<_> {
        requests.iter().map(|request| request[field]["spec"]["name"].as_str().unwrap_or("-").to_owned()).collect()
    };
    let operations: Vec<_> = requests.iter().map(|request| request["operation"].as_str().unwrap()).collect();
    assert_eq!(operations, ["CREATE", "UPDATE", "DELETE"]);
    assert_eq!(names("object"), ["x", "y", "-"]);
    assert_eq!(names("oldObject"), ["-", "x", "y"]);
    let options: Vec<_> = requests.iter().map(|request| request["options"]["kind"].as_str().unwrap()).collect();
    assert_eq!(options, ["CreateOptions", "UpdateOptions", "DeleteOptions"]);
    for request in &requests {
        assert_eq!((&request["name"], &request["namespace"]), (&json!("a"), &json!("default")));
        assert_eq!(request["kind"], json!({ "group": "example.com", "version": "v1", "kind": "Widget" }));
        assert_eq!(request["resource"], json!({ "group": "example.com", "version": "v1", "resource": "widgets" }));
        assert_eq!((&request["dryRun"], &request["userInfo"]["username"]), (&json!(false), &json!("admin")));
    }
}

#[tokio::test]
async fn a_generated_name_is_known_to_validating_webhooks_only() {
    let server =
        server_with(&[mutating(json!([webhook("mutate", ALL)])), validating(json!([webhook("validate", ALL)]))]);
    let reviews = respond(&server, |_, _| allowed());
    let widgets = widgets(&server.client());
    let mut object = widget("");
    object.metadata.name = None;
    object.metadata.generate_name = Some("a-".to_owned());
    let created = create(&widgets, &object).await;
    let requests = reviews.take();
    let [mutating, validating] = &requests[..] else { panic!("two reviews: {requests:?}") };
    assert_eq!((mutating.get("name"), mutating["object"]["metadata"].get("name")), (None, None));
    let name = json!(created.metadata.name);
    assert_eq!((&validating["name"], &validating["object"]["metadata"]["name"]), (&name, &name));
    assert_eq!(validating["object"]["metadata"]["uid"], json!(created.metadata.uid));
}

#[tokio::test]
async fn a_dry_run_is_reviewed_and_not_stored() {
    let (_, widgets, reviews) = client_of(&validating(json!([webhook("all", ALL)])), |_, _| allowed());
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    widgets.create(&dry_run, &widget("a")).await.unwrap();
    assert_eq!(widgets.get_opt("a").await.unwrap(), None);
    let request = &reviews.take()[0];
    assert_eq!((&request["dryRun"], &request["options"]["dryRun"]), (&json!(true), &json!(["All"])));
}

#[tokio::test]
async fn warnings_are_headers_of_responses_and_errors() {
    let (client, ..) = client_of(
        &validating(json!([webhook("all", ALL)])),
        |_, request| json!({ "allowed": request["object"]["metadata"]["name"] == "good", "warnings": ["be careful"] }),
    );
    for (name, code) in [("good", 201), ("bad", 400)] {
        let body = serde_json::to_vec(&widget(name)).unwrap();
        let request = http::Request::builder()
            .method(Method::POST)
            .uri("/apis/example.com/v1/namespaces/default/widgets")
            .header("content-type", "application/json")
            .body(kube::client::Body::from(body))
            .unwrap();
        let response = client.send(request).await.unwrap();
        let warning = response.headers()[WARNING].to_str().unwrap();
        assert_eq!((response.status().as_u16(), warning), (code, "299 - \"be careful\""));
    }
}

#[tokio::test]
async fn an_apply_calls_webhooks_and_keeps_the_owned_fields() {
    let (_, widgets, reviews) = client_of(&mutating(json!([webhook("mutate", ALL)])), |_, _| {
        patched(&json!([{ "op": "add", "path": "/spec/mode", "value": "Fast" }]))
    });
    let apply = PatchParams::apply("me");
    let applied = json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": { "name": "a" }, "spec": { "name": "x" },
    });
    for operation in ["CREATE", "UPDATE"] {
        let widget = widgets.patch("a", &apply, &Patch::Apply(&applied)).await.unwrap();
        assert_eq!(widget.data["spec"]["mode"], "Fast");
        let fields = json!(widget.metadata.managed_fields.unwrap()[0].fields_v1);
        assert_eq!(fields, json!({ "f:spec": { "f:name": {} } }));
        assert_eq!(reviews.take()[0]["operation"], operation);
    }
}
