//! Predicts the schema that the generator creates from imported types: that of their derives, converted by `kubewright_crd`.

use kubewright_crd::structural::{self, Options, Root, SchemaError};
use kubewright_names::extension::Extension;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::{
    default::round_trip,
    model::{Body, Docs, Field, Kind, SchemaAttributes, Type, Types},
    normalize,
};

/// The definitions of all types of a module, which the schemas of its kinds refer to.
pub(super) struct Predictor {
    definitions: Value,
}

impl Predictor {
    /// Creates a predictor for the current types.
    pub(super) fn new(types: &Types) -> Self {
        let mut generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
        for known in types.kubernetes() {
            (known.schema)(&mut generator);
        }
        let mut definitions = generator.take_definitions(true);
        for item in 0..types.items.len() {
            definitions.insert(definition_name(item), of_item(types, item));
        }
        Predictor { definitions: Value::Object(definitions) }
    }

    /// Returns the normalized schema of a kind.
    ///
    /// # Errors
    /// The generator would reject the types, with the path of each error.
    pub(super) fn schema(&mut self, types: &Types, kind: &Kind) -> Result<Value, Vec<SchemaError>> {
        let root = Root { description: String::new(), status: kind.status };
        let options = Options { root: Some(root), ..Options::default() };
        let mut document = of_item(types, kind.item);
        // The definitions are large, so they are moved into the document and back.
        document["$defs"] = self.definitions.take();
        let converted = structural::convert(&document, &options);
        self.definitions = document["$defs"].take();
        let mut generated = converted?.schema;
        normalize::numbers(&mut generated);
        normalize::schema(&mut generated);
        normalize::root(&mut generated);
        Ok(generated)
    }
}

fn definition_name(item: usize) -> String {
    format!("Local{item}")
}

fn of_item(types: &Types, index: usize) -> Value {
    let item = &types.items[index];
    let (mut schema, facts) = match &item.body {
        Body::Struct { fields, open } => {
            let mut facts = facts(&item.attributes);
            let preserves = facts.contains_key("x-kubernetes-preserve-unknown-fields");
            if fields.is_empty() && !open && !preserves && !is_kind(types, index) {
                facts.insert(Extension::Empty.name().to_owned(), json!(true));
            }
            for (key, names) in &item.attributes.choices {
                let keyword = if *key == "exactly_one_of" { "oneOf" } else { "anyOf" };
                facts.insert(keyword.to_owned(), names.iter().map(|name| json!({"required": [name]})).collect());
            }
            (of_struct(types, fields, *open), facts)
        }
        Body::StringEnum(words) => (json!({"type": "string", "enum": words}), facts(&item.attributes)),
        Body::Union(variants) => (of_union(variants), facts(&item.attributes)),
        Body::Newtype(ty) => (of_type(ty), facts(&item.attributes)),
    };
    let examples = extend(&mut schema, &item.attributes);
    let mut document = json!({Extension::RustType.name(): definition_name(index), "allOf": [schema, facts]});
    let description = match &item.docs {
        Docs::Exact(docs) => docs.clone(),
        Docs::Informative(docs) => Some(docs.clone()),
    };
    insert(&mut document, "description", description.filter(|docs| !docs.is_empty()).map(Value::String));
    insert(&mut document, "examples", examples);
    document
}

fn is_kind(types: &Types, item: usize) -> bool {
    types.items[item].path.len() == 1
}

fn of_struct(types: &Types, fields: &[Field], open: bool) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|field| (field.json.clone(), of_field(types, field))).collect();
    let required: Vec<&String> = fields.iter().filter(|field| field.required).map(|field| &field.json).collect();
    let mut schema = json!({"type": "object", "properties": properties, "required": required});
    if open {
        schema["additionalProperties"] = json!(true);
    }
    schema
}

fn of_union(variants: &[Field]) -> Value {
    let variant = |variant: &Field| {
        let name = &variant.json;
        let mut schema = json!({
            "type": "object",
            "properties": {name: of_type(&variant.ty)},
            "required": [name],
            "additionalProperties": false,
            Extension::RustVariant.name(): name,
        });
        insert(&mut schema, "description", variant.docs.clone().map(Value::String));
        schema
    };
    json!({"oneOf": variants.iter().map(variant).collect::<Vec<_>>()})
}

fn of_field(types: &Types, field: &Field) -> Value {
    let mut schema = of_type(&field.ty);
    let examples = extend(&mut schema, &field.attributes);
    let mut document = json!({"allOf": [schema, facts(&field.attributes)]});
    insert(&mut document, "description", field.docs.clone().map(Value::String));
    insert(&mut document, "examples", examples);
    let default = field.default.as_ref().and_then(|default| round_trip(default, &field.ty, types));
    insert(&mut document, "default", default);
    document
}

fn of_type(ty: &Type) -> Value {
    match ty {
        Type::Bool => json!({"type": "boolean"}),
        Type::Integer("i32") => json!({"type": "integer", "format": "int32"}),
        Type::Integer(_) => json!({"type": "integer", "format": "int64"}),
        Type::Float("f32") => json!({"type": "number", "format": "float"}),
        Type::Float(_) => json!({"type": "number", "format": "double"}),
        Type::String => json!({"type": "string"}),
        Type::Json => json!({}),
        Type::Kubernetes(known) => {
            (known.schema)(&mut SchemaSettings::draft2020_12().for_deserialize().into_generator())
        }
        Type::Local(item) => json!({"$ref": format!("#/$defs/{}", definition_name(*item))}),
        Type::List(ty) => json!({"type": "array", "items": of_type(ty)}),
        Type::Map(ty) => json!({"type": "object", "additionalProperties": of_type(ty)}),
    }
}

/// Returns the keywords and marks that `#[schema(..)]` adds.
fn facts(attributes: &SchemaAttributes) -> Map<String, Value> {
    let mut facts = attributes.keywords.clone();
    for (flag, mark) in [
        ("allow_float", Extension::Float.name()),
        ("no_format", Extension::NoFormat.name()),
        ("nullable", Extension::Nullable.name()),
    ] {
        if attributes.flags.contains(flag) {
            facts.insert(mark.to_owned(), json!(true));
        }
    }
    if let Some(each) = &attributes.each {
        facts.insert(Extension::Each.name().to_owned(), Value::Object(self::facts(each)));
    }
    facts
}

/// Adds the keywords of `#[schemars(extend(..))]` to a schema. Returns the examples, which are beside the schema.
fn extend(schema: &mut Value, attributes: &SchemaAttributes) -> Option<Value> {
    let mut keywords = attributes.extend.clone();
    let examples = keywords.remove("examples");
    if let Value::Object(schema) = schema {
        schema.extend(keywords);
    }
    examples
}

fn insert(schema: &mut Value, key: &str, value: Option<Value>) {
    if let Some(value) = value {
        schema[key] = value;
    }
}
