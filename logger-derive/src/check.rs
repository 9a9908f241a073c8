//! The rules across attributes and fields, one function each.

use syn::LitStr;

use crate::attr::SerdeDefault;
use crate::errors::Errors;
use crate::model::{Kind, List, Root};
use crate::{indexes, lifecycle, methods, names, verbs};

/// Checks a kind. What its attributes or shape lost when they were parsed was reported there, and is not missed here.
pub(crate) fn kind(kind: &Kind, errors: &mut Errors) {
    metadata_is_there(&kind.root, "ObjectMeta", errors);
    metadata_has_no_default(&kind.root, errors);
    type_meta_is_not_a_field(&kind.root, errors);
    each_json_name_is_one_field(&kind.root, errors);
    name_is_accepted_by_the_server(&kind.root, errors);
    scope_is_known(kind, errors);
    names_are_accepted_by_the_server(kind, errors);
    status_subresource_has_a_status(kind, errors);
    scale_paths_are_where_they_belong(kind, errors);
    columns_are_accepted_by_the_server(kind, errors);
    selectable_fields_are_accepted_by_the_server(kind, errors);
    metadata_of_the_definition_has_names_and_values(kind, errors);
    what_is_stored_is_served(kind, errors);
    lifecycle::check(kind, errors);
    verbs::check(kind, errors);
    methods::check(kind, errors);
    indexes::check(kind, errors);
}

/// Checks a list, likewise.
pub(crate) fn list(list: &List, errors: &mut Errors) {
    metadata_is_there(&list.root, "ListMeta", errors);
    type_meta_is_not_a_field(&list.root, errors);
    each_json_name_is_one_field(&list.root, errors);
    name_is_accepted_by_the_server(&list.root, errors);
    items_are_a_vec(list, errors);
    nothing_else_is_there(list, errors);
}

/// `pub metadata: ObjectMeta` must be a field, and `ListMeta` that of a list.
fn metadata_is_there(root: &Root, ty: &str, errors: &mut Errors) {
    if root.lacks("metadata") {
        errors.push(&root.ident, format_args!("every Kubernetes object has metadata: add `pub metadata: {ty}`"));
    }
    let other = root
        .field("metadata")
        .filter(|field| ["ListMeta", "ObjectMeta"].iter().any(|name| *name != ty && field.is_of(name)));
    if let Some(field) = other {
        errors.push(&field.ty, format_args!("expected `{ty}`"));
    }
}

/// `pub items: Vec<Widget>` must be a field of `WidgetList`.
fn items_are_a_vec(list: &List, errors: &mut Errors) {
    let example = list.kind_by_name().map_or_else(|| "Kind".to_owned(), |kind| kind.to_string());
    match list.items() {
        None if list.root.has_named_fields() => {
            errors.push(&list.root.ident, format_args!("a list needs its items: add `pub items: Vec<{example}>`"))
        }
        Some(items) if items.vec_item().is_none() => {
            errors.push(&items.ty, format_args!("the items of a list are a `Vec`, such as `Vec<{example}>`"))
        }
        None | Some(_) => {}
    }
}

/// A list has no fields beside these two.
fn nothing_else_is_there(list: &List, errors: &mut Errors) {
    if let Some(other) = list.root.fields().iter().filter(|f| f.json_name != "metadata").nth(1) {
        errors.push(&other.ident, "a list has `metadata` and its items, nothing else; remove this field");
    }
}

/// The server fills in no default that a schema has for the metadata.
fn metadata_has_no_default(root: &Root, errors: &mut Errors) {
    if let Some(SerdeDefault::With(path)) = root.field("metadata").and_then(|field| field.default.as_ref()) {
        errors.push(path, "the API server fills in no metadata from a schema; remove this default");
    }
}

/// `apiVersion` and `kind` come from the type, so a field of that name would be written twice.
fn type_meta_is_not_a_field(root: &Root, errors: &mut Errors) {
    for field in root.fields().iter().filter(|f| ["apiVersion", "kind"].contains(&f.json_name.as_str())) {
        errors.push(
            &field.ident,
            format_args!("`{}` is written and checked by the derive; remove this field", field.json_name),
        );
    }
}

/// Two fields of one JSON name would be written twice.
fn each_json_name_is_one_field(root: &Root, errors: &mut Errors) {
    for (i, field) in root.fields().iter().enumerate() {
        if root.fields()[..i].iter().any(|earlier| earlier.json_name == field.json_name) {
            errors.push(&field.ident, format_args!("another field is `{}` in JSON too; rename one", field.json_name));
        }
    }
}

/// A kind is letters and digits, as its lower-case form must be a DNS label.
fn name_is_accepted_by_the_server(root: &Root, errors: &mut Errors) {
    if !names::is_kind(&root.name()) {
        errors.push(&root.ident, "the API server takes letters and digits in CamelCase for a kind; rename the type");
    }
}

