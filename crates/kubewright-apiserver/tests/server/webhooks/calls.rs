//! Calls that fail, calls in order, and calls that use the server themselves.

use std::{
    future::pending,
    sync::atomic::{AtomicUsize, Ordering},
};

use http::StatusCode;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};

use super::*;

const ALL: &[&str] = &["*"];

/// Returns the error of the creation of a Widget whose webhook responds like this.
async fn failure(configuration: &Value, response: Value) -> String {
    let (_, widgets, _) = client_of(configuration, move |_, _| response.clone());
    let (code, _, message) = rejection(widgets.create(&PostParams::default(), &widget("a")).await);
    assert_eq!(code, 500, "{message}");
    let prefix = "Internal error occurred: failed calling webhook \"it.example.com\": ";
    message.strip_prefix(prefix).unwrap_or_else(|| panic!("{message}")).to_owned()
}

#[tokio::test]
async fn invalid_responses_fail_the_request() {
    let (mutating, validating) = (mutating(json!([webhook("it", ALL)])), validating(json!([webhook("it", ALL)])));
    let wrong_uid = failure(&validating, json!({ "allowed": true, "uid": "other" })).await;
    assert!(wrong_uid.starts_with("expected response.uid=\"") && wrong_uid.ends_with("got \"other\""), "{wrong_uid}");
    let patch = patched(&json!([{ "op": "add", "path": "/spec/mode", "value": "Fast" }]));
    let with_patch = failure(&validating, patch.clone()).await;
    assert_eq!(with_patch, "validating webhook may not return response.patch");
    let mut untyped = patch.clone();
    untyped["patchType"].take();
    let untyped = failure(&mutating, untyped).await;
    assert_eq!(untyped, "webhook returned response.patch but not response.patchType");
    let typed = failure(&mutating, json!({ "allowed": true, "patchType": "JSONPatch" })).await;
    assert_eq!(typed, "webhook returned response.patchType but not response.patch");
    let mut unsupported = patch;
    unsupported["patchType"] = json!("Merge");
    assert_eq!(failure(&mutating, unsupported).await, "unsupported patch type \"Merge\"");
}

#[tokio::test]
async fn a_patch_that_cannot_be_applied_fails_the_request() {
    let (_, widgets, _) = client_of(&mutating(json!([webhook("it", ALL)])), |_, _| {
        patched(&json!([{ "op": "remove", "path": "/spec/missing" }]))
    });
    let (code, ..) = rejection(widgets.create(&PostParams::default(), &widget("a")).await);
    assert_eq!(code, 500);
}

#[tokio::test]
async fn a_patch_of_a_deletion_fails_the_request() {
    let (_, widgets, _) = client_of(&mutating(json!([webhook("it", &["DELETE"])])), |_, _| {
        patched(&json!([{ "op": "remove", "path": "/spec" }]))
    });
    create(&widgets, &widget("a")).await;
    let (code, _, message) = rejection(widgets.delete("a", &DeleteParams::default()).await);
    let expected = "Internal error occurred: admission webhook \"it.example.com\" attempted to modify the object, which \
                    is not supported for this operation";
    assert_eq!((code, message.as_str()), (500, expected));
}

