//! From schemas to types: each object a struct, each list of words an enum, and what is equal one type.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::kubernetes::{self, Known};
use super::names;
use super::types::{At, Body, Docs, Facts, Field, Item, Type};
use crate::diagnostic::Diagnostics;

type Node = Map<String, Value>;

const INT_OR_STRING: &str = "x-kubernetes-int-or-string";
const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const EMBEDDED: &str = "x-kubernetes-embedded-resource";

/// Keywords that `#[schema(..)]` has a word for, on types and fields alike.
const SAID: &[&str] = &[
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "title",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-validations",
    EMBEDDED,
    PRESERVE,
];

/// Keywords that are written as they are, with schemars' `extend`.
const EXTENDED: &[&str] = &["allOf", "anyOf", "not", "oneOf"];

/// The types of one module, and what could not be one.
pub(super) struct Reader {
    pub(super) items: Vec<Item>,
    /// The schemas of the items, without their descriptions; null for those that are shared with nobody.
    schemas: Vec<Value>,
    /// Whether types of Kubernetes' own are looked for.
    kubernetes: bool,
    pub(super) found: Diagnostics,
    /// Types of Kubernetes' own, and where they stand for a schema with other descriptions.
    pub(super) described_otherwise: BTreeMap<String, Vec<String>>,
}

/// What there is to say of a value besides its type.
struct Place<'a> {
    docs: Option<&'a str>,
    /// It is an item or a value, and no field: docs are the type's.
    is_element: bool,
}

impl Place<'_> {
    /// The docs of a type that is made for this place.
    fn docs(&self) -> Docs {
        match self.docs {
            Some(docs) if !self.is_element => Docs::Any(docs.split("\n\n").next().unwrap_or(docs).to_owned()),
            docs => Docs::Exactly(docs.map(str::to_owned)),
        }
    }
}

impl Reader {
    pub(super) fn new(kubernetes: bool) -> Self {
        let (items, schemas, described_otherwise) = (Vec::new(), Vec::new(), BTreeMap::new());
        Reader { items, schemas, kubernetes, found: Diagnostics::default(), described_otherwise }
    }

    /// The type of a whole object.
    pub(super) fn root(&mut self, schema: &Value, at: &At) -> usize {
        let mut node = schema.as_object().cloned().unwrap_or_default();
        let docs = Docs::Exactly(take_text(&mut node, "description"));
        node.remove("type");
        if let Some(Value::Object(properties)) = node.get_mut("properties") {
            for (name, expected) in [
                ("apiVersion", json!({"type": "string"})),
                ("kind", json!({"type": "string"})),
                ("metadata", json!({"type": "object"})),
            ] {
                if properties.remove(name).is_some_and(|schema| schema != expected) {
                    let message = "the server's own schema counts here, and the generator says no more of it; check \
                                   it by a rule on the kind";
                    self.found.push(at.field(name).shown, message);
                }
            }
        }
        let item =
            self.push(Item { path: at.words.clone(), docs, facts: Facts::default(), body: empty() }, Value::Null);
        let fields = self.fields(&mut node, at);
        self.items[item].facts = self.facts(node, at);
        self.items[item].body = Body::Struct { fields, open: false };
        item
    }

    fn push(&mut self, item: Item, schema: Value) -> usize {
        self.items.push(item);
        self.schemas.push(schema);
        self.items.len() - 1
    }

    fn fields(&mut self, node: &mut Node, at: &At) -> Vec<Field> {
        let required: BTreeSet<String> = take_list(node, "required").into_iter().collect();
        let Some(Value::Object(properties)) = node.remove("properties") else { return Vec::new() };
        let names: BTreeSet<&String> = properties.keys().collect();
        if let Some(name) = required.iter().find(|name| !names.contains(name)) {
            let message = format!("`{name}` is required, and its schema is not there; no Rust field can be made of it");
            self.found.push(&at.shown, message);
        }
        let read = |(name, schema): (&String, &Value)| self.field(name, schema, required.contains(name), at);
        properties.iter().filter_map(read).collect()
    }

    fn field(&mut self, name: &str, schema: &Value, required: bool, at: &At) -> Option<Field> {
        let at = at.field(name);
        let mut node = self.node(schema, &at)?;
        let docs = take_text(&mut node, "description");
        let (default, nullable) = (node.remove("default"), node.remove("nullable").is_some());
        let (ty, facts) = self.value(node, &Place { docs: docs.as_deref(), is_element: false }, &at)?;
        Some(Field { json: name.to_owned(), docs, ty, required, nullable, facts, default })
    }

