//! Validation of schemas, whether structural or not: features of OpenAPI that the server does not support.
//!
//! After `ValidateCustomResourceDefinitionOpenAPISchema`.

use super::{
    MAX_SCHEMA_ERRORS,
    options::{Options, TYPES},
    rules, topology,
};
use crate::{
    field::{FieldError, Path},
    schema::{Additional, JUNCTORS, Schema},
};

const META: [&str; 3] = ["metadata", "kind", "apiVersion"];

pub(super) fn validate(schema: Schema<'_>, options: &Options, at: &Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    Walk { options, errors: &mut errors }.node(schema, at, Context { is_root: true, ..Context::default() });
    errors
}

struct Walk<'a> {
    options: &'a Options,
    errors: &'a mut Vec<FieldError>,
}

/// The context of a schema.
#[derive(Clone, Copy, Default)]
struct Context<'a> {
    is_root: bool,
    /// Whether the schema is part of `apiVersion`, `kind` or `metadata` of an object.
    is_meta: bool,
    /// Why a default is forbidden: a text and the name of a field.
    no_default: Option<(&'a str, &'a str)>,
}

impl Walk<'_> {
    fn node(&mut self, schema: Schema<'_>, at: &Path<'_>, context: Context<'_>) {
        if self.errors.len() >= MAX_SCHEMA_ERRORS {
            return;
        }
        self.keywords(schema, at, context);
        self.maps(schema, at, context);
        let nested = Context { is_root: false, ..context };
        if let Some(not) = schema.child("not") {
            self.node(not, &at.child("not"), nested);
        }
        for keyword in JUNCTORS.into_iter().chain(["items"]) {
            let list = at.child(keyword);
            for (index, schema) in schema.schemas(keyword).enumerate() {
                self.node(schema, &list.index(index), nested);
            }
        }
        for keyword in ["definitions", "dependencies"] {
            let map = at.child(keyword);
            for (name, schema) in schema.schema_map(keyword).filter(|(_, schema)| schema.0.is_object()) {
                self.node(schema, &map.key(name), nested);
            }
        }
        if let Some(items) = schema.items() {
            self.node(items, &at.child("items"), nested);
        }
        topology::validate(schema, self.options, at, self.errors);
        rules::validate(schema, at, self.errors);
    }

    fn forbid(&mut self, at: Path<'_>, detail: impl Into<String>) {
        self.errors.push(FieldError::forbidden(at, detail));
    }

    fn keywords(&mut self, schema: Schema<'_>, at: &Path<'_>, context: Context<'_>) {
        let type_ = schema.string("type");
        if self.options.require_valid_property_type && !type_.is_empty() && !TYPES.contains(&type_) {
            self.errors.push(FieldError::not_supported(at.child("type"), type_, TYPES));
        }
        if let Some((detail, name)) = context.no_default.filter(|_| schema.get("default").is_some()) {
            self.forbid(at.child("default"), format!("must not be set {detail}{name}"));
        }
        let is_non_empty = |keyword| schema.fields(keyword).is_some_and(|fields| !fields.is_empty());
        let unsupported = [
            ("id", schema.get("id").is_some()),
            ("additionalItems", schema.get("additionalItems").is_some()),
            ("patternProperties", is_non_empty("patternProperties")),
            ("definitions", is_non_empty("definitions")),
            ("dependencies", schema.get("dependencies").is_some()),
            ("$ref", schema.get("$ref").is_some()),
        ];
        for (keyword, _) in unsupported.into_iter().filter(|(_, is_set)| *is_set) {
            self.forbid(at.child(keyword), format!("{keyword} is not supported"));
        }
        if type_ == "null" {
            self.forbid(at.child("type"), "type cannot be set to null, use nullable as an alternative");
        }
        if schema.schemas("items").len() > 0 {
            self.forbid(at.child("items"), "items must be a schema object and not an array");
        }
        if context.is_meta && schema.is_embedded_resource() {
            self.forbid(at.child("x-kubernetes-embedded-resource"), "must not be used inside of resource meta");
        }
        if schema.flag("uniqueItems") {
            let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
            self.forbid(at.child("uniqueItems"), detail);
        }
        if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&false.into()) {
            let at = at.child("x-kubernetes-preserve-unknown-fields");
            self.errors.push(FieldError::invalid(at, false, "must be true or undefined"));
        }
    }

    /// Validates `additionalProperties` and `properties`.
    fn maps(&mut self, schema: Schema<'_>, at: &Path<'_>, context: Context<'_>) {
        let nested = Context { is_root: false, ..context };
        if let Some(additional) = schema.additional() {
            let at = at.child("additionalProperties");
            if schema.has_properties() && !matches!(additional, Additional::Allowed(true)) {
                self.forbid(at, "additionalProperties and properties are mutual exclusive");
            }
            if let Additional::Schema(schema) = additional {
                let detail = ("inside additionalProperties applying to object metadata", "");
                let no_default = if context.is_meta { Some(detail) } else { context.no_default };
                self.node(schema, &at, Context { no_default, ..nested });
            }
        }
        let properties = at.child("properties");
        for (name, property) in schema.schema_map("properties") {
            let is_meta = (context.is_root || schema.is_embedded_resource()) && META.contains(&name);
            let no_default =
                if is_meta && context.is_root { Some(("in top-level ", name)) } else { context.no_default };
            let context = Context { is_root: false, is_meta: context.is_meta || is_meta, no_default };
            self.node(property, &properties.key(name), context);
        }
    }
}
