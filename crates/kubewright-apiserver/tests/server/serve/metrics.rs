//! The metrics of requests.

use futures::TryStreamExt;
use kube::api::WatchParams;
use kubewright_apiserver::ApiServer;
use serde_json::json;

use crate::support::*;

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn metrics(client: &kube::Client) -> String {
    let (code, text) = raw(client, "GET", "/metrics", "", "").await;
    assert_eq!(code, 200, "{text}");
    text
}

#[tokio::test]
async fn requests_are_counted_by_their_labels() {
    let client = ApiServer::new().client();
    let body = json!({ "metadata": { "name": "a" } }).to_string();
    for expected in [201, 409] {
        assert_eq!(raw(&client, "POST", CONFIG_MAPS, "application/json", &body).await.0, expected);
    }
    let text = metrics(&client).await;
    let labels = |code: u16| {
        format!(
            "apiserver_request_total{{code=\"{code}\",component=\"apiserver\",dry_run=\"\",group=\"\",\
             resource=\"configmaps\",scope=\"resource\",subresource=\"\",verb=\"POST\",version=\"v1\"}} 1"
        )
    };
    assert!(text.contains(&labels(201)) && text.contains(&labels(409)), "{text}");
    assert!(text.contains("apiserver_request_duration_seconds_count{component=\"apiserver\""), "{text}");
    assert!(text.contains("apiserver_storage_objects{resource=\"configmaps\"} 1"), "{text}");
    assert!(text.contains("apiserver_current_inflight_requests{request_kind=\"mutating\"} 0"), "{text}");
}

#[tokio::test]
async fn paths_that_are_not_served_have_no_series() {
    let client = ApiServer::new().client();
    raw(&client, "GET", "/apis/nothing.example.com/v1/surprises", "", "").await;
    raw(&client, "GET", "/surprise", "", "").await;
    assert!(!metrics(&client).await.contains("surprise"));
}

#[tokio::test(start_paused = true)]
async fn watches_are_counted_while_they_run() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    let watch = api.watch(&WatchParams::default().timeout(5), "0").await.unwrap();
    let running = "group=\"example.com\",resource=\"widgets\",scope=\"namespace\",subresource=\"\",verb=\"WATCH\",\
                   version=\"v1\"}";
    assert!(metrics(&client).await.contains(&format!("{running} 1")));
    let events: Vec<_> = watch.try_collect().await.unwrap();
    let text = metrics(&client).await;
    assert!(text.contains(&format!("apiserver_longrunning_requests{{component=\"apiserver\",{running} 0")), "{text}");
    let labels = "apiserver_watch_events_total{group=\"example.com\",resource=\"widgets\",version=\"v1\"}";
    assert!(text.contains(&format!("{labels} {}", events.len())), "{text}");
}
