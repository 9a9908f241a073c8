//! Converts objects of a kind between all of its versions, as a conversion webhook and tests do.

use serde_json::{Map, Value, value::RawValue};

use super::{
    ConversionError, ConvertTo, Spoke, check,
    engine::{Engine, Storage},
    plan::{Conversion, Direction},
    stored::Stored,
    text::TextObject,
};
use crate::{group_version::GroupVersion, object::Kind};

/// The limit of the API server for the annotations of an object.
const ANNOTATIONS_LIMIT: usize = 256 * 1024;

/// The start of the name of an annotation that stores fields.
const ANNOTATION_PREFIX: &str = "converted-";

/// Returns the key of the annotation that stores the fields of a version, such as `example.com/converted-v2`, while an
/// object is in another version.
pub fn annotation(version: &GroupVersion) -> String {
    match version.group {
        "" => format!("{ANNOTATION_PREFIX}{}", version.version),
        group => format!("{group}/{ANNOTATION_PREFIX}{}", version.version),
    }
}

/// Converts JSON objects of a kind between its versions: into the hub, out of it, and from spoke to spoke through it.
///
/// Guarantees:
/// - No information is lost, except for fields that are declared as `lost`: an object that is converted into another
///   version and back is the same object. What the other version cannot express is stored in its annotation.
/// - A change that is made in between is never overridden by what is stored.
/// - Partial objects are converted. No field is added to them, except for the annotation if a field of theirs cannot be
///   expressed.
/// - Metadata, except for annotations, does not change.
///
/// ```
/// # mod api {
/// # pub mod v2 {
/// #     use kubewright_core::{ApiObject, ApiType, k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta};
/// #     use serde::{Deserialize, Serialize};
/// #     #[derive(Clone, Debug, ApiObject)]
/// #     #[genclient]
/// #     #[convert(hub)]
/// #     pub struct Widget { pub metadata: ObjectMeta, pub spec: WidgetSpec }
/// #     #[derive(Clone, Debug, Deserialize, Serialize, ApiType)]
/// #     #[convert(hub)]
/// #     pub struct WidgetSpec { pub speed: i32, pub color: Option<String> }
/// #     kubewright_core::group_version! { group = "example.com", version = "v2", kinds = [Widget] }
/// # }
/// # pub mod v1 {
/// #     use kubewright_core::{ApiObject, ApiType, k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta};
/// #     use serde::{Deserialize, Serialize};
/// #     use super::v2;
/// #     #[derive(Clone, Debug, ApiObject)]
/// #     #[genclient]
/// #     #[convert(hub = v2::Widget)]
/// #     pub struct Widget { pub metadata: ObjectMeta, pub spec: WidgetSpec }
/// #     #[derive(Clone, Debug, Deserialize, Serialize, ApiType)]
/// #     #[convert(hub = v2::WidgetSpec, store = [color])]
/// #     pub struct WidgetSpec { #[convert(from = "speed")] pub rotations: i32 }
/// #     kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }
/// # }
/// # }
/// # use api::{v1, v2};
/// use kubewright_core::conversion::Converter;
/// use serde_json::json;
///
/// let converter = Converter::hub::<v2::Widget>().spoke::<v1::Widget>().build();
/// let stored = json!({
///     "apiVersion": "example.com/v2", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"speed": 3, "color": "red"},
/// });
/// let mut shown = converter.convert(stored.clone(), "example.com/v1")?;
/// assert_eq!(shown["spec"], json!({"rotations": 3}));
/// assert_eq!(converter.convert(shown.clone(), "example.com/v2")?, stored);
///
/// shown["spec"]["rotations"] = 4.into();
/// assert_eq!(converter.convert(shown, "example.com/v2")?["spec"], json!({"speed": 4, "color": "red"}));
/// # Ok::<_, kubewright_core::conversion::ConversionError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Converter {
    kind: &'static str,
    plural: &'static str,
    hub: GroupVersion,
    spokes: Vec<(GroupVersion, Conversion)>,
}

/// Collects the spokes of a hub.
#[derive(Debug)]
pub struct ConverterBuilder<Hub> {
    converter: Converter,
    hub: std::marker::PhantomData<fn() -> Hub>,
}

/// Returns the group and version of a kind.
pub(super) const fn version_of<K: k8s_openapi::Resource>() -> GroupVersion {
    GroupVersion { group: K::GROUP, version: K::VERSION, api_version: K::API_VERSION }
}

