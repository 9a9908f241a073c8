//! Rules of every schema in a definition, structural or not: what OpenAPI has and the server does not take.

use super::{
    options::{Options, TYPES},
    path::Path,
    rules, topology,
};
use crate::{
    finding::Finding,
    schema::{Additional, JUNCTORS, Schema},
};

const META: [&str; 3] = ["metadata", "kind", "apiVersion"];

pub(super) fn check(schema: Schema<'_>, options: &Options, at: &Path<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    Walk { options, findings: &mut findings }.node(schema, at, Inside { is_root: true, ..Inside::default() });
    findings
}

struct Walk<'a> {
    options: &'a Options,
    findings: &'a mut Vec<Finding>,
}

/// What is known of the place of a schema.
#[derive(Clone, Copy, Default)]
struct Inside<'a> {
    is_root: bool,
    /// It is of the type or the metadata of an object.
    is_meta: bool,
    /// Why no default may be there.
    no_default: Option<(&'a str, &'a str)>,
}

impl Walk<'_> {
    fn node(&mut self, schema: Schema<'_>, at: &Path<'_>, inside: Inside<'_>) {
        self.keywords(schema, at, inside);
        self.maps(schema, at, inside);
        let nested = Inside { is_root: false, ..inside };
        if let Some(not) = schema.child("not") {
            self.node(not, &at.child("not"), nested);
        }
        for keyword in JUNCTORS.into_iter().chain(["items"]) {
            let list = at.child(keyword);
            for (index, schema) in schema.list(keyword).enumerate() {
                self.node(schema, &list.index(index), nested);
            }
        }
        for keyword in ["definitions", "dependencies"] {
            let map = at.child(keyword);
            for (name, schema) in schema.map(keyword).filter(|(_, schema)| schema.0.is_object()) {
                self.node(schema, &map.key(name), nested);
            }
        }
        if let Some(items) = schema.items() {
            self.node(items, &at.child("items"), nested);
        }
        topology::check(schema, self.options, at, self.findings);
        rules::check(schema, at, self.findings);
    }

    fn forbid(&mut self, at: Path<'_>, why: impl Into<String>) {
        self.findings.push(Finding::forbidden(at, why));
    }

    fn keywords(&mut self, schema: Schema<'_>, at: &Path<'_>, inside: Inside<'_>) {
        let type_ = schema.text("type");
        if self.options.require_known_types && !type_.is_empty() && !TYPES.contains(&type_) {
            self.findings.push(Finding::not_supported(at.child("type"), type_, TYPES));
        }
        if let Some((why, name)) = inside.no_default.filter(|_| schema.get("default").is_some()) {
            self.forbid(at.child("default"), format!("must not be set {why}{name}"));
        }
        let is_filled = |keyword| schema.fields(keyword).is_some_and(|fields| !fields.is_empty());
        let refused = [
            ("id", schema.get("id").is_some()),
            ("additionalItems", schema.get("additionalItems").is_some()),
            ("patternProperties", is_filled("patternProperties")),
            ("definitions", is_filled("definitions")),
            ("dependencies", schema.get("dependencies").is_some()),
            ("$ref", schema.get("$ref").is_some()),
        ];
        for (keyword, _) in refused.into_iter().filter(|(_, is_there)| *is_there) {
            self.forbid(at.child(keyword), format!("{keyword} is not supported"));
        }
        if type_ == "null" {
            self.forbid(at.child("type"), "type cannot be set to null, use nullable as an alternative");
        }
        if schema.list("items").len() > 0 {
            self.forbid(at.child("items"), "items must be a schema object and not an array");
        }
        if inside.is_meta && schema.is_embedded() {
            self.forbid(at.child("x-kubernetes-embedded-resource"), "must not be used inside of resource meta");
        }
        if schema.flag("uniqueItems") {
            let why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
            self.forbid(at.child("uniqueItems"), why);
        }
        if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&false.into()) {
            let at = at.child("x-kubernetes-preserve-unknown-fields");
            self.findings.push(Finding::invalid(at, false, "must be true or undefined"));
        }
    }

    /// The fields of an object, named and others.
    fn maps(&mut self, schema: Schema<'_>, at: &Path<'_>, inside: Inside<'_>) {
        let nested = Inside { is_root: false, ..inside };
        if let Some(additional) = schema.additional() {
            let at = at.child("additionalProperties");
            if schema.has_properties() && !matches!(additional, Additional::Allowed(true)) {
                self.forbid(at, "additionalProperties and properties are mutual exclusive");
            }
            if let Additional::Schema(schema) = additional {
                let why = ("inside additionalProperties applying to object metadata", "");
                let no_default = if inside.is_meta { Some(why) } else { inside.no_default };
                self.node(schema, &at, Inside { no_default, ..nested });
            }
        }
        let properties = at.child("properties");
        for (name, property) in schema.map("properties") {
            let is_meta = (inside.is_root || schema.is_embedded()) && META.contains(&name);
            let no_default = if is_meta && inside.is_root { Some(("in top-level ", name)) } else { inside.no_default };
            let inside = Inside { is_root: false, is_meta: inside.is_meta || is_meta, no_default };
            self.node(property, &properties.key(name), inside);
        }
    }
}
