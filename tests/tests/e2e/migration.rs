//! The migration of stored objects on the real server: the process is killed in the middle, and the next one continues.

use std::{
    path::Path,
    process::{Command, Output},
    sync::Arc,
    time::Duration,
};

use envtest::ControlPlane;
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use tests::{
    install,
    process::{Process, Signal},
    program,
};
use tokio::time::{sleep, timeout};

use super::{Suite, client, trial};

const NAME: &str = "parcels.migration.example.org";
const PROGRESS: &str = "migration.example.org/storage-migration";
const COUNT: usize = 10_000;
const CONCURRENT_WRITES: usize = 32;

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    vec![trial(suite, "migration::10000_objects_with_a_process_that_is_killed", |control_plane| {
        tokio::runtime::Runtime::new()?.block_on(migrate(control_plane))
    })]
}

async fn migrate(control_plane: &ControlPlane) -> Result<(), Failed> {
    let client = client(control_plane).await?;
    let definitions = Api::<CustomResourceDefinition>::all(client.clone());
    install(&client, [serde_json::from_value(definition(json!([version("v1", true)])))?]).await;
    create(&client).await?;
    let versions = json!([version("v1", false), version("v2", true)]);
    set_versions(&definitions, versions).await?;
    assert_eq!(stored_versions(&definitions).await?, ["v1", "v2"]);

    let (operator, files) = (program("logger-operator"), tempfile::tempdir()?);
    let mut command = migration(&operator, control_plane.kubeconfig());
    let process = Process::start("the migration", &mut command, files.path().join("log"))?;
    let recorded = async {
        while !has_progress(&definitions).await? {
            sleep(Duration::from_millis(20)).await;
        }
        Ok::<_, Failed>(())
    };
    timeout(Duration::from_secs(60), recorded).await??;
    process.signal(Signal::KILL)?;
    drop(process);
    assert_eq!(stored_versions(&definitions).await?, ["v1", "v2"]);

    let remaining = remaining(&migration(&operator, control_plane.kubeconfig()).output()?)?;
    assert!(remaining < COUNT && remaining.is_multiple_of(500), "{remaining} objects are migrated after the kill");
    assert_eq!(stored_versions(&definitions).await?, ["v2"]);
    assert!(!has_progress(&definitions).await?);

    // The server rejects the removal of a version that may be stored.
    set_versions(&definitions, json!([version("v2", true)])).await?;
    let objects = parcels(&client, "v2").list(&ListParams::default()).await?.items;
    let with_size = objects.iter().filter(|object| object.data["spec"]["size"].is_u64()).count();
    assert_eq!((objects.len(), with_size), (COUNT, COUNT));
    definitions.delete(NAME, &DeleteParams::default()).await?;
    Ok(())
}

fn version(name: &str, storage: bool) -> Value {
    let schema = json!({"openAPIV3Schema": {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}},
    }});
    json!({"name": name, "served": true, "storage": storage, "schema": schema})
}

fn definition(versions: Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": NAME},
        "spec": {
            "group": "migration.example.org",
            "names": {"kind": "Parcel", "listKind": "ParcelList", "plural": "parcels", "singular": "parcel"},
            "scope": "Namespaced",
            "versions": versions,
        },
    })
}

fn parcels(client: &Client, version: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("migration.example.org", version, "Parcel");
    Api::default_namespaced_with(client.clone(), &ApiResource::from_gvk(&kind))
}

async fn create(client: &Client) -> Result<(), Failed> {
    let parcels = parcels(client, "v1");
    let create = |number: usize| {
        let parcels = parcels.clone();
        async move {
            let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("migration.example.org", "v1", "Parcel"));
            let mut parcel = DynamicObject::new(&format!("parcel-{number}"), &resource);
            parcel.data = json!({"spec": {"size": number}});
            parcels.create(&PostParams::default(), &parcel).await.map(drop)
        }
    };
    Ok(stream::iter((0..COUNT).map(create)).buffer_unordered(CONCURRENT_WRITES).try_collect().await?)
}

async fn set_versions(definitions: &Api<CustomResourceDefinition>, versions: Value) -> Result<(), Failed> {
    let patch = Patch::Merge(json!({"spec": {"versions": versions}}));
    definitions.patch(NAME, &PatchParams::default(), &patch).await?;
    Ok(())
}

async fn stored_versions(definitions: &Api<CustomResourceDefinition>) -> Result<Vec<String>, Failed> {
    let definition = definitions.get(NAME).await?;
    Ok(definition.status.and_then(|status| status.stored_versions).unwrap_or_default())
}

async fn has_progress(definitions: &Api<CustomResourceDefinition>) -> Result<bool, Failed> {
    let annotations = definitions.get_metadata(NAME).await?.metadata.annotations;
    Ok(annotations.is_some_and(|annotations| annotations.contains_key(PROGRESS)))
}

/// Returns the command that migrates the objects.
fn migration(operator: &Path, kubeconfig: &Path) -> Command {
    let mut command = Command::new(operator);
    command.args(["crds", "migrate", NAME]).env("KUBECONFIG", kubeconfig);
    command
}

/// Returns the number of objects that a process reports.
fn remaining(output: &Output) -> Result<usize, Failed> {
    let text = String::from_utf8_lossy(&output.stdout);
    let number = text.strip_prefix(&format!("{NAME}: ")).and_then(|text| text.split_once(' '));
    match number {
        Some((number, "objects migrated from v1 to v2\n")) => Ok(number.parse()?),
        _ => Err(format!("{text}{}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}
