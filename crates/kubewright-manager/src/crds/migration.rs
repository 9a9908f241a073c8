//! The migration of stored objects to the storage version of their definition.
//!
//! A cluster with the API group `storagemigration.k8s.io` migrates them. In other clusters, every object is written
//! without a change, and the API server stores it in the storage version. The writes have the uid and the resource
//! version as preconditions. Ownership of fields in versions that are not served is moved to a served one, or removed.

mod by_cluster;
mod objects;
mod ownership;
mod progress;

use std::fmt;

use kube::{
    Client, Error,
    api::{Patch, PatchParams},
};
use serde_json::json;

use self::{objects::Objects, progress::Progress};
use super::{
    CrdError,
    definition::{Definition, definitions},
};

pub(super) use ownership::Ownership;

/// How often a write is repeated after a conflict with another client.
const MAX_ATTEMPTS: usize = 10;

/// Objects that were migrated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migration {
    /// The name of the definition.
    pub definition: String,
    /// The versions in which no object is stored any more. Empty if all objects were stored in the storage version.
    pub from: Vec<String>,
    /// The storage version.
    pub to: String,
    /// The number of objects. A migration that continues an interrupted one counts the remaining ones.
    pub objects: usize,
    /// The number of objects whose `managedFields` had entries of versions that are not served.
    pub cleaned: usize,
}

impl fmt::Display for Migration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Migration { definition, from, to, objects, cleaned } = self;
        match from.is_empty() {
            true => write!(f, "{definition}: {objects} objects are stored in {to}")?,
            false => write!(f, "{definition}: {objects} objects migrated from {} to {to}", from.join(", "))?,
        }
        match cleaned {
            0 => Ok(()),
            cleaned => write!(f, "; {cleaned} had managed fields of versions that are not served"),
        }
    }
}

/// Migrates the objects of a definition of the cluster, and then removes all other versions from its status.
pub(super) async fn migrate(
    client: &Client,
    definition: &Definition,
    ownership: &Ownership,
) -> Result<Migration, CrdError> {
    let (storage, from) = (definition.storage_version()?, definition.old_versions()?);
    let mut progress = Progress::new(client, definition, storage);
    let objects = Objects { client, definition, ownership, resource: definition.resource()? };
    let counts = match from.is_empty() || by_cluster::migrate(client, definition).await? {
        true => objects.clean().await?,
        false => objects.rewrite(&mut progress).await?,
    };
    if !from.is_empty() {
        trim(client, definition, storage).await?;
    }
    progress.remove().await?;
    let (definition, to) = (definition.name().to_owned(), storage.to_owned());
    Ok(Migration { definition, from, to, objects: counts.objects, cleaned: counts.cleaned })
}

/// Removes all other versions from the status, unless the definition was changed in the meantime.
async fn trim(client: &Client, definition: &Definition, storage: &str) -> Result<(), CrdError> {
    let name = definition.name();
    for _ in 0..MAX_ATTEMPTS {
        let current = Definition::read(client, name).await?;
        let is_same =
            |current: &Definition| (current.uid(), current.generation()) == (definition.uid(), definition.generation());
        let current = current.filter(is_same).ok_or_else(|| CrdError::Changed { name: name.to_owned() })?;
        let patch = json!({
            "metadata": {"resourceVersion": current.resource_version()},
            "status": {"storedVersions": [storage]},
        });
        let api = definitions(client.clone());
        match api.patch_status(name, &PatchParams::default(), &Patch::Merge(patch)).await {
            Ok(_) => return Ok(()),
            Err(Error::Api(status)) if status.is_conflict() => {}
            Err(error) => return Err(CrdError::request("trim the stored versions of", name)(error)),
        }
    }
    Err(CrdError::Conflicts { name: name.to_owned(), attempts: MAX_ATTEMPTS })
}