    /// The items of a list or the values of a map: docs and what `each(..)` cannot say make a type of them.
    fn element(&mut self, schema: &Value, at: &At) -> Option<(Type, Facts)> {
        let mut node = self.node(schema, at)?;
        let docs = take_text(&mut node, "description");
        if node.remove("default").is_some() {
            self.found.push(&at.shown, "only a field has a default in Rust; remove it, or move it to a field");
        }
        let nullable = node.remove("nullable").is_some();
        let (mut ty, mut facts) = self.value(node, &Place { docs: docs.as_deref(), is_element: true }, at)?;
        let says_docs = match &ty {
            Type::Own(_) => true,
            Type::Known(known) if known.is_struct() => true,
            _ => docs.is_none(),
        };
        if !says_docs || !facts.fits_each() {
            ty = Type::Own(self.wrapper(ty, std::mem::take(&mut facts), Docs::Exactly(docs), at));
        }
        facts.flags.extend(nullable.then_some("nullable"));
        Some((ty, facts))
    }

    /// A struct around one value.
    fn wrapper(&mut self, ty: Type, facts: Facts, docs: Docs, at: &At) -> usize {
        if facts.each.is_some() || facts.said.contains_key(EMBEDDED) {
            let message = "neither `each` nor `embedded_resource` can be said of a type, and its description or \
                           alternatives need one; take the description out, or make it an object";
            self.found.push(&at.shown, message);
        }
        let same = self.items.iter().position(|item| {
            matches!(&item.body, Body::Wrapper(own) if *own == ty) && item.facts == facts && item.docs == docs
        });
        let new = Item { path: at.words.clone(), docs, facts, body: Body::Wrapper(ty) };
        same.unwrap_or_else(|| self.push(new, Value::Null))
    }

    fn node(&mut self, schema: &Value, at: &At) -> Option<Node> {
        if schema.as_object().is_none() {
            self.found.push(&at.shown, format!("its schema is {schema}, which is no object; write one"));
        }
        schema.as_object().cloned()
    }

    fn value(&mut self, mut node: Node, place: &Place<'_>, at: &At) -> Option<(Type, Facts)> {
        if node.remove(INT_OR_STRING).is_some() {
            return Some(self.int_or_string(node, at));
        }
        let own = take_text(&mut node, "type");
        let ty = match own.as_deref() {
            None if node.remove(PRESERVE).is_some() => Type::Json,
            None => {
                self.found.push(&at.shown, "it has no `type`, so no Rust type can be made of it");
                return None;
            }
            Some("object") => return self.object(node, place, at),
            Some("array") => return self.list(node, at),
            Some("string") => self.text(&mut node, place, at),
            Some("boolean") => Type::Bool,
            Some(number @ ("integer" | "number")) => return self.number(number, node, at),
            Some(other) => {
                self.found.push(&at.shown, format!("`{other}` is no type of the API server's schemas"));
                return None;
            }
        };
        Some((ty, self.facts(node, at)))
    }

    fn int_or_string(&mut self, mut node: Node, at: &At) -> (Type, Facts) {
        let both = json!([{"type": "integer"}, {"type": "string"}]);
        if node.get("anyOf") == Some(&both) {
            node.remove("anyOf");
        }
        let known = match node.get("pattern").and_then(Value::as_str) == kubernetes::quantity_pattern() {
            true => {
                node.remove("pattern");
                &kubernetes::QUANTITY
            }
            false => &kubernetes::INT_OR_STRING,
        };
        (Type::Known(known), self.facts(node, at))
    }

    fn number(&mut self, own: &str, mut node: Node, at: &At) -> Option<(Type, Facts)> {
        let format = take_text(&mut node, "format");
        let ty = match (own, format.as_deref()) {
            ("integer", Some("int32")) => Type::Integer("i32"),
            ("integer", Some("int64") | None) => Type::Integer("i64"),
            ("number", Some("float")) => Type::Float("f32"),
            ("number", Some("double") | None) => Type::Float("f64"),
            (_, Some(format)) => {
                let known = if own == "integer" { "`int32` and `int64`" } else { "`float` and `double`" };
                let message = format!("the API server knows no format `{format}` of numbers, but {known}; correct it");
                self.found.push(&at.shown, message);
                return None;
            }
            (_, None) => return None,
        };
        let mut facts = self.facts(node, at);
        facts.flags.extend(format.is_none().then_some("no_format"));
        facts.flags.extend((own == "number").then_some("allow_float"));
        Some((ty, facts))
    }

