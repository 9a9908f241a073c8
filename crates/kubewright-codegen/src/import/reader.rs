//! Reads schemas into types: each object is a struct, each string enumeration an enum, and equal schemas share a type.
//!
//! The reader is lenient: a keyword without an attribute is ignored, and a value without a suitable type is any JSON. `fit`
//! compares the result with the original and adds overrides.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{
    kubernetes::{self, KubernetesType},
    model::{Body, Docs, Field, Item, SchemaAttributes, Type, Types},
    names,
};

type Node = Map<String, Value>;

const INT_OR_STRING: &str = "x-kubernetes-int-or-string";
const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const EMBEDDED: &str = "x-kubernetes-embedded-resource";

/// Keywords for `#[schemars(extend(..))]`.
const EXTENDED: &[&str] = &["allOf", "anyOf", "not", "oneOf"];

/// Reads the types of one module.
pub(super) struct Reader {
    pub(super) types: Types,
    /// The schemas of the items without their descriptions; null for items that are not shared.
    schemas: Vec<Value>,
    /// Whether Kubernetes types are reused.
    reuse_kubernetes: bool,
    /// Kubernetes types, and the paths of schemas with different descriptions.
    pub(super) described_otherwise: BTreeMap<String, Vec<String>>,
}

/// The location of a schema.
#[derive(Clone)]
struct Location {
    /// The definition, version and path, for messages.
    shown: String,
    /// The name of the type of the kind, and the words of the path below it, for names of types.
    words: Vec<String>,
}

impl Location {
    fn field(&self, name: &str) -> Location {
        let mut words = self.words.clone();
        words.push(names::pascal_case(name));
        Location { shown: format!("{}.{name}", self.shown), words }
    }

    /// Returns the location of the items of a list (`[]`) or the values of a map (`{}`). Its last word is singular.
    fn below(&self, suffix: &str) -> Location {
        let mut words = self.words.clone();
        let last = words.pop().unwrap_or_default();
        let singular = names::singular(&last);
        let word = if singular == last && self.words.len() > 1 { format!("{last}Item") } else { singular };
        words.push(word);
        Location { shown: format!("{}{suffix}", self.shown), words }
    }
}

/// How a value is used.
struct Usage<'a> {
    docs: Option<&'a str>,
    /// Whether it is an item of a list or a value of a map, whose description is that of its type.
    is_element: bool,
}

impl Usage<'_> {
    /// Returns the documentation of a type that is created for this value.
    fn docs(&self) -> Docs {
        match self.docs {
            Some(docs) if !self.is_element => Docs::Informative(docs.split("\n\n").next().unwrap_or(docs).to_owned()),
            docs => Docs::Exact(docs.map(str::to_owned)),
        }
    }
}

impl Reader {
    pub(super) fn new(reuse_kubernetes: bool) -> Self {
        let (types, schemas, described_otherwise) = (Types::default(), Vec::new(), BTreeMap::new());
        Reader { types, schemas, reuse_kubernetes, described_otherwise }
    }

    /// Reads the schema of a kind. Returns the index of its type.
    pub(super) fn root(&mut self, schema: &Value, shown: &str, type_name: &str, has_status: bool) -> usize {
        let location = Location { shown: format!("{shown} "), words: vec![type_name.to_owned()] };
        let mut node = schema.as_object().cloned().unwrap_or_default();
        let docs = Docs::Exact(take_text(&mut node, "description"));
        node.remove("type");
        if let Some(Value::Object(properties)) = node.get_mut("properties") {
            for name in ["apiVersion", "kind", "metadata"] {
                properties.remove(name);
            }
        }
        let item = self.push(new_item(&location, docs), Value::Null);
        let mut fields = self.fields(&mut node, &location);
        // A new object has no status, even if the schema requires it.
        for field in fields.iter_mut().filter(|field| has_status && field.json == "status") {
            field.required = false;
        }
        let mut attributes = self.attributes(node, None);
        add_choices(&mut attributes, &fields);
        self.types.items[item].attributes = attributes;
        self.types.items[item].body = Body::Struct { fields, open: false };
        item
    }

    fn push(&mut self, item: Item, schema: Value) -> usize {
        self.types.items.push(item);
        self.schemas.push(schema);
        self.types.items.len() - 1
    }

    fn fields(&mut self, node: &mut Node, location: &Location) -> Vec<Field> {
        let required: BTreeSet<String> = take_texts(node, "required").into_iter().collect();
        let Some(Value::Object(properties)) = node.remove("properties") else { return Vec::new() };
        let read = |(name, schema): (&String, &Value)| self.field(name, schema, required.contains(name), location);
        properties.iter().map(read).collect()
    }

