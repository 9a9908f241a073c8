//! One structural node of what was said of it, and its children.

use serde_json::{Value, json};

use super::gather::Said;
use super::place::{Place, Times};
use super::{INT_OR_STRING, LIST_TYPE, Node, PRESERVE, Pass, Via, default, is_true, keys, known, number};
use crate::schema::KEYWORDS;

/// Marks that are for this pass alone.
const OWN_MARKS: &[&str] = &[
    keys::RULE,
    known::EMPTY,
    number::BYTE,
    "x-logger-depth",
    "x-logger-each",
    "x-logger-float",
    "x-logger-no-format",
    "x-logger-nullable",
    "x-logger-schemaless",
    "x-logger-via",
];

impl Pass<'_> {
    /// The node, whole.
    pub(super) fn settle(&mut self, mut said: Said, at: &Place) -> Node {
        if let Some(rust) = &at.rust {
            self.rust.insert(at.path.clone(), rust.clone());
        }
        self.root_has_no_alternatives(&mut said, at);
        self.unite(&mut said, at);
        self.marks(&said, at);
        each(&mut said);
        if is_true(&said.marks, "x-logger-nullable") {
            said.meet("nullable", json!(true));
        }
        if is_true(&said.marks, "x-logger-no-format") {
            said.node.remove("format");
        }
        infer_type(&mut said);
        if let Some(message) = known::form(&said.node) {
            said.problem(message);
        }
        let at = &Place { floats: at.floats || allows_floats(&said.marks), ..at.clone() };
        self.floats(&mut said, at);
        keys_cost_little(&mut said, at);
        if !said.problems.is_empty() {
            return self.opaque(said, at);
        }
        let Said { mut node, junctors, unique, marks, .. } = said;
        int_or_string(&mut node);
        sort_required(&mut node);
        self.children(&mut node, at);
        set_of_scalars(&mut node, unique);
        self.has_type(&mut node, at, is_true(&marks, known::EMPTY), is_true(&marks, "x-logger-schemaless"));
        self.keywords_are_known(&node, at);
        self.has_values(&node, at);
        self.null_is_no_word(&node, at);
        self.default_obeys_the_schema(&mut node, at);
        place_junctors(&mut node, junctors);
        node
    }

    fn is_root(&self, at: &Place) -> bool {
        at.path.is_empty() && self.options.root.is_some()
    }

    /// The server takes none at the root if there is a status subresource.
    fn root_has_no_alternatives(&self, said: &mut Said, at: &Place) {
        if !self.is_root(at) || self.options.root.as_ref().is_some_and(|root| !root.status) {
            return;
        }
        if !said.unions.is_empty() && self.options.via == Via::Schema {
            said.marks.insert("x-logger-via".to_owned(), json!("cel"));
        }
        if !said.junctors.is_empty() {
            said.problem("an object with a status takes no `oneOf`, `anyOf` or `not` at its root; write a rule in CEL");
        }
    }

    /// Any value, where that is asked for; else what is wrong.
    fn opaque(&mut self, said: Said, at: &Place) -> Node {
        if is_true(&said.node, PRESERVE) {
            let kept = ["description", "example", "externalDocs", "nullable", "title", PRESERVE];
            return said.node.into_iter().filter(|(key, _)| kept.contains(&key.as_str())).collect();
        }
        for problem in said.problems {
            self.refuse(at, problem);
        }
        Node::new()
    }

    fn marks(&mut self, said: &Said, at: &Place) {
        for (mark, value) in said.marks.iter().filter(|(mark, _)| !OWN_MARKS.contains(&mark.as_str())) {
            self.marks.entry(mark.clone()).or_default().insert(at.path.clone(), value.clone());
        }
    }

    fn floats(&self, said: &mut Said, at: &Place) {
        if said.get("type") == Some(&json!("number")) && !at.floats && !self.options.allow_floats {
            said.problem(known::FLOAT);
        }
    }

    fn children(&mut self, node: &mut Node, at: &Place) {
        if let Some(Value::Object(properties)) = node.get_mut("properties") {
            for (name, schema) in properties {
                let at = at.property(name, schema).with_depth_of(schema);
                *schema = Value::Object(self.node(&schema.take(), &at));
            }
        }
        let times = if node.contains_key("maxItems") { Times::Bounded } else { Times::Unbounded };
        if let Some(items) = node.get_mut("items") {
            *items = Value::Object(self.element(&items.take(), at, ("[]", times)));
        } else if node.get("type") == Some(&json!("array")) {
            self.refuse(at, "an array that holds nothing cannot be part of an API; say what its items are");
        }
        self.values_of_a_map(node, at);
    }

    /// A `None` in a list or a map is a null: there is no field that could be absent.
    fn element(&mut self, schema: &Value, at: &Place, (step, times): (&str, Times)) -> Node {
        let below = Place { times: times.max(at.times), ..at.below(step).with_depth_of(schema) };
        if !self.has_room(&below) {
            return Node::new();
        }
        let open = self.open.len();
        let mut said = self.gather(schema, &below);
        if is_true(&said.marks, number::BYTE) && step == "[]" {
            self.refuse(at, known::BYTES);
        }
        if said.null {
            said.meet("nullable", json!(true));
        }
        let node = self.settle(said, &below);
        self.open.truncate(open);
        node
    }

    fn values_of_a_map(&mut self, node: &mut Node, at: &Place) {
        let Some(schema) = node.remove("additionalProperties") else { return };
        let times = if node.contains_key("maxProperties") { Times::Bounded } else { Times::Unbounded };
        let schema = self.element(&schema, at, ("{}", times));
        if !node.contains_key("properties") && !self.is_root(at) {
            node.insert("additionalProperties".to_owned(), Value::Object(schema));
        } else if schema.contains_key(PRESERVE) {
            node.insert(PRESERVE.to_owned(), json!(true));
        } else {
            let message = "fields beside a flattened map have no structural schema unless its values are \
                           `serde_json::Value`; give the map a field of its own";
            self.refuse(at, message);
        }
    }

    /// A node that says nothing but its description is any JSON, an object without fields any object; all others must
    /// have a type.
    fn has_type(&mut self, node: &mut Node, at: &Place, is_empty: bool, is_schemaless: bool) {
        let is_root = self.is_root(at);
        let bare_object = node.get("type") == Some(&json!("object"))
            && !["properties", "additionalProperties"].iter().any(|key| node.contains_key(*key));
        if bare_object && !is_empty && !is_root {
            node.insert(PRESERVE.to_owned(), json!(true));
        }
        if is_root || ["type", INT_OR_STRING, PRESERVE].iter().any(|key| node.contains_key(*key)) {
            return;
        }
        let silent = ["default", "description", "example", "externalDocs", "nullable", "title"];
        if is_schemaless || node.keys().all(|key| silent.contains(&key.as_str())) {
            node.insert(PRESERVE.to_owned(), json!(true));
        } else {
            let message = "its JSON type is not known; derive `JsonSchema` or give it `#[schemars(with = \"..\")]`";
            self.refuse(at, message);
        }
    }

    /// Some value is within the bounds.
    fn has_values(&mut self, node: &Node, at: &Place) {
        for (least, most) in [
            ("minimum", "maximum"),
            ("minItems", "maxItems"),
            ("minLength", "maxLength"),
            ("minProperties", "maxProperties"),
        ] {
            let (Some(min), Some(max)) = (node.get(least), node.get(most)) else { continue };
            let strict = is_true(node, "exclusiveMinimum") || is_true(node, "exclusiveMaximum");
            let equal = min.as_f64() == max.as_f64();
            if min.as_f64() > max.as_f64() || (least == "minimum" && strict && equal) {
                let strictly = if strict && equal { ", one of which is exclusive" } else { "" };
                self.refuse(
                    at,
                    format!("no value fits both `{least}` {min} and `{most}` {max}{strictly}; correct one"),
                );
            }
        }
    }

    /// No null fits an `enum` for the server, not even if it is among its words.
    fn null_is_no_word(&mut self, node: &Node, at: &Place) {
        if node.contains_key("enum") && is_true(node, "nullable") {
            self.refuse(at, "the API server takes no null where there is an `enum`; add a word that stands for it");
        }
    }

    /// The server refuses a definition with a default that it would refuse as a value.
    fn default_obeys_the_schema(&mut self, node: &mut Node, at: &Place) {
        let Some(mut given) = node.remove("default") else { return };
        default::prune_nulls(&mut given, node);
        if given.is_null() {
            return;
        }
        if let (Some("set"), Value::Array(items)) = (node.get(LIST_TYPE).and_then(Value::as_str), &mut given) {
            items.sort_by_cached_key(Value::to_string);
        }
        if let Some(broken) = default::broken(&given, node) {
            self.refuse(at, format!("{broken}; change the default or the rule"));
        }
        node.insert("default".to_owned(), given);
    }

    /// A word the server does not know would be dropped, or refused, by it.
    fn keywords_are_known(&mut self, node: &Node, at: &Place) {
        for key in node.keys().filter(|key| !KEYWORDS.contains(&key.as_str())) {
            self.refuse(at, format!("the API server knows no schema keyword `{key}`; remove or correct it"));
        }
    }
}

