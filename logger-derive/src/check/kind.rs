//! The checks of `#[k8s(..)]` on a kind, one function each.

use kubewright_names::validation::is_dns_1035_label;
use syn::LitStr;

use super::{conversion, indexes, lifecycle, methods, policy, root, verbs};
use crate::{
    attr::serde::SerdeDefault,
    errors::Errors,
    model::{Kind, Root},
};

/// Checks a kind. Keys and fields that the parser rejected are reported there, and not as missing here.
pub(crate) fn kind(kind: &Kind, errors: &mut Errors) {
    root::check_body(&kind.root, errors);
    check_list(kind, errors);
    root::check_metadata(&kind.root, "ObjectMeta", errors);
    check_metadata_default(&kind.root, errors);
    root::check_type_meta(&kind.root, errors);
    root::check_json_names(&kind.root, errors);
    root::check_kind(&kind.root, kind.k8s.kind.as_ref(), errors);
    check_scope(kind, errors);
    check_resource_names(kind, errors);
    check_status(kind, errors);
    check_scale_paths(kind, errors);
    check_columns(kind, errors);
    check_selectable_fields(kind, errors);
    check_definition_metadata(kind, errors);
    check_served(kind, errors);
    conversion::check(kind, errors);
    lifecycle::check(kind, errors);
    verbs::check(kind, errors);
    methods::check(kind, errors);
    indexes::check(kind, errors);
    policy::check(kind, errors);
}

/// `list` applies to kinds that generate their list.
fn check_list(kind: &Kind, errors: &mut Errors) {
    if let Some(list) = kind.k8s.list.as_ref().filter(|_| kind.root.derive == "Object") {
        errors.push(list, "`list` replaces the list that `ApiObject` generates; `Object` generates none; remove this");
    }
}

/// The server does not apply defaults to metadata.
fn check_metadata_default(root: &Root, errors: &mut Errors) {
    if let Some(SerdeDefault::With(path)) = root.field("metadata").and_then(|field| field.default.as_ref()) {
        errors.push(path, "the API server does not apply defaults to metadata; remove this default");
    }
}

/// `#[k8s(scope = "Namespaced")]` conflicts with `#[genclient(non_namespaced)]`; without `#[genclient]` it is required.
fn check_scope(kind: &Kind, errors: &mut Errors) {
    let non_namespaced = kind.genclient.as_ref().is_some_and(|(_, client)| client.non_namespaced.is_present());
    match (&kind.k8s.scope, &kind.genclient) {
        (None, None) if !kind.incomplete => errors.push(
            &kind.root.ident,
            "unknown scope of the kind; add `#[genclient]` (a client, namespaced unless `non_namespaced`), or \
             `#[k8s(scope = \"Namespaced\")]` or `#[k8s(scope = \"Cluster\")]`",
        ),
        (Some(scope), _) if !["Cluster", "Namespaced"].contains(&scope.value().as_str()) => {
            errors.push(scope, "unknown scope; expected one of `Cluster`, `Namespaced`");
        }
        (Some(scope), _) if non_namespaced && scope.value() != "Cluster" => {
            errors.push(
                scope,
                "conflicts with `#[genclient(non_namespaced)]`, which makes the kind cluster-scoped; keep one of the \
                 two",
            );
        }
        (Some(_) | None, _) => {}
    }
}

/// Plural, singular, short names and categories are DNS-1035 labels. Short names and categories have no duplicates.
fn check_resource_names(kind: &Kind, errors: &mut Errors) {
    let k8s = &kind.k8s;
    for name in [&k8s.plural, &k8s.singular].into_iter().flatten().chain(&k8s.short_names).chain(&k8s.categories) {
        if !is_dns_1035_label(&name.value()) {
            errors.push(
                name,
                "invalid name: expected at most 63 lower-case letters, digits and `-`, starting with a letter",
            );
        }
    }
    for list in [&k8s.short_names, &k8s.categories] {
        for (i, name) in list.iter().enumerate() {
            if list[..i].iter().any(|earlier| earlier.value() == name.value()) {
                errors.push(name, "duplicate value; keep one");
            }
        }
    }
}

/// A status subresource has a field: without one the API server prunes every status.
fn check_status(kind: &Kind, errors: &mut Errors) {
    let status = &kind.k8s.subresource.status;
    if status.is_present() && kind.root.lacks("status") {
        let message = "the kind has no field `status`; add `pub status: Option<..>` with `#[serde(default)]`, or remove \
                       this";
        errors.extend(syn::Error::new(status.span(), message));
    }
}

/// The paths of the scale subresource start with `.spec.` and `.status.`.
fn check_scale_paths(kind: &Kind, errors: &mut Errors) {
    let Some(scale) = &kind.k8s.subresource.scale else {
        return;
    };
    starts_with(&scale.spec_path, &[".spec."], errors);
    starts_with(&scale.status_path, &[".status."], errors);
    if let Some(path) = &scale.selector_path {
        starts_with(path, &[".status.", ".spec."], errors);
    }
}

/// The path of a column starts with a dot.
fn check_columns(kind: &Kind, errors: &mut Errors) {
    for column in &kind.k8s.printcolumns.0 {
        starts_with(&column.json_path, &["."], errors);
    }
}

/// The path of a selectable field starts with a dot, is not in the metadata and is not a duplicate; at most eight.
fn check_selectable_fields(kind: &Kind, errors: &mut Errors) {
    let fields = &kind.k8s.selectable_fields;
    for (i, path) in fields.iter().enumerate() {
        starts_with(path, &["."], errors);
        if path.value().starts_with(".metadata") {
            let message = "metadata fields cannot be selectable fields: only `metadata.name` and `metadata.namespace` \
                           are, always; remove this";
            errors.push(path, message);
        } else if fields[..i].iter().any(|earlier| earlier.value() == path.value()) {
            errors.push(path, "duplicate value; keep one");
        }
    }
    if let Some(ninth) = fields.get(8) {
        errors.push(ninth, "too many selectable fields: the API server accepts at most 8");
    }
}

/// Annotations and labels of the definition have the syntax `name=value`, with a name and without duplicates.
fn check_definition_metadata(kind: &Kind, errors: &mut Errors) {
    for pairs in [&kind.k8s.metadata.annotations, &kind.k8s.metadata.labels] {
        let name = |text: &LitStr| text.value().split_once('=').map(|(name, _)| name.to_owned());
        for (i, text) in pairs.iter().enumerate() {
            match name(text) {
                None => errors.push(text, "expected name and value, such as `\"name=value\"`"),
                Some(found) if found.is_empty() => errors.push(text, "missing name before `=`"),
                found if pairs[..i].iter().any(|earlier| name(earlier) == found) => {
                    errors.push(text, "duplicate name; keep one");
                }
                Some(_) => {}
            }
        }
    }
}

/// A version can be stored without being served during a migration, but a client needs a served version.
fn check_served(kind: &Kind, errors: &mut Errors) {
    if kind.k8s.unserved.is_present() && kind.genclient.is_some() {
        let message = "a version that is not served has no client; remove this or `#[genclient]`";
        errors.extend(syn::Error::new(kind.k8s.unserved.span(), message));
    }
}

fn starts_with(path: &LitStr, prefixes: &[&str], errors: &mut Errors) {
    if !prefixes.iter().any(|prefix| path.value().starts_with(prefix)) {
        let expected: Vec<_> = prefixes.iter().map(|prefix| format!("`{prefix}`")).collect();
        errors.push(path, format_args!("invalid path: expected a path that starts with {}", expected.join(" or ")));
    }
}
