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
async fn continue_tokens_lead_to_the_last_page() {
    let (_, client) = five_widgets().await;
    let api = widgets(&client);
    let first = list(&api, &pages_of(2)).await;
    assert_eq!((names(&first).as_str(), first.metadata.remaining_item_count), ("ab", Some(3)));
    let second = list(&api, &pages_of(2).continue_token(next(&first).unwrap())).await;
    assert_eq!((names(&second).as_str(), second.metadata.remaining_item_count), ("cd", Some(1)));
    let third = list(&api, &pages_of(2).continue_token(next(&second).unwrap())).await;
    assert_eq!((names(&third).as_str(), third.metadata.remaining_item_count, next(&third)), ("e", None, None));
}

#[tokio::test]
async fn all_pages_have_the_version_of_the_first() {
    let (_, client) = five_widgets().await;
    let api = widgets(&client);
    let first = list(&api, &pages_of(2)).await;
    create(&api, &widget("bb")).await;
    api.delete("c", &DeleteParams::default()).await.unwrap();
    create(&api, &labelled("c", &[("new", "yes")])).await;
    api.delete("e", &DeleteParams::default()).await.unwrap();
    let rest = list(&api, &pages_of(5).continue_token(next(&first).unwrap())).await;
    assert_eq!(names(&rest), "cde");
    assert_eq!(rest.items[0].metadata.labels.as_ref().unwrap()["odd"], "yes");
    assert_eq!(rest.metadata.resource_version, first.metadata.resource_version);
    assert_eq!(names(&list(&api, &ListParams::default()).await), "abbbcd");
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
async fn pages_with_a_selector_are_full_and_have_no_remaining_item_count() {
    let (_, client) = five_widgets().await;
    let api = widgets(&client);
    let odd = pages_of(2).labels("odd=yes");
    let first = list(&api, &odd).await;
    assert_eq!((names(&first).as_str(), first.metadata.remaining_item_count), ("ac", None));
    let second = list(&api, &odd.continue_token(next(&first).unwrap())).await;
    assert_eq!((names(&second).as_str(), next(&second)), ("e", None));
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
async fn a_list_at_version_0_ignores_the_limit() {
    let (_, client) = five_widgets().await;
    // kube omits one of the two parameters.
    let (_, body) = raw(&client, "GET", &format!("{WIDGETS}?limit=2&resourceVersion=0"), "", "").await;
    let list: ObjectList<DynamicObject> = serde_json::from_str(&body).unwrap();
    assert_eq!((names(&list).as_str(), next(&list)), ("abcde", None));
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

#[tokio::test]
async fn contradicting_list_options_are_rejected() {
    let (_, client) = five_widgets().await;
    let token = next(&list(&widgets(&client), &pages_of(2)).await).unwrap().to_owned();
    let continued = format!("continue={token}");
    let cases = [
        (
            format!("{continued}&resourceVersion=7"),
            400,
            "specifying resource version is not allowed when using continue",
        ),
        (
            "continue=abc!".to_owned(),
            400,
            "invalid continue token: continue key is not valid: illegal base64 data at input byte 3",
        ),
        ("limit=x".to_owned(), 400, "strconv.ParseInt: parsing \"x\": invalid syntax"),
        (
            format!("{continued}&resourceVersion=0&resourceVersionMatch=NotOlderThan"),
            422,
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when \
             continue is provided",
        ),
        (
            "resourceVersion=0&resourceVersionMatch=Exact".to_owned(),
            422,
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is \
             forbidden for resourceVersion \"0\"",
        ),
    ];
    for (query, code, message) in cases {
        let (found, body) = raw(&client, "GET", &format!("{WIDGETS}?{query}"), "", "").await;
        let status: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((found, status["message"].as_str().unwrap()), (code, message), "{query}");
    }
}