/// `#[k8s(scope = "Namespaced")]` contradicts `#[genclient(non_namespaced)]`; without `#[genclient]` it must be said.
fn scope_is_known(kind: &Kind, errors: &mut Errors) {
    let non_namespaced = kind.genclient.as_ref().is_some_and(|(_, client)| client.non_namespaced.is_present());
    match (&kind.k8s.scope, &kind.genclient) {
        (None, None) if !kind.incomplete => errors.push(
            &kind.root.ident,
            "where do its objects live? Add `#[genclient]` (a client, namespaced unless `non_namespaced`) or \
             `#[k8s(scope = \"Namespaced\")]` or `\"Cluster\"`",
        ),
        (Some(scope), _) if !["Cluster", "Namespaced"].contains(&scope.value().as_str()) => {
            errors.push(scope, "unknown scope; expected one of `Cluster`, `Namespaced`");
        }
        (Some(scope), _) if non_namespaced && scope.value() != "Cluster" => {
            errors.push(
                scope,
                "`#[genclient(non_namespaced)]` says that objects live in the cluster; keep one of the two",
            );
        }
        (Some(_) | None, _) => {}
    }
}

/// Plural, singular, short names and categories are DNS-1035 labels, each short name and category once.
fn names_are_accepted_by_the_server(kind: &Kind, errors: &mut Errors) {
    let k8s = &kind.k8s;
    for name in [&k8s.plural, &k8s.singular].into_iter().flatten().chain(&k8s.short_names).chain(&k8s.categories) {
        if !names::is_dns_1035_label(&name.value()) {
            errors.push(name, "the API server takes lower-case letters, digits and `-` here, starting with a letter");
        }
    }
    for list in [&k8s.short_names, &k8s.categories] {
        for (i, name) in list.iter().enumerate() {
            if list[..i].iter().any(|earlier| earlier.value() == name.value()) {
                errors.push(name, "given twice; keep one");
            }
        }
    }
}

/// `subresource(status)` without a field `status` would be an endpoint for nothing.
fn status_subresource_has_a_status(kind: &Kind, errors: &mut Errors) {
    if kind.k8s.subresource.status.is_present() && kind.root.lacks("status") {
        let message = "there is no status to serve: add `pub status: Option<..>` or remove this";
        errors.extend(syn::Error::new(kind.k8s.subresource.status.span(), message));
    }
}

/// Scale paths start with `.spec.` and `.status.`.
fn scale_paths_are_where_they_belong(kind: &Kind, errors: &mut Errors) {
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
fn columns_are_accepted_by_the_server(kind: &Kind, errors: &mut Errors) {
    for column in &kind.k8s.printcolumns.0 {
        starts_with(&column.json_path, &["."], errors);
    }
}

/// The path of a selectable field starts with a dot, is not in the metadata, and is there once; eight at most.
fn selectable_fields_are_accepted_by_the_server(kind: &Kind, errors: &mut Errors) {
    let fields = &kind.k8s.selectable_fields;
    for (i, path) in fields.iter().enumerate() {
        starts_with(path, &["."], errors);
        if path.value().starts_with(".metadata") {
            errors.push(path, "of the metadata, name and namespace can always be selected and nothing else can");
        } else if fields[..i].iter().any(|earlier| earlier.value() == path.value()) {
            errors.push(path, "given twice; keep one");
        }
    }
    if let Some(ninth) = fields.get(8) {
        errors.push(ninth, "the API server takes eight selectable fields at most");
    }
}

/// `metadata(annotations = ["name=value"])`
fn metadata_of_the_definition_has_names_and_values(kind: &Kind, errors: &mut Errors) {
    for said in [&kind.k8s.metadata.annotations, &kind.k8s.metadata.labels] {
        let name = |text: &LitStr| text.value().split_once('=').map(|(name, _)| name.to_owned());
        for (i, text) in said.iter().enumerate() {
            match name(text) {
                None => errors.push(text, "expected a name and a value: `\"name=value\"`"),
                Some(found) if found.is_empty() => errors.push(text, "expected a name before `=`"),
                found if said[..i].iter().any(|earlier| name(earlier) == found) => {
                    errors.push(text, "this name is given twice; keep one");
                }
                Some(_) => {}
            }
        }
    }
}

/// A version may be stored and not served while it is being left, but an only one must be served.
fn what_is_stored_is_served(kind: &Kind, errors: &mut Errors) {
    if kind.k8s.unserved.is_present() && kind.genclient.is_some() {
        let message = "no client can reach a version that is not served; remove this or `#[genclient]`";
        errors.extend(syn::Error::new(kind.k8s.unserved.span(), message));
    }
}

fn starts_with(path: &LitStr, prefixes: &[&str], errors: &mut Errors) {
    if !prefixes.iter().any(|prefix| path.value().starts_with(prefix)) {
        let expected: Vec<_> = prefixes.iter().map(|prefix| format!("`{prefix}`")).collect();
        errors.push(path, format_args!("this path must start with {}", expected.join(" or ")));
    }
}
