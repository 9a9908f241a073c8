//! From the schema that schemars makes to the structural schema the API server takes. What cannot be said there is
//! refused with the Rust type and field it is on, and the way out.
//!
//! The rules are those of `apiextensions.k8s.io/v1`: every node has one type, nothing is nullable by itself, there are no
//! references, and alternatives only restrict what is declared beside them. Optional is not nullable: an absent field is
//! absent.
//!
//! [`structural()`] goes down the tree once. At each node it gathers what all conjuncts say (`gather`: references resolved,
//! facts intersected by `meet`), makes one node of alternatives (`union`), and settles the rest (`settle`).

mod branch;
mod cel;
mod contracts;
mod default;
mod derived;
mod exclude;
mod gather;
mod keys;
mod known;
mod label;
mod meet;
mod number;
pub mod overlay;
mod place;
mod settle;
mod union;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

pub use contracts::{both_contracts, with_field_facts};
pub use derived::of;
use place::Place;

type Node = Map<String, Value>;

const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const INT_OR_STRING: &str = "x-kubernetes-int-or-string";
const LIST_TYPE: &str = "x-kubernetes-list-type";
const MAP_TYPE: &str = "x-kubernetes-map-type";
const LIST_KEYS: &str = "x-kubernetes-list-map-keys";
const RULES: &str = "x-kubernetes-validations";

/// How much a schema may grow when its references are put in place. Twenty of Kubernetes' own largest, all in one object,
/// make 12,000 nodes; etcd takes no definition above 1.5 MB.
const MOST_NODES: usize = 30_000;
/// How deep a schema may nest. The API server's decoder ends at 10,000, a reader much earlier.
const DEEPEST: usize = 100;

/// How to say what there are several ways to say.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Set for the schema of a whole object: then `metadata`, `apiVersion` and `kind` are the server's.
    pub root: Option<Root>,
    /// What an `ObjectMeta` below the root may carry.
    pub metadata: EmbeddedMetadata,
    /// Whether floating-point numbers are taken without `x-logger-float: true` on the field.
    pub allow_floats: bool,
    /// How many levels of a type that contains itself are spelled out where nothing says `x-logger-depth`. The level below
    /// takes any value. `None` refuses such types.
    pub depth: Option<usize>,
    /// How the alternatives of an enum exclude each other where nothing says `x-logger-via`.
    pub via: Via,
}

/// What the root of an object needs beside its schema.
#[derive(Clone, Debug, Default)]
pub struct Root {
    /// The docs of the kind; empty for those in the schema.
    pub docs: String,
    /// Whether the status is a subresource. Then the server drops it from every create, and takes no alternatives at the
    /// root.
    pub status: bool,
}

/// What an `ObjectMeta` below the root may carry. The server fills in and checks only that of the root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmbeddedMetadata {
    /// Annotations, finalizers, labels, name and namespace: what a template can mean.
    #[default]
    Subset,
    /// Every field, managed fields included.
    Full,
    /// An object without fields, from which the server prunes all there is.
    None,
}

/// How the alternatives of an enum exclude each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Via {
    /// `oneOf` and `anyOf` over `required`: no CEL budget is spent.
    #[default]
    Schema,
    /// A rule in CEL: says in words what is wrong, and an unchanged old value passes an update.
    Cel,
}

/// A structural schema, and what was found on the way to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Structural {
    /// What goes under `openAPIV3Schema`.
    pub schema: Value,
    /// Private marks that are not for this pass: `x-logger-column` and so on, each by the path of its node.
    pub marks: BTreeMap<String, BTreeMap<String, Value>>,
    /// The Rust field, `my_types::v1::LoggerSpec::time_interval`, of each path whose field is known.
    pub rust: BTreeMap<String, String>,
}

/// What no structural schema can say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Where it is: `.spec.items[].x`, with `[]` for the items of a list and `{}` for the values of a map.
    pub path: String,
    /// The Rust type and field, `my_types::v1::LoggerSpec::time_interval`, where the schema says them.
    pub rust: Option<String>,
    /// What is wrong and the way out.
    pub message: String,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Refusal { path, rust, message } = self;
        match rust {
            Some(rust) => write!(f, "`{rust}` ({path}): {message}"),
            None => write!(f, "`{path}`: {message}"),
        }
    }
}