    fn list(&mut self, mut node: Node, at: &At) -> Option<(Type, Facts)> {
        let Some(items) = node.remove("items") else {
            self.found.push(&at.shown, "it is a list, and says not of what; add `items`");
            return None;
        };
        let (ty, each) = self.element(&items, &at.below("[]"))?;
        let mut facts = self.facts(node, at);
        facts.each = (!each.is_empty()).then(|| Box::new(each));
        Some((Type::List(Box::new(ty)), facts))
    }

    fn text(&mut self, node: &mut Node, place: &Place<'_>, at: &At) -> Type {
        if let Some(words) = words(node) {
            node.remove("enum");
            let schema = json!({"type": "string", "enum": words});
            return Type::Own(self.own(schema, place.docs(), at, |_| (Facts::default(), Body::Words(words))));
        }
        let is_plain = node.keys().all(|key| key == "format");
        match node.get("format").and_then(Value::as_str) {
            // Its schema has a description, which only another replaces.
            Some("date-time") if is_plain && place.docs.is_some() => {
                node.remove("format");
                Type::Known(&kubernetes::TIME)
            }
            // It has no schema: the field says it.
            Some("byte") if is_plain && !place.is_element => Type::Known(&kubernetes::BYTES),
            _ => Type::Text,
        }
    }

    fn object(&mut self, mut node: Node, place: &Place<'_>, at: &At) -> Option<(Type, Facts)> {
        let embedded = node.remove(EMBEDDED);
        let mut facts = Facts::default();
        facts.said.extend(embedded.map(|value| (EMBEDDED.to_owned(), value)));
        let has_fields = node.contains_key("properties");
        match node.remove("additionalProperties") {
            Some(_) if has_fields => {
                let message = "fields beside `additionalProperties` have no structural schema; give the map a field of \
                               its own";
                self.found.push(&at.shown, message);
                None
            }
            Some(values) => {
                let (ty, each) = self.element(&values, &at.below("{}"))?;
                let more = self.facts(node, at);
                facts.said.extend(more.said);
                facts.extend.extend(more.extend);
                facts.each = (!each.is_empty()).then(|| Box::new(each));
                Some((Type::Map(Box::new(ty)), facts))
            }
            None if !has_fields && node.remove(PRESERVE).is_some() => {
                let more = self.facts(node, at);
                facts.said.extend(more.said);
                facts.extend.extend(more.extend);
                Some((Type::Known(&kubernetes::RAW), facts))
            }
            None => Some((self.of_fields(node, place, at), facts)),
        }
    }

    /// An object with fields: a type of Kubernetes' own, an enum of variants, or a struct.
    fn of_fields(&mut self, node: Node, place: &Place<'_>, at: &At) -> Type {
        if let Some(known) = self.known(&node, place, at) {
            return Type::Known(known);
        }
        Type::Own(self.own(Value::Object(node.clone()), place.docs(), at, |reader| match variants(&node) {
            Some(names) => (Facts::default(), Body::Variants(reader.variants(node, &names, at))),
            None => reader.of_struct(node, at),
        }))
    }

