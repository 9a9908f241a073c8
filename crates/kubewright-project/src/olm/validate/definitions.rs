//! Rules of the definitions, and of what the ClusterServiceVersion declares about them.

use std::collections::BTreeSet;

use kubewright_crd::{definition, field::ErrorType};
use serde_json::Value;

use super::{Bundle, Findings, Manifest, duplicates, list, text};

/// A version of a kind: group, version and kind.
type Version<'a> = (&'a str, &'a str, &'a str);

pub(super) fn validate(bundle: &Bundle, csv: &Value, findings: &mut Findings) {
    let owned: Vec<_> = list(&csv["spec"]["customresourcedefinitions"], "owned").collect();
    owned_definitions(bundle, &owned, findings);
    let versions: BTreeSet<_> = owned.iter().map(|definition| owned_version(definition)).collect();
    examples(bundle, &versions, findings);
    let file = findings.file.clone();
    for definition in bundle.definitions() {
        findings.file.clone_from(&definition.file);
        one_definition(definition, &versions, findings);
    }
    for name in duplicates(bundle.definitions().map(|definition| text(&definition.object["metadata"], "name"))) {
        let message = format!("the definition {name:?} occurs more than once");
        findings.error("crd-duplicate", "metadata.name", message, "keep one of them");
    }
    findings.file = file;
}

fn owned_version(owned: &Value) -> Version<'_> {
    let group = text(owned, "name").split_once('.').map_or("", |(_, group)| group);
    (group, text(owned, "version"), text(owned, "kind"))
}

fn owned_definitions(bundle: &Bundle, owned: &[&Value], findings: &mut Findings) {
    let field = "spec.customresourcedefinitions.owned";
    for (group, version, kind) in duplicates(owned.iter().map(|definition| owned_version(definition))) {
        let message = format!("{group}/{version} {kind} occurs more than once");
        findings.error("owned-duplicate", field, message, "keep one of them");
    }
    for definition in owned {
        let (_, version, kind) = owned_version(definition);
        let name = text(definition, "name");
        let is_owned = |Manifest { object, .. }: &Manifest| {
            let spec = &object["spec"];
            text(&object["metadata"], "name") == name
                && text(&spec["names"], "kind") == kind
                && list(spec, "versions").any(|served| text(served, "name") == version)
        };
        if !bundle.definitions().any(is_owned) {
            let message =
                format!("the definition {name:?} with the version {version:?} of {kind} is not in the bundle");
            findings.error("owned-missing", field, message, "add the file of the definition to the manifests");
        }
        if text(definition, "description").is_empty() || text(definition, "displayName").is_empty() {
            let message = format!("the display name or the description of {name:?} is missing");
            findings.warning("owned-description", field, message, "document the type");
        }
    }
}

fn one_definition(definition: &Manifest, owned: &BTreeSet<Version<'_>>, findings: &mut Findings) {
    let spec = &definition.object["spec"];
    let (group, kind) = (text(spec, "group"), text(&spec["names"], "kind"));
    for version in list(spec, "versions").map(|version| text(version, "name")) {
        if !owned.contains(&(group, version, kind)) {
            let message = format!("the ClusterServiceVersion does not own {group}/{version} {kind}");
            let help = "add it to `spec.customresourcedefinitions.owned`";
            findings.warning("crd-unowned", "spec.versions", message, help);
        }
    }
    let errors = definition::validate(&definition.object);
    for error in errors.into_iter().filter(|error| error.error_type != ErrorType::Warning) {
        let message = error.message();
        findings.error("crd-invalid", error.field, message, "correct the type, and run `cargo xtask codegen`");
    }
}

fn examples(bundle: &Bundle, owned: &BTreeSet<Version<'_>>, findings: &mut Findings) {
    let field = "metadata.annotations.alm-examples";
    let examples = match bundle.examples() {
        Ok(examples) => examples,
        Err(error) => {
            let message = format!("the examples are not a JSON array: {error}");
            return findings.error("examples-invalid", field, message, "run `cargo xtask bundle`");
        }
    };
    let versions: BTreeSet<_> = examples.iter().map(example_version).collect();
    for (group, version, kind) in versions.difference(owned) {
        let message = format!("the example of {group}/{version} {kind} is not of an owned definition");
        findings.error("example-unowned", field, message, "remove it from `samples` of the settings");
    }
    for (group, version, kind) in owned.difference(&versions) {
        let message = format!("there is no example of {group}/{version} {kind}");
        findings.warning("example-missing", field, message, "add a file to `samples` of the settings");
    }
}

fn example_version(example: &Value) -> Version<'_> {
    let (group, version) = text(example, "apiVersion").split_once('/').unwrap_or_default();
    (group, version, text(example, "kind"))
}
