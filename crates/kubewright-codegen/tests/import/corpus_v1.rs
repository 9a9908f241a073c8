//! Version `v1` of group `corpus.example.com`, imported with `cargo xtask crd import`.
// Documentation and names are those of the definition.
#![allow(missing_docs, rustdoc::bare_urls, rustdoc::broken_intra_doc_links, rustdoc::invalid_html_tags)]
#![allow(rustdoc::invalid_rust_codeblocks)]
#![allow(clippy::doc_lazy_continuation, clippy::doc_link_with_quotes, clippy::needless_doctest_main, clippy::doc_markdown)]
#![allow(clippy::doc_overindented_list_items, clippy::enum_variant_names, clippy::large_enum_variant)]
#![allow(clippy::struct_excessive_bools, clippy::struct_field_names, clippy::too_long_first_doc_paragraph)]
#![allow(deprecated)]

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta, Time};
use k8s_openapi::apimachinery::pkg::runtime::RawExtension;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubewright_core::{ApiObject, ApiType};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[cfg_attr(not(doctest), doc = " Gadget is of every shape.")]
#[cfg_attr(not(doctest), doc = "")]
#[cfg_attr(not(doctest), doc = "   * It has a list,")]
#[cfg_attr(not(doctest), doc = "     with a line that is continued.")]
#[cfg_attr(not(doctest), doc = "")]
#[cfg_attr(not(doctest), doc = " ```")]
#[cfg_attr(not(doctest), doc = " and: code")]
#[cfg_attr(not(doctest), doc = " ```")]
#[kubewright_core::defaults]
#[derive(Clone, Debug, PartialEq, ApiObject)]
#[genclient]
#[k8s(
    plural = "gadgets",
    singular = "gadgetry",
    short_names = ["gd"],
    categories = ["all"],
    storage,
    conversion(none = "as in the imported definition"),
    subresource(
        status,
        scale(
            spec_path = ".spec.replicas",
            status_path = ".status.replicas",
            selector_path = ".status.selector"
        )
    ),
    selectable_fields = [".spec.color"],
    metadata(annotations = ["helm.sh/resource-policy=keep"], labels = ["app=gadgets"]),
    printcolumns = [string(
        "Color",
        ".spec.color"
    ).description("What it looks like").priority(1),
    integer("Replicas", ".spec.replicas").format("int32"),
    date("Age", ".metadata.creationTimestamp")]
)]
#[schema(
    validation(
        rule = "self.metadata.name != self.spec.color",
        message = "a gadget is not called by its color"
    )
)]
pub struct Gadget {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    /// The desired state.
    pub spec: GadgetSpec,
    /// What was observed.
    #[default(with = default_gadget_status)]
    pub status: Option<GadgetStatus>,
}

fn default_gadget_status() -> GadgetStatus {
    GadgetStatus {
        conditions: None,
        replicas: Some(0),
        selector: None,
    }
}

