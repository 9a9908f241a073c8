//! How webhooks are called: what the reviews contain, how many there are, and that nothing waits for them.

use tokio::sync::Notify;

use super::*;

#[tokio::test]
async fn a_review_has_the_objects_and_the_version_of_the_request() {
    let (server, reviews) = (ApiServer::new(), Arc::new(Mutex::new(Vec::new())));
    server.load(&definition()).unwrap();
    let seen = Arc::clone(&reviews);
    server.call_webhooks(move |request| {
        let review = review_of(&request);
        seen.lock().unwrap().push((request.method().clone(), request.uri().to_string(), review.clone()));
        std::future::ready(answer(&converted(&review)))
    });
    let client = server.client();
    let made = create(&widgets_in(&client, "v1"), &widget_in("v1", "a", interval("v1", 3))).await;
    assert_eq!(reviews.lock().unwrap().len(), 0, "the stored version needs no conversion");
    spec_of(&widgets_in(&client, "v2"), "a").await;
    let (method, url, review) = reviews.lock().unwrap().remove(0);
    assert_eq!((method.as_str(), url), ("POST", format!("{WEBHOOK}?timeout=30s")));
    assert_eq!(
        (&review["apiVersion"], &review["kind"]),
        (&json!("apiextensions.k8s.io/v1"), &json!("ConversionReview"))
    );
    let request = &review["request"];
    assert_eq!(request["desiredAPIVersion"], "example.com/v2");
    let mut sent = serde_json::to_value(&made).unwrap();
    sent["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    assert_eq!(request["objects"], json!([sent]));
    assert_eq!(request["uid"].as_str().map(str::len), Some(36));
}

#[tokio::test]
async fn lists_and_initial_events_need_one_review() {
    let (server, reviews) = server_with_webhook();
    let client = server.client();
    for number in 0..10 {
        create(&widgets_in(&client, "v1"), &widget_in("v1", &format!("w{number}"), interval("v1", number))).await;
    }
    let second = widgets_in(&client, "v2");
    assert_eq!(second.list(&ListParams::default()).await.unwrap().items.len(), 10);
    assert_eq!(std::mem::take(&mut *reviews.lock().unwrap()), [10]);
    let page = second.list(&ListParams::default().limit(4)).await.unwrap();
    assert_eq!(page.items.len(), 4);
    assert_eq!(std::mem::take(&mut *reviews.lock().unwrap()), [4]);
    let selected = second.list(&ListParams::default().fields("metadata.name=w3")).await.unwrap();
    assert_eq!(selected.items.len(), 1);
    assert_eq!(std::mem::take(&mut *reviews.lock().unwrap()), [10], "the selector applies to converted objects");
    let watch = second.watch(&WatchParams::default().timeout(100), "0").await.unwrap();
    assert_eq!(events(watch, 10).await.len(), 10);
    assert_eq!(std::mem::take(&mut *reviews.lock().unwrap()), [10]);
}

#[tokio::test]
async fn reviews_have_at_most_256_objects() {
    let (server, reviews) = server_with_webhook();
    let client = server.client();
    for number in 0..300 {
        server.load(&widget_in("v1", &format!("w{number}"), interval("v1", number))).unwrap();
    }
    let listed = widgets_in(&client, "v2").list(&ListParams::default()).await.unwrap();
    assert_eq!(listed.items.len(), 300);
    assert_eq!(*reviews.lock().unwrap(), [256, 44]);
}

#[tokio::test]
async fn webhooks_can_use_the_server() {
    let server = ApiServer::new();
    server.load(&definition()).unwrap();
    let client = server.client();
    let hook_client = client.clone();
    server.call_webhooks(move |request| {
        let first = widgets_in(&hook_client, "v1");
        async move {
            first.get("a").await.unwrap();
            answer(&converted(&review_of(&request)))
        }
    });
    create(&widgets_in(&client, "v1"), &widget_in("v1", "a", interval("v1", 3))).await;
    assert_eq!(spec_of(&widgets_in(&client, "v2"), "a").await, interval("v2", 3));
}

#[tokio::test(start_paused = true)]
async fn a_slow_webhook_stops_neither_other_requests_nor_other_watches() {
    let server = ApiServer::new();
    server.load(&definition()).unwrap();
    let release = Arc::new(Notify::new());
    let waiting = Arc::clone(&release);
    server.call_webhooks(move |request| {
        let waiting = Arc::clone(&waiting);
        async move {
            waiting.notified().await;
            answer(&converted(&review_of(&request)))
        }
    });
    let client = server.client();
    let (first, second) = (widgets_in(&client, "v1"), widgets_in(&client, "v2"));
    let params = WatchParams::default().timeout(100);
    let (fast, slow) = (first.watch(&params, "1").await.unwrap(), second.watch(&params, "1").await.unwrap());
    let slow = tokio::spawn(async move { events(slow, 1).await });
    create(&first, &widget_in("v1", "a", interval("v1", 3))).await;
    assert_eq!(events(fast, 1).await, [("ADDED".to_owned(), interval("v1", 3))]);
    assert_eq!(spec_of(&first, "a").await, interval("v1", 3));
    assert!(!slow.is_finished());
    release.notify_one();
    assert_eq!(slow.await.unwrap(), [("ADDED".to_owned(), interval("v2", 3))]);
}

#[tokio::test]
async fn an_object_that_changes_meanwhile_is_converted_again() {
    let server = ApiServer::new();
    server.load(&definition()).unwrap();
    let client = server.client();
    let first = widgets_in(&client, "v1");
    let (widgets, changes) = (first.clone(), Arc::new(Mutex::new(3)));
    server.call_webhooks(move |request| {
        let (widgets, changes) = (widgets.clone(), Arc::clone(&changes));
        async move {
            let left = {
                let mut left = changes.lock().unwrap();
                *left -= i32::from(*left > 0);
                *left
            };
            if left > 0 {
                let color = Patch::Merge(json!({ "spec": { "color": left.to_string() } }));
                widgets.patch("a", &PatchParams::default(), &color).await.unwrap();
            }
            answer(&converted(&review_of(&request)))
        }
    });
    create(&first, &widget_in("v1", "a", interval("v1", 3))).await;
    let replicas = Patch::Merge(json!({ "spec": { "replicas": 1 } }));
    widgets_in(&client, "v2").patch("a", &PatchParams::default(), &replicas).await.unwrap();
    assert_eq!(spec_of(&first, "a").await, json!({ "seconds": 3, "color": "1", "replicas": 1 }));
}

#[tokio::test]
async fn generated_names_and_dry_runs_are_converted() {
    let (server, _) = server_with_webhook();
    let client = server.client();
    let second = widgets_in(&client, "v2");
    let mut generated = widget_in("v2", "", interval("v2", 3));
    (generated.metadata.name, generated.metadata.generate_name) = (None, Some("w-".to_owned()));
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    assert_eq!(second.create(&dry_run, &generated).await.unwrap().data["spec"], interval("v2", 3));
    let name = create(&second, &generated).await.metadata.name.unwrap();
    assert_eq!(spec_of(&widgets_in(&client, "v1"), &name).await, interval("v1", 3));
    assert_eq!(second.list(&ListParams::default()).await.unwrap().items.len(), 1);
}

#[tokio::test]
async fn admission_webhooks_of_another_version_get_converted_objects() {
    let server = ApiServer::new();
    server.load(&definition()).unwrap();
    let configuration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": { "name": "test" },
        "webhooks": [{
            "name": "v3.example.com",
            "clientConfig": { "url": "https://example.com/validate" },
            "rules": [{
                "apiGroups": ["example.com"], "apiVersions": ["v3"], "resources": ["widgets"], "operations": ["*"],
            }],
            "matchPolicy": "Equivalent",
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }],
    });
    server.load(&configuration).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let reviews = Arc::clone(&seen);
    server.call_webhooks(move |request| {
        let review = review_of(&request);
        std::future::ready(if review["kind"] == "AdmissionReview" {
            reviews.lock().unwrap().push(review["request"]["object"].clone());
            let response = json!({ "uid": review["request"]["uid"], "allowed": true });
            answer(&json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response }))
        } else {
            answer(&converted(&review))
        })
    });
    create(&widgets_in(&server.client(), "v2"), &widget_in("v2", "a", interval("v2", 3))).await;
    let object = seen.lock().unwrap().remove(0);
    assert_eq!((&object["apiVersion"], &object["spec"]), (&json!("example.com/v3"), &interval("v3", 3)));
}
