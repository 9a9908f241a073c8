//! Definitions read as the server reads them: by type, unknown fields dropped with a warning.

use serde_json::{Map, Value};

use crate::finding::{Finding, Reason};
use crate::go;

/// What a field holds.
#[derive(Clone, Copy)]
enum Type {
    /// A text that is empty if it is not there.
    Text,
    /// A text that may be absent.
    OptionalText,
    /// A flag that is false if it is not there.
    Flag,
    /// A flag that may be absent.
    OptionalFlag,
    Int64,
    Int32,
    Float,
    Bytes,
    /// Any JSON.
    Json,
    Texts,
    TextsByName,
    ListOfJson,
    Object(Fields),
    List(Fields),
    Schema,
    Schemas,
    SchemasByName,
    SchemaOrBool,
    SchemaOrArray,
    Dependencies,
}

/// The fields of a type, and its name in Go.
type Fields = &'static (&'static str, &'static [(&'static str, Type)]);

const DEFINITION: Fields = &(
    "CustomResourceDefinition",
    &[
        ("apiVersion", Type::Text),
        ("kind", Type::Text),
        ("metadata", Type::Object(METADATA)),
        ("spec", Type::Object(SPEC)),
        ("status", Type::Object(STATUS)),
    ],
);

const METADATA: Fields = &(
    "ObjectMeta",
    &[
        ("name", Type::Text),
        ("generateName", Type::Text),
        ("namespace", Type::Text),
        ("selfLink", Type::Text),
        ("uid", Type::Text),
        ("resourceVersion", Type::Text),
        ("generation", Type::Int64),
        ("creationTimestamp", Type::Json),
        ("deletionTimestamp", Type::Json),
        ("deletionGracePeriodSeconds", Type::Int64),
        ("labels", Type::TextsByName),
        ("annotations", Type::TextsByName),
        ("ownerReferences", Type::ListOfJson),
        ("finalizers", Type::Texts),
        ("managedFields", Type::ListOfJson),
    ],
);

const SPEC: Fields = &(
    "CustomResourceDefinitionSpec",
    &[
        ("group", Type::Text),
        ("names", Type::Object(NAMES)),
        ("scope", Type::Text),
        ("versions", Type::List(VERSION)),
        ("conversion", Type::Object(CONVERSION)),
        ("preserveUnknownFields", Type::Flag),
    ],
);

const NAMES: Fields = &(
    "CustomResourceDefinitionNames",
    &[
        ("plural", Type::Text),
        ("singular", Type::Text),
        ("shortNames", Type::Texts),
        ("kind", Type::Text),
        ("listKind", Type::Text),
        ("categories", Type::Texts),
    ],
);

const VERSION: Fields = &(
    "CustomResourceDefinitionVersion",
    &[
        ("name", Type::Text),
        ("served", Type::Flag),
        ("storage", Type::Flag),
        ("deprecated", Type::Flag),
        ("deprecationWarning", Type::OptionalText),
        ("schema", Type::Object(&("CustomResourceValidation", &[("openAPIV3Schema", Type::Schema)]))),
        ("subresources", Type::Object(SUBRESOURCES)),
        ("additionalPrinterColumns", Type::List(COLUMN)),
        ("selectableFields", Type::List(&("SelectableField", &[("jsonPath", Type::Text)]))),
    ],
);

const SUBRESOURCES: Fields = &(
    "CustomResourceSubresources",
    &[("status", Type::Object(&("CustomResourceSubresourceStatus", &[]))), ("scale", Type::Object(SCALE))],
);

const SCALE: Fields = &(
    "CustomResourceSubresourceScale",
    &[("specReplicasPath", Type::Text), ("statusReplicasPath", Type::Text), ("labelSelectorPath", Type::OptionalText)],
);

const COLUMN: Fields = &(
    "CustomResourceColumnDefinition",
    &[
        ("name", Type::Text),
        ("type", Type::Text),
        ("format", Type::Text),
        ("description", Type::Text),
        ("priority", Type::Int32),
        ("jsonPath", Type::Text),
    ],
);

const CONVERSION: Fields =
    &("CustomResourceConversion", &[("strategy", Type::Text), ("webhook", Type::Object(WEBHOOK))]);

const WEBHOOK: Fields =
    &("WebhookConversion", &[("clientConfig", Type::Object(CLIENT_CONFIG)), ("conversionReviewVersions", Type::Texts)]);

const CLIENT_CONFIG: Fields = &(
    "WebhookClientConfig",
    &[("url", Type::OptionalText), ("service", Type::Object(SERVICE)), ("caBundle", Type::Bytes)],
);

