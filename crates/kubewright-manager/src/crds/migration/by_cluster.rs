//! The migration by kube-controller-manager, in clusters with the API group `storagemigration.k8s.io`.
//!
//! Without a running controller, or if the controller fails, this process migrates the objects: its errors name them.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{
    Api, Client, Error,
    api::{DeleteParams, PostParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::crds::{CrdError, definition::Definition};

const GROUP: &str = "storagemigration.k8s.io";
/// The versions with a group and a resource in the spec, the preferred one first.
const VERSIONS: [&str; 2] = ["v1", "v1beta1"];
/// How long the controller can take to begin with a migration.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// How long it can take to migrate all objects.
const TIMEOUT: Duration = Duration::from_secs(60 * 60);
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The state of a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No controller has processed it.
    New,
    Running,
    Succeeded,
    Failed,
}

/// Creates a migration and waits until it has ended. Returns whether the objects are migrated.
pub(super) async fn migrate(client: &Client, definition: &Definition) -> Result<bool, CrdError> {
    let Some(resource) = resource(client, definition).await? else { return Ok(false) };
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let migration = migration(definition, &resource);
    match api.create(&PostParams::default(), &migration).await {
        Ok(_) => {}
        // Another process has created it.
        Err(Error::Api(status)) if status.is_already_exists() => {}
        Err(Error::Api(status)) if status.is_forbidden() || status.is_not_found() => return Ok(false),
        Err(error) => return Err(CrdError::request("create the StorageVersionMigration of", definition.name())(error)),
    }
    wait(&api, &migration, definition).await
}

/// Returns the resource of migrations; `None` if the cluster does not serve it.
async fn resource(client: &Client, definition: &Definition) -> Result<Option<ApiResource>, CrdError> {
    let groups = client.list_api_groups().await;
    let groups = groups.map_err(CrdError::request("list the API groups for the migration of", definition.name()))?;
    let group = groups.groups.iter().find(|group| group.name == GROUP);
    let is_served =
        |name: &&str| group.is_some_and(|group| group.versions.iter().any(|served| served.version == *name));
    let version = VERSIONS.into_iter().find(is_served);
    let kind = |version| GroupVersionKind::gvk(GROUP, version, "StorageVersionMigration");
    Ok(version.map(|version| ApiResource::from_gvk_with_plural(&kind(version), "storageversionmigrations")))
}

/// Returns the migration for the current generation of a definition, with which it is deleted.
fn migration(definition: &Definition, resource: &ApiResource) -> DynamicObject {
    let name = format!("{}.{}", definition.name(), definition.generation().unwrap_or_default());
    let mut migration = DynamicObject::new(&name, resource);
    migration.metadata.owner_references = Some(vec![OwnerReference {
        api_version: "apiextensions.k8s.io/v1".to_owned(),
        kind: "CustomResourceDefinition".to_owned(),
        name: definition.name().to_owned(),
        uid: definition.uid().to_owned(),
        ..OwnerReference::default()
    }]);
    migration.data = json!({"spec": {"resource": {"group": definition.group(), "resource": definition.plural()}}});
    migration
}

/// Waits until a migration has ended. One that does not start, or that fails, is deleted.
async fn wait(api: &Api<DynamicObject>, migration: &DynamicObject, definition: &Definition) -> Result<bool, CrdError> {
    let (name, created) = (migration.metadata.name.clone().unwrap_or_default(), Instant::now());
    loop {
        let found = api.get_opt(&name).await;
        let found = found.map_err(CrdError::request("read the StorageVersionMigration", &name))?;
        let Some(found) = found else { return Ok(false) };
        // That of a deleted definition with the same name says nothing about these objects.
        let is_same = found.metadata.owner_references == migration.metadata.owner_references;
        match state(&found.data["status"]) {
            State::Succeeded if is_same => return Ok(true),
            State::New if is_same && created.elapsed() < START_TIMEOUT => {}
            State::Running if is_same && created.elapsed() < TIMEOUT => {}
            State::Running if is_same => {
                let definition = definition.name().to_owned();
                return Err(CrdError::NotMigrated { name: definition, migration: name, limit: TIMEOUT });
            }
            _ => break,
        }
        sleep(POLL_INTERVAL).await;
    }
    match api.delete(&name, &DeleteParams::default()).await {
        Ok(_) => Ok(false),
        Err(Error::Api(status)) if status.is_not_found() || status.is_forbidden() => Ok(false),
        Err(error) => Err(CrdError::request("delete the StorageVersionMigration", &name)(error)),
    }
}

fn state(status: &Value) -> State {
    let conditions = status["conditions"].as_array().map_or(&[][..], Vec::as_slice);
    let is = |name: &str| conditions.iter().any(|condition| condition["type"] == name && condition["status"] == "True");
    if is("Succeeded") {
        State::Succeeded
    } else if is("Failed") {
        State::Failed
    } else if conditions.is_empty() && status["resourceVersion"].as_str().unwrap_or_default().is_empty() {
        State::New
    } else {
        State::Running
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_the_state() {
        let condition = |name: &str, status: &str| json!({"type": name, "status": status});
        for (status, expected) in [
            (Value::Null, State::New),
            (json!({"resourceVersion": ""}), State::New),
            (json!({"resourceVersion": "7"}), State::Running),
            (json!({"conditions": [condition("Running", "True")]}), State::Running),
            (json!({"conditions": [condition("Running", "False"), condition("Succeeded", "True")]}), State::Succeeded),
            (json!({"conditions": [condition("Failed", "True")]}), State::Failed),
        ] {
            assert_eq!(state(&status), expected, "{status}");
        }
    }
}
