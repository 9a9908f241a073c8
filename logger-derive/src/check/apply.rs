//! The checks of a type that derives `ApplyConfiguration`.

use syn::Meta;

use crate::{
    errors::Errors,
    model::{AppliedBody, AppliedType},
};

/// Checks a type that derives `ApplyConfiguration`.
pub(crate) fn apply(model: &AppliedType, errors: &mut Errors) {
    if !model.generics.params.is_empty() {
        let message = "`ApplyConfiguration` does not support generic types: an apply configuration has one name; \
                       remove the parameters, or this derive and use `#[apply(atomic)]` on the fields of this type";
        errors.push(&model.generics, message);
    }
    match &model.body {
        AppliedBody::Struct { serde, .. } => {
            check_rename_all(model, errors);
            serde.iter().for_each(|meta| check_serde_key(meta, errors));
        }
        AppliedBody::Atomic { unused } => {
            for attr in unused {
                errors.push(attr, "this type is applied atomically, with all its fields; remove this");
            }
        }
        AppliedBody::Union => {
            errors.push(&model.ident, "unsupported union: its active field is not known; use an enum");
        }
    }
}

fn check_rename_all(model: &AppliedType, errors: &mut Errors) {
    if let Some(meta @ Meta::List(_)) = &model.rename_all {
        let message =
            "different names for serialisation and deserialisation are not supported; use `rename_all = \"..\"`";
        errors.push(meta, message);
    }
}

/// The encoding of a field is that of its type, with one name.
fn check_serde_key(meta: &Meta, errors: &mut Errors) {
    let is_key = |keys: &[&str]| keys.iter().any(|key| meta.path().is_ident(key));
    if is_key(&["rename"]) && !matches!(meta, Meta::NameValue(_)) {
        let message = "different names for serialisation and deserialisation are not supported; use `rename = \"..\"`";
        errors.push(meta, message);
    } else if is_key(&["with", "serialize_with", "deserialize_with"]) {
        let message =
            "a custom serialisation is not supported in an apply configuration; use a type that implements it";
        errors.push(meta, message);
    }
}
