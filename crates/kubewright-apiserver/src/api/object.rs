//! Objects of the server: typed metadata and an untyped body.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use serde::{Serialize, Serializer};
use serde_json::{
    Map, Value,
    value::{RawValue, to_raw_value},
};

use crate::api::{kind::Kind, memory};

const STRING_KEYS: &str = "metadata and JSON values have string keys";
const PARTIAL_OBJECT_METADATA: &str = "PartialObjectMetadata";

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
    encoded: EncodedFields,
}

/// The version in which an object was written, for kinds with versions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Written {
    /// The name of the version, without its group.
    pub(crate) version: Option<Arc<str>>,
    /// The serial number of the schemas that already pruned and defaulted the object.
    pub(crate) completed_by: Option<u64>,
}

impl PartialEq for Written {
    /// The schemas that processed an object are not part of its state.
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version
    }
}

/// The JSON of the fields of an object, encoded once and shared by all responses and watches. It is not part of the
/// state. A clone starts without it, since objects are cloned to be modified.
#[derive(Debug, Default)]
struct EncodedFields(OnceLock<Fields>);

#[derive(Debug, Clone)]
struct Fields {
    metadata: Box<RawValue>,
    body: Vec<(String, Box<RawValue>)>,
}

impl Clone for EncodedFields {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for EncodedFields {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A stored object. It is immutable: a write replaces it.
pub(crate) type Stored = Arc<Object>;

impl Object {
    /// Creates an object from its metadata and its body.
    pub(crate) fn new(metadata: ObjectMeta, body: Map<String, Value>) -> Self {
        let mut object = Self::default();
        (object.metadata, object.body) = (metadata, body);
        object
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
                nulls_to_empty_strings(&mut metadata);
                serde_json::from_value(metadata)?
            }
        };
        drop_unstored_fields(&mut metadata);
        Ok(Self::new(metadata, fields))
    }

    /// Returns the object as JSON, with this type.
    pub(crate) fn to_json(&self, api_version: &str, kind: &str) -> Value {
        json(&self.metadata, self.body.clone(), api_version, kind)
    }

    /// Returns the encodable representation of a stored object: with its type, or without it, as for items of lists of
    /// built-in kinds. Its fields are encoded once.
    pub(crate) fn encodable<'a>(&'a self, type_meta: Option<(&'a str, &'a str)>) -> Encodable<'a> {
        Encodable {
            api_version: type_meta.map(|(api_version, _)| api_version.into()),
            kind: type_meta.map(|(_, kind)| kind),
            fields: Cow::Borrowed(self.encoded_fields()),
        }
    }

    fn encoded_fields(&self) -> &Fields {
        self.encoded.0.get_or_init(|| {
            let field = |(name, value): (&String, &Value)| (name.clone(), to_raw_value(value).expect(STRING_KEYS));
            Fields { metadata: encoded_metadata(&self.metadata), body: self.body.iter().map(field).collect() }
        })
    }

    /// Returns an estimate of the memory of the object, with its JSON.
    pub(crate) fn memory(&self) -> usize {
        let Fields { metadata, body } = self.encoded_fields();
        let body: usize = body.iter().map(|(name, value)| name.len() + value.get().len()).sum();
        let encoded = metadata.get().len() + body;
        size_of::<Self>() + self.memory_of_values() + encoded
    }

    /// Returns an estimate of the memory of the metadata and the body, without their JSON.
    pub(crate) fn memory_of_values(&self) -> usize {
        memory::of_metadata(&self.metadata) + memory::of_fields(&self.body)
    }

    /// Returns the persisted representation: with the name of its version, for kinds with versions.
    #[cfg(feature = "data-dir")]
    pub(crate) fn persisted(&self) -> Encodable<'_> {
        let encodable = self.encodable(None);
        Encodable { api_version: self.written.version.as_deref().map(Cow::Borrowed), ..encodable }
    }

    /// Decodes an object from the persisted representation.
    #[cfg(feature = "data-dir")]
    pub(crate) fn from_persisted(fields: Map<String, Value>) -> serde_json::Result<Self> {
        let version = fields.get("apiVersion").and_then(Value::as_str).map(Arc::from);
        let mut object = Self::from_json(fields)?;
        object.written = Written { version, completed_by: None };
        Ok(object)
    }

    /// Returns the `PartialObjectMetadata` of the object.
    pub(crate) fn partial_object_metadata(&self, version: MetaVersion) -> Encodable<'_> {
        let fields = Fields { metadata: encoded_metadata(&self.metadata), body: Vec::new() };
        Encodable {
            api_version: Some(version.api_version().into()),
            kind: Some(PARTIAL_OBJECT_METADATA),
            fields: Cow::Owned(fields),
        }
    }

    /// Returns the representation of an object of this kind.
    pub(crate) fn encodable_as<'a>(&'a self, kind: &'a Kind) -> Encodable<'a> {
        let encodable = self.encodable(None);
        Encodable { api_version: Some(kind.api_version().into()), kind: Some(&kind.kind), ..encodable }
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

    /// Returns whether the object is terminating and neither finalizers nor a grace period remain.
    pub(crate) fn should_delete(&self) -> bool {
        let grace = self.metadata.deletion_grace_period_seconds.unwrap_or(0);
        self.is_terminating() && self.finalizers().is_empty() && grace == 0
    }

    /// Returns whether the other is the same object in the same version.
    pub(crate) fn is_same_version(&self, other: &Self) -> bool {
        self.resource_version() == other.resource_version() && self.uid() == other.uid()
    }

    /// Returns a copy of the object with another resource version.
    pub(crate) fn with_resource_version(&self, version: u64) -> Self {
        self.clone().into_resource_version(version)
    }

    /// Returns the object with another resource version.
    pub(crate) fn into_resource_version(mut self, version: u64) -> Self {
        self.metadata.resource_version = Some(version.to_string());
        // The JSON can be that of an earlier state.
        self.encoded = EncodedFields::default();
        self
    }

    /// Returns whether anything but metadata and `status` differs; `status` is compared as well if `include_status`.
    pub(crate) fn content_differs(&self, other: &Self, include_status: bool) -> bool {
        self.content(include_status).ne(other.content(include_status))
    }

    fn content(&self, include_status: bool) -> impl Iterator<Item = (&String, &Value)> {
        self.body.iter().filter(move |(name, _)| include_status || *name != "status")
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
pub(crate) fn json(metadata: &ObjectMeta, body: Map<String, Value>, api_version: &str, kind: &str) -> Value {
    let mut fields = body;
    fields.insert("apiVersion".to_owned(), api_version.into());
    fields.insert("kind".to_owned(), kind.into());
    fields.insert("metadata".to_owned(), serde_json::to_value(metadata).expect(STRING_KEYS));
    Value::Object(fields)
}

/// Returns the body of the JSON of an object: all root fields except `apiVersion`, `kind` and `metadata`.
pub(crate) fn body_of(object: Value) -> Map<String, Value> {
    let Value::Object(mut fields) = object else {
        return Map::new();
    };
    for name in ["apiVersion", "kind", "metadata"] {
        fields.remove(name);
    }
    fields
}

fn encoded_metadata(metadata: &ObjectMeta) -> Box<RawValue> {
    to_raw_value(metadata).expect(STRING_KEYS)
}

/// The encodable representation of an [`Object`].
pub(crate) struct Encodable<'a> {
    api_version: Option<Cow<'a, str>>,
    kind: Option<&'a str>,
    fields: Cow<'a, Fields>,
}

/// The value of a root field.
#[derive(Serialize)]
#[serde(untagged)]
enum Root<'a> {
    Text(&'a str),
    Json(&'a RawValue),
}

impl Serialize for Encodable<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Fields { metadata, body } = &*self.fields;
        let api_version = self.api_version.as_deref().map(|text| ("apiVersion", Root::Text(text)));
        let kind = self.kind.map(|text| ("kind", Root::Text(text)));
        let metadata = ("metadata", Root::Json(metadata));
        let body = body.iter().map(|(name, value)| (name.as_str(), Root::Json(value)));
        serializer.collect_map(api_version.into_iter().chain(kind).chain([metadata]).chain(body))
    }
}

