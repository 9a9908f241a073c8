//! Objects without a Rust type, which preserve all fields, and lists of several kinds.

use std::any::Any;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::Error as _,
    ser::{Error as _, SerializeMap, SerializeStruct},
};
use serde_json::{Map, Value};

use crate::{deep_copy::DeepCopy, group_version::GroupVersionKind, object::Object};

/// `apiVersion` and `kind` of an encoded object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TypeMeta {
    /// Group and version, such as `example.com/v1`; the version alone for the core group.
    pub api_version: String,
    /// The kind, such as `Widget`.
    pub kind: String,
}

impl TypeMeta {
    /// Returns both as an identifier.
    pub fn group_version_kind(&self) -> GroupVersionKind {
        GroupVersionKind::from_type_meta(&self.api_version, &self.kind)
    }
}

/// An object of any kind, as Go's `unstructured.Unstructured`.
///
/// Guarantees:
/// - It is encoded as it was decoded, with every unchanged field, including those that [`ObjectMeta`] does not have or
///   encodes differently.
/// - It is always encoded with exactly one `apiVersion` and `kind`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unstructured {
    /// `apiVersion` and `kind`.
    pub types: TypeMeta,
    /// The metadata; omitted from the encoding if nothing is set.
    pub metadata: ObjectMeta,
    /// All other fields.
    pub data: Map<String, Value>,
    /// The decoded metadata, if `ObjectMeta` does not represent all of it.
    decoded_metadata: Option<Map<String, Value>>,
}

impl Unstructured {
    /// Creates an empty object of this kind.
    pub fn new(gvk: &GroupVersionKind) -> Self {
        let types = TypeMeta { api_version: gvk.api_version(), kind: gvk.kind.to_string() };
        Unstructured { types, ..Unstructured::default() }
    }

    fn is_list(&self) -> bool {
        self.types.kind.ends_with("List") && self.data.get("items").is_some_and(Value::is_array)
    }

    /// Returns the fields of the metadata, the unchanged ones as they were decoded.
    fn metadata_fields(&self) -> Result<Map<String, Value>, serde_json::Error> {
        let mut fields = fields_of(&self.metadata)?;
        if let Some(decoded) = &self.decoded_metadata {
            let unchanged = fields_of(&ObjectMeta::deserialize(decoded)?)?;
            for (name, value) in decoded {
                if fields.get(name) == unchanged.get(name) {
                    fields.insert(name.clone(), value.clone());
                }
            }
        }
        Ok(fields)
    }
}

fn fields_of(metadata: &ObjectMeta) -> Result<Map<String, Value>, serde_json::Error> {
    serde_json::from_value(serde_json::to_value(metadata)?)
}

const TYPE_AND_METADATA: [&str; 3] = ["apiVersion", "kind", "metadata"];

impl Serialize for Unstructured {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let metadata = self.metadata_fields().map_err(S::Error::custom)?;
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("apiVersion", &self.types.api_version)?;
        object.serialize_entry("kind", &self.types.kind)?;
        if self.decoded_metadata.is_some() || !metadata.is_empty() {
            object.serialize_entry("metadata", &metadata)?;
        }
        for (name, field) in self.data.iter().filter(|(name, _)| !TYPE_AND_METADATA.contains(&name.as_str())) {
            object.serialize_entry(name, field)?;
        }
        object.end()
    }
}

impl<'de> Deserialize<'de> for Unstructured {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut data = Map::deserialize(deserializer)?;
        let types = Map::from_iter(TYPE_AND_METADATA[..2].iter().filter_map(|name| data.remove_entry(*name)));
        let types = TypeMeta::deserialize(Value::Object(types)).map_err(D::Error::custom)?;
        let Some(decoded) = data.remove("metadata") else {
            return Ok(Unstructured { types, data, ..Unstructured::default() });
        };
        let metadata = ObjectMeta::deserialize(&decoded).map_err(D::Error::custom)?;
        let decoded = Map::deserialize(decoded).map_err(D::Error::custom)?;
        let is_complete = !decoded.is_empty() && fields_of(&metadata).map_err(D::Error::custom)? == decoded;
        let decoded_metadata = (!is_complete).then_some(decoded);
        Ok(Unstructured { types, metadata, data, decoded_metadata })
    }
}

impl DeepCopy for Unstructured {
    fn deep_copy(&self) -> Self {
        self.clone()
    }
}

impl Object for Unstructured {
    fn group_version_kind(&self) -> GroupVersionKind {
        self.types.group_version_kind()
    }

    fn object_meta(&self) -> Option<&ObjectMeta> {
        (!self.is_list()).then_some(&self.metadata)
    }

    fn deep_copy_object(&self) -> Box<dyn Object> {
        Box::new(self.deep_copy())
    }

    fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// A `v1` `List` of objects of any kinds, as `kubectl get -o yaml` prints it.
#[derive(Debug, Default)]
pub struct MixedList {
    /// The metadata of the list.
    pub metadata: ListMeta,
    /// The items.
    pub items: Vec<Box<dyn Object>>,
}

impl MixedList {
    /// Its group, version and kind.
    pub const GVK: GroupVersionKind = GroupVersionKind {
        group: std::borrow::Cow::Borrowed(""),
        version: std::borrow::Cow::Borrowed("v1"),
        kind: std::borrow::Cow::Borrowed("List"),
    };
}

impl Serialize for MixedList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_struct("List", 4)?;
        list.serialize_field("apiVersion", "v1")?;
        list.serialize_field("kind", "List")?;
        list.serialize_field("metadata", &self.metadata)?;
        list.serialize_field("items", &self.items)?;
        list.end()
    }
}