#[tokio::test]
async fn the_failure_policy_decides_about_webhooks_that_cannot_be_called() {
    let mut ignored = webhook("it", ALL);
    ignored["failurePolicy"] = json!("Ignore");
    for (webhook, code) in [(webhook("it", ALL), 500), (ignored, 201)] {
        let server = server_with(&[validating(json!([webhook]))]);
        server.call_webhooks(|_| async {
            let mut response = Response::new(Bytes::from_static(b"not found\n"));
            *response.status_mut() = StatusCode::NOT_FOUND;
            response
        });
        let (found, body) = post(&server.client(), serde_json::to_value(widget("a")).unwrap()).await;
        assert_eq!(found, code, "{body}");
        if code == 500 {
            let expected = "Internal error occurred: failed calling webhook \"it.example.com\": failed to call webhook: \
                            the server could not find the requested resource";
            assert_eq!(body["message"], expected);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_does_not_answer_times_out() {
    let mut slow = webhook("it", ALL);
    slow["timeoutSeconds"] = json!(3);
    let server = server_with(&[validating(json!([slow]))]);
    server.call_webhooks(|_| pending::<Response<Bytes>>());
    let started = tokio::time::Instant::now();
    let result = widgets(&server.client()).create(&PostParams::default(), &widget("a")).await;
    let (code, _, message) = rejection(result);
    assert_eq!((code, started.elapsed().as_secs()), (500, 3));
    let expected = "Internal error occurred: failed calling webhook \"it.example.com\": failed to call webhook: Post \
                    \"https://webhooks.system.svc:443/it?timeout=3s\": context deadline exceeded";
    assert_eq!(message, expected);
}

#[tokio::test]
async fn a_webhook_can_use_the_server() {
    let server = server_with(&[validating(json!([webhook("it", &["CREATE"])]))]);
    let client = server.client();
    server.call_webhooks(move |request: Request<Bytes>| {
        let client = client.clone();
        async move {
            let review: Value = serde_json::from_slice(request.body()).unwrap();
            let existing = widgets(&client).list(&ListParams::default()).await.unwrap().items.len();
            answer(&json!({ "uid": review["request"]["uid"], "allowed": existing == 0 }))
        }
    });
    let widgets = widgets(&server.client());
    create(&widgets, &widget("a")).await;
    let (code, ..) = rejection(widgets.create(&PostParams::default(), &widget("b")).await);
    assert_eq!(code, 400);
}

#[tokio::test]
async fn an_object_that_changes_during_a_call_is_reviewed_again() {
    let server = server_with(&[validating(json!([webhook("it", &["UPDATE"])]))]);
    let client = server.client();
    let reviews = Reviews::default();
    let seen = reviews.clone();
    server.call_webhooks(move |request: Request<Bytes>| {
        let (client, seen) = (client.clone(), seen.clone());
        async move {
            let review: Value = serde_json::from_slice(request.body()).unwrap();
            let request = review["request"].clone();
            let is_first = seen.0.lock().unwrap().is_empty();
            seen.0.lock().unwrap().push((String::new(), request.clone()));
            if is_first {
                let change = Patch::Merge(json!({ "metadata": { "labels": { "changed": "yes" } } }));
                widgets(&client).patch("a", &PatchParams::default(), &change).await.unwrap();
            }
            answer(&json!({ "uid": request["uid"], "allowed": true }))
        }
    });
    let widgets = widgets(&server.client());
    create(&widgets, &widget("a")).await;
    let change = Patch::Merge(json!({ "spec": { "name": "y" } }));
    let changed = widgets.patch("a", &PatchParams::default(), &change).await.unwrap();
    assert_eq!((&changed.data["spec"]["name"], changed.metadata.labels.unwrap().len()), (&json!("y"), 1));
    // The patch, the one within the first review, and the patch again.
    let labels: Vec<_> =
        reviews.take().iter().map(|request| request["object"]["metadata"]["labels"].is_object()).collect();
    assert_eq!(labels, [false, true, true]);
}

#[tokio::test]
async fn an_object_that_changes_during_each_call_is_a_conflict() {
    let server = server_with(&[validating(json!([webhook("it", &["UPDATE", "DELETE"])]))]);
    let client = server.client();
    let changes = Arc::new(AtomicUsize::new(0));
    let made = changes.clone();
    server.call_webhooks(move |request: Request<Bytes>| {
        let (client, made) = (client.clone(), made.clone());
        async move {
            let review: Value = serde_json::from_slice(request.body()).unwrap();
            let request = &review["request"];
            if request["operation"] == "DELETE" || request["object"]["spec"]["name"] == "y" {
                let number = made.fetch_add(1, Ordering::Relaxed).to_string();
                let change = Patch::Merge(json!({ "metadata": { "labels": { "number": number } } }));
                widgets(&client).patch("a", &PatchParams::default(), &change).await.unwrap();
            }
            answer(&json!({ "uid": request["uid"], "allowed": true }))
        }
    });
    let widgets = widgets(&server.client());
    create(&widgets, &widget("a")).await;
    let change = Patch::Merge(json!({ "spec": { "name": "y" } }));
    let (code, ..) = rejection(widgets.patch("a", &PatchParams::default(), &change).await);
    assert_eq!((code, changes.swap(0, Ordering::Relaxed)), (409, 100));
    let (code, ..) = rejection(widgets.delete("a", &DeleteParams::default()).await);
    assert_eq!((code, changes.swap(0, Ordering::Relaxed)), (409, 100));
    let all = widgets.delete_collection(&DeleteParams::default(), &ListParams::default()).await;
    assert_eq!((rejection(all.map(drop)).0, changes.load(Ordering::Relaxed)), (409, 100));
    assert_eq!(widgets.get("a").await.unwrap().data["spec"]["name"], json!("x"));
}

#[tokio::test]
async fn a_webhook_is_reinvoked_if_a_later_one_changes_the_object() {
    let mut first = webhook("first", ALL);
    first["reinvocationPolicy"] = json!("IfNeeded");
    let (_, widgets, reviews) =
        client_of(&mutating(json!([first, webhook("second", ALL)])), |path, request| match path {
            "/second" if request["object"]["spec"]["name"] == "x" => {
                patched(&json!([{ "op": "replace", "path": "/spec/name", "value": "y" }]))
            }
            _ => allowed(),
        });
    create(&widgets, &widget("a")).await;
    assert_eq!(reviews.paths(), ["/first", "/second", "/first"]);
    create(&widgets, &widget_with("b", json!({ "name": "y" }))).await;
    assert_eq!(reviews.paths(), ["/first", "/second"]);
}

#[tokio::test]
async fn the_deletion_of_a_collection_ends_at_the_first_denial() {
    let (_, widgets, reviews) = client_of(
        &validating(json!([webhook("it", &["DELETE"])])),
        |_, request| json!({ "allowed": request["name"] != "b" }),
    );
    for name in ["a", "b", "c"] {
        create(&widgets, &widget(name)).await;
    }
    let (code, _, message) =
        rejection(widgets.delete_collection(&DeleteParams::default(), &ListParams::default()).await.map(drop));
    assert_eq!((code, reviews.take().len()), (400, 2), "{message}");
    let mut remaining = Vec::new();
    for name in ["a", "b", "c"] {
        remaining.push(widgets.get_opt(name).await.unwrap().is_some());
    }
    assert_eq!(remaining, [false, true, true]);
}
