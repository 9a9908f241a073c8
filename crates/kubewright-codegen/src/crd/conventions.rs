//! Warnings about fields and versions that do not follow the API conventions of Kubernetes.

use std::collections::BTreeMap;

use kubewright_core::meta::{ApiGroup, ApiKind};
use kubewright_crd::structural::Extensions;
use kubewright_names::{extension::Extension, version::is_conventional};
use serde_json::Value;

use super::rust_paths::RustPaths;
use crate::diagnostic::{Diagnostic, RustItem};

const STATUS_WITHOUT_SUBRESOURCE: &str = "status_without_subresource";
const STATUS_TYPE: &str = "status_type";
const VERSION_NAME: &str = "version_name";

/// Returns warnings for a status that is written with the object, and for one that is not an object.
pub(super) fn status(kind: &ApiKind, rust: &RustPaths, schema: &Value) -> Vec<Diagnostic> {
    let warning = |name: &'static str| {
        let message = match name {
            STATUS_WITHOUT_SUBRESOURCE => {
                "a write of the object writes the status, too; add `#[k8s(subresource(status))]` to the kind"
            }
            _ => "the status is not an object and can have no conditions; use a struct",
        };
        rust.item_at(".status").diagnostic(format!("{message}, or `#[k8s(allow({name}))]`"))
    };
    let is_reported = |name: &&'static str| !kind.definition.allow.contains(name);
    status_warnings(kind.status, schema).into_iter().filter(is_reported).map(warning).collect()
}

/// Returns the names of the warnings about the status of a kind with this schema, with or without the subresource.
pub(crate) fn status_warnings(has_subresource: bool, schema: &Value) -> Vec<&'static str> {
    let Some(status) = schema.pointer("/properties/status") else { return Vec::new() };
    let is_object = match status["type"].as_str() {
        None => status["x-kubernetes-preserve-unknown-fields"] == true,
        Some(found) => found == "object",
    };
    let warnings = [(has_subresource, STATUS_WITHOUT_SUBRESOURCE), (is_object, STATUS_TYPE)];
    warnings.into_iter().filter(|(is_met, _)| !is_met).map(|(_, name)| name).collect()
}

/// Returns a warning for each version with a name that sorts after all others, if the kind has several versions.
pub(super) fn version_names(kinds: &[(&ApiGroup, &'static ApiKind)]) -> Vec<Diagnostic> {
    let is_reported = |(group, kind): &&(&ApiGroup, &'static ApiKind)| {
        kinds.len() > 1 && !is_conventional(group.version) && !kind.definition.allow.contains(&VERSION_NAME)
    };
    let warning = |(group, kind): &(&ApiGroup, &'static ApiKind)| {
        let message = format!(
            "the version `{}` sorts after versions such as `v1` and `v1beta1`, so that no client prefers it; rename it, \
             or `#[k8s(allow({VERSION_NAME}))]`",
            group.version
        );
        RustItem::from_kind(group, kind).diagnostic(message)
    };
    kinds.iter().filter(is_reported).map(warning).collect()
}

/// Returns a warning for each field whose JSON name is its Rust name in snake case: `rename_all` is missing on its
/// type.
pub(super) fn snake_case_fields(rust: &RustPaths, extensions: &Extensions) -> Vec<Diagnostic> {
    let marks = || extensions.get(&Extension::SnakeCase).into_iter().flatten();
    let is_allowed = |path: &str| marks().any(|(allowed, mark)| mark == &Value::Bool(true) && is_within(path, allowed));
    let is_marked = |path: &str| marks().any(|(marked, mark)| mark.is_string() && marked == path);
    // A type that is used several times gets one warning.
    let mut fields: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    for (path, field) in &rust.fields {
        let json_name = path.rsplit('.').next().unwrap_or_default();
        // `CrdSchema` adds the locations of fields, and a mark unless the name is explicit.
        let is_accidental = match rust.locations.contains_key(path) {
            true => is_marked(path),
            false => is_snake_case(json_name) && field.rsplit("::").next() == Some(json_name),
        };
        if is_accidental && !is_allowed(path) {
            fields.insert(field.as_str(), (json_name, path.as_str()));
        }
    }
    let warning = |(field, (name, path)): (&str, (&str, &str))| {
        let ty = field.rsplit("::").nth(1).unwrap_or_default();
        let keep = match rust.locations.contains_key(path) {
            true => format!("`#[serde(rename = \"{name}\")]` on the field"),
            false => {
                format!("`#[schemars(extend({:?} = true))]` on the field or its type", Extension::SnakeCase.name())
            }
        };
        let message = format!(
            "its JSON name `{name}` is in snake case; add `#[serde(rename_all = \"camelCase\")]` to `{ty}`, or keep the \
             name with {keep}"
        );
        rust.item_at(path).diagnostic(message)
    };
    fields.into_iter().map(warning).collect()
}

fn is_within(path: &str, allowed: &str) -> bool {
    path.strip_prefix(allowed).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[', '{']))
}

fn is_snake_case(name: &str) -> bool {
    name.trim_matches('_').contains('_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fields_without_a_rename_get_a_warning() {
        let pair = |path: &str, field: &str| (path.to_owned(), field.to_owned());
        let fields = BTreeMap::from([
            pair(".spec", "my_types::v1::Widget::spec"),
            pair(".spec.time_limit", "my_types::v1::WidgetSpec::time_limit"),
            pair(".spec.other.time_limit", "my_types::v1::WidgetSpec::time_limit"),
            pair(".spec.renamed_field", "my_types::v1::WidgetSpec::renamed"),
            pair(".spec.maxSize", "my_types::v1::WidgetSpec::max_size"),
            pair(".spec.kept.a_b", "my_types::v1::Kept::a_b"),
        ]);
        let marks = BTreeMap::from([(".spec.kept".to_owned(), Value::from(true))]);
        let extensions = BTreeMap::from([(Extension::SnakeCase, marks)]);
        let rust = RustPaths { item: "my_types::v1::Widget".into(), fields, locations: BTreeMap::new() };
        let warnings = snake_case_fields(&rust, &extensions);
        let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].starts_with("`my_types::v1::WidgetSpec::time_limit`: its JSON name `time_limit` is"));
    }

    #[test]
    fn only_marked_fields_of_crd_schema_types_get_a_warning() {
        let pair = |path: &str, field: &str| (path.to_owned(), field.to_owned());
        let fields = BTreeMap::from([
            pair(".spec.time_limit", "my_types::v1::WidgetSpec::time_limit"),
            pair(".spec.max_size", "my_types::v1::WidgetSpec::max_size"),
        ]);
        let locations =
            BTreeMap::from([pair(".spec.time_limit", "src/v1.rs:7"), pair(".spec.max_size", "src/v1.rs:9")]);
        let mark = Value::from("my_types::v1::WidgetSpec.time_limit");
        let marks = BTreeMap::from([(".spec.time_limit".to_owned(), mark)]);
        let extensions = BTreeMap::from([(Extension::SnakeCase, marks)]);
        let rust = RustPaths { item: "my_types::v1::Widget".into(), fields, locations };
        let warnings = snake_case_fields(&rust, &extensions);
        let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        let expected = "src/v1.rs:7: `my_types::v1::WidgetSpec::time_limit`: its JSON name `time_limit` is in snake \
                        case; add `#[serde(rename_all = \"camelCase\")]` to `WidgetSpec`, or keep the name with \
                        `#[serde(rename = \"time_limit\")]` on the field";
        assert_eq!(warnings, [expected]);
    }
}
