//! The guarantees of definitions, on the embedded API server with paused time.

#![expect(clippy::unwrap_used, reason = "allowed in tests, and test helpers are part of them")]

mod migration;

use kube::{
    Api, Client,
    api::PostParams,
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use kubewright_apiserver::ApiServer;
use kubewright_core::description::{ConversionWebhookDescription, WebhookNames};
use kubewright_manager::crds::{CrdError, Definitions, Migration};
use serde_json::{Value, json};

const NAME: &str = "widgets.example.org";

/// Returns the definition with these versions: the name, whether it is served, and whether it is the storage version.
fn definition(versions: &[(&str, bool, bool)]) -> Value {
    let schema = json!({"openAPIV3Schema": {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}, "mode": {"type": "string"}}}},
    }});
    let versions = versions.iter();
    let versions: Vec<_> = versions
        .map(|(name, served, storage)| json!({"name": name, "served": served, "storage": storage, "schema": schema}))
        .collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": NAME},
        "spec": {
            "group": "example.org",
            "names": {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"},
            "scope": "Namespaced",
            "versions": versions,
        },
    })
}

async fn apply(client: &Client, definition: &Value, allow_breaking: bool) -> Result<Vec<Migration>, CrdError> {
    let plan = Definitions::parse(&definition.to_string())?.plan(client.clone()).await?;
    plan.apply("test", allow_breaking).await
}

fn definitions(client: &Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    Api::all_with(client.clone(), &ApiResource::from_gvk_with_plural(&kind, "customresourcedefinitions"))
}

/// Replaces the versions of the definition as another tool would do it, which migrates nothing.
async fn replace(client: &Client, next: &Value) {
    let definitions = definitions(client);
    let mut current = definitions.get(NAME).await.unwrap();
    current.data["spec"]["versions"] = next["spec"]["versions"].clone();
    definitions.replace(NAME, &PostParams::default(), &current).await.unwrap();
}

/// Returns the stored versions of the definition; empty if it does not exist.
async fn stored_versions(client: &Client) -> Vec<String> {
    let found = definitions(client).get_opt(NAME).await.unwrap();
    found.map_or_else(Vec::new, |object| {
        serde_json::from_value(object.data["status"]["storedVersions"].clone()).unwrap()
    })
}

fn widgets(client: &Client, version: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("example.org", version, "Widget");
    Api::namespaced_with(client.clone(), "default", &ApiResource::from_gvk_with_plural(&kind, "widgets"))
}

/// Creates Widgets in a version.
async fn create(client: &Client, version: &str, count: usize) {
    for number in 0..count {
        let widget = json!({
            "apiVersion": format!("example.org/{version}"),
            "kind": "Widget",
            "metadata": {"name": format!("widget-{number}")},
            "spec": {"size": number},
        });
        let widget = serde_json::from_value(widget).unwrap();
        widgets(client, version).create(&PostParams::default(), &widget).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_new_definition_is_established_after_its_application() {
    let client = ApiServer::new().client();
    let definition = definition(&[("v1", true, true)]);
    let plan = Definitions::parse(&definition.to_string()).unwrap().plan(client.clone()).await.unwrap();
    assert_eq!(plan.to_string(), "widgets.example.org: new\n");
    assert!(plan.apply("test", false).await.unwrap().is_empty());
    create(&client, "v1", 1).await;
    let again = Definitions::parse(&definition.to_string()).unwrap().plan(client).await.unwrap();
    assert_eq!(again.to_string(), "widgets.example.org: no change\n");
}

#[tokio::test(start_paused = true)]
async fn breaking_changes_are_errors_before_anything_is_written() {
    let client = ApiServer::new().client();
    apply(&client, &definition(&[("v1", true, false), ("v2", true, true)]), false).await.unwrap();
    let without_v1 = definition(&[("v2", true, true)]);
    let error = apply(&client, &without_v1, false).await.unwrap_err().to_string();
    assert!(error.starts_with("incompatible changes: widgets.example.org: breaking: "), "{error}");
    create(&client, "v1", 1).await;
    apply(&client, &without_v1, true).await.unwrap();
    assert!(widgets(&client, "v1").get("widget-0").await.is_err());
    assert!(widgets(&client, "v2").get("widget-0").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn changes_that_the_server_rejects_cannot_be_allowed() {
    let client = ApiServer::new().client();
    apply(&client, &definition(&[("v1", true, true)]), false).await.unwrap();
    let mut cluster_scoped = definition(&[("v1", true, true)]);
    cluster_scoped["spec"]["scope"] = json!("Cluster");
    let error = apply(&client, &cluster_scoped, true).await.unwrap_err();
    assert!(matches!(error, CrdError::Incompatible { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn objects_are_migrated_to_a_new_storage_version() {
    let client = ApiServer::new().client();
    apply(&client, &definition(&[("v1", true, true)]), false).await.unwrap();
    // More than a page.
    create(&client, "v1", 501).await;
    let migrations = apply(&client, &definition(&[("v1", true, false), ("v2", true, true)]), false).await.unwrap();
    let (from, to) = (vec!["v1".to_owned()], "v2".to_owned());
    let expected = Migration { definition: NAME.to_owned(), from, to, objects: 501, cleaned: 0 };
    assert_eq!(migrations, [expected]);
    assert_eq!(stored_versions(&client).await, ["v2"]);
    let widget = widgets(&client, "v2").get("widget-500").await.unwrap();
    assert_eq!(widget.data["spec"]["size"], 500);
}

#[tokio::test(start_paused = true)]
async fn objects_are_not_migrated_before_the_program_of_a_new_webhook_can_run() {
    let client = ApiServer::new().client();
    apply(&client, &definition(&[("v1", true, true)]), false).await.unwrap();
    create(&client, "v1", 3).await;
    let next = definition(&[("v1", true, false), ("v2", true, true)]);
    let webhook = ConversionWebhookDescription::new("example.org", "Widget", "widgets");
    let definitions = Definitions::parse(&next.to_string()).unwrap();
    let definitions = definitions.convert(&[webhook], "system", &WebhookNames::new("my-operator"), None);
    let plan = definitions.plan(client.clone()).await.unwrap();
    assert_eq!(plan.apply("test", false).await.unwrap(), []);
    assert_eq!(stored_versions(&client).await, ["v1", "v2"]);
}

#[tokio::test(start_paused = true)]
async fn a_stored_version_is_removed_after_its_objects_are_migrated() {
    let client = ApiServer::new().client();
    let v1 = definition(&[("v1", true, true)]);
    apply(&client, &v1, false).await.unwrap();
    create(&client, "v1", 3).await;
    replace(&client, &definition(&[("v1", false, false), ("v2", true, true)])).await;
    assert_eq!(stored_versions(&client).await, ["v1", "v2"]);

    let migrations = apply(&client, &definition(&[("v2", true, true)]), false).await.unwrap();
    assert_eq!(migrations.iter().map(|migration| migration.objects).collect::<Vec<_>>(), [3]);
    assert_eq!(stored_versions(&client).await, ["v2"]);
    assert!(widgets(&client, "v2").get("widget-2").await.is_ok());
}

#[test]
fn documents_of_other_kinds_are_errors() {
    let error = Definitions::parse("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n").unwrap_err().to_string();
    assert!(error.starts_with("`Namespace` of `v1` is not a CustomResourceDefinition"), "{error}");
}
