//! The migration of stored objects to the storage version of their definition.
//!
//! Every object is written without a change, and the API server stores it in the storage version. The writes have the
//! uid and the resource version as preconditions.

use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Api, Client, Error,
    api::{ListParams, Patch, PatchParams},
    core::{ApiResource, DynamicObject},
};
use serde_json::json;

use super::{
    CrdError,
    definition::{Definition, definitions},
};

/// The number of objects in a page.
const PAGE_SIZE: u32 = 500;
/// How often a list is continued after its token has expired. Tokens live some minutes, in which a page is migrated.
const MAX_EXPIRED_TOKENS: usize = 100;
/// How often a write is repeated after a conflict with another client.
const MAX_ATTEMPTS: usize = 10;

/// Objects that were migrated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migration {
    /// The name of the definition.
    pub definition: String,
    /// The versions in which no object is stored any more.
    pub from: Vec<String>,
    /// The storage version.
    pub to: String,
    /// The number of objects.
    pub objects: usize,
}

impl fmt::Display for Migration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Migration { definition, from, to, objects } = self;
        write!(f, "{definition}: {objects} objects migrated from {} to {to}", from.join(", "))
    }
}

/// Migrates the objects of a definition of the cluster. Returns `None` if all are stored in the storage version.
pub(super) async fn migrate(client: &Client, definition: &Definition) -> Result<Option<Migration>, CrdError> {
    let storage = definition.storage_version()?;
    let from: Vec<_> = definition.stored_versions().filter(|version| *version != storage).map(str::to_owned).collect();
    if from.is_empty() {
        return Ok(None);
    }
    let objects = Objects { client, resource: definition.resource()?, is_namespaced: definition.is_namespaced() };
    let objects = objects.rewrite_all(definition.name()).await?;
    trim(client, definition, storage).await?;
    let (definition, to) = (definition.name().to_owned(), storage.to_owned());
    Ok(Some(Migration { definition, from, to, objects }))
}

/// Removes all other versions from the status, unless the definition was changed in the meantime.
async fn trim(client: &Client, definition: &Definition, storage: &str) -> Result<(), CrdError> {
    let name = definition.name();
    for _ in 0..MAX_ATTEMPTS {
        let current = Definition::read(client, name).await?;
        let current = current.filter(|current| current.generation() == definition.generation());
        let current = current.ok_or_else(|| CrdError::Changed { name: name.to_owned() })?;
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

/// The objects of a definition.
struct Objects<'a> {
    client: &'a Client,
    resource: ApiResource,
    is_namespaced: bool,
}

impl Objects<'_> {
    /// Rewrites all objects, page by page, and returns their number. Only metadata is transferred.
    async fn rewrite_all(&self, definition: &str) -> Result<usize, CrdError> {
        let all = Api::<DynamicObject>::all_with(self.client.clone(), &self.resource);
        let (mut count, mut expired, mut token) = (0, 0, None);
        loop {
            let params = ListParams { limit: Some(PAGE_SIZE), continue_token: token, ..ListParams::default() };
            let page = match all.list_metadata(&params).await {
                Ok(page) => page,
                Err(error) => {
                    token = Some(
                        continuation(&error)
                            .filter(|_| expired < MAX_EXPIRED_TOKENS)
                            .ok_or_else(|| CrdError::request("list the objects of", definition)(error))?,
                    );
                    expired += 1;
                    continue;
                }
            };
            for object in page.items {
                self.rewrite(object.metadata).await?;
                count += 1;
            }
            token = page.metadata.continue_.filter(|token| !token.is_empty());
            if token.is_none() {
                return Ok(count);
            }
        }
    }

    /// Rewrites one object. One that was deleted needs no migration.
    async fn rewrite(&self, mut metadata: ObjectMeta) -> Result<(), CrdError> {
        let name = metadata.name.clone().unwrap_or_default();
        let client = self.client.clone();
        let api: Api<DynamicObject> = match &metadata.namespace {
            Some(namespace) if self.is_namespaced => Api::namespaced_with(client, namespace, &self.resource),
            _ => Api::all_with(client, &self.resource),
        };
        for _ in 0..MAX_ATTEMPTS {
            let preconditions = json!({"uid": metadata.uid, "resourceVersion": metadata.resource_version});
            let patch = Patch::Merge(json!({"metadata": preconditions}));
            match api.patch_metadata(&name, &PatchParams::default(), &patch).await {
                Ok(_) => return Ok(()),
                Err(Error::Api(status)) if status.is_not_found() => return Ok(()),
                Err(Error::Api(status)) if status.is_conflict() => {}
                Err(error) => return Err(CrdError::request("migrate", &name)(error)),
            }
            match api.get_metadata_opt(&name).await.map_err(CrdError::request("read", &name))? {
                Some(current) => metadata = current.metadata,
                None => return Ok(()),
            }
        }
        Err(CrdError::Conflicts { name, attempts: MAX_ATTEMPTS })
    }
}

/// Returns the token with which a list continues after its own token has expired.
fn continuation(error: &Error) -> Option<String> {
    match error {
        Error::Api(status) if status.code == 410 => {
            status.metadata.as_ref()?.continue_.clone().filter(|token| !token.is_empty())
        }
        _ => None,
    }
}
