//! Objects whose Rust type is not known: kept as they are, and lists of several kinds.

use std::any::Any;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use serde::de::Error as _;
use serde::ser::{Error as _, SerializeMap, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::deep_copy::DeepCopy;
use crate::group_version::GroupVersionKind;
use crate::object::Object;

/// `apiVersion` and `kind`, as an object is written with them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TypeMeta {
    /// Group and version, such as `example.com/v1`; the version alone of the core group.
    pub api_version: String,
    /// The kind, such as `Widget`.
    pub kind: String,
}

impl TypeMeta {
    /// Both as a name.
    pub fn group_version_kind(&self) -> GroupVersionKind {
        GroupVersionKind::from_type_meta(&self.api_version, &self.kind)
    }
}

/// An object of any kind: Go's `unstructured.Unstructured`.
///
/// It promises:
/// - what it was read from is what it writes: every field, also what [`ObjectMeta`] has no field for or writes otherwise,
///   unless it was changed since;
/// - it is never written without `apiVersion` and `kind`, nor with them twice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DynamicObject {
    /// `apiVersion` and `kind`.
    pub types: TypeMeta,
    /// Its metadata; not written if nothing is set.
    pub metadata: ObjectMeta,
    /// All other fields.
    pub data: Map<String, Value>,
    /// The metadata as it was read, where `ObjectMeta` does not hold all of it.
    metadata_as_read: Option<Map<String, Value>>,
}

impl DynamicObject {
    /// An object of this kind with nothing set.
    pub fn new(gvk: &GroupVersionKind) -> Self {
        let types = TypeMeta { api_version: gvk.api_version(), kind: gvk.kind.to_string() };
        DynamicObject { types, ..DynamicObject::default() }
    }

    fn is_list(&self) -> bool {
        self.types.kind.ends_with("List") && self.data.get("items").is_some_and(Value::is_array)
    }

    /// The fields of the metadata: those that did not change since they were read, as they were read.
    fn metadata_fields(&self) -> Result<Map<String, Value>, serde_json::Error> {
        let mut fields = fields_of(&self.metadata)?;
        if let Some(as_read) = &self.metadata_as_read {
            let unchanged = fields_of(&ObjectMeta::deserialize(as_read)?)?;
            for (name, value) in as_read {
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

const HEAD: [&str; 3] = ["apiVersion", "kind", "metadata"];

impl Serialize for DynamicObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let metadata = self.metadata_fields().map_err(S::Error::custom)?;
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("apiVersion", &self.types.api_version)?;
        object.serialize_entry("kind", &self.types.kind)?;
        if self.metadata_as_read.is_some() || !metadata.is_empty() {
            object.serialize_entry("metadata", &metadata)?;
        }
        for (name, field) in self.data.iter().filter(|(name, _)| !HEAD.contains(&name.as_str())) {
            object.serialize_entry(name, field)?;
        }
        object.end()
    }
}

impl<'de> Deserialize<'de> for DynamicObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut data = Map::deserialize(deserializer)?;
        let types = Map::from_iter(HEAD[..2].iter().filter_map(|name| data.remove_entry(*name)));
        let types = TypeMeta::deserialize(Value::Object(types)).map_err(D::Error::custom)?;
        let Some(as_read) = data.remove("metadata") else {
            return Ok(DynamicObject { types, data, ..DynamicObject::default() });
        };
        let metadata = ObjectMeta::deserialize(&as_read).map_err(D::Error::custom)?;
        let as_read = Map::deserialize(as_read).map_err(D::Error::custom)?;
        let holds_all = !as_read.is_empty() && fields_of(&metadata).map_err(D::Error::custom)? == as_read;
        let metadata_as_read = (!holds_all).then_some(as_read);
        Ok(DynamicObject { types, metadata, data, metadata_as_read })
    }
}

impl DeepCopy for DynamicObject {
    fn deep_copy(&self) -> Self {
        self.clone()
    }
}

impl Object for DynamicObject {
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

/// A `v1` `List`: objects of any kinds, as `kubectl get -o yaml` writes them.
#[derive(Debug, Default)]
pub struct MixedList {
    /// Version and continuation.
    pub metadata: ListMeta,
    /// The objects.
    pub items: Vec<Box<dyn Object>>,
}

impl MixedList {
    /// What it is written with.
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

    fn read(value: Value) -> DynamicObject {
        serde_json::from_value(value).unwrap()
    }

    fn written(object: &DynamicObject) -> Value {
        serde_json::to_value(object).unwrap()
    }

    #[test]
    fn what_it_was_read_from_is_what_it_writes() {
        for value in [
            json!({"apiVersion": "v1", "kind": "Pod"}),
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {}}),
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"b": "c"}}, "spec": [null]}),
            json!({"apiVersion": "v1", "kind": "PodList", "metadata": {"continue": "x", "remainingItemCount": 3}}),
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"creationTimestamp": null, "selfLink": "/a", "new": {"a": [1.5]}}}),
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"managedFields": [{"manager": "a", "future": true}]}}),
        ] {
            assert_eq!(written(&read(value.clone())), value);
        }
    }

    #[test]
    fn what_was_changed_is_written_and_the_rest_stays() {
        let mut object = read(json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "a", "creationTimestamp": null, "labels": {"b": "c"}, "new": 1},
        }));
        object.metadata.name = Some("z".to_owned());
        object.metadata.labels = None;
        let metadata = json!({"name": "z", "creationTimestamp": null, "new": 1});
        assert_eq!(written(&object)["metadata"], metadata);
    }

    #[test]
    fn it_is_never_written_without_api_version_and_kind_nor_with_them_twice() {
        let mut object = DynamicObject::new(&GroupVersionKind::from_type_meta("example.com/v1", "Widget"));
        object.data.insert("kind".to_owned(), json!("Other"));
        object.data.insert("spec".to_owned(), json!({}));
        let text = r#"{"apiVersion":"example.com/v1","kind":"Widget","spec":{}}"#;
        assert_eq!(object.to_json().unwrap(), text);
        for broken in
            [json!({"kind": "Pod"}), json!({"apiVersion": "v1"}), json!({"apiVersion": 1, "kind": "Pod"}), json!([])]
        {
            assert!(serde_json::from_value::<DynamicObject>(broken.clone()).is_err(), "{broken}");
        }
    }

    #[test]
    fn a_list_has_no_object_metadata() {
        let list = read(json!({"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": []}));
        assert!(list.object_meta().is_none());
        assert!(read(json!({"apiVersion": "v1", "kind": "AllowList"})).object_meta().is_some());
    }

    /// Any JSON, its texts also such as YAML would take for something else.
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
        fn nothing_is_lost_on_the_way_through_json_and_yaml(value in any_object()) {
            let object = read(value.clone());
            prop_assert_eq!(&written(&object), &value);
            let lenient = crate::Scheme::new();
            let lenient = lenient.decoder(crate::scheme::UnknownKinds::Keep);
            let erased: Box<dyn Object> = Box::new(object.clone());
            let json = lenient.decode(erased.to_json().unwrap().as_bytes()).unwrap();
            prop_assert_eq!(json.downcast_ref::<DynamicObject>(), Some(&object));
            let text = erased.to_yaml().unwrap();
            let yaml = lenient.decode_yaml(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
            prop_assert_eq!(yaml.downcast_ref::<DynamicObject>(), Some(&object), "{}", text);
        }
    }
}
