//! Tests of complete pages.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    objects::Objects,
    page::{Kind, page},
};
use crate::crd::RustPaths;

/// A definition with every element that a page describes.
fn widgets() -> Value {
    let meta = json!({"type": "object", "description": "A label | of `<it>`.", "properties": {
        "key": {"type": "string", "pattern": "^[a-z|]+$", "minLength": 1, "maxLength": 63},
    }});
    let port = json!({"type": "object", "required": ["name", "port"], "properties": {
        "name": {"type": "string", "format": "k8s-short-name"},
        "port": {"x-kubernetes-int-or-string": true, "description": "By number or name."},
        "labels": meta,
    }});
    let spec = json!({
        "type": "object",
        "description": "The desired state.",
        "required": ["size"],
        "oneOf": [{"required": ["url"]}, {"required": ["ports"]}],
        "properties": {
            "size": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 10, "default": 3,
                "description": "How many.\n\nEither:\n- few, or\n- many."},
            "url": {"type": "string", "example": "https://example.com", "externalDocs": {"url": "https://example.com/urls"}},
            "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "maxItems": 8, "items": port},
            "zones": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string", "enum": ["a", "b"]}},
            "labels": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 63}},
            "meta": meta,
            "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "nullable": true},
        },
        "x-kubernetes-validations": [{"rule": "self.size < 5 || has(self.url)", "message": "more than five need a URL"}],
    });
    let schema = json!({
        "type": "object",
        "description": "A Widget turns. It does so until it is stopped.\n\nThere may be many.",
        "required": ["spec"],
        "x-kubernetes-validations": [{"rule": "self.metadata.name.size() < 20"}],
        "properties": {
            "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"},
            "spec": spec,
            "status": {"type": "object", "properties": {"ready": {"type": "boolean"}}},
        },
    });
    json!({"spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "shortNames": ["wg"], "categories": ["all"]},
        "versions": [{
            "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
            "deprecated": true, "deprecationWarning": "use v2",
            "additionalPrinterColumns": [
                {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                {"name": "Zone", "type": "string", "jsonPath": ".spec.zones[0]", "priority": 1, "description": "The first"},
            ],
            "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}},
            "selectableFields": [{"jsonPath": ".spec.url"}],
        }],
    }})
}

/// Rust paths in which only the type of the labels is known.
fn rust() -> RustPaths {
    let paths = [".spec.meta.key", ".spec.ports[].labels.key"];
    let fields = paths.map(|path| (path.to_owned(), "my_types::v1::Meta::key".to_owned())).into();
    RustPaths { item: "my_types::v1::Widget".into(), fields, locations: BTreeMap::new() }
}

#[test]
fn pages_describe_kinds_and_their_fields() {
    let (crd, rust) = (widgets(), rust());
    let kind = Kind { rust: &rust, spec: &crd["spec"], version: &crd["spec"]["versions"][0] };
    insta::assert_snapshot!(page("example.com", "v1", &BTreeMap::from([("Widget", kind)])));
}

#[test]
fn every_link_within_a_page_has_a_heading() {
    let (widget, mut gadget) = (widgets(), widgets());
    gadget["spec"]["names"]["kind"] = json!("Gadget");
    // The same type with another limit gets another section.
    let key = "/schema/openAPIV3Schema/properties/spec/properties/meta/properties/key/maxLength";
    *gadget["spec"]["versions"][0].pointer_mut(key).unwrap() = json!(10);
    let rust = rust();
    let [widget, gadget] =
        [&widget, &gadget].map(|crd| Kind { rust: &rust, spec: &crd["spec"], version: &crd["spec"]["versions"][0] });
    let page = page("example.com", "v1", &BTreeMap::from([("Widget", widget), ("Gadget", gadget)]));
    let mut slugs = Objects::default();
    let headings: Vec<_> = page
        .lines()
        .filter_map(|line| line.strip_prefix('#'))
        .map(|line| slugs.reserve_slug(line.trim_start_matches('#').trim()))
        .collect();
    let links: Vec<_> = page.split("](#").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(links.len() > 10, "{page}");
    for link in links {
        assert!(headings.iter().any(|heading| heading == link), "{link} of {headings:?}\n{page}");
    }
    assert_eq!(
        page.matches("### Meta").count(),
        2,
        "one section for both kinds, and one for the schema that differs:\n{page}"
    );
}

#[test]
fn an_empty_definition_has_a_page() {
    let nothing = json!({});
    let rust = RustPaths { item: "".into(), fields: BTreeMap::new(), locations: BTreeMap::new() };
    let kind = Kind { rust: &rust, spec: &nothing, version: &nothing };
    assert!(page("", "", &BTreeMap::from([("", kind)])).contains("| `metadata` |"));
}
