//! The guarantees of migrations: they are continued, keep the ownership of fields, and leave the work to the cluster.

use std::time::Duration;

use kube::{
    Api, Client,
    api::{Patch, PatchParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use kubewright_apiserver::{ApiServer, Fault, Faults, Requests, Verb};
use kubewright_manager::crds::{CrdError, migrate};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::{NAME, apply, create, definition, definitions, replace, stored_versions, widgets};

const PROGRESS: &str = "example.org/storage-migration";

/// Creates Widgets that are stored in `v1`, and makes `v2` the storage version.
async fn server_with_old_widgets(count: usize) -> ApiServer {
    let server = ApiServer::new();
    let client = server.client();
    apply(&client, &definition(&[("v1", true, true)]), false).await.unwrap();
    create(&client, "v1", count).await;
    replace(&client, &definition(&[("v1", true, false), ("v2", true, true)])).await;
    assert_eq!(stored_versions(&client).await, ["v1", "v2"]);
    server
}

async fn progress(client: &Client) -> Option<String> {
    definitions(client).get(NAME).await.unwrap().metadata.annotations?.remove(PROGRESS)
}

fn patches() -> Requests {
    Requests::to("widgets").verb(Verb::Patch)
}

#[tokio::test(start_paused = true)]
async fn a_migration_that_is_killed_is_continued_by_the_next() {
    let server = server_with_old_widgets(1200).await;
    let (client, faults) = (server.client(), Faults::new());
    // In the second of three pages.
    faults.always(patches().name("widget-700"), Fault::hang());
    let killed = timeout(Duration::from_secs(60), migrate(server.client_with(faults.layer()), NAME)).await;
    assert!(killed.is_err() && progress(&client).await.is_some());
    assert_eq!(stored_versions(&client).await, ["v1", "v2"]);

    let migration = migrate(client.clone(), NAME).await.unwrap();
    assert_eq!(migration.to_string(), "widgets.example.org: 700 objects migrated from v1 to v2");
    assert_eq!(stored_versions(&client).await, ["v2"]);
    assert_eq!(progress(&client).await, None);
    let again = migrate(client, NAME).await.unwrap();
    assert_eq!(again.to_string(), "widgets.example.org: 1200 objects are stored in v2");
}

#[tokio::test(start_paused = true)]
async fn progress_of_another_generation_and_invalid_progress_are_ignored() {
    for generation in [0, 2] {
        let server = server_with_old_widgets(3).await;
        let client = server.client();
        assert_eq!(definitions(&client).get(NAME).await.unwrap().metadata.generation, Some(2));
        let recorded = json!({"to": "v2", "generation": generation, "continue": "invalid"}).to_string();
        let patch = json!({"metadata": {"annotations": {PROGRESS: recorded}}});
        definitions(&client).patch(NAME, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
        assert_eq!(migrate(client.clone(), NAME).await.unwrap().objects, 3);
        assert_eq!((stored_versions(&client).await, progress(&client).await), (vec!["v2".to_owned()], None));
    }
}

#[tokio::test(start_paused = true)]
async fn objects_that_change_or_are_deleted_meanwhile_are_migrated() {
    let server = server_with_old_widgets(3).await;
    let faults = Faults::new();
    let conflict = Fault::status(409, "Conflict", "the object has been modified");
    faults.once(patches().name("widget-1"), conflict);
    faults.once(patches().name("widget-2"), Fault::status(404, "NotFound", "not found"));
    assert_eq!(migrate(server.client_with(faults.layer()), NAME).await.unwrap().objects, 3);
    assert_eq!(faults.count(patches().name("widget-1")), 2);
    assert_eq!(faults.count(patches().name("widget-2")), 1);
}

#[tokio::test(start_paused = true)]
async fn fields_stay_owned_when_a_version_is_no_longer_served() {
    let client = ApiServer::new().client();
    apply(&client, &definition(&[("v1", true, true), ("v2", true, false)]), false).await.unwrap();
    let configuration = |version: &str, spec: Value| {
        Patch::Apply(json!({
            "apiVersion": format!("example.org/{version}"),
            "kind": "Widget",
            "metadata": {"name": "a"},
            "spec": spec,
        }))
    };
    let manager = PatchParams::apply("tool");
    widgets(&client, "v1")
        .patch("a", &manager, &configuration("v1", json!({"size": 1, "mode": "Fast"})))
        .await
        .unwrap();
    let migrations = apply(&client, &definition(&[("v1", false, false), ("v2", true, true)]), true).await.unwrap();
    assert_eq!(migrations.iter().map(|of| (of.objects, of.cleaned)).collect::<Vec<_>>(), [(1, 1)]);

    let v2 = widgets(&client, "v2");
    let entries = v2.get("a").await.unwrap().metadata.managed_fields.unwrap();
    assert!(entries.iter().all(|entry| entry.api_version.as_deref() == Some("example.org/v2")), "{entries:#?}");
    let applied = v2.patch("a", &manager, &configuration("v2", json!({"mode": "Fast"}))).await.unwrap();
    assert_eq!(applied.data["spec"], json!({"mode": "Fast"}), "the manager still owns the field that it removes");
}

#[tokio::test(start_paused = true)]
async fn a_definition_that_does_not_exist_is_an_error() {
    let error = migrate(ApiServer::new().client(), NAME).await.unwrap_err();
    assert!(matches!(&error, CrdError::NotFound { name } if name == NAME), "{error}");
}

/// Serves StorageVersionMigrations, without a controller.
async fn storage_migrations(client: &Client) -> Api<DynamicObject> {
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": "storageversionmigrations.storagemigration.k8s.io",
            "annotations": {"api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/123344"},
        },
        "spec": {
            "group": "storagemigration.k8s.io",
            "names": {
                "kind": "StorageVersionMigration",
                "listKind": "StorageVersionMigrationList",
                "plural": "storageversionmigrations",
                "singular": "storageversionmigration",
            },
            "scope": "Cluster",
            "versions": [
                {"name": "v1beta1", "served": true, "storage": true, "schema": schema, "subresources": {"status": {}}},
            ],
        },
    });
    apply(client, &definition, false).await.unwrap();
    let kind = GroupVersionKind::gvk("storagemigration.k8s.io", "v1beta1", "StorageVersionMigration");
    Api::all_with(client.clone(), &ApiResource::from_gvk(&kind))
}

