//! Types whose schema says less, or other, than what they are: known by their name or by their form.

use serde_json::{Value, json};

use super::gather::Said;
use super::{EmbeddedMetadata, INT_OR_STRING, LIST_TYPE, Node, Options, PRESERVE};

pub(super) const UNIT: &str = "a unit has no value in JSON; leave the field out, or use a struct";
pub(super) const TUPLE: &str = "a tuple has no structural schema; use a struct with named fields";
pub(super) const BYTES: &str = "a list of bytes is a list of numbers in JSON, and base64 to all of Kubernetes; use \
                                `k8s_openapi::ByteString` with `#[schemars(with = \"String\", extend(\"format\" = \"byte\"))]`, \
                                or `Vec<u16>` if a list of numbers is meant";
pub(super) const FLOAT: &str = "a float is not the same in all languages and encodings, and Kubernetes' conventions forbid it; \
                                use an integer of a smaller unit or a `Quantity`, or allow it with `#[schema(allow_float)]`";
const DURATION: &str = "a `std::time::Duration` is `{secs, nanos}` in JSON, which nobody writes by hand; use a number whose \
                        name says the unit, or a `String` such as `1h30m` with a pattern";
const SYSTEM_TIME: &str = "a `std::time::SystemTime` is `{secs_since_epoch, nanos_since_epoch}` in JSON; use \
                           `k8s_openapi::apimachinery::pkg::apis::meta::v1::Time`";

/// What controller-gen writes for a `resource.Quantity`: the grammar in its docs, as an expression.
const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// The schema of a type of Kubernetes' own that k8s-openapi's cannot be used for. Docs are left to the field.
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

/// `None` for all fields.
fn metadata(carries: EmbeddedMetadata) -> Option<Value> {
    let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
    match carries {
        EmbeddedMetadata::Full => None,
        EmbeddedMetadata::None => Some(json!({"type": "object", EMPTY: true})),
        EmbeddedMetadata::Subset => Some(json!({"type": "object", "properties": {
            "annotations": texts,
            "finalizers": {"type": "array", "items": {"type": "string"}, LIST_TYPE: "set"},
            "labels": texts,
            "name": {"type": "string"},
            "namespace": {"type": "string"},
        }})),
    }
}

/// The mark of an object that has no fields; one that says nothing takes any.
pub(super) const EMPTY: &str = "x-logger-empty";

/// What is wrong with an object of this form.
pub(super) fn form(node: &Node) -> Option<&'static str> {
    let properties = node.get("properties")?.as_object()?;
    match properties.keys().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["nanos", "secs"] => Some(DURATION),
        ["nanos_since_epoch", "secs_since_epoch"] => Some(SYSTEM_TIME),
        _ => None,
    }
}

/// The formats the server checks, from `apiextensions-apiserver/pkg/apiserver/validation/formats.go`; of all others it warns.
const FORMATS: &[&str] = &[
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "date-time",
    "datetime",
    "double",
    "duration",
    "email",
    "float",
    "hexcolor",
    "hostname",
    "int32",
    "int64",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "k8s-long-name",
    "k8s-short-name",
    "mac",
    "password",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
];

/// Leaves the formats the server knows. An `ip` is one of two it knows.
pub(super) fn format(node: &mut Node, said: &mut Said) {
    let Some(format) = node.get("format").and_then(Value::as_str) else { return };
    if format == "ip" {
        let either = json!([{"format": "ipv4"}, {"format": "ipv6"}]);
        said.junctors.push(Node::from_iter([("anyOf".to_owned(), either)]));
    }
    if !FORMATS.contains(&format) {
        node.remove("format");
    }
}
