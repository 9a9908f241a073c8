//! Actions: recorded requests with their bodies.

use std::{ops::Deref, sync::Arc};

use bytes::Bytes;
use http::{HeaderValue, header::CONTENT_TYPE, request::Parts};
use kube::Resource;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, error::Error};
use tokio::time::Instant;

use crate::{
    testing::requests::Requests,
    wire::request_info::{RequestInfo, Verb},
};

/// A recorded request and its body.
#[derive(Debug, Clone)]
pub struct Action {
    /// The attributes of the request: verb, resource, subresource, namespace, name and options.
    pub info: RequestInfo,
    /// The time at which it was sent, from tokio's clock.
    pub at: Instant,
    /// The media type of the body; empty if there is none.
    pub content_type: String,
    /// The body.
    pub body: Bytes,
}

/// The format of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchType {
    /// A JSON patch: a list of operations (RFC 6902).
    Json,
    /// A JSON merge patch (RFC 7386).
    Merge,
    /// A strategic merge patch, which merges lists by the merge keys of the kind.
    StrategicMerge,
    /// A server-side apply.
    Apply,
}

impl PatchType {
    /// Returns the patch type for a media type without parameters.
    fn from_media_type(media_type: &str) -> Option<Self> {
        match media_type {
            "application/json-patch+json" => Some(Self::Json),
            "application/merge-patch+json" => Some(Self::Merge),
            "application/strategic-merge-patch+json" => Some(Self::StrategicMerge),
            "application/apply-patch+yaml" => Some(Self::Apply),
            _ => None,
        }
    }
}

impl Action {
    pub(crate) fn new(parts: &Parts, body: Bytes) -> Self {
        let content_type = parts.headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
        Self {
            info: RequestInfo::new(&parts.method, &parts.uri),
            at: Instant::now(),
            content_type: String::from_utf8_lossy(content_type).into_owned(),
            body,
        }
    }

    /// Returns the verb of the request.
    #[must_use]
    pub fn verb(&self) -> Verb {
        self.info.verb
    }

    /// Returns the plural resource name; empty for non-resource paths.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.info.resource
    }

    /// Returns the name in the path, or else the name in the metadata of the object; empty if both are missing.
    #[must_use]
    pub fn name(&self) -> String {
        if !self.info.name.is_empty() {
            return self.info.name.clone();
        }
        self.object::<PartialObject>().ok().and_then(|object| object.metadata.name).unwrap_or_default()
    }

    /// Decodes the body: the object of a create, an update or an apply, or the options of a delete.
    ///
    /// # Errors
    /// The body is not an object of this type.
    pub fn object<K: DeserializeOwned>(&self) -> Result<K, Error> {
        match serde_json::from_slice(&self.body) {
            // The body of an apply can be YAML.
            Err(error) if self.patch_type() == Some(PatchType::Apply) => {
                let text = str::from_utf8(&self.body).map_err(|_| error)?;
                let value: Value = serde_saphyr::from_str(text).map_err(serde::de::Error::custom)?;
                serde_json::from_value(value)
            }
            decoded => decoded,
        }
    }

    /// Decodes the body, for example of a patch, as JSON.
    ///
    /// # Errors
    /// The body is not JSON.
    pub fn json(&self) -> Result<Value, Error> {
        self.object()
    }

    /// Returns the patch type, if this is a patch of a known type.
    #[must_use]
    pub fn patch_type(&self) -> Option<PatchType> {
        let media_type = self.content_type.split(';').next().unwrap_or_default().trim();
        PatchType::from_media_type(media_type).filter(|_| self.verb() == Verb::Patch)
    }
}

/// The name of an object of any kind.
#[derive(Deserialize)]
struct PartialObject {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    name: Option<String>,
}

/// Actions in the order they were sent. It dereferences to a slice.
///
/// The typed accessors return writes of the resource with the group and plural of the kind, not of its subresources;
/// use [`matching`](Self::matching) for those.
#[derive(Debug, Clone, Default)]
pub struct Actions(Vec<Arc<Action>>);

impl Actions {
    pub(crate) fn new(actions: impl Iterator<Item = Arc<Action>>) -> Self {
        Self(actions.collect())
    }

    /// Returns the actions that match the requests.
    #[must_use]
    pub fn matching(&self, requests: impl Into<Requests>) -> Self {
        let requests = requests.into();
        Self(self.0.iter().filter(|action| requests.contain(&action.info)).cloned().collect())
    }

    /// Returns the writes: all actions other than gets, lists and watches.
    #[must_use]
    pub fn writes(&self) -> Self {
        let is_write = |action: &&Arc<Action>| !matches!(action.verb(), Verb::Get | Verb::List | Verb::Watch);
        Self(self.0.iter().filter(is_write).cloned().collect())
    }

    /// Returns the objects of the creates.
    ///
    /// # Errors
    /// A body is not an object of this type.
    pub fn creates<K>(&self) -> Result<Vec<K>, Error>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        self.objects(Verb::Create)
    }

    /// Returns the objects of the updates.
    ///
    /// # Errors
    /// A body is not an object of this type.
    pub fn updates<K>(&self) -> Result<Vec<K>, Error>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        self.objects(Verb::Update)
    }

    /// Returns the patches of objects of a kind.
    #[must_use]
    pub fn patches<K: Resource<DynamicType = ()>>(&self) -> Self {
        self.matching(requests::<K>(Verb::Patch))
    }

    /// Returns the names of the objects in deletes of one object.
    #[must_use]
    pub fn deletes<K: Resource<DynamicType = ()>>(&self) -> Vec<String> {
        self.matching(requests::<K>(Verb::Delete)).iter().map(|action| action.info.name.clone()).collect()
    }

    fn objects<K>(&self, verb: Verb) -> Result<Vec<K>, Error>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        self.matching(requests::<K>(verb)).iter().map(|action| action.object()).collect()
    }
}

impl Deref for Actions {
    type Target = [Arc<Action>];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

fn requests<K: Resource<DynamicType = ()>>(verb: Verb) -> Requests {
    Requests::to(K::plural(&())).group(K::group(&())).subresource("").verb(verb)
}