    fn field(&mut self, name: &str, schema: &Value, required: bool, location: &Location) -> Field {
        let location = location.field(name);
        let mut node = schema.as_object().cloned().unwrap_or_default();
        let docs = take_text(&mut node, "description");
        let (default, nullable) = (node.remove("default"), node.remove("nullable").is_some());
        // The generator rejects a null beside an enumeration. The field is an `Option` in any case.
        let has_flag = nullable && !node.contains_key("enum");
        let usage = Usage { docs: docs.as_deref(), is_element: false };
        let (ty, mut attributes) = self.value(node, &usage, &location);
        attributes.flags.extend(has_flag.then_some("nullable"));
        Field { json: name.to_owned(), docs, ty, required, nullable, attributes, default, overrides: BTreeMap::new() }
    }

    /// Reads the items of a list or the values of a map. A description, or keywords that `each(..)` has no key for, require
    /// a dedicated type.
    fn element(&mut self, schema: &Value, location: &Location) -> (Type, SchemaAttributes) {
        let mut node = schema.as_object().cloned().unwrap_or_default();
        let docs = take_text(&mut node, "description");
        node.remove("default");
        let nullable = node.remove("nullable").is_some() && !node.contains_key("enum");
        let (mut ty, mut attributes) = self.value(node, &Usage { docs: docs.as_deref(), is_element: true }, location);
        let has_docs = match &ty {
            Type::Local(_) => true,
            Type::Kubernetes(known) if known.is_struct => true,
            _ => docs.is_none(),
        };
        let fits_type = attributes.each.is_none() && !attributes.keywords.contains_key(EMBEDDED);
        if (!has_docs || !attributes.fits_each()) && fits_type {
            ty = Type::Local(self.newtype(ty, std::mem::take(&mut attributes), Docs::Exact(docs), location));
        }
        if !attributes.fits_each() {
            attributes.extend.clear();
        }
        attributes.flags.extend(nullable.then_some("nullable"));
        (ty, attributes)
    }

    /// Returns a tuple struct around a value.
    fn newtype(&mut self, ty: Type, attributes: SchemaAttributes, docs: Docs, location: &Location) -> usize {
        let same = self.types.items.iter().position(|item| {
            matches!(&item.body, Body::Newtype(inner) if *inner == ty)
                && item.attributes == attributes
                && item.docs == docs
        });
        let new = Item { path: location.words.clone(), docs, attributes, body: Body::Newtype(ty) };
        same.unwrap_or_else(|| self.push(new, Value::Null))
    }

    fn value(&mut self, mut node: Node, usage: &Usage<'_>, location: &Location) -> (Type, SchemaAttributes) {
        if node.remove(INT_OR_STRING).is_some() {
            return self.int_or_string(node);
        }
        let ty = match take_text(&mut node, "type").as_deref() {
            Some("object") => return self.object(node, usage, location),
            Some("array") => return self.list(node, location),
            Some("string") => self.string(&mut node, usage, location),
            Some("boolean") => Type::Bool,
            Some(number @ ("integer" | "number")) => return self.number(number, node),
            _ => {
                node.remove(PRESERVE);
                Type::Json
            }
        };
        let attributes = self.attributes(node, Some(&ty));
        (ty, attributes)
    }

    fn int_or_string(&mut self, mut node: Node) -> (Type, SchemaAttributes) {
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
        let ty = Type::Kubernetes(known);
        let attributes = self.attributes(node, Some(&ty));
        (ty, attributes)
    }

    fn number(&mut self, json_type: &str, mut node: Node) -> (Type, SchemaAttributes) {
        let format = take_text(&mut node, "format");
        let ty = match (json_type, format.as_deref()) {
            ("integer", Some("int32")) => Type::Integer("i32"),
            ("integer", _) => Type::Integer("i64"),
            (_, Some("float")) => Type::Float("f32"),
            (..) => Type::Float("f64"),
        };
        let is_format_of_type = ["int32", "int64", "float", "double"].contains(&format.as_deref().unwrap_or_default());
        let mut attributes = self.attributes(node, Some(&ty));
        attributes.flags.extend((!is_format_of_type).then_some("no_format"));
        attributes.flags.extend((json_type == "number").then_some("allow_float"));
        (ty, attributes)
    }