/// Ends the migration as kube-controller-manager does, after some minutes.
async fn control(migrations: Api<DynamicObject>, outcome: &str) {
    let name = format!("{NAME}.2");
    while migrations.get_opt(&name).await.unwrap().is_none() {
        sleep(Duration::from_secs(1)).await;
    }
    let spec = migrations.get(&name).await.unwrap().data["spec"].clone();
    assert_eq!(spec, json!({"resource": {"group": "example.org", "resource": "widgets"}}));
    for (state, seconds) in [("Running", 600), (outcome, 0)] {
        let condition = json!({"type": state, "status": "True"});
        let patch = Patch::Merge(json!({"status": {"resourceVersion": "7", "conditions": [condition]}}));
        migrations.patch_status(&name, &PatchParams::default(), &patch).await.unwrap();
        sleep(Duration::from_secs(seconds)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_cluster_migrates_objects_if_it_can() {
    let server = server_with_old_widgets(3).await;
    let (client, faults) = (server.client(), Faults::new());
    let migrations = storage_migrations(&client).await;
    let migrated = migrate(server.client_with(faults.layer()), NAME);
    let (migrated, ()) = tokio::join!(migrated, control(migrations.clone(), "Succeeded"));
    assert_eq!(migrated.unwrap().objects, 3);
    assert_eq!(faults.count(patches()), 0);
    assert_eq!(stored_versions(&client).await, ["v2"]);
    let owners = migrations.get(&format!("{NAME}.2")).await.unwrap().metadata.owner_references.unwrap();
    assert_eq!(owners.iter().map(|owner| owner.name.as_str()).collect::<Vec<_>>(), [NAME]);
}

#[tokio::test(start_paused = true)]
async fn objects_that_the_cluster_does_not_migrate_are_written() {
    let server = server_with_old_widgets(3).await;
    let (client, faults) = (server.client(), Faults::new());
    let migrations = storage_migrations(&client).await;
    let migrated = migrate(server.client_with(faults.layer()), NAME);
    let (migrated, ()) = tokio::join!(migrated, control(migrations.clone(), "Failed"));
    assert_eq!((migrated.unwrap().objects, faults.count(patches())), (3, 3));
    assert!(migrations.get_opt(&format!("{NAME}.2")).await.unwrap().is_none());

    replace(&client, &definition(&[("v1", true, true), ("v2", true, false)])).await;
    let started = Instant::now();
    let migration = migrate(client.clone(), NAME).await.unwrap();
    assert_eq!((migration.objects, migration.to.as_str()), (3, "v1"), "no controller has processed the migration");
    assert!((30..60).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
    assert_eq!(stored_versions(&client).await, ["v1"]);
}

#[tokio::test(start_paused = true)]
async fn a_migration_without_permission_for_the_group_writes_the_objects() {
    let server = server_with_old_widgets(3).await;
    let (client, faults) = (server.client(), Faults::new());
    storage_migrations(&client).await;
    let creations = Requests::to("storageversionmigrations").verb(Verb::Create);
    faults.always(creations, Fault::status(403, "Forbidden", "forbidden"));
    assert_eq!(migrate(server.client_with(faults.layer()), NAME).await.unwrap().objects, 3);
    assert_eq!(faults.count(patches()), 3);
    assert_eq!(stored_versions(&client).await, ["v2"]);
}
