//! A page as it reads.

use serde_json::json;

use super::*;

/// A definition with something of all that a page tells.
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
        "description": "What is wanted.",
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
        "description": "A Widget turns. It does so until told otherwise.\n\nThere may be many.",
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

/// Of the types only that of the labels is known.
fn rust() -> Rust {
    let paths = [".spec.meta.key", ".spec.ports[].labels.key"];
    let fields = paths.map(|path| (path.to_owned(), "my_types::v1::Meta::key".to_owned())).into();
    Rust { item: "my_types::v1::Widget".to_owned(), fields }
}

#[test]
fn a_page_reads_well() {
    let (crd, rust) = (widgets(), rust());
    let kind = Kind { rust: &rust, spec: &crd["spec"], version: &crd["spec"]["versions"][0] };
    insta::assert_snapshot!(page("example.com", "v1", &BTreeMap::from([("Widget", kind)])));
}

#[test]
fn every_link_within_a_page_ends_at_a_heading() {
    let (one, mut two) = (widgets(), widgets());
    two["spec"]["names"]["kind"] = json!("Gadget");
    // The same type with another bound is described again.
    let key = "/schema/openAPIV3Schema/properties/spec/properties/meta/properties/key/maxLength";
    *two["spec"]["versions"][0].pointer_mut(key).unwrap() = json!(10);
    let rust = rust();
    let [one, two] =
        [&one, &two].map(|crd| Kind { rust: &rust, spec: &crd["spec"], version: &crd["spec"]["versions"][0] });
    let page = page("example.com", "v1", &BTreeMap::from([("Widget", one), ("Gadget", two)]));
    let mut slugs = Sections::default();
    let headings: Vec<_> = page
        .lines()
        .filter_map(|line| line.strip_prefix('#'))
        .map(|line| slugs.reserve(line.trim_start_matches('#').trim()))
        .collect();
    let links: Vec<_> = page.split("](#").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(links.len() > 10, "{page}");
    for link in links {
        assert!(headings.iter().any(|heading| heading == link), "{link} of {headings:?}\n{page}");
    }
    assert_eq!(page.matches("### Meta").count(), 2, "once for both kinds, and once where it differs:\n{page}");
}

#[test]
fn a_definition_of_nothing_makes_a_page() {
    let nothing = json!({});
    let rust = Rust { item: String::new(), fields: BTreeMap::new() };
    let kind = Kind { rust: &rust, spec: &nothing, version: &nothing };
    assert!(page("", "", &BTreeMap::from([("", kind)])).contains("| `metadata` |"));
}