    fn list(&mut self, mut node: Node, location: &Location) -> (Type, SchemaAttributes) {
        let items = node.remove("items").unwrap_or_default();
        let (item, each) = self.element(&items, &location.below("[]"));
        let ty = Type::List(Box::new(item));
        let mut attributes = self.attributes(node, Some(&ty));
        attributes.each = (!each.is_empty()).then(|| Box::new(each));
        (ty, attributes)
    }

    fn string(&mut self, node: &mut Node, usage: &Usage<'_>, location: &Location) -> Type {
        if let Some(words) = words(node) {
            node.remove("enum");
            let schema = json!({"type": "string", "enum": words});
            let body = |_: &mut Self| (SchemaAttributes::default(), Body::StringEnum(words));
            return Type::Local(self.local(schema, usage.docs(), location, body));
        }
        let has_only_format = node.keys().all(|key| key == "format");
        match node.get("format").and_then(Value::as_str) {
            // The schema of the type has a description, so the field needs its own.
            Some("date-time") if has_only_format && usage.docs.is_some() => {
                node.remove("format");
                Type::Kubernetes(&kubernetes::TIME)
            }
            // The type has no schema, so the field sets it.
            Some("byte") if has_only_format && !usage.is_element => Type::Kubernetes(&kubernetes::BYTES),
            _ => Type::String,
        }
    }

    fn object(&mut self, mut node: Node, usage: &Usage<'_>, location: &Location) -> (Type, SchemaAttributes) {
        let embedded = node.remove(EMBEDDED).map(|value| (EMBEDDED.to_owned(), value));
        let has_fields = node.contains_key("properties");
        let (ty, mut attributes) = match node.remove("additionalProperties") {
            Some(values) if !has_fields => {
                let (value, each) = self.element(&values, &location.below("{}"));
                let ty = Type::Map(Box::new(value));
                let mut attributes = self.attributes(node, Some(&ty));
                attributes.each = (!each.is_empty()).then(|| Box::new(each));
                (ty, attributes)
            }
            None if !has_fields && node.remove(PRESERVE).is_some() => {
                let ty = Type::Kubernetes(&kubernetes::RAW);
                let attributes = self.attributes(node, Some(&ty));
                (ty, attributes)
            }
            _ => (self.with_fields(node, usage, location), SchemaAttributes::default()),
        };
        attributes.keywords.extend(embedded);
        (ty, attributes)
    }

    /// Reads an object with fields: a Kubernetes type, a union, or a struct.
    fn with_fields(&mut self, node: Node, usage: &Usage<'_>, location: &Location) -> Type {
        if let Some(known) = self.kubernetes_type(&node, usage, location) {
            return Type::Kubernetes(known);
        }
        let schema = Value::Object(node.clone());
        let body = |reader: &mut Self| match union_variants(&node) {
            Some(names) => (SchemaAttributes::default(), Body::Union(reader.variants(node, &names, location))),
            None => reader.structure(node, location),
        };
        Type::Local(self.local(schema, usage.docs(), location, body))
    }

