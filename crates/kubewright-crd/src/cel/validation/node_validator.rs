//! The compiled rules of a schema and of the schemas below it (`cel.Validator` of the API server).

use std::collections::BTreeMap;

use super::compilation::{CompilationResult, RuleEnvironment};
use crate::cel::{
    schema::{Structural, ValidationRule, field_path},
    syntax::escape,
    types::{DeclKind, DeclType},
};

/// The compiled rules of a schema and of the schemas below it.
#[derive(Debug)]
pub(super) struct NodeValidator {
    pub(super) schema: Structural,
    pub(super) rules: Vec<CompiledRule>,
    pub(super) items: Option<Box<NodeValidator>>,
    pub(super) properties: BTreeMap<String, NodeValidator>,
    pub(super) additional_properties: Option<Box<NodeValidator>>,
}

#[derive(Debug)]
pub(super) struct CompiledRule {
    pub(super) rule: ValidationRule,
    pub(super) compiled: CompilationResult,
    /// The normalized `fieldPath`; empty if the rule has none or it is invalid.
    pub(super) field_path: String,
}

impl NodeValidator {
    /// Compiles the rules of a schema and of the schemas below it; `None` if there are none.
    pub(super) fn new(schema: &Structural, declared: Option<&DeclType>, is_resource_root: bool) -> Option<Self> {
        let kind = declared.map(|declared| &declared.kind);
        let element_type = match kind {
            Some(DeclKind::List(inner) | DeclKind::Map(inner)) => Some(&**inner),
            _ => None,
        };
        let element = |schema: &Structural| Self::new(schema, element_type, schema.is_embedded_resource).map(Box::new);
        let items = schema.items.as_deref().and_then(element);
        let additional_properties = schema.additional_properties.as_deref().and_then(element);
        let mut properties = BTreeMap::new();
        for (name, property) in schema.properties.iter().flatten() {
            let declared = match (escape(name), kind) {
                (Some(escaped), Some(DeclKind::Object(fields))) => {
                    fields.get(&escaped).map(|field| DeclType::clone(field))
                }
                (Some(_), _) => None,
                (None, _) => DeclType::from_schema(property, property.is_embedded_resource),
            };
            // A schema that rules cannot access is omitted with all schemas below.
            let Some(declared) = declared else { continue };
            if let Some(validator) = Self::new(property, Some(&declared), property.is_embedded_resource) {
                properties.insert(name.clone(), validator);
            }
        }
        let rules = declared.map(|declared| compile_rules(schema, declared)).unwrap_or_default();
        if rules.is_empty() && items.is_none() && additional_properties.is_none() && properties.is_empty() {
            return None;
        }
        let schema = with_type_and_object_meta(schema, is_resource_root);
        Some(NodeValidator { schema, rules, items, properties, additional_properties })
    }
}

fn compile_rules(schema: &Structural, declared: &DeclType) -> Vec<CompiledRule> {
    if schema.rules.is_empty() {
        return Vec::new();
    }
    let environment = RuleEnvironment::new(declared);
    let compile = |rule: &ValidationRule| {
        let path = if rule.field_path.is_empty() { None } else { field_path::normalize(&rule.field_path, schema) };
        CompiledRule { rule: rule.clone(), compiled: environment.compile(rule), field_path: path.unwrap_or_default() }
    };
    schema.rules.iter().map(compile).collect()
}

/// The schema that values are read with: resources, embedded ones at any depth included, have their type and metadata.
fn with_type_and_object_meta(schema: &Structural, is_resource_root: bool) -> Structural {
    let mut schema = if is_resource_root { schema.with_type_and_object_meta() } else { schema.clone() };
    add_embedded_object_meta(&mut schema);
    schema
}

fn add_embedded_object_meta(schema: &mut Structural) {
    let elements = schema.items.iter_mut().chain(&mut schema.additional_properties).map(|schema| &mut **schema);
    for child in elements.chain(schema.properties.iter_mut().flat_map(BTreeMap::values_mut)) {
        if child.is_embedded_resource {
            *child = child.with_type_and_object_meta();
        }
        add_embedded_object_meta(child);
    }
}