impl<Hub: Kind> ConverterBuilder<Hub> {
    /// Adds a version that converts into the hub. A version that is added twice is replaced.
    #[must_use]
    pub fn spoke<S: Kind + Spoke<Hub = Hub>>(mut self) -> Self {
        const { check::same_kind([S::GROUP, S::KIND], [Hub::GROUP, Hub::KIND]) };
        let version = version_of::<S>();
        self.converter.spokes.retain(|(known, _)| *known != version);
        self.converter.spokes.push((version, <S as ConvertTo<Hub>>::conversion()));
        self
    }

    /// Returns the converter.
    pub fn build(self) -> Converter {
        self.converter
    }
}

impl Converter {
    /// Starts with the hub, to which spokes are added.
    pub fn hub<Hub: Kind>() -> ConverterBuilder<Hub> {
        let (kind, plural) = (Hub::API_KIND.kind, Hub::API_KIND.plural);
        let converter = Converter { kind, plural, hub: version_of::<Hub>(), spokes: Vec::new() };
        ConverterBuilder { converter, hub: std::marker::PhantomData }
    }

    /// Returns the API group.
    pub fn group(&self) -> &'static str {
        self.hub.group
    }

    /// Returns the kind.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns the name of the resource in URLs.
    pub fn plural(&self) -> &'static str {
        self.plural
    }

    /// Returns all versions: the hub, then the spokes.
    pub fn versions(&self) -> impl Iterator<Item = GroupVersion> + '_ {
        std::iter::once(self.hub).chain(self.spokes.iter().map(|(version, _)| *version))
    }

    /// Converts an object into the version with this `apiVersion`.
    ///
    /// # Errors
    /// The value is not an object of the kind, a version is unknown, or the annotations exceed the limit of the API
    /// server. In a partial object, a function of the declaration rejects a value.
    pub fn convert(&self, object: Value, api_version: &str) -> Result<Value, ConversionError> {
        let mut object = match object {
            Value::Object(object) => object,
            other => return Err(ConversionError::NotAnObject { found: json_type(&other) }),
        };
        self.convert_object(&mut object, api_version)?;
        Ok(Value::Object(object))
    }

    /// Converts the text of an object into the version with this `apiVersion`, and decodes only what a conversion can
    /// change: neither the metadata, except for annotations, nor the fields that are the same in all versions.
    ///
    /// Returns `None` for an object that [`convert`](Self::convert) has to convert: an object without a UID, an object
    /// with stored fields, and an object that cannot be converted, for its error.
    pub fn convert_text<'a>(&self, object: &'a RawValue, api_version: &str) -> Option<TextObject<'a>> {
        let plans = self.spokes.iter().map(|(_, conversion)| match conversion {
            Conversion::Struct(plan) => Some(*plan),
            _ => None,
        });
        let mut object = TextObject::decode(object.get(), plans.collect::<Option<_>>()?).ok()?;
        if !is_complete(&object.fields) || has_stored_fields(&object.fields) {
            return None;
        }
        self.convert_object(&mut object.fields, api_version).ok()?;
        Some(object)
    }

    fn convert_object(&self, object: &mut Map<String, Value>, api_version: &str) -> Result<(), ConversionError> {
        let found = object.get("kind").and_then(Value::as_str).unwrap_or_default();
        if found != self.kind {
            return Err(ConversionError::WrongKind { found: found.to_owned(), expected: self.kind });
        }
        let from = object.get("apiVersion").and_then(Value::as_str).ok_or(ConversionError::NoApiVersion)?;
        let (from, to) = (self.find(from)?, self.find(api_version)?);
        if from.map(|spoke| spoke.0) == to.map(|spoke| spoke.0) {
            return Ok(());
        }
        if let Some((version, conversion)) = from {
            let hop = Hop { source: *version, target: self.hub, direction: Direction::ToHub, is_complete: None };
            hop.convert(*conversion, object)?;
        }
        if let Some((version, conversion)) = to {
            let hop = Hop { source: self.hub, target: *version, direction: Direction::FromHub, is_complete: None };
            hop.convert(*conversion, object)?;
        }
        Ok(())
    }

    /// Checks that the object can be converted into every version: that what is stored does not exceed the limit of
    /// annotations. An admission webhook rejects an object for which it fails; otherwise that object could not be read.
    ///
    /// # Errors
    /// Those of [`convert`](Self::convert).
    pub fn check(&self, object: &Value) -> Result<(), ConversionError> {
        self.versions().try_for_each(|version| self.convert(object.clone(), version.api_version).map(drop))
    }

    /// Returns the spoke with this `apiVersion`; `None` for the hub.
    fn find(&self, api_version: &str) -> Result<Option<&(GroupVersion, Conversion)>, ConversionError> {
        if self.hub.api_version == api_version {
            return Ok(None);
        }
        let spoke = self.spokes.iter().find(|(version, _)| version.api_version == api_version);
        spoke.map(Some).ok_or_else(|| ConversionError::UnknownVersion {
            api_version: api_version.to_owned(),
            kind: self.kind,
            known: self.versions().map(|version| version.api_version).collect::<Vec<_>>().join(", "),
        })
    }
}

