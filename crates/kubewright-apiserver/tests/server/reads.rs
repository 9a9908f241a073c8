//! Get and list.

use kube::{
    Api, ResourceExt,
    api::{DynamicObject, ListParams},
};

use crate::support::*;

async fn names(api: &Api<DynamicObject>, params: ListParams) -> Vec<String> {
    api.list(&params).await.unwrap().items.iter().map(ResourceExt::name_any).collect()
}

async fn two_namespaces(client: &kube::Client) -> Api<DynamicObject> {
    for (namespace, name) in [("kube-system", "c"), ("default", "b"), ("default", "a")] {
        let api = Api::namespaced_with(client.clone(), namespace, &widget_kind());
        create(&api, &labelled(name, &[("name", name), ("in", namespace)])).await;
    }
    Api::all_with(client.clone(), &widget_kind())
}

#[tokio::test]
async fn a_missing_object_is_not_found() {
    let client = client().await;
    let rejected = rejection(widgets(&client).get("nope").await);
    assert_eq!(rejected, (404, "NotFound".into(), "widgets.example.com \"nope\" not found".into()));
}

#[tokio::test]
async fn lists_of_one_or_all_namespaces_are_sorted() {
    let client = client().await;
    let everywhere = two_namespaces(&client).await;
    assert_eq!(names(&widgets(&client), ListParams::default()).await, ["a", "b"]);
    assert_eq!(names(&everywhere, ListParams::default()).await, ["a", "b", "c"]);
}

#[tokio::test]
async fn a_list_has_its_version_and_type_meta() {
    let client = client().await;
    let made = create(&widgets(&client), &widget("a")).await;
    let list = widgets(&client).list(&ListParams::default()).await.unwrap();
    assert_eq!(list.metadata.resource_version, made.resource_version());
    assert_eq!((list.types.kind.as_str(), list.types.api_version.as_str()), ("WidgetList", "example.com/v1"));
    assert_eq!(list.items, [made]);
}

#[tokio::test]
async fn lists_are_selected_by_labels() {
    let client = client().await;
    let api = two_namespaces(&client).await;
    let cases: [(&str, &[&str]); 6] = [
        ("name=a", &["a"]),
        ("name!=a", &["b", "c"]),
        ("name in (a,c)", &["a", "c"]),
        ("name notin (a,c)", &["b"]),
        ("name,in=default", &["a", "b"]),
        ("!name", &[]),
    ];
    for (selector, expected) in cases {
        assert_eq!(names(&api, ListParams::default().labels(selector)).await, expected, "{selector}");
    }
}

#[tokio::test]
async fn lists_are_selected_by_name_and_namespace_fields() {
    let client = client().await;
    let api = two_namespaces(&client).await;
    assert_eq!(names(&api, ListParams::default().fields("metadata.name=a")).await, ["a"]);
    assert_eq!(names(&api, ListParams::default().fields("metadata.name!=a,metadata.namespace==default")).await, ["b"]);
    let rejected = rejection(api.list(&ListParams::default().fields("spec.name=x")).await);
    assert_eq!(rejected, (400, "BadRequest".into(), "field label not supported: spec.name".into()));
}