const SERVICE: Fields = &(
    "ServiceReference",
    &[("namespace", Type::Text), ("name", Type::Text), ("path", Type::OptionalText), ("port", Type::Int32)],
);

const STATUS: Fields = &(
    "CustomResourceDefinitionStatus",
    &[
        ("conditions", Type::ListOfJson),
        ("acceptedNames", Type::Object(NAMES)),
        ("storedVersions", Type::Texts),
        ("observedGeneration", Type::Int64),
    ],
);

const SCHEMA: Fields = &(
    "JSONSchemaProps",
    &[
        ("id", Type::Text),
        ("$schema", Type::Text),
        ("$ref", Type::OptionalText),
        ("description", Type::Text),
        ("type", Type::Text),
        ("format", Type::Text),
        ("title", Type::Text),
        ("default", Type::Json),
        ("maximum", Type::Float),
        ("exclusiveMaximum", Type::Flag),
        ("minimum", Type::Float),
        ("exclusiveMinimum", Type::Flag),
        ("maxLength", Type::Int64),
        ("minLength", Type::Int64),
        ("pattern", Type::Text),
        ("maxItems", Type::Int64),
        ("minItems", Type::Int64),
        ("uniqueItems", Type::Flag),
        ("multipleOf", Type::Float),
        ("enum", Type::ListOfJson),
        ("maxProperties", Type::Int64),
        ("minProperties", Type::Int64),
        ("required", Type::Texts),
        ("items", Type::SchemaOrArray),
        ("allOf", Type::Schemas),
        ("oneOf", Type::Schemas),
        ("anyOf", Type::Schemas),
        ("not", Type::Schema),
        ("properties", Type::SchemasByName),
        ("additionalProperties", Type::SchemaOrBool),
        ("patternProperties", Type::SchemasByName),
        ("dependencies", Type::Dependencies),
        ("additionalItems", Type::SchemaOrBool),
        ("definitions", Type::SchemasByName),
        ("externalDocs", Type::Object(&("ExternalDocumentation", &[("description", Type::Text), ("url", Type::Text)]))),
        ("example", Type::Json),
        ("nullable", Type::Flag),
        ("x-kubernetes-preserve-unknown-fields", Type::OptionalFlag),
        ("x-kubernetes-embedded-resource", Type::Flag),
        ("x-kubernetes-int-or-string", Type::Flag),
        ("x-kubernetes-list-map-keys", Type::Texts),
        ("x-kubernetes-list-type", Type::OptionalText),
        ("x-kubernetes-map-type", Type::OptionalText),
        ("x-kubernetes-validations", Type::List(RULE)),
    ],
);

const RULE: Fields = &(
    "ValidationRule",
    &[
        ("rule", Type::Text),
        ("message", Type::Text),
        ("messageExpression", Type::Text),
        ("reason", Type::OptionalText),
        ("fieldPath", Type::Text),
        ("optionalOldSelf", Type::OptionalFlag),
    ],
);

/// A definition with its defaults, without what is unknown, null or zero; and warnings of what is unknown.
pub(super) fn read(crd: &Value) -> Result<(Value, Vec<Finding>), Box<Finding>> {
    let mut reader = Reader { unknown: Vec::new(), silent: 0 };
    let mut crd = reader.object(crd, DEFINITION, "").map_err(|why| {
        let kind = "CustomResourceDefinition";
        let detail = format!("{kind} in version \"v1\" cannot be handled as a {kind}: {why}");
        Box::new(Finding::new("", Reason::Undecodable, None, detail))
    })?;
    if let Some(spec) = crd.get_mut("spec").and_then(Value::as_object_mut) {
        fill_in(spec);
    }
    let warnings = reader.unknown.into_iter().map(|path| Finding::warning(format!("unknown field {path:?}")));
    Ok((crd, warnings.collect()))
}

