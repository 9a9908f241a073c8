//! The checks of the attributes of serde and schemars, by the table of the grammar and one function for each rule.

use syn::{Meta, Path};

use crate::{
    errors::Errors,
    grammar::serde::{Place, SCHEMA_ONLY, SERDE, SerdeKey, Support},
    model::{
        SerdeAttrs, SerdeItem,
        rust_type::{can_be_absent, json_type},
    },
};

/// Reports the keys that a derive does not support. `support` selects its column of the table.
pub(super) fn check_keys<'a>(
    items: impl IntoIterator<Item = &'a SerdeItem>,
    support: fn(&SerdeKey) -> Support,
    errors: &mut Errors,
) {
    for SerdeItem { place, serde, .. } in items {
        for meta in &serde.keys {
            if let Some((key, Support::Rejected(message))) = row(*place, meta).map(|row| (row.key, support(row))) {
                errors.push(meta, message.replace("{key}", key));
            }
        }
    }
}

/// Returns the row of a key, if the table has it.
fn row(place: Place, meta: &Meta) -> Option<&'static SerdeKey> {
    let mut rows = SERDE.iter().filter(|row| row.places.contains(&place) && meta.path().is_ident(row.key));
    let is_split = matches!(meta, Meta::List(_));
    rows.clone().find(|row| row.is_split == is_split).or_else(|| rows.find(|row| !row.is_split))
}

/// Checks the attributes of a type that derives `CrdSchema`.
pub(super) fn check_schema(items: &[SerdeItem], errors: &mut Errors) {
    check_keys(items, |row| row.schema, errors);
    items.iter().for_each(|item| check_schema_only(item, errors));
    let Some((ty, fields)) = items.split_first() else { return };
    check_into(&ty.serde, errors);
    if !ty.serde.is_other_type() {
        items.iter().for_each(|item| check_encoding(item, errors));
    }
    if ty.serde.has("deny_unknown_fields") {
        fields.iter().for_each(|field| check_undecoded(&field.serde, errors));
    }
    if !ty.serde.has_any(&["from", "try_from", "transparent"]) {
        let has_default = ty.serde.has("default");
        fields.iter().for_each(|field| check_unwritten(field, has_default, errors));
    }
}

/// Reports keys of schemars that make the schema different from the JSON encoding.
fn check_schema_only(item: &SerdeItem, errors: &mut Errors) {
    for key in &item.serde.schemars {
        let Some(name) = SCHEMA_ONLY.iter().find(|name| key.path.is_ident(name)) else { continue };
        let is_definition_name = *name == "rename" && matches!(item.place, Place::Struct | Place::Enum);
        // It removes a field from the schema, so that the server prunes it.
        let is_skipped_field = *name == "skip" && item.place == Place::Field;
        if !is_definition_name && !is_skipped_field {
            let message = format!(
                "this changes the schema only; use `{name}` in `#[serde(..)]`, which also applies to the JSON encoding"
            );
            errors.push(key, message);
        }
    }
}

/// Reports a custom encoding whose schema is not known: `with` can be a module, or a type with a schema.
fn check_encoding(item: &SerdeItem, errors: &mut Errors) {
    if ["with", "schema_with", "skip"].iter().any(|key| item.serde.has_schemars_key(key)) {
        return;
    }
    let is_type = item.serde.value("with").is_some_and(|path| is_type(&path));
    for key in ["with", "serialize_with", "deserialize_with"] {
        let Some(meta) = item.serde.key(key).filter(|_| key != "with" || !is_type) else { continue };
        let message = "the schema of a custom encoding is not known; add `#[schemars(with = \"String\")]` with a type \
                       of this encoding";
        errors.push(meta, message);
    }
}

/// Whether a path is that of a type, by its name.
fn is_type(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase))
}

/// Reports a type that is written as another one and decoded from the fields, or from one of another JSON type.
fn check_into(ty: &SerdeAttrs, errors: &mut Errors) {
    let Some(into) = ty.key("into") else { return };
    let Some(from) = ty.decoded_from() else {
        let message = "the type is written as another one, but not decoded from it; add `from = \"..\"` or `try_from = \
                       \"..\"`, also beside a `Deserialize` by hand";
        return errors.push(into, message);
    };
    let type_in = |key| json_type(&ty.value(key)?).map(|(json_type, _)| json_type);
    if let (Some(decoded), Some(written)) = (type_in(from), type_in("into"))
        && decoded != written
    {
        errors.push(into, "the type is decoded from another JSON type than it is written as; use one type for both");
    }
}

/// Reports a field that is written, and unknown to the decoding of a type that denies unknown fields.
fn check_undecoded(field: &SerdeAttrs, errors: &mut Errors) {
    if let (Some(meta), None) = (field.key("skip_deserializing"), field.key("skip_serializing")) {
        errors.push(meta, "`deny_unknown_fields` of the type rejects this field, which is written; remove one of them");
    }
}

/// Reports a field that decoding and the schema require, but which is not always written.
fn check_unwritten(field: &SerdeItem, has_default: bool, errors: &mut Errors) {
    let SerdeItem { serde, named, .. } = field;
    let has_default = has_default || serde.has_any(&["default", "skip", "skip_deserializing", "flatten"]);
    if has_default || named.as_ref().is_none_or(can_be_absent) {
        return;
    }
    let condition: Option<Path> = serde.value("skip_serializing_if");
    // The type can be an alias of an `Option`.
    let is_option = condition.is_some_and(|path| path.segments.iter().any(|name| name.ident == "is_none"));
    let condition = serde.key("skip_serializing_if").filter(|_| !is_option);
    if let Some(meta) = serde.key("skip_serializing").or(condition) {
        let message = "a required field that is not always written: the API server would reject the object; add \
                       `default`";
        errors.push(meta, message);
    }
}
