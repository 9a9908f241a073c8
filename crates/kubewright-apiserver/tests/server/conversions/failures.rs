//! The errors of conversions, with the texts of the real server. The scenarios `conversion` compare them with it.

use std::time::Duration;

use http::StatusCode;
use tokio::time::Instant;

use super::*;

/// Returns the message of reading an object whose conversion has this response, without the UID of the review.
async fn failure(respond: impl Fn(&Value, Value) -> Value + Send + Sync + 'static) -> String {
    let server = ApiServer::new();
    server.load(&definition()).unwrap();
    server.call_webhooks(move |request| {
        let review = review_of(&request);
        std::future::ready(answer(&respond(&review["request"], converted(&review))))
    });
    let client = server.client();
    create(&widgets_in(&client, "v1"), &widget_in("v1", "a", interval("v1", 3))).await;
    let (code, reason, message) = rejection(widgets_in(&client, "v2").get("a").await);
    assert_eq!((code, reason.as_str()), (500, ""));
    message
}

/// Returns the message of reading an object whose conversion is changed in one place.
async fn failure_of(pointer: &'static str, value: Value) -> String {
    failure(move |_, mut review| {
        *review.pointer_mut(pointer).unwrap() = value.clone();
        review
    })
    .await
}

const PREFIX: &str = "conversion webhook for example.com/v1, Kind=Widget";

#[tokio::test]
async fn the_type_the_uid_and_the_result_of_a_response_are_checked() {
    let cases = [
        (
            "/kind",
            json!("Other"),
            "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got \
            apiextensions.k8s.io/v1, Kind=Other",
        ),
        ("/response", Value::Null, "failed: no response provided"),
        ("/response/result", json!({ "status": "Failed", "message": "no" }), "failed: no"),
        (
            "/response/result",
            json!({ "status": "Failed" }),
            "failed: response.result.status was 'Failed', not 'Success'",
        ),
        ("/response/result", json!({}), "failed: response.result.status was '', not 'Success'"),
        ("/response/convertedObjects", json!([]), "returned 0 objects, expected 1"),
    ];
    for (pointer, value, expected) in cases {
        assert_eq!(failure_of(pointer, value).await, format!("{PREFIX} {expected}"));
    }
    let message = failure_of("/response/uid", json!("other")).await;
    assert!(message.starts_with(&format!("{PREFIX} failed: expected response.uid=\"")), "{message}");
    assert!(message.ends_with("\", got \"other\""), "{message}");
}

#[tokio::test]
async fn what_identifies_an_object_cannot_be_converted() {
    const OBJECT: &str = "/response/convertedObjects/0";
    let returned = |reason: &str| format!("{PREFIX} returned invalid {reason}");
    let cases = [
        (
            "/apiVersion",
            json!("example.com/v3"),
            "object at index 0: invalid groupVersion (expected example.com/v2, received \
            example.com/v3)",
        ),
        ("/kind", json!("Gadget"), "object at index 0: invalid kind (expected Widget, received Gadget)"),
        ("/metadata/name", json!("b"), "object: must have the same name: a != b"),
        ("/metadata/namespace", json!("b"), "object: must have the same namespace: default != b"),
        ("/metadata", json!({ "name": "a" }), "object: must have the same namespace: default != "),
    ];
    for (pointer, value, expected) in cases {
        let message = failure(move |_, mut review| {
            *review.pointer_mut(&format!("{OBJECT}{pointer}")).unwrap() = value.clone();
            review
        });
        assert_eq!(message.await, returned(expected));
    }
    let message = failure_of("/response/convertedObjects/0/metadata/uid", json!("u")).await;
    assert!(
        message.starts_with(&returned("object: must have the same UID: ")) && message.ends_with(" != u"),
        "{message}"
    );
}

#[tokio::test]
async fn labels_and_annotations_can_be_converted_and_other_metadata_cannot() {
    let with = |metadata: Value| {
        failure(move |_, mut review| {
            let target = review.pointer_mut("/response/convertedObjects/0/metadata").unwrap();
            for (field, value) in metadata.as_object().unwrap() {
                target[field] = value.clone();
            }
            review
        })
    };
    let returned = |reason: &str| format!("{PREFIX} returned invalid metadata: {reason}");
    assert_eq!(
        with(json!({ "labels": { "a": 1 } })).await,
        returned("metadata.labels[a] must be a string, but is int64 in converted object")
    );
    assert_eq!(
        with(json!({ "annotations": [] })).await,
        returned("invalid metadata.annotations of type []interface {} in converted object")
    );
    let message = with(json!({ "labels": { "a": "not a label" } })).await;
    assert!(message.starts_with(&returned("metadata.labels: Invalid value: \"not a label\": ")), "{message}");

    let server = ApiServer::new();
    server.load(&definition()).unwrap();
    server.convert("Widget.example.com", |object: &mut Value, api_version: &str| {
        object["metadata"]["labels"] = json!({ "converted": "yes" });
        object["metadata"]["finalizers"] = json!(["example.com/added"]);
        object["metadata"]["generation"] = json!(99);
        convert(object, api_version)
    });
    let client = server.client();
    let made = create(&widgets_in(&client, "v1"), &widget_in("v1", "a", interval("v1", 3))).await;
    let mut read = widgets_in(&client, "v2").get("a").await.unwrap();
    assert_eq!(read.metadata.labels.take(), Some([("converted".to_owned(), "yes".to_owned())].into()));
    assert_eq!(read.metadata, made.metadata);
}

