//! Decoding of definitions as on the server: by Go type, with a warning for each unknown field, which is dropped.

use serde_json::{Map, Value};

use crate::{
    field::{ErrorType, FieldError},
    go,
};

/// The Go type of a field.
#[derive(Clone, Copy)]
enum Type {
    /// `string`.
    String,
    /// `*string`.
    OptionalString,
    /// `bool`.
    Bool,
    /// `*bool`.
    OptionalBool,
    Int64,
    Int32,
    Float,
    Bytes,
    /// Any JSON.
    Json,
    StringList,
    StringMap,
    JsonList,
    Object(Struct),
    List(Struct),
    Schema,
    SchemaList,
    SchemaMap,
    SchemaOrBool,
    SchemaOrList,
    Dependencies,
}

/// The name of a Go struct, and its fields.
type Struct = &'static (&'static str, &'static [(&'static str, Type)]);

const DEFINITION: Struct = &(
    "CustomResourceDefinition",
    &[
        ("apiVersion", Type::String),
        ("kind", Type::String),
        ("metadata", Type::Object(METADATA)),
        ("spec", Type::Object(SPEC)),
        ("status", Type::Object(STATUS)),
    ],
);

const METADATA: Struct = &(
    "ObjectMeta",
    &[
        ("name", Type::String),
        ("generateName", Type::String),
        ("namespace", Type::String),
        ("selfLink", Type::String),
        ("uid", Type::String),
        ("resourceVersion", Type::String),
        ("generation", Type::Int64),
        ("creationTimestamp", Type::Json),
        ("deletionTimestamp", Type::Json),
        ("deletionGracePeriodSeconds", Type::Int64),
        ("labels", Type::StringMap),
        ("annotations", Type::StringMap),
        ("ownerReferences", Type::JsonList),
        ("finalizers", Type::StringList),
        ("managedFields", Type::JsonList),
    ],
);

const SPEC: Struct = &(
    "CustomResourceDefinitionSpec",
    &[
        ("group", Type::String),
        ("names", Type::Object(NAMES)),
        ("scope", Type::String),
        ("versions", Type::List(VERSION)),
        ("conversion", Type::Object(CONVERSION)),
        ("preserveUnknownFields", Type::Bool),
    ],
);

const NAMES: Struct = &(
    "CustomResourceDefinitionNames",
    &[
        ("plural", Type::String),
        ("singular", Type::String),
        ("shortNames", Type::StringList),
        ("kind", Type::String),
        ("listKind", Type::String),
        ("categories", Type::StringList),
    ],
);

const VERSION: Struct = &(
    "CustomResourceDefinitionVersion",
    &[
        ("name", Type::String),
        ("served", Type::Bool),
        ("storage", Type::Bool),
        ("deprecated", Type::Bool),
        ("deprecationWarning", Type::OptionalString),
        ("schema", Type::Object(&("CustomResourceValidation", &[("openAPIV3Schema", Type::Schema)]))),
        ("subresources", Type::Object(SUBRESOURCES)),
        ("additionalPrinterColumns", Type::List(COLUMN)),
        ("selectableFields", Type::List(&("SelectableField", &[("jsonPath", Type::String)]))),
    ],
);

const SUBRESOURCES: Struct = &(
    "CustomResourceSubresources",
    &[("status", Type::Object(&("CustomResourceSubresourceStatus", &[]))), ("scale", Type::Object(SCALE))],
);

const SCALE: Struct = &(
    "CustomResourceSubresourceScale",
    &[
        ("specReplicasPath", Type::String),
        ("statusReplicasPath", Type::String),
        ("labelSelectorPath", Type::OptionalString),
    ],
);

const COLUMN: Struct = &(
    "CustomResourceColumnDefinition",
    &[
        ("name", Type::String),
        ("type", Type::String),
        ("format", Type::String),
        ("description", Type::String),
        ("priority", Type::Int32),
        ("jsonPath", Type::String),
    ],
);

const CONVERSION: Struct =
    &("CustomResourceConversion", &[("strategy", Type::String), ("webhook", Type::Object(WEBHOOK))]);