impl DeepCopy for MixedList {
    fn deep_copy(&self) -> Self {
        MixedList { metadata: self.metadata.deep_copy(), items: self.items.deep_copy() }
    }
}

impl Object for MixedList {
    fn group_version_kind(&self) -> GroupVersionKind {
        MixedList::GVK
    }

    fn object_meta(&self) -> Option<&ObjectMeta> {
        None
    }

    fn deep_copy_object(&self) -> Box<dyn Object> {
        Box::new(self.deep_copy())
    }

    fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn decode(value: Value) -> Unstructured {
        serde_json::from_value(value).unwrap()
    }

    fn encode(object: &Unstructured) -> Value {
        serde_json::to_value(object).unwrap()
    }

    #[test]
    fn encoding_preserves_decoded_fields() {
        for value in [
            json!({"apiVersion": "v1", "kind": "Pod"}),
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {}}),
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"b": "c"}}, "spec": [null]}),
            json!({"apiVersion": "v1", "kind": "PodList", "metadata": {"continue": "x", "remainingItemCount": 3}}),
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"creationTimestamp": null, "selfLink": "/a", "new": {"a": [1.5]}}}),
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"managedFields": [{"manager": "a", "future": true}]}}),
        ] {
            assert_eq!(encode(&decode(value.clone())), value);
        }
    }

    #[test]
    fn changed_metadata_is_encoded_and_the_rest_preserved() {
        let mut object = decode(json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "a", "creationTimestamp": null, "labels": {"b": "c"}, "new": 1},
        }));
        object.metadata.name = Some("z".to_owned());
        object.metadata.labels = None;
        let metadata = json!({"name": "z", "creationTimestamp": null, "new": 1});
        assert_eq!(encode(&object)["metadata"], metadata);
    }

    #[test]
    fn encoding_has_exactly_one_api_version_and_kind() {
        let mut object = Unstructured::new(&GroupVersionKind::from_type_meta("example.com/v1", "Widget"));
        object.data.insert("kind".to_owned(), json!("Other"));
        object.data.insert("spec".to_owned(), json!({}));
        let text = r#"{"apiVersion":"example.com/v1","kind":"Widget","spec":{}}"#;
        assert_eq!(object.to_json().unwrap(), text);
        for broken in
            [json!({"kind": "Pod"}), json!({"apiVersion": "v1"}), json!({"apiVersion": 1, "kind": "Pod"}), json!([])]
        {
            assert!(serde_json::from_value::<Unstructured>(broken.clone()).is_err(), "{broken}");
        }
    }

    #[test]
    fn list_has_no_object_metadata() {
        let list = decode(json!({"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": []}));
        assert!(list.object_meta().is_none());
        assert!(decode(json!({"apiVersion": "v1", "kind": "AllowList"})).object_meta().is_some());
    }

    /// Generates any JSON value, with strings that YAML could read as other types.
    fn any_value() -> impl Strategy<Value = Value> {
        let text = prop_oneof![
            any::<String>(),
            "[-+0-9.eExoO_:yYnN~ ]{0,8}",
            prop::sample::select(vec![
                "yes", "off", "null", "~", "0644", "1e3", ".inf", "---", "<<", "- a", "a: b", "# c", " "
            ])
            .prop_map(str::to_owned),
        ];
        let number = prop_oneof![
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
        ];
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            number,
            text.clone().prop_map(Value::from),
        ];
        scalar.prop_recursive(4, 32, 5, move |inner| {
            let object = prop::collection::btree_map(text.clone(), inner.clone(), 0..5);
            prop_oneof![
                prop::collection::vec(inner, 0..5).prop_map(Value::from),
                object.prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    fn any_object() -> impl Strategy<Value = Value> {
        let metadata = json!({"name": "a", "generation": 2, "creationTimestamp": null, "finalizers": ["a/b"]});
        (any_value(), prop::option::of(any_value())).prop_map(move |(spec, new)| {
            let mut object = json!({"apiVersion": "example.com/v1", "kind": "Widget", "spec": spec});
            if let Some(new) = new {
                object["metadata"] = metadata.clone();
                object["metadata"]["new"] = new;
            }
            object
        })
    }

    proptest! {
        #[test]
        fn json_and_yaml_round_trips_are_lossless(value in any_object()) {
            let object = decode(value.clone());
            prop_assert_eq!(&encode(&object), &value);
            let lenient = crate::Scheme::new();
            let lenient = lenient.decoder(crate::scheme::UnknownKinds::Preserve);
            let erased: Box<dyn Object> = Box::new(object.clone());
            let json = lenient.decode(erased.to_json().unwrap().as_bytes()).unwrap();
            prop_assert_eq!(json.downcast_ref::<Unstructured>(), Some(&object));
            let text = erased.to_yaml().unwrap();
            let yaml = lenient.decode_yaml(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
            prop_assert_eq!(yaml.downcast_ref::<Unstructured>(), Some(&object), "{}", text);
        }
    }
}