    fn kubernetes_type(
        &mut self,
        node: &Node,
        usage: &Usage<'_>,
        location: &Location,
    ) -> Option<&'static KubernetesType> {
        if !self.reuse_kubernetes {
            return None;
        }
        let (known, has_same_descriptions) = kubernetes::type_of_schema(node)?;
        // Without a description of the field, that of the type is part of the schema.
        if !has_same_descriptions || usage.is_element || usage.docs.is_none() {
            let KubernetesType { module, name, .. } = known;
            self.described_otherwise.entry(format!("{module}::{name}")).or_default().push(location.shown.clone());
        }
        Some(known)
    }

    fn structure(&mut self, mut node: Node, location: &Location) -> (SchemaAttributes, Body) {
        let fields = self.fields(&mut node, location);
        let open = !fields.is_empty() && node.remove(PRESERVE).is_some();
        let mut attributes = self.attributes(node, None);
        add_choices(&mut attributes, &fields);
        (attributes, Body::Struct { fields, open })
    }

    fn variants(&mut self, mut node: Node, order: &[String], location: &Location) -> Vec<Field> {
        let mut fields = self.fields(&mut node, location);
        fields.sort_by_key(|field| order.iter().position(|name| *name == field.json));
        for field in &mut fields {
            if field.ty == Type::Kubernetes(&kubernetes::BYTES) {
                field.ty = Type::String;
            }
            let attributes = std::mem::take(&mut field.attributes);
            let fits_type = attributes.each.is_none() && !attributes.keywords.contains_key(EMBEDDED);
            if !attributes.is_empty() && fits_type {
                let docs = Docs::Informative(field.docs.clone().unwrap_or_default());
                let docs = if field.docs.is_some() { docs } else { Docs::Exact(None) };
                let location = location.field(&field.json);
                field.ty = Type::Local(self.newtype(field.ty.clone(), attributes, docs, &location));
            }
        }
        fields
    }

    /// Returns the item of a schema: an existing one, or a new one.
    fn local(
        &mut self,
        schema: Value,
        docs: Docs,
        location: &Location,
        body: impl FnOnce(&mut Self) -> (SchemaAttributes, Body),
    ) -> usize {
        let agree = |existing: &Docs| match (existing, &docs) {
            (Docs::Exact(existing), Docs::Exact(docs)) => existing == docs,
            (_, Docs::Informative(_)) | (Docs::Informative(_), _) => true,
        };
        let items = &mut self.types.items;
        let same = (0..items.len()).find(|i| self.schemas[*i] == schema && agree(&items[*i].docs));
        if let Some(same) = same {
            if matches!(docs, Docs::Exact(_)) {
                items[same].docs = docs;
            }
            return same;
        }
        let item = self.push(new_item(location, docs), schema);
        let (attributes, body) = body(self);
        self.types.items[item].attributes = attributes;
        self.types.items[item].body = body;
        item
    }

    /// Returns the attributes for the keywords of a node whose type is known. Without a type, they are those of a struct.
    fn attributes(&self, node: Node, ty: Option<&Type>) -> SchemaAttributes {
        let mut attributes = SchemaAttributes::default();
        for (key, value) in node {
            match key.as_str() {
                "example" => drop(attributes.extend.insert("examples".to_owned(), json!([value]))),
                key if EXTENDED.contains(&key) => drop(attributes.extend.insert(key.to_owned(), value)),
                key if has_key(key, &value, ty) => drop(attributes.keywords.insert(key.to_owned(), value)),
                _ => {}
            }
        }
        remove_contradictions(&mut attributes.keywords);
        attributes
    }
}

fn new_item(location: &Location, docs: Docs) -> Item {
    let body = Body::Struct { fields: Vec::new(), open: false };
    Item { path: location.words.clone(), docs, attributes: SchemaAttributes::default(), body }
}

/// Whether `#[schema(..)]` has a key for this keyword of a value of this type, and accepts the value.
fn has_key(keyword: &str, value: &Value, ty: Option<&Type>) -> bool {
    let is_one_of = |words: &[&str]| value.as_str().is_some_and(|word| words.contains(&word));
    let is_count = || value.as_u64().is_some_and(|bound| u32::try_from(bound).is_ok());
    // The derive does not recognize these types, so it accepts any keyword.
    let is_other = matches!(ty, Some(Type::Kubernetes(_) | Type::Json | Type::Local(_)));
    let is_number = || is_other || matches!(ty, Some(Type::Integer(_) | Type::Float(_)));
    let is_integer = matches!(ty, Some(Type::Integer(_)));
    let is_string = || is_other || matches!(ty, Some(Type::String));
    let is_list = || is_other || matches!(ty, Some(Type::List(_)));
    let is_map = || is_other || matches!(ty, None | Some(Type::Map(_)));
    match keyword {
        "enum" => value.as_array().is_some_and(|all| {
            let is_literal = |value: &Value| value.is_string() || value.is_i64();
            !all.is_empty() && all.iter().all(is_literal)
        }),
        "maximum" | "minimum" => is_number() && (value.is_i64() || value.is_f64() && !is_integer),
        "multipleOf" => {
            is_number() && (value.is_i64() || value.is_f64()) && value.as_f64().is_some_and(|factor| factor > 0.0)
        }
        "exclusiveMaximum" | "exclusiveMinimum" => is_number(),
        "minLength" | "maxLength" => is_string() && is_count(),
        "pattern" => is_string(),
        "minItems" | "maxItems" => is_list() && is_count(),
        "minProperties" | "maxProperties" => is_map() && is_count(),
        "x-kubernetes-list-type" => is_list() && is_one_of(&["atomic", "map", "set"]),
        "x-kubernetes-list-map-keys" => is_list(),
        "x-kubernetes-map-type" => is_map() && is_one_of(&["atomic", "granular"]),
        "externalDocs" => value.get("url").is_some_and(Value::is_string),
        "x-kubernetes-validations" => value.as_array().is_some_and(|rules| rules.iter().all(is_rule)),
        "format" | "title" | EMBEDDED | PRESERVE => true,
        _ => false,
    }
}

