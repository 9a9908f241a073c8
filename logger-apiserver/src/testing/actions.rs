//! Actions: the requests that were sent, with what they brought.

use std::{ops::Deref, sync::Arc};

use bytes::Bytes;
use http::{HeaderValue, header::CONTENT_TYPE, request::Parts};
use kube::Resource;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, error::Error};
use tokio::time::Instant;

use crate::testing::{
    request_info::{RequestInfo, Verb},
    requests::Requests,
};

/// A request and its body, as they were sent.
#[derive(Debug, Clone)]
pub struct Action {
    /// What it asks for: verb, resource, subresource, namespace, name and options.
    pub info: RequestInfo,
    /// When it was sent, by tokio's clock.
    pub at: Instant,
    /// The type of the body, empty where there is none.
    pub content_type: String,
    /// The body.
    pub body: Bytes,
}

/// How a patch is to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchType {
    /// A list of operations (RFC 6902).
    Json,
    /// A document to merge (RFC 7386).
    Merge,
    /// A document to merge by the kind's merge keys.
    StrategicMerge,
    /// A server-side apply.
    Apply,
}

impl PatchType {
    /// By the media type of the body, without parameters.
    fn of(content_type: &str) -> Option<Self> {
        match content_type {
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

    /// What is to be done.
    #[must_use]
    pub fn verb(&self) -> Verb {
        self.info.verb
    }

    /// The plural, empty where the path is of no resource.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.info.resource
    }

    /// The name in the path, or else that in the metadata of the object; empty where neither has one.
    #[must_use]
    pub fn name(&self) -> String {
        if !self.info.name.is_empty() {
            return self.info.name.clone();
        }
        self.object::<Named>().ok().and_then(|named| named.metadata.name).unwrap_or_default()
    }

    /// The body as an object: of a create, an update, an apply, or the options of a delete.
    ///
    /// # Errors
    /// The body is no such object.
    pub fn object<K: DeserializeOwned>(&self) -> Result<K, Error> {
        match serde_json::from_slice(&self.body) {
            // An apply may be YAML.
            Err(error) if self.patch_type() == Some(PatchType::Apply) => {
                let text = str::from_utf8(&self.body).map_err(|_| error)?;
                let value: Value = serde_saphyr::from_str(text).map_err(serde::de::Error::custom)?;
                serde_json::from_value(value)
            }
            read => read,
        }
    }

    /// The body as JSON: of a patch, say.
    ///
    /// # Errors
    /// The body is none.
    pub fn json(&self) -> Result<Value, Error> {
        self.object()
    }

    /// How the body is to be understood, if this is a patch of a known type.
    #[must_use]
    pub fn patch_type(&self) -> Option<PatchType> {
        let content_type = self.content_type.split(';').next().unwrap_or_default().trim();
        PatchType::of(content_type).filter(|_| self.verb() == Verb::Patch)
    }
}

/// Of an object its name.
#[derive(Deserialize)]
struct Named {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    name: Option<String>,
}

/// Actions in the order they were sent. It is a slice of them.
///
/// The typed accessors look at the kind's group and plural, and at writes of the resource itself, not of its subresources;
/// for those there is [`of`](Self::of).
#[derive(Debug, Clone, Default)]
pub struct Actions(Vec<Arc<Action>>);

impl Actions {
    pub(crate) fn new(actions: impl Iterator<Item = Arc<Action>>) -> Self {
        Self(actions.collect())
    }

    /// Of these actions, those with such a request.
    #[must_use]
    pub fn of(&self, requests: impl Into<Requests>) -> Self {
        let requests = requests.into();
        Self(self.0.iter().filter(|action| requests.contain(&action.info)).cloned().collect())
    }

    /// The writes: all but gets, lists and watches.
    #[must_use]
    pub fn writes(&self) -> Self {
        let is_write = |action: &&Arc<Action>| !matches!(action.verb(), Verb::Get | Verb::List | Verb::Watch);
        Self(self.0.iter().filter(is_write).cloned().collect())
    }

    /// The objects that were to be created.
    ///
    /// # Errors
    /// A body is no such object.
    pub fn creates<K>(&self) -> Result<Vec<K>, Error>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        self.objects(Verb::Create)
    }

    /// The objects that were to be put in place of what was there.
    ///
    /// # Errors
    /// A body is no such object.
    pub fn updates<K>(&self) -> Result<Vec<K>, Error>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        self.objects(Verb::Update)
    }

    /// The patches of objects of a kind.
    #[must_use]
    pub fn patches<K: Resource<DynamicType = ()>>(&self) -> Self {
        self.of(requests::<K>(Verb::Patch))
    }

    /// The names of the objects that were to be deleted, each by itself.
    #[must_use]
    pub fn deletes<K: Resource<DynamicType = ()>>(&self) -> Vec<String> {
        self.of(requests::<K>(Verb::Delete)).iter().map(|action| action.info.name.clone()).collect()
    }

    fn objects<K>(&self, verb: Verb) -> Result<Vec<K>, Error>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        self.of(requests::<K>(verb)).iter().map(|action| action.object()).collect()
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
