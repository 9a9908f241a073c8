//! Conversion of the JSON schemas that schemars generates to structural schemas. A schema that cannot be converted is
//! an error with its Rust type and field, and with a suggestion.
//!
//! A structural schema of `apiextensions.k8s.io/v1` specifies a type at every node. It has no references, and
//! alternatives only restrict fields that are specified beside them. Optional is not nullable: an absent field is
//! absent.
//!
//! [`convert`] walks the tree once. At each node it merges all conjuncts (`flatten` resolves references, `merge`
//! intersects constraints), merges alternatives into one node (`union`), and completes the node (`normalize`).

mod cel_rule;
mod contracts;
mod default;
mod flatten;
mod flattened;
mod generate;
mod known_types;
mod location;
mod map_keys;
mod merge;
mod normalize;
mod number;
pub mod overlay;
mod union;
mod union_validation;
mod value_validation;
mod variant;

use std::collections::BTreeMap;

use kubewright_names::extension::Extension;
use serde_json::{Map, Value, json};

pub use contracts::{merge_contracts, with_field_constraints};
pub use generate::generate;
use location::Location;

type Node = Map<String, Value>;

const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const INT_OR_STRING: &str = "x-kubernetes-int-or-string";
const LIST_TYPE: &str = "x-kubernetes-list-type";
const MAP_TYPE: &str = "x-kubernetes-map-type";
const LIST_KEYS: &str = "x-kubernetes-list-map-keys";
const RULES: &str = "x-kubernetes-validations";

/// The maximum number of nodes of a schema with resolved references. Twenty of the largest Kubernetes types in one
/// object have 12,000 nodes. etcd rejects definitions larger than 1.5 MB.
const MAX_NODES: usize = 30_000;
/// The maximum depth of a schema. The decoder of the API server supports 10,000.
const MAX_DEPTH: usize = 100;

/// Options of the conversion.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Set for the schema of a root object, whose `metadata`, `apiVersion` and `kind` the server specifies.
    pub root: Option<Root>,
    /// The fields of an `ObjectMeta` below the root.
    pub metadata: EmbeddedMetadata,
    /// Whether floating-point numbers are allowed without `x-kubewright-float: true` on the field.
    pub allow_floats: bool,
    /// The number of expanded levels of a recursive type without
    /// `x-kubewright-depth`. The level below accepts any value. If `None`, recursive types are an error.
    pub depth: Option<usize>,
    /// How the variants of an enum without `x-kubewright-via` are validated.
    pub union_validation: UnionValidation,
}

/// Properties of the root object that are not part of its schema.
#[derive(Clone, Debug, Default)]
pub struct Root {
    /// The description of the kind. If empty, that of the schema is used.
    pub description: String,
    /// Whether the status is a subresource. If so, the server drops the status on create, and rejects alternatives at
    /// the root.
    pub status: bool,
}

/// The fields of an `ObjectMeta` below the root. The server only defaults and validates the metadata of the root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmbeddedMetadata {
    /// Annotations, finalizers, labels, name and namespace: the fields that are useful in a template.
    #[default]
    Subset,
    /// All fields, including managed fields.
    Full,
    /// An object without fields, from which the server prunes everything.
    None,
}

/// How the schema specifies that one variant of an enum matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnionValidation {
    /// With `oneOf` and `anyOf` over `required`. Consumes no CEL budget.
    #[default]
    Schema,
    /// With a CEL rule, which has a readable message, and which ratchets: an unchanged invalid value is accepted on
    /// update.
    Cel,
}

/// The values of extensions, by the paths of their nodes.
pub type Extensions = BTreeMap<Extension, BTreeMap<String, Value>>;

/// A structural schema with the information that is collected during the conversion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Structural {
    /// The value of `openAPIV3Schema`.
    pub schema: Value,
    /// The extensions that this module does not process, such as [`Extension::Column`], by the path of their node.
    pub extensions: Extensions,
    /// The Rust field by path, as in `my_types::v1::LoggerSpec::time_interval`.
    pub rust_fields: BTreeMap<String, String>,
}

/// A part of a schema that cannot be converted to a structural schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// The path, as in `.spec.items[].x`: `[]` for list items, and `{}` for map values.
    pub path: String,
    /// The Rust type and field, as in `my_types::v1::LoggerSpec::time_interval`, if known.
    pub rust_field: Option<String>,
    /// The source location of the field, or of the innermost field above it, as in `src/v1.rs:12`, if known.
    pub location: Option<String>,
    /// The keyword of the schema that is wrong, if it is one.
    pub keyword: Option<String>,
    /// What is wrong, and a suggestion.
    pub message: String,
}

impl std::fmt::Display for SchemaError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let SchemaError { path, rust_field, message, .. } = self;
        match rust_field {
            Some(rust_field) => write!(f, "`{rust_field}` ({path}): {message}"),
            None => write!(f, "`{path}`: {message}"),
        }
    }
}

impl std::error::Error for SchemaError {}

