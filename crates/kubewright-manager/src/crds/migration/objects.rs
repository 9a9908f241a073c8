//! The objects of a definition, written page by page. Only metadata is transferred.

use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Api, Client, Error,
    api::{ListParams, Patch, PatchParams},
    core::{ApiResource, DynamicObject},
};
use serde_json::json;

use super::{MAX_ATTEMPTS, ownership::Ownership, progress::Progress};
use crate::crds::{CrdError, definition::Definition};

/// The number of objects in a page.
const PAGE_SIZE: u32 = 500;
/// The number of objects of a page that are written at the same time.
const CONCURRENT_WRITES: usize = 8;
/// How often a list is continued after its token has expired. Tokens live some minutes, in which a page is migrated.
const MAX_EXPIRED_TOKENS: usize = 100;

/// The objects of a definition of the cluster.
pub(super) struct Objects<'a> {
    pub(super) client: &'a Client,
    pub(super) definition: &'a Definition,
    pub(super) ownership: &'a Ownership,
    pub(super) resource: ApiResource,
}

/// How many objects there are.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) objects: usize,
    /// Those that had managed fields of versions that are not served.
    pub(super) cleaned: usize,
}

/// Which objects are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Selection {
    All,
    /// Those with managed fields of versions that are not served.
    Outdated,
}

impl Objects<'_> {
    /// Writes all objects, or those that another process has not written before it ended.
    pub(super) async fn rewrite(&self, progress: &mut Progress<'_>) -> Result<Counts, CrdError> {
        let mut pages = self.pages(progress.token());
        let mut counts = Counts::default();
        while let Some(page) = pages.next().await? {
            counts = self.write_page(page, Selection::All, counts).await?;
            if let Some(token) = &pages.token {
                progress.record(token).await?;
            }
        }
        Ok(counts)
    }

    /// Writes the objects with managed fields of versions that are not served.
    pub(super) async fn clean(&self) -> Result<Counts, CrdError> {
        let mut pages = self.pages(None);
        let mut counts = Counts::default();
        while let Some(page) = pages.next().await? {
            counts = self.write_page(page, Selection::Outdated, counts).await?;
        }
        Ok(counts)
    }

    fn pages(&self, token: Option<String>) -> Pages<'_> {
        let api = Api::all_with(self.client.clone(), &self.resource);
        let is_resumed = token.is_some();
        Pages { api, definition: self.definition.name(), token, is_resumed, is_complete: false, expired: 0 }
    }

    async fn write_page(
        &self,
        page: Vec<ObjectMeta>,
        selection: Selection,
        counts: Counts,
    ) -> Result<Counts, CrdError> {
        let writes = page.into_iter().map(|metadata| self.write(metadata, selection));
        let add = |counts: Counts, is_cleaned: bool| async move {
            let Counts { objects, cleaned } = counts;
            Ok(Counts { objects: objects + 1, cleaned: cleaned + usize::from(is_cleaned) })
        };
        stream::iter(writes).buffer_unordered(CONCURRENT_WRITES).try_fold(counts, add).await
    }

    /// Writes one object, and returns whether its managed fields were outdated. One that was deleted needs no
    /// migration.
    async fn write(&self, mut metadata: ObjectMeta, selection: Selection) -> Result<bool, CrdError> {
        let name = metadata.name.clone().unwrap_or_default();
        let (api, full_name) = self.object(&name, metadata.namespace.as_deref());
        for _ in 0..MAX_ATTEMPTS {
            let entries = self.ownership.update(metadata.managed_fields.as_deref().unwrap_or_default());
            let is_outdated = entries.is_some();
            if selection == Selection::Outdated && !is_outdated {
                return Ok(false);
            }
            let mut written = json!({"uid": metadata.uid, "resourceVersion": metadata.resource_version});
            if let Some(entries) = entries {
                written["managedFields"] = json!(entries);
            }
            let patch = Patch::Merge(json!({"metadata": written}));
            match api.patch_metadata(&name, &PatchParams::default(), &patch).await {
                Ok(_) => return Ok(is_outdated),
                Err(Error::Api(status)) if status.is_not_found() => return Ok(false),
                Err(Error::Api(status)) if status.is_conflict() => {}
                Err(error) => return Err(CrdError::request("migrate", &full_name)(error)),
            }
            match api.get_metadata_opt(&name).await.map_err(CrdError::request("read", &full_name))? {
                Some(current) => metadata = current.metadata,
                None => return Ok(false),
            }
        }
        Err(CrdError::Conflicts { name: full_name, attempts: MAX_ATTEMPTS })
    }

    /// Returns the client of an object, and its name in messages.
    fn object(&self, name: &str, namespace: Option<&str>) -> (Api<DynamicObject>, String) {
        let client = self.client.clone();
        match namespace {
            Some(namespace) if self.definition.is_namespaced() => {
                (Api::namespaced_with(client, namespace, &self.resource), format!("{namespace}/{name}"))
            }
            _ => (Api::all_with(client, &self.resource), name.to_owned()),
        }
    }
}

/// The pages of a list.
struct Pages<'a> {
    api: Api<DynamicObject>,
    definition: &'a str,
    /// The token of the next page.
    token: Option<String>,
    /// Whether the token is that of another process.
    is_resumed: bool,
    is_complete: bool,
    /// The number of tokens that were not accepted.
    expired: usize,
}

impl Pages<'_> {
    /// Returns the next page; `None` after the last one.
    async fn next(&mut self) -> Result<Option<Vec<ObjectMeta>>, CrdError> {
        while !self.is_complete {
            let params =
                ListParams { limit: Some(PAGE_SIZE), continue_token: self.token.clone(), ..ListParams::default() };
            match self.api.list_metadata(&params).await {
                Ok(page) => {
                    self.token = page.metadata.continue_.filter(|token| !token.is_empty());
                    self.is_complete = self.token.is_none();
                    self.is_resumed = false;
                    return Ok(Some(page.items.into_iter().map(|object| object.metadata).collect()));
                }
                Err(error) => self.recover(error)?,
            }
        }
        Ok(None)
    }

    /// Continues after a token that has expired, or starts again if that of another process is invalid.
    fn recover(&mut self, error: Error) -> Result<(), CrdError> {
        let next = continuation(&error);
        let starts_again = self.is_resumed && matches!(&error, Error::Api(status) if [400, 410].contains(&status.code));
        if self.expired >= MAX_EXPIRED_TOKENS || (next.is_none() && !starts_again) {
            return Err(CrdError::request("list the objects of", self.definition)(error));
        }
        self.expired += 1;
        self.is_resumed = false;
        self.token = next;
        Ok(())
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
