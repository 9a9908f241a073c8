//! Paginated lists, and lists at a resource version.

use kube::{
    Api, Client,
    api::{DeleteParams, DynamicObject, ListParams, VersionMatch},
    core::ObjectList,
};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::support::*;

const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

/// Starts a server with five Widgets, `a` to `e`, of which every other one is labelled.
async fn five_widgets() -> (ApiServer, Client) {
    let server = ApiServer::new();
    let client = server.client();
    create_definition(&client, widget_definition()).await;
    for name in ["a", "b", "c", "d", "e"] {
        let odd = if "ace".contains(name) { "yes" } else { "no" };
        create(&widgets(&client), &labelled(name, &[("odd", odd)])).await;
    }
    (server, client)
}

async fn list(api: &Api<DynamicObject>, params: &ListParams) -> ObjectList<DynamicObject> {
    api.list(params).await.unwrap()
}

fn names(list: &ObjectList<DynamicObject>) -> String {
    list.items.iter().map(|item| item.metadata.name.as_deref().unwrap()).collect()
}

fn next(list: &ObjectList<DynamicObject>) -> Option<&str> {
    list.metadata.continue_.as_deref().filter(|token| !token.is_empty())
}

fn pages_of(limit: u32) -> ListParams {
    ListParams::default().limit(limit)
}

#[tokio::test]
async fn pages_over_all_namespaces_continue_in_the_next_namespace() {
    let (_, client) = five_widgets().await;
    let elsewhere = Api::namespaced_with(client.clone(), "kube-system", &widget_kind());
    create(&elsewhere, &widget("a")).await;
    let everywhere = Api::all_with(client, &widget_kind());
    let first = list(&everywhere, &pages_of(5)).await;
    assert_eq!(names(&first), "abcde");
    let second = list(&everywhere, &pages_of(5).continue_token(next(&first).unwrap())).await;
    assert_eq!(second.items[0].metadata.namespace.as_deref(), Some("kube-system"));
}

#[tokio::test]
async fn an_expired_continue_token_returns_a_token_for_an_inconsistent_list() {
    let (server, client) = five_widgets().await;
    let first = list(&widgets(&client), &pages_of(2)).await;
    create(&widgets(&client), &widget("cc")).await;
    server.compact();
    let (code, body) =
        raw(&client, "GET", &format!("{WIDGETS}?limit=2&continue={}", next(&first).unwrap()), "", "").await;
    let status: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((code, &status["reason"], &status["code"]), (410, &json!("Expired"), &json!(410)));
    let token = status["metadata"]["continue"].as_str().unwrap();
    let rest = list(&widgets(&client), &pages_of(2).continue_token(token)).await;
    assert_eq!(names(&rest), "ccc");
    assert_ne!(rest.metadata.resource_version, first.metadata.resource_version);
    assert_eq!(names(&list(&widgets(&client), &pages_of(2).continue_token(next(&rest).unwrap())).await), "de");
}

#[tokio::test]
async fn an_exact_version_can_be_listed_until_it_is_compacted() {
    let (server, client) = five_widgets().await;
    let api = widgets(&client);
    let before = list(&api, &ListParams::default()).await.metadata.resource_version.unwrap();
    api.delete("a", &DeleteParams::default()).await.unwrap();
    let exact = ListParams::default().at(&before).matching(VersionMatch::Exact);
    let then = list(&api, &exact).await;
    assert_eq!((names(&then).as_str(), then.metadata.resource_version.as_deref()), ("abcde", Some(before.as_str())));
    // A limit with a version and without a match means the exact version.
    assert_eq!(names(&list(&api, &pages_of(2).at(&before)).await), "ab");
    assert_eq!(names(&list(&api, &ListParams::default().at(&before)).await), "bcde");
    server.compact();
    let (code, reason, message) = rejection(api.list(&exact).await);
    assert_eq!((code, reason.as_str()), (410, "Expired"));
    assert_eq!(message, "The resourceVersion for the provided list is too old.");
}

#[tokio::test(start_paused = true)]
async fn a_list_waits_three_seconds_for_a_future_version() {
    let (_, client) = five_widgets().await;
    let api = widgets(&client);
    let current: u64 = list(&api, &ListParams::default()).await.metadata.resource_version.unwrap().parse().unwrap();
    let next = ListParams::default().at(&(current + 1).to_string());
    let begin = tokio::time::Instant::now();
    let (code, reason, message) = rejection(api.list(&next).await);
    assert_eq!((code, reason.as_str(), begin.elapsed().as_secs()), (504, "Timeout", 3));
    assert_eq!(message, format!("Timeout: Too large resource version: {}, current: {current}", current + 1));
    let new = widget("f");
    let (listed, _) = futures::join!(list(&api, &next), create(&api, &new));
    assert_eq!((names(&listed).as_str(), begin.elapsed().as_secs()), ("abcdef", 3));
}