/// Converts a schema to a structural schema. References are resolved in its `$defs`.
///
/// # Errors
/// Returns all parts of the schema that cannot be converted.
pub fn convert(schema: &Value, options: &Options) -> Result<Structural, Vec<SchemaError>> {
    let mut converter = Converter::new(schema, options);
    let rust_field = location::find(schema, Extension::RustType.name()).and_then(Value::as_str).map(str::to_owned);
    let at = Location { rust_field, depth: options.depth, ..Location::default() }.with_depth_of(schema);
    let mut flattened = flatten::flatten(&mut converter, schema, &at);
    if let (Some(_), Some(Value::Object(properties))) = (&options.root, flattened.node.get_mut("properties")) {
        // The server specifies the metadata of the root.
        properties.remove("metadata");
    }
    let mut node = normalize::normalize(&mut converter, flattened, &at);
    if let Some(root) = &options.root {
        converter.complete_root(&mut node, root);
    }
    default::remove_marks(&mut node);
    let Converter { extensions, rust_fields, errors, .. } = converter;
    match errors.is_empty() {
        true => Ok(Structural { schema: Value::Object(node), extensions, rust_fields }),
        false => Err(errors),
    }
}

/// The state of one conversion.
struct Converter<'a> {
    document: &'a Value,
    options: &'a Options,
    /// The definitions that enclose the current node, outermost first.
    open_references: Vec<String>,
    node_count: usize,
    extensions: Extensions,
    rust_fields: BTreeMap<String, String>,
    errors: Vec<SchemaError>,
}

impl<'a> Converter<'a> {
    fn new(document: &'a Value, options: &'a Options) -> Self {
        Converter {
            document,
            options,
            open_references: Vec::new(),
            node_count: 0,
            extensions: BTreeMap::new(),
            rust_fields: BTreeMap::new(),
            errors: Vec::new(),
        }
    }

    fn error(&mut self, at: &Location, message: impl Into<String>) {
        self.push_error(at, None, message.into());
    }

    /// Adds an error about a keyword.
    fn error_about(&mut self, at: &Location, keyword: &str, message: impl Into<String>) {
        self.push_error(at, Some(keyword.to_owned()), message.into());
    }

    fn push_error(&mut self, at: &Location, keyword: Option<String>, message: String) {
        let Location { path, rust_field, source: location, .. } = at.clone();
        let error = SchemaError { path, rust_field, location, keyword, message };
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// Counts a node. Returns whether it is within the limits, and reports an exceeded limit once.
    fn count_node(&mut self, at: &Location) -> bool {
        self.node_count += 1;
        if at.level > MAX_DEPTH {
            self.error(at, format!("the schema nests more than {MAX_DEPTH} levels deep; flatten the types"));
            return false;
        }
        if self.node_count == MAX_NODES {
            let message = format!(
                "the schema has more than {MAX_NODES} nodes; use `#[schema(preserve_unknown_fields)]` on a part of it"
            );
            self.error(at, message);
        }
        self.node_count < MAX_NODES
    }

    /// Converts a node and its children.
    fn node(&mut self, schema: &Value, at: &Location) -> Node {
        if !self.count_node(at) {
            return Node::new();
        }
        let open_references = self.open_references.len();
        let at = at.with_depth_of(schema);
        let flattened = flatten::flatten(self, schema, &at);
        let node = normalize::normalize(self, flattened, &at);
        self.open_references.truncate(open_references);
        node
    }

    /// Adds the fields of every Kubernetes object to the root.
    fn complete_root(&mut self, node: &mut Node, root: &Root) {
        let status_is_required = strings(node.get("required")).any(|name| name == "status");
        if root.status && status_is_required {
            let rust_field = self.rust_fields.get(".status").cloned();
            let source =
                self.extensions.get(&Extension::Location).and_then(|of_paths| of_paths.get(".status")?.as_str());
            let source = source.map(str::to_owned);
            let at = Location { path: ".status".to_owned(), rust_field, source, ..Location::default() };
            self.error(&at, "a new object has no status; make it an `Option`, or add `#[serde(default)]`");
        }
        if let Some(Value::Array(required)) = node.get_mut("required") {
            required.retain(|name| name != "metadata");
        }
        node.retain(|key, value| key != "required" || value.as_array().is_some_and(|required| !required.is_empty()));
        node.insert("type".to_owned(), json!("object"));
        if !root.description.is_empty() {
            node.insert("description".to_owned(), json!(root.description));
        }
        if let Value::Object(properties) = node.entry("properties").or_insert_with(|| json!({})) {
            for (name, schema) in [
                ("metadata", json!({"type": "object"})),
                ("apiVersion", json!({"type": "string", "description": API_VERSION_DESCRIPTION})),
                ("kind", json!({"type": "string", "description": KIND_DESCRIPTION})),
            ] {
                properties.insert(name.to_owned(), schema);
            }
        }
    }
}

/// The description of `apiVersion` in the OpenAPI document of kube-apiserver.
const API_VERSION_DESCRIPTION: &str = "\
    APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized \
    schemas to the latest internal value, and may reject unrecognized values. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";

/// The description of `kind` in the OpenAPI document of kube-apiserver.
const KIND_DESCRIPTION: &str = "\
    Kind is a string value representing the REST resource this object represents. Servers may infer this from the \
    endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";

/// Returns the strings of a list.
fn strings(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn is_true(node: &Node, key: &str) -> bool {
    node.get(key) == Some(&Value::Bool(true))
}

#[cfg(test)]
mod tests;