/// One conversion between a spoke and the hub.
pub(super) struct Hop {
    pub(super) source: GroupVersion,
    pub(super) target: GroupVersion,
    pub(super) direction: Direction,
    /// Whether the object is complete; `None` if its metadata determine it.
    pub(super) is_complete: Option<bool>,
}

impl Hop {
    /// Converts the object, with its `apiVersion` and its annotations.
    pub(super) fn convert(
        &self,
        conversion: Conversion,
        object: &mut Map<String, Value>,
    ) -> Result<(), ConversionError> {
        let Conversion::Struct(plan) = conversion else { return Ok(()) };
        let is_complete = self.is_complete.unwrap_or_else(|| is_complete(object));
        let mut target = None;
        if has_stored_fields(object) {
            target = take_annotation(object, &annotation(&self.target));
            // An annotation about the version in which the object is would be restored later, although it is outdated.
            take_annotation(object, &annotation(&self.source));
        }
        let mut source = Stored::default();
        let storage = Storage { target: target.as_ref(), source: &mut source };
        Engine { direction: self.direction, is_complete, stores: true }.convert_fields(plan, object, storage)?;
        object.insert("apiVersion".to_owned(), self.target.api_version.into());
        if source.is_empty() { Ok(()) } else { add_annotation(object, annotation(&self.source), &source) }
    }
}

/// Whether the object is complete. The API server sets a UID and managed fields before objects are converted, except in
/// patches, and in the sets of fields that it compares.
fn is_complete(object: &Map<String, Value>) -> bool {
    let metadata = object.get("metadata");
    let is_set = |name: &str| match metadata.and_then(|metadata| metadata.get(name)) {
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        _ => false,
    };
    is_set("uid") || is_set("managedFields")
}

/// Whether an annotation may store fields of another version.
fn has_stored_fields(object: &Map<String, Value>) -> bool {
    let annotations = object.get("metadata").and_then(|metadata| metadata.get("annotations"));
    let annotations = annotations.and_then(Value::as_object);
    annotations.is_some_and(|annotations| annotations.keys().any(|key| key.contains(ANNOTATION_PREFIX)))
}

/// Removes an annotation, and the annotations if it is the only one. `None` is returned if its value is not valid.
fn take_annotation(object: &mut Map<String, Value>, key: &str) -> Option<Stored> {
    let metadata = object.get_mut("metadata")?.as_object_mut()?;
    let annotations = metadata.get_mut("annotations")?.as_object_mut()?;
    let value = annotations.remove(key)?;
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
    serde_json::from_str(value.as_str()?).ok()
}

fn add_annotation(object: &mut Map<String, Value>, key: String, stored: &Stored) -> Result<(), ConversionError> {
    let value = serde_json::to_string(stored).map_err(ConversionError::Encode)?;
    let mut metadata = take_object(object, "metadata");
    let mut annotations = take_object(&mut metadata, "annotations");
    annotations.insert(key, value.into());
    check_size(&annotations)?;
    metadata.insert("annotations".to_owned(), Value::Object(annotations));
    object.insert("metadata".to_owned(), Value::Object(metadata));
    Ok(())
}

fn check_size(annotations: &Map<String, Value>) -> Result<(), ConversionError> {
    let sizes: Vec<(usize, &String)> =
        annotations.iter().map(|(key, value)| (key.len() + value.as_str().map_or(0, str::len), key)).collect();
    let size = sizes.iter().map(|(size, _)| size).sum();
    if size <= ANNOTATIONS_LIMIT {
        return Ok(());
    }
    let largest = sizes.iter().max().map_or_else(String::new, |(_, key)| (*key).clone());
    Err(ConversionError::TooLarge { size, limit: ANNOTATIONS_LIMIT, largest })
}

/// Removes and returns a field that is an object; an empty one if it is none.
fn take_object(object: &mut Map<String, Value>, name: &str) -> Map<String, Value> {
    match object.remove(name) {
        Some(Value::Object(found)) => found,
        _ => Map::new(),
    }
}

pub(super) fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