/// The desired state.
#[kubewright_core::defaults]
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
#[serde(rename_all = "camelCase")]
#[schema(
    validation(
        rule = r#"!has(self.replicas) || self.replicas > 0 || self.type == "big""#,
        message_expression = "'not none'",
        reason = "FieldValueForbidden",
        field_path = ".replicas"
    )
)]
#[schema(
    validation(
        rule = r"self.size >= 0
&& self.size < 100",
        message = "a size of two digits"
    )
)]
pub struct GadgetSpec {
    #[serde(rename = "$ref")]
    #[schemars(description = r"Ends with a line.
")]
    #[schema(format = "uri")]
    pub r#ref: Option<String>,
    /// One of two.
    pub action: Option<Action>,
    /// Restricted by alternatives of other kinds.
    pub address: Option<Address>,
    pub annotations: Option<BTreeMap<String, String>>,
    /// Any JSON.
    pub anything: Option<Value>,
    /// As base64.
    #[schemars(with = "Option<String>")]
    #[schema(format = "byte")]
    pub bytes: Option<ByteString>,
    /// One of two, beside another.
    pub choice: Option<Choice>,
    #[schema(values = [301, 302])]
    pub code: Option<i32>,
    /// A word.
    #[schema(length = 1..= 63, pattern = r"^[a-z]\w*$")]
    #[schema(validation(rule = "self == oldSelf", message = "it's immutable"))]
    #[schema(
        validation(rule = "oldSelf.hasValue() || self != 'none'", optional_old_self)
    )]
    pub color: String,
    /// Any object.
    #[apply(atomic)]
    pub config: Option<RawExtension>,
    /// Has no fields.
    pub empty: Option<Empty>,
    #[schema(allow_float)]
    pub exact: Option<f64>,
    /// A list of documented items.
    #[schema(list_type = atomic)]
    pub hosts: Option<Vec<Host>>,
    /// Replaced together.
    #[schema(properties = 1..= 8, map_type = atomic)]
    pub labels: Option<BTreeMap<String, Label>>,
    pub limits: Option<BTreeMap<String, Quantity>>,
    #[schema(each(items = ..= 3, each(no_format, min = 0)))]
    pub matrix: Option<Vec<Vec<i64>>>,
    /// A word, or nothing.
    pub mode: Option<SpecMode>,
    /// May be null.
    #[schema(nullable)]
    pub nothing: Option<String>,
    #[schema(values = ["a-b", "a b"])]
    pub odd: Option<String>,
    /// Some are known.
    pub open: Option<Open>,
    /// A set.
    #[serde(rename = "podIPs")]
    #[schema(items = 1..= 4, list_type = set, each(length = ..= 45, format = "ipv4"))]
    pub pod_ips: Option<Vec<String>>,
    /// Merged by their names.
    #[default(with = default_gadget_spec_ports)]
    #[schema(list_type = map, list_map_keys = ["name", "protocol"])]
    pub ports: Vec<Port>,
    #[default(1.0)]
    #[schema(allow_float, no_format, min = 0.5)]
    pub ratio: f64,
    /// Replaced together.
    pub reference: Option<Reference>,
    /// How many.
    #[default(1)]
    #[schema(min = 0, max = 10, multiple_of = 1, exclusive_max)]
    pub replicas: i32,
    /// A whole object.
    #[apply(atomic)]
    #[schema(embedded_resource)]
    pub resource: Option<RawExtension>,
    #[schema(allow_float)]
    pub rough: Option<f32>,
    /// A type of Kubernetes' own.
    pub selector: Option<LabelSelector>,
    #[default(true)]
    pub self_: bool,
    /// Made of parts by default.
    #[default(with = default_gadget_spec_shape)]
    pub shape: Shape,
    /// The same schema as its twin.
    pub sibling: Option<Sibling>,
    #[schema(no_format, min = -1, exclusive_min)]
    pub size: i64,
    /// A time.
    pub stamped: Time,
    /// For people.
    #[schema(
        title = "A title",
        external_docs(url = "https://example.com/gadgets", description = "More of it")
    )]
    #[schemars(extend("examples" = ["an example"]))]
    pub titled: Option<String>,
    pub total: Option<i64>,
    /// The same schema as its sibling.
    pub twin: Option<Sibling>,
    /// A keyword of Rust.
    #[default(SpecType::Big)]
    #[schema(required)]
    pub r#type: SpecType,
    pub undocumented: Option<Undocumented>,
    /// A text or a number.
    #[schema(pattern = "^[0-9]+%?$")]
    pub window: Option<IntOrString>,
}

fn default_gadget_spec_ports() -> Vec<Port> {
    Vec::from([
        Port {
            name: "http".to_owned(),
            protocol: "TCP".to_owned(),
            target: IntOrString::Int(80),
            weight: None,
        },
    ])
}

fn default_gadget_spec_shape() -> Shape {
    Shape {
        corner: Some(Corner { radius: None }),
        edges: Some(BTreeMap::from([("top".to_owned(), 1)])),
        kind: Some(ShapeKind::Round),
    }
}

/// One of two.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
pub enum Action {
    /// Goes somewhere.
    #[serde(rename = "move")]
    Move(Move),
    /// Stays.
    #[serde(rename = "stop")]
    Stop(Stop),
}

/// Goes somewhere.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct Move {
    pub to: String,
}