/// Returns the current time in seconds, the precision of timestamps in JSON.
pub(crate) fn now() -> Time {
    let now = jiff::Timestamp::now();
    Time(jiff::Timestamp::from_second(now.as_second()).unwrap_or(now))
}

/// Replaces null values of labels and annotations by empty strings, as Go decodes them.
fn nulls_to_empty_strings(metadata: &mut Value) {
    for name in ["labels", "annotations"] {
        let values = metadata.get_mut(name).and_then(Value::as_object_mut);
        let nulls = values.into_iter().flat_map(Map::values_mut).filter(|value| value.is_null());
        nulls.for_each(|value| *value = Value::from(""));
    }
}

/// Removes empty fields, as Go does, and fields that this server does not store.
fn drop_unstored_fields(metadata: &mut ObjectMeta) {
    metadata.self_link = None;
    drop_empty(&mut metadata.labels, |labels| labels.is_empty());
    drop_empty(&mut metadata.annotations, |annotations| annotations.is_empty());
    drop_empty(&mut metadata.finalizers, Vec::is_empty);
    drop_empty(&mut metadata.owner_references, Vec::is_empty);
    let strings = [
        &mut metadata.name,
        &mut metadata.generate_name,
        &mut metadata.namespace,
        &mut metadata.uid,
        &mut metadata.resource_version,
    ];
    for string in strings {
        drop_empty(string, String::is_empty);
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
    fn modified_clones_are_encoded_with_their_changes() {
        let fields = json!({ "metadata": { "name": "a" }, "data": { "k": "v" } });
        let object = Object::from_json(fields.as_object().unwrap().clone()).unwrap();
        let encoded = |object: &Object| serde_json::to_value(object.encodable(Some(("v1", "ConfigMap")))).unwrap();
        assert_eq!(encoded(&object), object.to_json("v1", "ConfigMap"));
        let mut copy = object.clone();
        copy.body.insert("data".to_owned(), json!({}));
        assert_eq!(
            encoded(&copy),
            json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" }, "data": {} })
        );
        assert!(object != copy && object == object.clone());
        let mut moved = object;
        moved.body = std::mem::take(&mut copy.body);
        assert_eq!(
            encoded(&moved.into_resource_version(7))["metadata"],
            json!({ "name": "a", "resourceVersion": "7" })
        );
    }
}