/// The server refuses a rule about keys that runs too often, or over too many of them.
fn keys_cost_little(said: &mut Said, at: &Place) {
    let is_bounded = said.get("maxProperties").is_some();
    if is_true(&said.marks, keys::RULE) && (at.times == Times::Unbounded || at.times == Times::Bounded && !is_bounded) {
        said.problem(keys::COST);
    }
}

fn allows_floats(marks: &Node) -> bool {
    ["x-logger-float", "x-logger-allow-float"].iter().any(|mark| is_true(marks, mark))
}

/// Facts about the items of a list or the values of a map.
fn each(said: &mut Said) {
    let Some(facts) = said.marks.get("x-logger-each").cloned() else { return };
    match ["items", "additionalProperties"].into_iter().find(|key| said.get(key).is_some()) {
        Some(key) => said.meet(key, facts),
        None => {
            said.problem("`each` speaks of the items of a list or the values of a map, and this is neither; remove it")
        }
    }
}

fn infer_type(said: &mut Said) {
    if said.get("x-kubernetes-embedded-resource").is_some() && said.get("type").is_none() {
        return said.meet("type", json!("object"));
    }
    if ["type", INT_OR_STRING, PRESERVE].iter().any(|key| said.get(key).is_some()) {
        return;
    }
    let words = said.get("enum").and_then(Value::as_array);
    let all = |is: fn(&Value) -> bool| words.is_some_and(|words| words.iter().all(is));
    let inferred = match () {
        () if ["properties", "additionalProperties"].iter().any(|key| said.get(key).is_some()) => "object",
        () if said.get("items").is_some() => "array",
        () if all(Value::is_string) => "string",
        () if all(Value::is_i64) => "integer",
        () if all(Value::is_boolean) => "boolean",
        () => return,
    };
    said.meet("type", json!(inferred));
}