/// Stays.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
#[schema(length = ..= 5)]
pub struct Stop(pub String);

/// Restricted by alternatives of other kinds.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
#[schemars(
    extend(
        "not" = {"required":["value",
        "none"]},
        "oneOf" = [{"properties":{"type":{"enum":["IP"]},
        "value":{"anyOf":[{"format":"ipv4"},
        {"format":"ipv6"}]}}},
        {"properties":{"type":{"not":{"enum":["IP"]}}}}]
    )
)]
pub struct Address {
    pub none: Option<String>,
    pub r#type: Option<String>,
    #[schemars(extend("anyOf" = [{"maxLength":3}, {"minLength":5}]))]
    pub value: String,
}

/// One of two, beside another.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
#[schema(exactly_one_of = [left, r#type], at_least_one_of = [left, other], via = schema)]
pub struct Choice {
    pub left: Option<String>,
    pub other: Option<String>,
    pub r#type: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct Empty {}

/// Host is a name.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
#[schema(length = 1.., pattern = "^[a-z.]+$")]
pub struct Host(pub String);

/// LabelValue is short.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
#[schema(length = ..= 63)]
pub struct Label(pub String);

/// A word, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ApiType)]
pub enum SpecMode {
    Fast,
    Slow,
}

/// Some are known.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct Open {
    pub known: String,
    /// Unknown fields.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}

/// Port is one of them.
#[kubewright_core::defaults]
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct Port {
    pub name: String,
    #[default("TCP")]
    #[schema(required)]
    pub protocol: String,
    pub target: IntOrString,
    #[default(5)]
    pub weight: Option<i32>,
}

/// Replaced together.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
#[schema(properties = 1.., map_type = atomic)]
pub struct Reference {
    pub cluster: Option<String>,
    pub name: Option<String>,
    pub namespace: Option<String>,
}

/// Made of parts by default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct Shape {
    pub corner: Option<Corner>,
    pub edges: Option<BTreeMap<String, i32>>,
    pub kind: Option<ShapeKind>,
}

#[kubewright_core::defaults]
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct Corner {
    #[default(3)]
    pub radius: Option<i32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ApiType)]
pub enum ShapeKind {
    Round,
    Square,
}

/// The same schema as its twin.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct Sibling {
    /// Left or right.
    pub x: Option<String>,
}

/// A keyword of Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ApiType)]
pub enum SpecType {
    #[serde(rename = "big")]
    Big,
    #[serde(rename = "")]
    Empty,
    #[serde(rename = "*")]
    Star,
    #[serde(rename = "two words")]
    TwoWords,
    #[serde(rename = "TLS")]
    Tls,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct Undocumented {
    #[schema(format = "date-time")]
    pub at: Option<String>,
}

/// What was observed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct GadgetStatus {
    #[schema(list_type = map, list_map_keys = ["type"])]
    pub conditions: Option<Vec<Condition>>,
    pub replicas: Option<i32>,
    pub selector: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
pub struct Condition {
    /// When it began.
    pub since: Time,
    pub r#type: String,
}

#[deprecated]
#[derive(Clone, Debug, Default, PartialEq, ApiObject)]
#[genclient(non_namespaced)]
#[k8s(plural = "parts", allow(status_without_subresource))]
#[schema(preserve_unknown_fields)]
pub struct Part {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    pub spec: Option<PartSpec>,
    pub status: Option<Empty>,
}

#[kubewright_core::defaults]
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct PartSpec {
    #[serde(rename = "max_load")]
    pub max_load: Option<i32>,
    #[default(2)]
    #[schema(nullable)]
    pub replicas: Option<i32>,
    /// The type that the twin of a Gadget has.
    pub twin: Option<Sibling>,
}

#[derive(Clone, Debug, Default, PartialEq, ApiObject)]
#[genclient]
#[k8s(kind = "Valve-Cap", plural = "valve-caps")]
pub struct ValveCap {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    pub spec: Option<ValveCapSpec>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct ValveCapSpec {
    pub threads: Option<i32>,
}

kubewright_core::group_version! {
    group = "corpus.example.com", version = "v1", kinds = [Gadget, Part, ValveCap]
}