/// Whether `validation(..)` accepts a rule.
fn is_rule(rule: &Value) -> bool {
    let text = |key: &str| rule.get(key).and_then(Value::as_str);
    let has_lines = |text: &str| text.contains(['\n', '\r']);
    let Some(expression) = text("rule") else { return false };
    !expression.trim().is_empty()
        && (!has_lines(expression) || text("message").is_some())
        && text("message").is_none_or(|message| !message.trim().is_empty() && !has_lines(message))
        && text("messageExpression").is_none_or(|message| !message.trim().is_empty())
        && text("fieldPath").is_none_or(|path| path.starts_with(['.', '[']))
        && (rule.get("optionalOldSelf").is_none() || expression.contains("oldSelf"))
}

/// Removes keywords that `#[schema(..)]` rejects together.
fn remove_contradictions(keywords: &mut Node) {
    let number = |keywords: &Node, key: &str| keywords.get(key).and_then(Value::as_f64);
    for (min, max) in [
        ("minimum", "maximum"),
        ("minLength", "maxLength"),
        ("minItems", "maxItems"),
        ("minProperties", "maxProperties"),
    ] {
        if number(keywords, min) > number(keywords, max) && keywords.contains_key(max) {
            keywords.remove(min);
            keywords.remove(max);
        }
    }
    for (flag, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if !keywords.contains_key(bound) {
            keywords.remove(flag);
        }
    }
    let is_map = keywords.get("x-kubernetes-list-type") == Some(&json!("map"));
    let keys = keywords.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
    let keys: Vec<&Value> = keys.into_iter().flatten().collect();
    let has_duplicates = (0..keys.len()).any(|i| keys[..i].contains(&keys[i]));
    if is_map == keys.is_empty() || has_duplicates {
        keywords.remove("x-kubernetes-list-map-keys");
        if is_map {
            keywords.remove("x-kubernetes-list-type");
        }
    }
}

fn take_text(node: &mut Node, key: &str) -> Option<String> {
    match node.remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn take_texts(node: &mut Node, key: &str) -> Vec<String> {
    let list = node.remove(key);
    let all = list.as_ref().and_then(Value::as_array).into_iter().flatten();
    all.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns the values of an `enum` that can be a Rust enum. A null is one of no variant: the field is optional.
fn words(node: &Node) -> Option<Vec<String>> {
    let values = node.get("enum")?.as_array()?;
    let words: Vec<String> = values
        .iter()
        .filter(|value| !value.is_null())
        .map(|value| value.as_str().map(str::to_owned))
        .collect::<Option<_>>()?;
    let variants: Vec<String> = words.iter().map(|word| names::variant(word)).collect();
    (!words.is_empty() && names::are_distinct(&variants)).then_some(words)
}

/// Returns the fields of an object whose schema is that of a generated union: exactly one of them is required, and there
/// are no other keywords.
fn union_variants(node: &Node) -> Option<Vec<String>> {
    let properties = node.get("properties")?.as_object()?;
    let names = required_alternatives(node.get("oneOf")?)?;
    let is_plain = |schema: &Value| schema.get("default").is_none() && schema.get("nullable").is_none();
    let variants: Vec<String> = names.iter().map(|name| names::variant(name)).collect();
    let is_union = names.len() > 1
        && names.len() == properties.len()
        && node.len() == 2
        && names::are_distinct(&names)
        && names::are_distinct(&variants)
        && names.iter().all(|name| properties.get(name).is_some_and(is_plain));
    is_union.then_some(names)
}

/// Returns `a` and `b` for `[{required: [a]}, {required: [b]}]`.
fn required_alternatives(branches: &Value) -> Option<Vec<String>> {
    let name = |branch: &Value| match (branch.as_object()?.len(), branch.get("required")?.as_array()?.as_slice()) {
        (1, [Value::String(name)]) => Some(name.clone()),
        _ => None,
    };
    branches.as_array()?.iter().map(name).collect()
}

/// Replaces alternatives of required fields with `exactly_one_of` and `at_least_one_of`.
fn add_choices(attributes: &mut SchemaAttributes, fields: &[Field]) {
    for (keyword, key) in [("oneOf", "exactly_one_of"), ("anyOf", "at_least_one_of")] {
        let Some(names) = attributes.extend.get(keyword).and_then(required_alternatives) else { continue };
        let is_optional = |name: &String| {
            fields.iter().any(|field| field.json == *name && !field.required && field.default.is_none())
        };
        if names.len() > 1 && names::are_distinct(&names) && names.iter().all(is_optional) {
            attributes.extend.remove(keyword);
            attributes.choices.push((key, names));
        }
    }
}