    fn known(&mut self, node: &Node, place: &Place<'_>, at: &At) -> Option<&'static Known> {
        if !self.kubernetes || !node.contains_key("properties") {
            return None;
        }
        let mut schema = node.clone();
        schema.insert("type".to_owned(), json!("object"));
        let (known, is_described_so) = kubernetes::of_schema(&Value::Object(schema))?;
        // Where no field has docs, those of the type are in the schema.
        if !is_described_so || place.is_element || place.docs.is_none() {
            let Known { module, name, .. } = known;
            self.described_otherwise.entry(format!("{module}::{name}")).or_default().push(at.shown.clone());
        }
        Some(known)
    }

    fn of_struct(&mut self, mut node: Node, at: &At) -> (Facts, Body) {
        let fields = self.fields(&mut node, at);
        let open = !fields.is_empty() && node.remove(PRESERVE).is_some();
        let mut facts = self.facts(node, at);
        choices(&mut facts, &fields);
        (facts, Body::Struct { fields, open })
    }

    fn variants(&mut self, mut node: Node, order: &[String], at: &At) -> Vec<Field> {
        let mut fields = self.fields(&mut node, at);
        fields.sort_by_key(|field| order.iter().position(|name| *name == field.json));
        for field in &mut fields {
            if field.ty == Type::Known(&kubernetes::BYTES) {
                field.ty = Type::Text;
            }
            let facts = std::mem::take(&mut field.facts);
            if !facts.is_empty() {
                let docs = Docs::Any(field.docs.clone().unwrap_or_default());
                let docs = if field.docs.is_some() { docs } else { Docs::Exactly(None) };
                field.ty = Type::Own(self.wrapper(field.ty.clone(), facts, docs, &at.field(&field.json)));
            }
        }
        fields
    }

    /// The item of a schema: one that is there, or a new one.
    fn own(&mut self, schema: Value, docs: Docs, at: &At, make: impl FnOnce(&mut Self) -> (Facts, Body)) -> usize {
        let agree = |own: &Docs| match (own, &docs) {
            (Docs::Exactly(own), Docs::Exactly(docs)) => own == docs,
            (_, Docs::Any(_)) | (Docs::Any(_), _) => true,
        };
        let same = (0..self.items.len()).find(|i| self.schemas[*i] == schema && agree(&self.items[*i].docs));
        if let Some(same) = same {
            if matches!(docs, Docs::Exactly(_)) {
                self.items[same].docs = docs;
            }
            return same;
        }
        let item = self.push(Item { path: at.words.clone(), docs, facts: Facts::default(), body: empty() }, schema);
        let (facts, body) = make(self);
        self.items[item].facts = facts;
        self.items[item].body = body;
        item
    }

    /// What is left of a node when its type is told.
    fn facts(&mut self, node: Node, at: &At) -> Facts {
        let mut facts = Facts::default();
        for (key, value) in node {
            match key.as_str() {
                "example" => drop(facts.extend.insert("examples".to_owned(), json!([value]))),
                key if EXTENDED.contains(&key) => drop(facts.extend.insert(key.to_owned(), value)),
                key if SAID.contains(&key) && super::facts::has_word(key, &value) => {
                    facts.said.insert(key.to_owned(), value);
                }
                key if SAID.contains(&key) => drop(facts.extend.insert(key.to_owned(), value)),
                key => {
                    let message = format!("`{key}` says nothing of such a value to the API server; remove it");
                    self.found.push(&at.shown, message);
                }
            }
        }
        facts
    }
}

fn empty() -> Body {
    Body::Struct { fields: Vec::new(), open: false }
}

fn take_text(node: &mut Node, key: &str) -> Option<String> {
    match node.remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn take_list(node: &mut Node, key: &str) -> Vec<String> {
    let list = node.remove(key);
    let all = list.as_ref().and_then(Value::as_array).into_iter().flatten();
    all.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The words of an `enum` that can be one in Rust.
fn words(node: &Node) -> Option<Vec<String>> {
    let values = node.get("enum")?.as_array()?;
    let words: Vec<String> = values.iter().map(|value| value.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    let variants: Vec<String> = words.iter().map(|word| names::variant(word)).collect();
    names::are_distinct(&variants).then_some(words)
}

/// The fields of an object that is what we make of an enum: one of them is there, and nothing else is said.
fn variants(node: &Node) -> Option<Vec<String>> {
    let properties = node.get("properties")?.as_object()?;
    let names = each_required(node.get("oneOf")?)?;
    let plain = |schema: &Value| schema.get("default").is_none() && schema.get("nullable").is_none();
    let variants: Vec<String> = names.iter().map(|name| names::variant(name)).collect();
    let is_enum = names.len() > 1
        && names.len() == properties.len()
        && node.len() == 2
        && names::are_distinct(&names)
        && names::are_distinct(&variants)
        && names.iter().all(|name| properties.get(name).is_some_and(plain));
    is_enum.then_some(names)
}

/// The `a` and `b` of `[{required: [a]}, {required: [b]}]`.
fn each_required(branches: &Value) -> Option<Vec<String>> {
    let name = |branch: &Value| match (branch.as_object()?.len(), branch.get("required")?.as_array()?.as_slice()) {
        (1, [Value::String(name)]) => Some(name.clone()),
        _ => None,
    };
    branches.as_array()?.iter().map(name).collect()
}

/// Alternatives of fields that `exactly_one_of` and `at_least_one_of` say.
fn choices(facts: &mut Facts, fields: &[Field]) {
    for (key, word) in [("oneOf", "exactly_one_of"), ("anyOf", "at_least_one_of")] {
        let Some(names) = facts.extend.get(key).and_then(each_required) else { continue };
        let is_optional = |name: &String| {
            fields.iter().any(|field| field.json == *name && !field.required && field.default.is_none())
        };
        if names.len() > 1 && names::are_distinct(&names) && names.iter().all(is_optional) {
            facts.extend.remove(key);
            facts.choices.push((word, names));
        }
    }
}
