//! The checks of what kinds and lists have in common.

use kubewright_names::resource::{is_camel_case_kind, is_kind};
use syn::{LitStr, Path};

use crate::{
    attr::{self, serde::is_serde_derive},
    errors::Errors,
    model::{Body, Root, RootField, rust_type::is_type_named},
};

/// Checks the struct and its fields, before what they contain.
pub(super) fn check_body(root: &Root, errors: &mut Errors) {
    if let Some(rule) = root.rename_all.as_ref().filter(|rule| rule.value() != "camelCase") {
        let message = "unsupported case convention: the fields of Kubernetes objects are in camelCase; use \
                       `rename_all = \"camelCase\"`";
        errors.push(rule, message);
    }
    for attr in &root.kube {
        let message = "`#[kube(..)]` is an attribute of kube's `CustomResource`; use `#[k8s(..)]`, as the page *From \
                       kube's derive* of the book shows";
        errors.push(attr, message);
    }
    let derive = root.derive;
    if root.is_generic() {
        let message = format!(
            "`{derive}` does not support generic types: a kind has one name and one schema; remove the parameters"
        );
        errors.push(&root.generics, message);
    }
    for path in root.derives.iter().filter(|path| is_serde_derive(path)) {
        errors.push(path, serde_conflict(derive, path));
    }
    match &root.body {
        Body::NamedFields(fields) => fields.iter().for_each(|field| check_field(field, errors)),
        Body::Other(found) => errors.push(
            &root.ident,
            format_args!("`{derive}` requires a struct with named fields, such as `metadata`, but this is {found}"),
        ),
    }
}

/// Returns the message for a derive of serde on a kind or a list.
pub(super) fn serde_conflict(derive: &str, path: &Path) -> String {
    let name = path.segments.last().map_or_else(String::new, |last| last.ident.to_string());
    format!(
        "conflicts with `{derive}`, which implements `{name}`, because it writes and validates `apiVersion` and \
         `kind`; remove this"
    )
}

/// Attributes of a field apply to fields.
fn check_field(field: &RootField, errors: &mut Errors) {
    for name in ["genclient", "k8s", "policy"] {
        for attr in attr::named(name, &field.attrs) {
            let message = format!("`#[{name}]` applies to the struct, not to its fields; move it to the struct");
            errors.push(attr, message);
        }
    }
    for attr in attr::named("schema", &field.attrs).filter(|_| field.ident == "metadata") {
        errors.push(attr, "the API server specifies the schema of `metadata`; remove this");
    }
    if let Some(rename) = &field.schemars_rename {
        let message = "this renames the field in the schema only; use `#[serde(rename = \"..\")]`, which also applies \
                       to the JSON encoding";
        errors.push(rename, message);
    }
}

/// A kind must have `pub metadata: ObjectMeta`, and a list `pub metadata: ListMeta`.
pub(super) fn check_metadata(root: &Root, ty: &str, errors: &mut Errors) {
    if root.lacks("metadata") {
        errors.push(&root.ident, format_args!("missing `metadata` of the object; add `pub metadata: {ty}`"));
    }
    let Some(field) = root.field("metadata") else { return };
    let other = ["ListMeta", "ObjectMeta"].into_iter().find(|name| *name != ty && field.is_of(name));
    if let Some(other) = other {
        let derive = if other == "ListMeta" { "`ObjectList` on a list" } else { "`ApiObject` or `Object` on a kind" };
        errors.push(&field.ty, format_args!("expected `{ty}`; derive {derive}"));
    } else if is_type_named(&field.ty, &["Box", "Nullable", "Option", "Vec"]) {
        errors.push(&field.ty, format_args!("expected `{ty}`, which every object has; its fields are optional"));
    }
}

/// The derive writes `apiVersion` and `kind`, so a field of that name would be a duplicate.
pub(super) fn check_type_meta(root: &Root, errors: &mut Errors) {
    for field in root.fields().iter().filter(|f| ["apiVersion", "kind"].contains(&f.json_name.as_str())) {
        errors.push(
            &field.ident,
            format_args!("`{}` is written and validated by the derive; remove this field", field.json_name),
        );
    }
}

/// Each JSON name must belong to one field.
pub(super) fn check_json_names(root: &Root, errors: &mut Errors) {
    for (i, field) in root.fields().iter().enumerate() {
        if root.fields()[..i].iter().any(|earlier| earlier.json_name == field.json_name) {
            errors.push(
                &field.ident,
                format_args!("duplicate JSON name `{}`; rename one of the fields", field.json_name),
            );
        }
    }
}

/// A declared kind is one that the API server accepts. A type name that is a kind consists of letters and digits.
pub(super) fn check_kind(root: &Root, declared: Option<&LitStr>, errors: &mut Errors) {
    match declared {
        Some(kind) if !is_kind(&kind.value()) => errors.push(
            kind,
            "invalid kind: expected at most 63 letters, digits and `-`, starting with a letter and not ending with \
             `-`, such as `FooBar` or `Foo-Bar`",
        ),
        None if !is_camel_case_kind(&root.name()) => errors.push(
            &root.ident,
            "invalid name of a kind: expected letters and digits in CamelCase, at most 63; rename the type, or declare \
             the kind with `#[k8s(kind = \"..\")]`",
        ),
        Some(_) | None => {}
    }
}