const WEBHOOK: Struct = &(
    "WebhookConversion",
    &[("clientConfig", Type::Object(CLIENT_CONFIG)), ("conversionReviewVersions", Type::StringList)],
);

const CLIENT_CONFIG: Struct = &(
    "WebhookClientConfig",
    &[("url", Type::OptionalString), ("service", Type::Object(SERVICE)), ("caBundle", Type::Bytes)],
);

const SERVICE: Struct = &(
    "ServiceReference",
    &[("namespace", Type::String), ("name", Type::String), ("path", Type::OptionalString), ("port", Type::Int32)],
);

const STATUS: Struct = &(
    "CustomResourceDefinitionStatus",
    &[
        ("conditions", Type::JsonList),
        ("acceptedNames", Type::Object(NAMES)),
        ("storedVersions", Type::StringList),
        ("observedGeneration", Type::Int64),
    ],
);

const SCHEMA: Struct = &(
    "JSONSchemaProps",
    &[
        ("id", Type::String),
        ("$schema", Type::String),
        ("$ref", Type::OptionalString),
        ("description", Type::String),
        ("type", Type::String),
        ("format", Type::String),
        ("title", Type::String),
        ("default", Type::Json),
        ("maximum", Type::Float),
        ("exclusiveMaximum", Type::Bool),
        ("minimum", Type::Float),
        ("exclusiveMinimum", Type::Bool),
        ("maxLength", Type::Int64),
        ("minLength", Type::Int64),
        ("pattern", Type::String),
        ("maxItems", Type::Int64),
        ("minItems", Type::Int64),
        ("uniqueItems", Type::Bool),
        ("multipleOf", Type::Float),
        ("enum", Type::JsonList),
        ("maxProperties", Type::Int64),
        ("minProperties", Type::Int64),
        ("required", Type::StringList),
        ("items", Type::SchemaOrList),
        ("allOf", Type::SchemaList),
        ("oneOf", Type::SchemaList),
        ("anyOf", Type::SchemaList),
        ("not", Type::Schema),
        ("properties", Type::SchemaMap),
        ("additionalProperties", Type::SchemaOrBool),
        ("patternProperties", Type::SchemaMap),
        ("dependencies", Type::Dependencies),
        ("additionalItems", Type::SchemaOrBool),
        ("definitions", Type::SchemaMap),
        (
            "externalDocs",
            Type::Object(&("ExternalDocumentation", &[("description", Type::String), ("url", Type::String)])),
        ),
        ("example", Type::Json),
        ("nullable", Type::Bool),
        ("x-kubernetes-preserve-unknown-fields", Type::OptionalBool),
        ("x-kubernetes-embedded-resource", Type::Bool),
        ("x-kubernetes-int-or-string", Type::Bool),
        ("x-kubernetes-list-map-keys", Type::StringList),
        ("x-kubernetes-list-type", Type::OptionalString),
        ("x-kubernetes-map-type", Type::OptionalString),
        ("x-kubernetes-validations", Type::List(RULE)),
    ],
);

const RULE: Struct = &(
    "ValidationRule",
    &[
        ("rule", Type::String),
        ("message", Type::String),
        ("messageExpression", Type::String),
        ("reason", Type::OptionalString),
        ("fieldPath", Type::String),
        ("optionalOldSelf", Type::OptionalBool),
    ],
);

/// Decodes and defaults a definition. The result has no unknown fields, nulls and zero values. Also returns the
/// warnings for unknown fields.
pub(super) fn decode(crd: &Value) -> Result<(Value, Vec<FieldError>), Box<FieldError>> {
    let mut decoder = Decoder::default();
    let mut crd = decoder.object(crd, DEFINITION, "").map_err(|Mismatch { path, message }| {
        let kind = "CustomResourceDefinition";
        let detail = format!("{kind} in version \"v1\" cannot be handled as a {kind}: {message}");
        Box::new(FieldError::new(path, ErrorType::BadRequest, None, detail))
    })?;
    if let Some(spec) = crd.get_mut("spec").and_then(Value::as_object_mut) {
        default(spec);
    }
    let warnings = decoder.unknown.into_iter().map(|path| FieldError::warning(format!("unknown field {path:?}")));
    Ok((crd, warnings.collect()))
}