/// Two runs give the same file, whichever type of several in one object comes first.
fn sort_required(node: &mut Node) {
    if let Some(Value::Array(required)) = node.get_mut("required") {
        required.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
        required.dedup();
    }
}

fn int_or_string(node: &mut Node) {
    if is_true(node, INT_OR_STRING) {
        node.remove("type");
        node.remove("format");
    }
}

/// A set of scalars is a list of type set to the server; `uniqueItems` it refuses.
fn set_of_scalars(node: &mut Node, unique: bool) {
    let item = node.get("items").and_then(|items| items.get("type")).and_then(Value::as_str);
    let nullable = node.get("items").and_then(|items| items.get("nullable")).is_some();
    if unique && !nullable && item.is_some_and(|item| ["string", "integer", "number", "boolean"].contains(&item)) {
        node.entry(LIST_TYPE).or_insert(json!("set"));
    }
}

/// Alternatives stand on the node if their keyword is free, else together in `allOf`. That of an integer or a string must
/// be first there.
fn place_junctors(node: &mut Node, mut junctors: Vec<Node>) {
    let forms = Node::from_iter([("anyOf".to_owned(), json!([{"type": "integer"}, {"type": "string"}]))]);
    if is_true(node, INT_OR_STRING) {
        junctors.retain(|junctor| *junctor != forms);
        junctors.insert(0, forms);
    }
    junctors.dedup();
    let keys: Vec<&String> = junctors.iter().flat_map(Node::keys).collect();
    let distinct = keys.iter().enumerate().all(|(i, key)| !keys[..i].contains(key));
    match distinct {
        true => node.extend(junctors.into_iter().flatten()),
        false => drop(node.insert("allOf".to_owned(), junctors.into_iter().map(Value::Object).collect())),
    }
}