/// The structural schema that says what this one says. Definitions that it refers to stand in its `$defs`.
///
/// # Errors
/// Everything in it that no structural schema can say.
pub fn structural(schema: &Value, options: &Options) -> Result<Structural, Vec<Refusal>> {
    let mut pass = Pass::new(schema, options);
    let rust = place::find(schema, place::TYPE).and_then(Value::as_str).map(str::to_owned);
    let at = Place { rust, depth: options.depth, ..Place::default() }.with_depth_of(schema);
    let mut said = pass.gather(schema, &at);
    if let (Some(_), Some(Value::Object(properties))) = (&options.root, said.node.get_mut("properties")) {
        // The metadata of the root is the server's own.
        properties.remove("metadata");
    }
    let mut node = pass.settle(said, &at);
    if let Some(root) = &options.root {
        pass.root(&mut node, root);
    }
    match pass.refusals.is_empty() {
        true => Ok(Structural { schema: Value::Object(node), marks: pass.marks, rust: pass.rust }),
        false => Err(pass.refusals),
    }
}

/// One walk over a schema.
struct Pass<'a> {
    document: &'a Value,
    options: &'a Options,
    /// The definitions that are being put in place, outermost first.
    open: Vec<String>,
    nodes: usize,
    marks: BTreeMap<String, BTreeMap<String, Value>>,
    rust: BTreeMap<String, String>,
    refusals: Vec<Refusal>,
}

impl<'a> Pass<'a> {
    fn new(document: &'a Value, options: &'a Options) -> Self {
        let (open, marks, rust, refusals) = (Vec::new(), BTreeMap::new(), BTreeMap::new(), Vec::new());
        Pass { document, options, open, nodes: 0, marks, rust, refusals }
    }

    fn refuse(&mut self, at: &Place, message: impl Into<String>) {
        let refusal = Refusal { path: at.path.clone(), rust: at.rust.clone(), message: message.into() };
        if !self.refusals.contains(&refusal) {
            self.refusals.push(refusal);
        }
    }

    /// Whether there is room for one more node; said once if not.
    fn has_room(&mut self, at: &Place) -> bool {
        self.nodes += 1;
        if at.level > DEEPEST {
            self.refuse(at, format!("it nests more than {DEEPEST} levels deep; make the types flatter"));
            return false;
        }
        if self.nodes == MOST_NODES {
            let message = format!(
                "the schema grows beyond {MOST_NODES} nodes; use `#[schema(preserve_unknown_fields)]` on a part"
            );
            self.refuse(at, message);
        }
        self.nodes < MOST_NODES
    }

    /// One node and all below it.
    fn node(&mut self, schema: &Value, at: &Place) -> Node {
        if !self.has_room(at) {
            return Node::new();
        }
        let open = self.open.len();
        let at = at.with_depth_of(schema);
        let said = self.gather(schema, &at);
        let node = self.settle(said, &at);
        self.open.truncate(open);
        node
    }

    /// What every object has.
    fn root(&mut self, node: &mut Node, root: &Root) {
        let status_is_required = strings(node.get("required")).any(|name| name == "status");
        if root.status && status_is_required {
            let at = Place { path: ".status".to_owned(), rust: self.rust.get(".status").cloned(), ..Place::default() };
            self.refuse(&at, "a new object has no status: make it an `Option`, or add `#[serde(default)]`");
        }
        if let Some(Value::Array(required)) = node.get_mut("required") {
            required.retain(|name| name != "metadata");
        }
        node.retain(|key, value| key != "required" || value.as_array().is_some_and(|required| !required.is_empty()));
        node.insert("type".to_owned(), json!("object"));
        if !root.docs.is_empty() {
            node.insert("description".to_owned(), json!(root.docs));
        }
        if let Value::Object(properties) = node.entry("properties").or_insert_with(|| json!({})) {
            for (name, schema) in [
                ("metadata", json!({"type": "object"})),
                ("apiVersion", json!({"type": "string", "description": "Group and version of this object's form."})),
                ("kind", json!({"type": "string", "description": "What this object is, in CamelCase."})),
            ] {
                properties.insert(name.to_owned(), schema);
            }
        }
    }
}

/// The strings of a list; none if it is no list.
fn strings(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn is_true(node: &Node, key: &str) -> bool {
    node.get(key) == Some(&Value::Bool(true))
}

#[cfg(test)]
mod tests;