/// Sets the defaults of definitions.
fn default(spec: &mut Map<String, Value>) {
    if let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut)
        && let Some(kind) = names.get("kind").and_then(Value::as_str).map(str::to_owned)
    {
        names.entry("singular").or_insert_with(|| kind.to_lowercase().into());
        names.entry("listKind").or_insert_with(|| format!("{kind}List").into());
    }
    spec.entry("conversion").or_insert_with(|| serde_json::json!({ "strategy": "None" }));
    if let Some(service) =
        spec.get_mut("conversion").and_then(|value| value.pointer_mut("/webhook/clientConfig/service"))
        && let Some(service) = service.as_object_mut()
    {
        service.entry("port").or_insert_with(|| 443.into());
    }
}

/// A value of a wrong type.
struct Mismatch {
    /// Its path in the definition.
    path: String,
    /// The error of Go's decoder.
    message: String,
}

type Result<T, E = Mismatch> = std::result::Result<T, E>;

#[derive(Default)]
struct Decoder {
    unknown: Vec<String>,
    /// The number of enclosing fields with a custom decoder, which does not report unknown fields.
    silent: usize,
    /// The Go struct that is being decoded, and the fields on the way to the current one, without indexes and map keys.
    /// A custom decoder restarts both.
    owner: &'static str,
    fields: Vec<&'static str>,
}

impl Decoder {
    fn object(&mut self, value: &Value, fields: Struct, path: &str) -> Result<Value> {
        let Value::Object(given) = value else {
            return if value.is_null() {
                Ok(Value::Object(Map::new()))
            } else {
                Err(self.mismatch(value, path, &format!("v1.{}", fields.0)))
            };
        };
        let owner = std::mem::replace(&mut self.owner, fields.0);
        let mut decoded = Map::new();
        for (name, value) in given {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            match fields.1.iter().find(|(known, _)| known == name) {
                None if self.silent == 0 => self.unknown.push(path),
                None => {}
                Some(_) if value.is_null() => {}
                Some((known, type_)) => {
                    self.fields.push(known);
                    let value = self.value(value, *type_, &path)?;
                    self.fields.pop();
                    if !is_zero(&value, *type_) {
                        decoded.insert(name.clone(), value);
                    }
                }
            }
        }
        self.owner = owner;
        Ok(Value::Object(decoded))
    }

    /// The error for a value of a wrong type.
    fn mismatch(&self, value: &Value, path: &str, type_: &str) -> Mismatch {
        let found = go::json_type(value);
        let target = match self.fields.as_slice() {
            [] => "value".to_owned(),
            fields => format!("struct field {}.{}", self.owner, fields.join(".")),
        };
        let message = format!("json: cannot unmarshal {found} into Go {target} of type {type_}");
        Mismatch { path: path.to_owned(), message }
    }

    fn value(&mut self, value: &Value, type_: Type, path: &str) -> Result<Value> {
        let is_valid = match type_ {
            Type::String | Type::OptionalString => value.is_string(),
            Type::Bool | Type::OptionalBool => value.is_boolean(),
            Type::Int64 => value.is_i64(),
            Type::Int32 => value.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
            Type::Float => value.is_number(),
            Type::Bytes => value.as_str().is_some_and(is_base64),
            Type::Json => true,
            Type::JsonList => value.is_array(),
            Type::StringList => match value.as_array() {
                Some(items) => return self.strings(value, items.iter(), path),
                None => false,
            },
            Type::StringMap => match value.as_object() {
                Some(fields) => return self.strings(value, fields.values(), path),
                None => false,
            },
            Type::Object(fields) => return self.object(value, fields, path),
            Type::List(fields) => return self.list(value, fields, path),
            Type::Schema => return self.object(value, SCHEMA, path),
            Type::SchemaList => return self.list(value, SCHEMA, path),
            Type::SchemaMap => {
                return self.map(value, path, |decoder, value, path| decoder.object(value, SCHEMA, path));
            }
            Type::SchemaOrBool | Type::SchemaOrList => return self.schema_or(value, type_, path),
            Type::Dependencies => {
                return self.map(value, path, |decoder, value, path| decoder.dependency(value, path));
            }
        };
        if is_valid { Ok(value.clone()) } else { Err(self.mismatch(value, path, go_type(type_))) }
    }

