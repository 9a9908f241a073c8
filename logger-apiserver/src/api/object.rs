//! Objects of the server: typed metadata and an untyped body.

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

/// An object of any kind. `apiVersion` and `kind` belong to the endpoint and not to the object: they are added when it
/// is encoded.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Object {
    pub(crate) metadata: ObjectMeta,
    /// All root fields except `apiVersion`, `kind` and `metadata`.
    pub(crate) body: Map<String, Value>,
    pub(crate) written: Written,
    text: Text,
}

/// The version in which an object was written, for kinds with versions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Written {
    /// The name of the version, without its group.
    pub(crate) version: Option<Arc<str>>,
    /// The serial number of the schemas that already pruned and defaulted the object.
    pub(crate) whole_by: Option<u64>,
}

impl PartialEq for Written {
    /// The schemas that processed an object are not part of its state.
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version
    }
}

/// The JSON of the fields of an object, encoded once and shared by all responses and watches. It is not part of the
/// state; a copy starts without it, since copies are made to be modified.
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

/// A stored object. It is immutable: a write replaces it.
pub(crate) type Stored = Arc<Object>;

impl Object {
    /// Creates an object from its metadata and its body.
    pub(crate) fn new(metadata: ObjectMeta, body: Map<String, Value>) -> Self {
        Self { metadata, body, written: Written::default(), text: Text::default() }
    }

    /// Decodes an object from JSON. Unknown metadata fields are dropped.
    ///
    /// # Errors
    /// A metadata field has the wrong type.
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

    /// Returns the object as JSON, with this type.
    pub(crate) fn to_json(&self, api_version: &str, kind: &str) -> Value {
        json(&self.metadata, &self.body, api_version, kind)
    }

    /// Returns the encodable representation of a stored object: with its type, or without it, as for items of lists of
    /// built-in kinds.
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

    /// Returns the persisted representation: with the name of its version, for kinds with versions.
    #[cfg(feature = "serve")]
    pub(crate) fn kept(&self) -> Named<'_> {
        Named { api_version: self.written.version.as_deref().map(Cow::Borrowed), ..self.named(None) }
    }

    /// Decodes an object from the persisted representation.
    #[cfg(feature = "serve")]
    pub(crate) fn from_kept(fields: Map<String, Value>) -> serde_json::Result<Self> {
        let version = fields.get("apiVersion").and_then(Value::as_str).map(Arc::from);
        Ok(Self { written: Written { version, whole_by: None }, ..Self::from_json(fields)? })
    }

    /// Returns the representation with metadata only.
    pub(crate) fn metadata_alone(&self, version: MetaVersion) -> Named<'_> {
        Named {
            api_version: Some(version.api_version().into()),
            kind: Some("PartialObjectMetadata"),
            metadata: Metadata::Read(&self.metadata),
            body: &[],
        }
    }

    /// Returns the representation of an object of this kind.
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

    /// Returns whether the object is deleted and neither finalizers nor a grace period remain.
    pub(crate) fn has_ended(&self) -> bool {
        let grace = self.metadata.deletion_grace_period_seconds.unwrap_or(0);
        self.is_terminating() && self.finalizers().is_empty() && grace == 0
    }

    /// Returns the object with another resource version.
    pub(crate) fn at(&self, version: u64) -> Self {
        let mut object = self.clone();
        object.metadata.resource_version = Some(version.to_string());
        object
    }

    /// Returns whether anything but metadata and `status` differs; `status` is compared as well if `status_counts`.
    pub(crate) fn content_differs(&self, other: &Self, status_counts: bool) -> bool {
        self.content(status_counts).ne(other.content(status_counts))
    }

    fn content(&self, status_counts: bool) -> impl Iterator<Item = (&String, &Value)> {
        self.body.iter().filter(move |(name, _)| status_counts || *name != "status")
    }

    /// Returns the value at a path of the body.
    pub(crate) fn field(&self, path: &str) -> Option<&Value> {
        let mut names = path.split('.');
        let root = names.next().and_then(|name| self.body.get(name));
        names.fold(root, |value, name| value?.get(name))
    }

    /// Copies a root field of another object; removes it if the other does not have it.
    pub(crate) fn copy_field(&mut self, other: &Self, name: &str) {
        match other.body.get(name) {
            Some(value) => self.body.insert(name.to_owned(), value.clone()),
            None => self.body.remove(name),
        };
    }
}

/// Returns the JSON of the parts of an object.
pub(crate) fn json(metadata: &ObjectMeta, body: &Map<String, Value>, api_version: &str, kind: &str) -> Value {
    let mut fields = body.clone();
    fields.insert("apiVersion".to_owned(), api_version.into());
    fields.insert("kind".to_owned(), kind.into());
    fields.insert("metadata".to_owned(), serde_json::to_value(metadata).expect(WRITABLE));
    Value::Object(fields)
}

/// The encodable representation of an [`Object`].
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

/// Returns the current time in seconds, the precision of timestamps in JSON.
pub(crate) fn now() -> Time {
    let now = jiff::Timestamp::now();
    Time(jiff::Timestamp::from_second(now.as_second()).unwrap_or(now))
}

/// Replaces null values of labels and annotations by empty strings, as Go decodes them.
fn words_of_nulls(metadata: &mut Value) {
    for name in ["labels", "annotations"] {
        let words = metadata.get_mut(name).and_then(Value::as_object_mut);
        let nulls = words.into_iter().flat_map(Map::values_mut).filter(|value| value.is_null());
        nulls.for_each(|value| *value = Value::from(""));
    }
}

/// Removes empty fields, as Go does, and fields that this server does not store.
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
