//! The checks of `#[schema(..)]` on a type and on its fields.

mod keys;
mod siblings;
mod types;

use proc_macro2::Span;
use syn::Ident;

use super::serde;
use crate::{
    attr::schema::{Names, SchemaAttr},
    errors::Errors,
    grammar,
    model::{
        SchemaBody, SchemaField, SchemaFields, SchemaType,
        rust_type::{can_be_absent, is_type_named},
    },
};

/// Checks that keys are allowed in their section, do not conflict, and apply to the type of their field.
pub(crate) fn schema(model: &SchemaType, errors: &mut Errors) {
    if let SchemaBody::Union = model.body {
        errors.push(&model.ident, "unsupported union: it has no JSON encoding; use an enum");
    }
    serde::check_schema(&model.items, errors);
    let other_type = model.serde.decoded_from();
    check_type(model, other_type, errors);
    for list in model.field_lists() {
        list.fields.iter().for_each(|field| check_field(field, list, other_type, errors));
        check_json_names(list, errors);
    }
    check_unions(model, errors);
    for SchemaFields { fields, .. } in model.field_lists() {
        for field in fields {
            siblings::check_presence(field, errors);
            siblings::check_siblings(field, fields, errors);
        }
    }
}

/// Checks the attribute of a type.
fn check_type(model: &SchemaType, other_type: Option<&str>, errors: &mut Errors) {
    keys::check_section(&grammar::SCHEMA_TYPE, "a type", &model.attr, errors);
    if let SchemaBody::Enum { variants, misplaced } = &model.body {
        if variants.iter().all(|variant| variant.serde.is_skipped()) {
            let message = "an enum without variants in JSON has no value; add a variant, or remove the fields of this \
                           type";
            errors.push(&model.ident, message);
        }
        for attr in misplaced {
            errors.push(
                attr,
                "`#[schema(..)]` does not apply to a variant; move it to a field of the variant, or to the enum",
            );
        }
    }
    keys::check_conflicts(&model.attr, errors);
    // The type has the JSON type of its only field, unless another type is its encoding.
    if let SchemaBody::Struct(list) = &model.body
        && let ([field], true, None) = (list.fields.as_slice(), list.is_tuple, other_type)
        && !field.serde.has_other_schema()
    {
        types::check_type_keys(&field.ty, &model.attr, errors);
    }
}

/// Checks the attribute of a field.
fn check_field(field: &SchemaField, list: &SchemaFields, other_type: Option<&str>, errors: &mut Errors) {
    for attr in field.attrs.iter().filter(|_| !field.attr.written.is_empty()) {
        if list.is_tuple {
            errors.push(attr, "a field without a name has no separate schema; move this to the type");
        } else if field.serde.has("flatten") {
            errors.push(
                attr,
                "a flattened field has no separate schema; move this to its type, or to the fields of its type",
            );
        } else if field.serde.is_skipped() {
            errors.push(attr, "a skipped field is not in the schema; remove this");
        } else if let Some(key) = other_type {
            let message = format!("the schema is that of the type in `{key}`, without this field; move this to a type");
            errors.push(attr, message);
        }
    }
    keys::check_section(&grammar::SCHEMA_FIELD, "a field", &field.attr, errors);
    keys::check_conflicts(&field.attr, errors);
    check_required(field, list.has_default, errors);
    types::check_type_keys(&field.ty, &field.attr, errors);
    types::check_map_keys(&field.ty, errors);
}

/// Checks `required`, which applies to an `Option` that is always set.
fn check_required(field: &SchemaField, has_default: bool, errors: &mut Errors) {
    let keys = &field.attr;
    if !keys.required.is_present() {
        return;
    }
    if keys.nullable.is_present() && is_type_named(&field.ty, &["Option"]) {
        let message = "conflicts with `required`: a `None` is omitted from the JSON, so that the required field would \
                       be missing; use `kubewright::Nullable` in place of `Option`, without `nullable` and \
                       `required`";
        errors.extend(syn::Error::new(keys.nullable.span(), message));
    } else if !can_be_absent(&field.ty) && !has_default && !field.serde.has("default") {
        let message = "redundant key: a field that is not an `Option` is always required; remove this";
        errors.extend(syn::Error::new(keys.required.span(), message));
    }
}

/// Reports fields of one JSON name, which serde encodes twice and cannot decode.
fn check_json_names(list: &SchemaFields, errors: &mut Errors) {
    let mut known: Vec<(String, String)> = Vec::new();
    for field in &list.fields {
        let (Some(name), Some(json_name)) = (field.name(), list.json_name(field)) else { continue };
        match known.iter().find(|(known, _)| *known == json_name) {
            Some((_, other)) => {
                let message = format!(
                    "the field `{other}` has the same JSON name, `{json_name}`, so that it is encoded twice and \
                     cannot be decoded; rename one"
                );
                errors.extend(syn::Error::new(field.span, message));
            }
            None => known.push((json_name, name)),
        }
    }
}

/// Checks the fields of unions: at least two optional fields of the type.
fn check_unions(model: &SchemaType, errors: &mut Errors) {
    let SchemaAttr { exactly_one_of, at_most_one_of, at_least_one_of, via, .. } = &model.attr;
    let unions: Vec<&Names> = exactly_one_of.iter().chain(at_most_one_of).chain(at_least_one_of).collect();
    if let Some(via) = via.as_ref().filter(|_| unions.is_empty()) {
        errors.push(
            via,
            "`via` requires `exactly_one_of`, `at_most_one_of` or `at_least_one_of`; add one, or remove this",
        );
    }
    let SchemaBody::Struct(data) = &model.body else {
        for Names(names, _) in unions {
            errors.push(
                names.first(),
                "a union of fields applies to structs only; remove this, because an enum is already one of its \
                 variants",
            );
        }
        return;
    };
    for Names(names, _) in unions {
        if names.len() < 2 {
            errors.extend(syn::Error::new(
                names.first().map_or(Span::call_site(), Ident::span),
                "a union requires at least two fields; add another, or remove this",
            ));
        }
        for (i, name) in names.iter().enumerate() {
            let field = data.fields.iter().find(|field| field.ident.as_ref() == Some(name));
            match field {
                None => errors.push(name, "unknown field; expected the Rust name of a field of this struct"),
                Some(_) if names[..i].contains(name) => errors.push(name, "duplicate value; keep one"),
                Some(field) if !can_be_absent(&field.ty) => {
                    errors.push(name, "a field of a union must be optional; make it an `Option`")
                }
                Some(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn an_invalid_type_has_a_model_that_its_check_rejects() {
        let mut errors = Errors::default();
        let input = parse_quote! {
            struct Spec {
                #[schema(min = 2, max = 1)]
                size: i32,
            }
        };
        let model = SchemaType::parse(&input, &mut errors);
        assert!(errors.is_empty(), "the syntax is valid");
        schema(&model, &mut errors);
        let rejected = errors.into_compile_errors().to_string();
        assert_eq!(rejected.matches("compile_error").count(), 1, "{rejected}");
        assert!(rejected.contains("empty range: `max` is less than `min`"), "{rejected}");
    }
}
