//! Types whose generated schema is incomplete or misleading, recognized by name or by their properties.

use kubewright_names::extension::Extension;
use serde_json::{Value, json};

use super::{EmbeddedMetadata, INT_OR_STRING, LIST_TYPE, Node, Options, PRESERVE, flattened::Flattened};
use crate::value::is_supported_format;

pub(super) const UNIT: &str = "a unit type has no JSON representation; remove the field, or use a struct";
pub(super) const TUPLE: &str = "a tuple has no structural schema; use a struct with named fields";
pub(super) const BYTES: &str = "a `Vec<u8>` is a list of numbers in JSON, but base64 in Kubernetes APIs; use \
                                `k8s_openapi::ByteString` with `#[schemars(with = \"String\", extend(\"format\" = \
                                \"byte\"))]`, or `Vec<u16>` for a list of numbers";
pub(super) const FLOAT: &str = "floats differ between languages and encodings, and the Kubernetes API conventions \
                                forbid them; use an integer of a smaller unit or a `Quantity`, or allow it with \
                                `#[schema(allow_float)]`";
const DURATION: &str = "a `std::time::Duration` is `{secs, nanos}` in JSON, which is hard to write by hand; use an \
                        integer with the unit in its name, or a `String` such as `1h30m` with a pattern";
const SYSTEM_TIME: &str = "a `std::time::SystemTime` is `{secs_since_epoch, nanos_since_epoch}` in JSON; use \
                           `k8s_openapi::apimachinery::pkg::apis::meta::v1::Time`";

/// The pattern that controller-gen generates for `resource.Quantity`, after the grammar in its documentation.
const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// Returns the schema of a Kubernetes type whose schema of k8s-openapi is not suitable. It has no description.
pub(super) fn type_of(name: &str, options: &Options) -> Option<Value> {
    Some(match name.strip_prefix("io.k8s.")? {
        "apimachinery.pkg.util.intstr.IntOrString" => json!({ INT_OR_STRING: true }),
        "apimachinery.pkg.api.resource.Quantity" => json!({ INT_OR_STRING: true, "pattern": QUANTITY }),
        "apimachinery.pkg.runtime.RawExtension" => json!({"type": "object", PRESERVE: true}),
        "apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON"
        | "apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray"
        | "apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool"
        | "apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray" => json!({ PRESERVE: true }),
        "apimachinery.pkg.apis.meta.v1.ObjectMeta" => metadata(options.metadata)?,
        _ => return None,
    })
}

/// Returns the schema of an embedded `ObjectMeta`. `None` for the full schema of k8s-openapi.
fn metadata(fields: EmbeddedMetadata) -> Option<Value> {
    let string_map = json!({"type": "object", "additionalProperties": {"type": "string"}});
    match fields {
        EmbeddedMetadata::Full => None,
        EmbeddedMetadata::None => Some(json!({"type": "object", Extension::Empty.name(): true})),
        EmbeddedMetadata::Subset => Some(json!({"type": "object", "properties": {
            "annotations": string_map,
            "finalizers": {"type": "array", "items": {"type": "string"}, LIST_TYPE: "set"},
            "labels": string_map,
            "name": {"type": "string"},
            "namespace": {"type": "string"},
        }})),
    }
}

/// Returns the error of an object with the fields of a `std` type, whose fields have no Rust names.
pub(super) fn std_type_error(node: &Node) -> Option<&'static str> {
    let properties = node.get("properties")?.as_object()?;
    if properties.values().any(|schema| schema.get(Extension::RustField.name()).is_some()) {
        return None;
    }
    match properties.keys().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["nanos", "secs"] => Some(DURATION),
        ["nanos_since_epoch", "secs_since_epoch"] => Some(SYSTEM_TIME),
        _ => None,
    }
}

/// Removes a format that the server does not support. An `ip` is either `ipv4` or `ipv6`.
pub(super) fn remove_unsupported_format(node: &mut Node, flattened: &mut Flattened) {
    let Some(format) = node.get("format").and_then(Value::as_str) else { return };
    if format == "ip" {
        let either = json!([{"format": "ipv4"}, {"format": "ipv6"}]);
        flattened.junctors.push(Node::from_iter([("anyOf".to_owned(), either)]));
    }
    let is_number_format = matches!(format, "int32" | "int64" | "float" | "double");
    if !is_number_format && !is_supported_format(format) {
        node.remove("format");
    }
}
