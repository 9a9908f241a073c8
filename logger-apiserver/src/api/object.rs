//! An object as the server holds it: typed metadata beside a free body

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{
    Map, Value,
    value::{RawValue, to_raw_value},
};

use crate::api::kind::Kind;

const WRITABLE: &str = "metadata and JSON values have string keys";

/// A version of `meta.k8s.io`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum MetaVersion {
    V1,
    V1Beta1,
}

impl MetaVersion {
    pub(crate) fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

/// An object of any kind. `apiVersion` and `kind` belong to the endpoint, not to the object: they are added when it is sent.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Object {
    pub(crate) metadata: ObjectMeta,
    /// Every root field but `apiVersion`, `kind` and `metadata`.
    pub(crate) body: Map<String, Value>,
    pub(crate) written: Written,
    text: Text,
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

/// The JSON of an object's fields, made when it is first sent and shared by all that are sent it: a change goes to every watch. It is
/// no part of the state, and a copy, which is made to be changed, begins without it.
#[derive(Debug, Default)]
struct Text(OnceLock<Fields>);

#[derive(Debug)]
struct Fields {
    metadata: Box<RawValue>,
    body: Vec<(String, Box<RawValue>)>,
}

impl Clone for Text {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Text {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Stored objects never change: a write puts another one in their place.
pub(crate) type Stored = Arc<Object>;

impl Object {
    /// An object with this metadata, and with this beside it.
    pub(crate) fn new(metadata: ObjectMeta, body: Map<String, Value>) -> Self {
        Self { metadata, body, written: Written::default(), text: Text::default() }
    }

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
        Ok(Self::new(metadata, fields))
    }

    /// The JSON form under the given names.
    pub(crate) fn to_json(&self, api_version: &str, kind: &str) -> Value {
        json(&self.metadata, &self.body, api_version, kind)
    }

    /// The form that is sent of a stored object: with its type, or without as items of built-in lists are.
    pub(crate) fn named<'a>(&'a self, names: Option<(&'a str, &'a str)>) -> Named<'a> {
        let Fields { metadata, body } = self.text.0.get_or_init(|| self.fields());
        Named {
            api_version: names.map(|(api_version, _)| api_version.into()),
            kind: names.map(|(_, kind)| kind),
            metadata: Metadata::Written(metadata),
            body,
        }
    }

    fn fields(&self) -> Fields {
        let fields = self.body.iter();
        Fields {
            metadata: to_raw_value(&self.metadata).expect(WRITABLE),
            body: fields.map(|(name, value)| (name.clone(), to_raw_value(value).expect(WRITABLE))).collect(),
        }
    }

    /// The form that is kept: with the name of the version it is in, if its kind has versions.
    #[cfg(feature = "serve")]
    pub(crate) fn kept(&self) -> Named<'_> {
        Named { api_version: self.written.version.as_deref().map(Cow::Borrowed), ..self.named(None) }
    }

    /// Reads an object from the form that is kept.
    #[cfg(feature = "serve")]
    pub(crate) fn from_kept(fields: Map<String, Value>) -> serde_json::Result<Self> {
        let version = fields.get("apiVersion").and_then(Value::as_str).map(Arc::from);
        Ok(Self { written: Written { version, whole_by: None }, ..Self::from_json(fields)? })
    }

    /// The form that tells the metadata and nothing else.
    pub(crate) fn metadata_alone(&self, version: MetaVersion) -> Named<'_> {
        Named {
            api_version: Some(version.api_version().into()),
            kind: Some("PartialObjectMetadata"),
            metadata: Metadata::Read(&self.metadata),
            body: &[],
        }
    }

    /// The form that is sent of an object of this kind.
    pub(crate) fn named_as<'a>(&'a self, kind: &'a Kind) -> Named<'a> {
        Named { api_version: Some(kind.api_version().into()), kind: Some(&kind.kind), ..self.named(None) }
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

/// The JSON form of an object's parts.
pub(crate) fn json(metadata: &ObjectMeta, body: &Map<String, Value>, api_version: &str, kind: &str) -> Value {
    let mut fields = body.clone();
    fields.insert("apiVersion".to_owned(), api_version.into());
    fields.insert("kind".to_owned(), kind.into());
    fields.insert("metadata".to_owned(), serde_json::to_value(metadata).expect(WRITABLE));
    Value::Object(fields)
}

/// An [`Object`] on its way out.
pub(crate) struct Named<'a> {
    api_version: Option<Cow<'a, str>>,
    kind: Option<&'a str>,
    metadata: Metadata<'a>,
    body: &'a [(String, Box<RawValue>)],
}

#[derive(Serialize)]
#[serde(untagged)]
enum Metadata<'a> {
    Written(&'a RawValue),
    Read(&'a ObjectMeta),
}

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        if let Some(api_version) = &self.api_version {
            fields.serialize_entry("apiVersion", api_version)?;
        }
        if let Some(kind) = self.kind {
            fields.serialize_entry("kind", kind)?;
        }
        fields.serialize_entry("metadata", &self.metadata)?;
        for (name, value) in self.body {
            fields.serialize_entry(name, value)?;
        }
        fields.end()
    }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_copy_that_is_changed_is_sent_as_changed() {
        let fields = json!({ "metadata": { "name": "a" }, "data": { "k": "v" } });
        let object = Object::from_json(fields.as_object().unwrap().clone()).unwrap();
        let sent = |object: &Object| serde_json::to_value(object.named(Some(("v1", "ConfigMap")))).unwrap();
        assert_eq!(sent(&object), object.to_json("v1", "ConfigMap"));
        let mut copy = object.clone();
        copy.body.insert("data".to_owned(), json!({}));
        assert_eq!(
            sent(&copy),
            json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" }, "data": {} })
        );
        assert!(object != copy && object == object.clone());
    }
}