/// The defaults of definitions.
fn fill_in(spec: &mut Map<String, Value>) {
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

struct Reader {
    unknown: Vec<String>,
    /// How many readers above this one do not report what is unknown: those of fields of more than one type.
    silent: usize,
}

type Result<T, E = String> = std::result::Result<T, E>;

impl Reader {
    fn object(&mut self, value: &Value, fields: Fields, path: &str) -> Result<Value> {
        let Value::Object(given) = value else {
            return if value.is_null() {
                Ok(Value::Object(Map::new()))
            } else {
                Err(unreadable(value, path, fields.0))
            };
        };
        let mut read = Map::new();
        for (name, value) in given {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            match fields.1.iter().find(|(known, _)| known == name) {
                None if self.silent == 0 => self.unknown.push(path),
                None => {}
                Some(_) if value.is_null() => {}
                Some((_, type_)) => {
                    let value = self.value(value, *type_, &path)?;
                    if !is_zero(&value, *type_) {
                        read.insert(name.clone(), value);
                    }
                }
            }
        }
        Ok(Value::Object(read))
    }

    fn value(&mut self, value: &Value, type_: Type, path: &str) -> Result<Value> {
        let is_fine = match type_ {
            Type::Text | Type::OptionalText => value.is_string(),
            Type::Flag | Type::OptionalFlag => value.is_boolean(),
            Type::Int64 => value.is_i64(),
            Type::Int32 => value.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
            Type::Float => value.is_number(),
            Type::Bytes => value.as_str().is_some_and(is_base64),
            Type::Json => true,
            Type::ListOfJson => value.is_array(),
            Type::Texts => {
                value.as_array().is_some_and(|items| items.iter().all(|item| item.is_string() || item.is_null()))
            }
            Type::TextsByName => {
                value.as_object().is_some_and(|fields| fields.values().all(|item| item.is_string() || item.is_null()))
            }
            Type::Object(fields) => return self.object(value, fields, path),
            Type::List(fields) => return self.list(value, fields, path),
            Type::Schema => return self.object(value, SCHEMA, path),
            Type::Schemas => return self.list(value, SCHEMA, path),
            Type::SchemasByName => {
                return self.by_name(value, path, |reader, value, path| reader.object(value, SCHEMA, path));
            }
            Type::SchemaOrBool | Type::SchemaOrArray => return self.either(value, type_, path),
            Type::Dependencies => {
                return self.by_name(value, path, |reader, value, path| reader.dependency(value, path));
            }
        };
        if is_fine { Ok(value.clone()) } else { Err(unreadable(value, path, go_type(type_))) }
    }

    fn list(&mut self, value: &Value, fields: Fields, path: &str) -> Result<Value> {
        let items = value.as_array().ok_or_else(|| unreadable(value, path, &format!("[]v1.{}", fields.0)))?;
        let items = items.iter().enumerate();
        items.map(|(index, item)| self.object(item, fields, &format!("{path}[{index}]"))).collect()
    }

    fn by_name(
        &mut self,
        value: &Value,
        path: &str,
        mut read: impl FnMut(&mut Self, &Value, &str) -> Result<Value>,
    ) -> Result<Value> {
        let fields = value.as_object().ok_or_else(|| unreadable(value, path, "map[string]v1.JSONSchemaProps"))?;
        let fields = fields.iter();
        let read: Result<Map<String, Value>> =
            fields.map(|(name, value)| Ok((name.clone(), read(self, value, &format!("{path}.{name}"))?))).collect();
        read.map(Value::Object)
    }

    /// A schema, or a flag or a list. The server reads these apart, and does not tell what is unknown there.
    fn either(&mut self, value: &Value, type_: Type, path: &str) -> Result<Value> {
        self.silent += 1;
        let read = match (value, type_) {
            (Value::Object(_), _) => self.object(value, SCHEMA, path),
            (Value::Bool(_), Type::SchemaOrBool) => Ok(value.clone()),
            (Value::Array(_), Type::SchemaOrArray) => self.list(value, SCHEMA, path),
            (_, Type::SchemaOrBool) => Err("boolean or JSON schema expected".to_owned()),
            _ => Ok(Value::Array(Vec::new())),
        };
        self.silent -= 1;
        read
    }

    fn dependency(&mut self, value: &Value, path: &str) -> Result<Value> {
        self.silent += 1;
        let read = match value {
            Value::Object(_) => self.object(value, SCHEMA, path),
            other => Ok(other.clone()),
        };
        self.silent -= 1;
        read
    }
}

/// Whether a value is what the field is if it is not there.
fn is_zero(value: &Value, type_: Type) -> bool {
    match type_ {
        Type::Text | Type::Bytes => value == "",
        Type::Flag => *value == false,
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
        Type::Flag | Type::OptionalFlag => "bool",
        Type::Int64 => "int64",
        Type::Int32 => "int32",
        Type::Float => "float64",
        Type::Bytes => "[]uint8",
        Type::Texts => "[]string",
        Type::TextsByName => "map[string]string",
        Type::ListOfJson => "[]v1.JSON",
        _ => "string",
    }
}

fn unreadable(value: &Value, path: &str, type_: &str) -> String {
    let found = go::json_type(value);
    format!("json: cannot unmarshal {found} into Go struct field .{path} of type {type_}")
}
