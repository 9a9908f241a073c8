//! A server with Widgets, and helpers for requests.

use kube::{
    Api, Client, ResourceExt,
    api::{DynamicObject, PostParams},
    core::{ApiResource, GroupVersionKind},
};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

/// Returns the definition of Widgets: namespaced, with a status.
pub(crate) fn widget_definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "widgets.example.com" },
        "spec": {
            "group": "example.com",
            "names": { "kind": "Widget", "plural": "widgets", "shortNames": ["wd"] },
            "scope": "Namespaced",
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "subresources": { "status": {} },
                "schema": { "openAPIV3Schema": widget_schema() },
            }],
        },
    })
}

fn widget_schema() -> Value {
    json!({
        "type": "object",
        "required": ["spec"],
        "properties": {
            "spec": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": { "type": "string", "minLength": 1, "maxLength": 8 },
                    "timeInterval": { "type": "integer", "format": "int32", "minimum": 1, "maximum": 100, "default": 5 },
                    "tags": { "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 2 },
                    "free": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
                    "mode": { "type": "string", "enum": ["Fast", "Slow"] },
                    "nest": {
                        "type": "object",
                        "required": ["a", "b"],
                        "properties": { "a": { "type": "string" }, "b": { "type": "integer" } },
                    },
                },
            },
            "status": {
                "type": "object",
                "properties": { "state": { "type": "string", "enum": ["A", "B"] } },
            },
        },
    })
}

/// Returns a client of a new server with Widgets.
pub(crate) async fn client() -> Client {
    let client = ApiServer::new().client();
    create_definition(&client, widget_definition()).await;
    client
}

/// Returns a client of a new server with Widgets and without garbage collection.
pub(crate) async fn client_without_garbage_collection() -> Client {
    let client = ApiServer::builder().collects_garbage(false).build().client();
    create_definition(&client, widget_definition()).await;
    client
}

pub(crate) async fn create_definition(client: &Client, definition: Value) -> DynamicObject {
    definitions(client).create(&PostParams::default(), &object(definition)).await.unwrap()
}

pub(crate) fn definitions(client: &Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    Api::all_with(client.clone(), &ApiResource::from_gvk(&kind))
}

pub(crate) fn widget_kind() -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Widget"))
}

pub(crate) fn widgets(client: &Client) -> Api<DynamicObject> {
    Api::default_namespaced_with(client.clone(), &widget_kind())
}

pub(crate) fn object(json: Value) -> DynamicObject {
    serde_json::from_value(json).unwrap()
}

/// Returns a Widget with the only required field.
pub(crate) fn widget(name: &str) -> DynamicObject {
    widget_with(name, json!({ "name": "x" }))
}

pub(crate) fn widget_with(name: &str, spec: Value) -> DynamicObject {
    let mut widget = DynamicObject::new(name, &widget_kind());
    widget.data = json!({ "spec": spec });
    widget
}

/// Returns a Widget with labels.
pub(crate) fn labelled(name: &str, labels: &[(&str, &str)]) -> DynamicObject {
    let mut widget = widget(name);
    widget.labels_mut().extend(labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
    widget
}

pub(crate) async fn create(api: &Api<DynamicObject>, object: &DynamicObject) -> DynamicObject {
    api.create(&PostParams::default(), object).await.unwrap()
}

/// Returns the code, reason and message of a rejected request.
pub(crate) fn rejection<T: std::fmt::Debug>(result: kube::Result<T>) -> (u16, String, String) {
    match result {
        Err(kube::Error::Api(status)) => (status.code, status.reason.clone(), status.message.clone()),
        other => panic!("the request is not rejected: {other:?}"),
    }
}

/// Returns the number in an object's resource version.
pub(crate) fn version(object: &DynamicObject) -> u64 {
    object.resource_version().unwrap().parse().unwrap()
}

/// Sends a raw request that `Api` cannot send, and returns the code and the body.
pub(crate) async fn raw(client: &Client, method: &str, path: &str, content_type: &str, body: &str) -> (u16, String) {
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header(http::header::CONTENT_TYPE, content_type)
        .body(kube::client::Body::from(body.as_bytes().to_vec()))
        .unwrap();
    let response = client.send(request).await.unwrap();
    let code = response.status().as_u16();
    let body = response.into_body().collect_bytes().await.unwrap();
    (code, String::from_utf8(body.to_vec()).unwrap())
}

/// Creates a Widget with a raw request.
pub(crate) async fn post(client: &Client, body: Value) -> (u16, Value) {
    const PATH: &str = "/apis/example.com/v1/namespaces/default/widgets";
    let (code, body) = raw(client, "POST", PATH, "application/json", &body.to_string()).await;
    (code, serde_json::from_str(&body).unwrap())
}