    /// Decodes a list or map of strings with these items.
    fn strings<'v>(&self, value: &Value, mut items: impl Iterator<Item = &'v Value>, path: &str) -> Result<Value> {
        match items.find(|item| !item.is_string() && !item.is_null()) {
            Some(other) => Err(self.mismatch(other, path, "string")),
            None => Ok(value.clone()),
        }
    }

    fn list(&mut self, value: &Value, fields: Struct, path: &str) -> Result<Value> {
        let items = value.as_array().ok_or_else(|| self.mismatch(value, path, &format!("[]v1.{}", fields.0)))?;
        let items = items.iter().enumerate();
        items.map(|(index, item)| self.object(item, fields, &format!("{path}[{index}]"))).collect()
    }

    fn map(
        &mut self,
        value: &Value,
        path: &str,
        mut decode: impl FnMut(&mut Self, &Value, &str) -> Result<Value>,
    ) -> Result<Value> {
        let fields = value.as_object().ok_or_else(|| self.mismatch(value, path, "map[string]v1.JSONSchemaProps"))?;
        let fields = fields.iter();
        let decoded: Result<Map<String, Value>> =
            fields.map(|(name, value)| Ok((name.clone(), decode(self, value, &format!("{path}.{name}"))?))).collect();
        decoded.map(Value::Object)
    }

    /// Decodes a schema, a boolean or a list. The server has a custom decoder for these, which does not report unknown
    /// fields.
    fn schema_or(&mut self, value: &Value, type_: Type, path: &str) -> Result<Value> {
        let fields = self.enter_custom();
        let decoded = match (value, type_) {
            (Value::Object(_), _) => self.object(value, SCHEMA, path),
            (Value::Bool(_), Type::SchemaOrBool) => Ok(value.clone()),
            (Value::Array(_), Type::SchemaOrList) => self.list(value, SCHEMA, path),
            (_, Type::SchemaOrBool) => {
                Err(Mismatch { path: path.to_owned(), message: "boolean or JSON schema expected".to_owned() })
            }
            _ => Ok(Value::Array(Vec::new())),
        };
        self.exit_custom(fields);
        decoded
    }

    /// Starts a custom decoder. Returns the fields on the way to it.
    fn enter_custom(&mut self) -> Vec<&'static str> {
        self.silent += 1;
        std::mem::take(&mut self.fields)
    }

    fn exit_custom(&mut self, fields: Vec<&'static str>) {
        self.silent -= 1;
        self.fields = fields;
    }

    fn dependency(&mut self, value: &Value, path: &str) -> Result<Value> {
        let fields = self.enter_custom();
        let decoded = match value {
            Value::Object(_) => self.object(value, SCHEMA, path),
            other => Ok(other.clone()),
        };
        self.exit_custom(fields);
        decoded
    }
}

/// Whether a value is the zero value of its type, which equals an absent field.
fn is_zero(value: &Value, type_: Type) -> bool {
    match type_ {
        Type::String | Type::Bytes => value == "",
        Type::Bool => *value == false,
        _ => false,
    }
}

fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - digits.len() <= 2
        && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

fn go_type(type_: Type) -> &'static str {
    match type_ {
        Type::Bool | Type::OptionalBool => "bool",
        Type::Int64 => "int64",
        Type::Int32 => "int32",
        Type::Float => "float64",
        Type::Bytes => "[]uint8",
        Type::StringList => "[]string",
        Type::StringMap => "map[string]string",
        Type::JsonList => "[]v1.JSON",
        _ => "string",
    }
}