#[tokio::test]
async fn errors_of_functions_are_those_of_webhooks() {
    let server = server_with_function();
    let client = server.client();
    create(&widgets_in(&client, "v1"), &widget_in("v1", "a", interval("v1", -1))).await;
    let expected = format!("{PREFIX} failed: -1 seconds are no interval");
    assert_eq!(rejection(widgets_in(&client, "v2").get("a").await).2, expected);
    assert_eq!(rejection(widgets_in(&client, "v2").list(&ListParams::default()).await).2, expected);
}

#[tokio::test]
async fn an_object_that_cannot_be_converted_fails_its_list_and_no_other_object() {
    let (server, reviews) = server_with_webhook();
    let client = server.client();
    for (name, seconds) in [("a", 1), ("b", -1), ("c", 2)] {
        create(&widgets_in(&client, "v1"), &widget_in("v1", name, interval("v1", seconds))).await;
    }
    let second = widgets_in(&client, "v2");
    let message = rejection(second.list(&ListParams::default()).await).2;
    assert_eq!(message, format!("{PREFIX} failed: -1 seconds are no interval"));
    assert_eq!(*reviews.lock().unwrap(), [3, 1, 1]);
    assert_eq!(spec_of(&second, "c").await, interval("v2", 2));
    let watch = second.watch(&WatchParams::default().timeout(100), "1").await.unwrap();
    let received = events(watch, 9).await;
    assert_eq!(received[0], ("ADDED".to_owned(), interval("v2", 1)));
    assert_eq!(received.get(2), None, "the watch ends: {received:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_30_seconds_fails() {
    let server = ApiServer::new();
    server.load(&definition()).unwrap();
    server.call_webhooks(|_| std::future::pending());
    let client = server.client();
    create(&widgets_in(&client, "v1"), &widget_in("v1", "a", interval("v1", 3))).await;
    let before = Instant::now();
    let message = rejection(widgets_in(&client, "v2").get("a").await).2;
    assert_eq!(message, format!("{PREFIX} failed: Post \"{WEBHOOK}?timeout=30s\": context deadline exceeded"));
    assert_eq!(before.elapsed(), Duration::from_secs(30));
}

#[tokio::test]
async fn responses_with_other_codes_are_errors() {
    let server = ApiServer::new();
    server.load(&definition()).unwrap();
    server.call_webhooks(|_| {
        let mut response = Response::new(Bytes::from("broken"));
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        std::future::ready(response)
    });
    let client = server.client();
    create(&widgets_in(&client, "v1"), &widget_in("v1", "a", interval("v1", 3))).await;
    let message = rejection(widgets_in(&client, "v2").get("a").await).2;
    let reason = "an error on the server (\"broken\") has prevented the request from succeeding";
    assert_eq!(message, format!("{PREFIX} failed: {reason}"));
}

#[tokio::test]
async fn an_object_is_written_although_its_response_cannot_be_converted() {
    let server = ApiServer::new();
    server.load(&definition()).unwrap();
    server.convert("Widget.example.com", |object: &mut Value, api_version: &str| match api_version {
        "example.com/v2" => Err("there is no way back".to_owned()),
        _ => convert(object, api_version),
    });
    let client = server.client();
    let created =
        widgets_in(&client, "v2").create(&PostParams::default(), &widget_in("v2", "a", interval("v2", 3))).await;
    assert_eq!(rejection(created).2, format!("{PREFIX} failed: there is no way back"));
    assert_eq!(spec_of(&widgets_in(&client, "v1"), "a").await, interval("v1", 3));
}

#[tokio::test]
async fn without_webhooks_only_the_stored_version_can_be_read() {
    let server = ApiServer::new();
    server.load(&definition()).unwrap();
    let client = server.client();
    create(&widgets_in(&client, "v1"), &widget_in("v1", "a", interval("v1", 3))).await;
    let reason = "this server calls no webhooks: use `ApiServer::convert` or `ApiServer::call_webhooks`, or the version that \
        the object was written in";
    assert_eq!(rejection(widgets_in(&client, "v2").get("a").await).2, format!("{PREFIX} failed: {reason}"));
    let error = server.load(&widget_in("v2", "b", interval("v2", 3))).unwrap_err();
    assert!(error.to_string().contains("this server calls no webhooks"), "{error}");
}
