//! An object as the server holds it: typed metadata beside a free body

use std::{
    borrow::Cow,
    sync::{Arc, LazyLock},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{accept::MetaVersion, kinds::Kind};

/// An object of any kind. `apiVersion` and `kind` belong to the endpoint, not to the object: they are added when it is sent.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Object {
    pub(crate) metadata: ObjectMeta,
    /// Every root field but `apiVersion`, `kind` and `metadata`.
    pub(crate) body: Map<String, Value>,
    pub(crate) written: Written,
}

/// As what an object was written, if its kind has versions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Written {
    /// The name of the version, without its group.
    pub(crate) version: Option<Arc<str>>,
    /// The schemas that would change nothing of it, by their serial.
    pub(crate) whole_by: Option<u64>,
}

impl PartialEq for Written {
    /// What schemas say of it does not make it another.
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version
    }
}

/// Stored objects never change: a write puts another one in their place.
pub(crate) type Stored = Arc<Object>;

impl Object {
    /// Reads an object from its JSON form; unknown metadata fields are dropped.
    ///
    /// # Errors
    /// A metadata field of the wrong type.
    pub(crate) fn from_json(mut fields: Map<String, Value>) -> serde_json::Result<Self> {
        fields.remove("apiVersion");
        fields.remove("kind");
        let mut metadata = match fields.remove("metadata") {
            None | Some(Value::Null) => ObjectMeta::default(),
            Some(mut metadata) => {
                words_of_nulls(&mut metadata);
                serde_json::from_value(metadata)?
            }
        };
        tidy(&mut metadata);
        Ok(Self { metadata, body: fields, written: Written::default() })
    }

    /// The JSON form under the given names.
    pub(crate) fn to_json(&self, api_version: &str, kind: &str) -> Value {
        serde_json::to_value(self.named(Some((api_version, kind)))).expect("metadata and JSON values have string keys")
    }

    /// The form that is sent: with its type, or without as items of built-in lists are.
    pub(crate) fn named<'a>(&'a self, names: Option<(&'a str, &'a str)>) -> Named<'a> {
        Named {
            api_version: names.map(|(api_version, _)| api_version.into()),
            kind: names.map(|(_, kind)| kind),
            metadata: &self.metadata,
            body: &self.body,
        }
    }

    /// The form that is kept: with the name of the version it is in, if its kind has versions.
    #[cfg(feature = "serve")]
    pub(crate) fn kept(&self) -> Named<'_> {
        let api_version = self.written.version.as_deref().map(Cow::Borrowed);
        Named { api_version, kind: None, metadata: &self.metadata, body: &self.body }
    }

    /// Reads an object from the form that is kept.
    #[cfg(feature = "serve")]
    pub(crate) fn from_kept(fields: Map<String, Value>) -> serde_json::Result<Self> {
        let version = fields.get("apiVersion").and_then(Value::as_str).map(Arc::from);
        Ok(Self { written: Written { version, whole_by: None }, ..Self::from_json(fields)? })
    }

    /// The form that tells the metadata and nothing else.
    pub(crate) fn metadata_alone(&self, version: MetaVersion) -> Named<'_> {
        static NOTHING: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
        Named {
            api_version: Some(version.api_version().into()),
            kind: Some("PartialObjectMetadata"),
            metadata: &self.metadata,
            body: &NOTHING,
        }
    }

    /// The form that is sent of an object of this kind.
    pub(crate) fn named_as<'a>(&'a self, kind: &'a Kind) -> Named<'a> {
        Named {
            api_version: Some(kind.api_version().into()),
            kind: Some(&kind.kind),
            metadata: &self.metadata,
            body: &self.body,
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    pub(crate) fn namespace(&self) -> &str {
        self.metadata.namespace.as_deref().unwrap_or_default()
    }

    pub(crate) fn uid(&self) -> &str {
        self.metadata.uid.as_deref().unwrap_or_default()
    }

    pub(crate) fn resource_version(&self) -> &str {
        self.metadata.resource_version.as_deref().unwrap_or_default()
    }

    pub(crate) fn finalizers(&self) -> &[String] {
        self.metadata.finalizers.as_deref().unwrap_or_default()
    }

    pub(crate) fn is_terminating(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    /// Whether it was deleted and nothing holds it any more, no finalizer and no grace period.
    pub(crate) fn has_ended(&self) -> bool {
        let grace = self.metadata.deletion_grace_period_seconds.unwrap_or(0);
        self.is_terminating() && self.finalizers().is_empty() && grace == 0
    }

    /// The same state under another version.
    pub(crate) fn at(&self, version: u64) -> Self {
        let mut object = self.clone();
        object.metadata.resource_version = Some(version.to_string());
        object
    }

    /// Whether anything but metadata and `status` differs (and `status` too if it counts as content).
    pub(crate) fn content_differs(&self, other: &Self, status_counts: bool) -> bool {
        self.content(status_counts).ne(other.content(status_counts))
    }

    fn content(&self, status_counts: bool) -> impl Iterator<Item = (&String, &Value)> {
        self.body.iter().filter(move |(name, _)| status_counts || *name != "status")
    }

    /// The value at a path of the body.
    pub(crate) fn field(&self, path: &str) -> Option<&Value> {
        let mut names = path.split('.');
        let root = names.next().and_then(|name| self.body.get(name));
        names.fold(root, |value, name| value?.get(name))
    }

    /// Puts `other`'s value of a root field, or its absence, in place of this one's.
    pub(crate) fn copy_field(&mut self, other: &Self, name: &str) {
        match other.body.get(name) {
            Some(value) => self.body.insert(name.to_owned(), value.clone()),
            None => self.body.remove(name),
        };
    }
}

/// An [`Object`] on its way out.
#[derive(Serialize)]
pub(crate) struct Named<'a> {
    #[serde(rename = "apiVersion", skip_serializing_if = "Option::is_none")]
    api_version: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    metadata: &'a ObjectMeta,
    #[serde(flatten)]
    body: &'a Map<String, Value>,
}

/// The present, in the whole seconds that timestamps on the wire have.
pub(crate) fn now() -> Time {
    let now = jiff::Timestamp::now();
    Time(jiff::Timestamp::from_second(now.as_second()).unwrap_or(now))
}

/// Go reads a null as an empty word where only words can be.
fn words_of_nulls(metadata: &mut Value) {
    for name in ["labels", "annotations"] {
        let words = metadata.get_mut(name).and_then(Value::as_object_mut);
        let nulls = words.into_iter().flat_map(Map::values_mut).filter(|value| value.is_null());
        nulls.for_each(|value| *value = Value::from(""));
    }
}

/// What is empty is absent, as in Go; what this server does not keep is dropped.
fn tidy(metadata: &mut ObjectMeta) {
    metadata.self_link = None;
    drop_empty(&mut metadata.labels, |labels| labels.is_empty());
    drop_empty(&mut metadata.annotations, |annotations| annotations.is_empty());
    drop_empty(&mut metadata.finalizers, Vec::is_empty);
    drop_empty(&mut metadata.owner_references, Vec::is_empty);
    let texts = [
        &mut metadata.name,
        &mut metadata.generate_name,
        &mut metadata.namespace,
        &mut metadata.uid,
        &mut metadata.resource_version,
    ];
    for text in texts {
        drop_empty(text, String::is_empty);
    }
}

fn drop_empty<T>(field: &mut Option<T>, is_empty: impl FnOnce(&T) -> bool) {
    if field.as_ref().is_some_and(is_empty) {
        *field = None;
    }
}
